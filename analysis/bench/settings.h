/* What the preloaded library is told by its configuration, as far as a measurement has to know.
 * Free of MPI.
 */
#ifndef SG_BENCH_SETTINGS_H
#define SG_BENCH_SETTINGS_H

#include <stdbool.h>

#define SG_BENCH_PROGRESS_BYTES 16

struct sg_bench_settings {
    int ranks_per_node;                     /* 0: all ranks of a machine */
    char progress[SG_BENCH_PROGRESS_BYTES]; /* asynchronous progress: "thread"; "" not known */
};

/* Reads environment and configuration file. False when out of memory, which is logged. */
bool sg_bench_settings_read(struct sg_bench_settings *out);

#endif
