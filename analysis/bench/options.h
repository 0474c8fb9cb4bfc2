/* What stagger-bench is asked to do. No pointers inside: rank 0 reads the command line and sends
 * the structure to the others as it is.
 */
#ifndef SG_BENCH_OPTIONS_H
#define SG_BENCH_OPTIONS_H

#include "core/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_BENCH_SIZES_MAX 32

enum sg_bench_verdict {
    SG_BENCH_RUN,  /* the options are complete */
    SG_BENCH_DONE, /* help or the version was asked for and is printed */
    SG_BENCH_BAD   /* bad usage; one message has said so */
};

struct sg_bench_options {
    enum sg_operation operations[SG_OPERATION_COUNT]; /* in the order asked for */
    int operation_count;
    uint64_t bytes[SG_BENCH_SIZES_MAX];
    int bytes_count;
    uint64_t iterations; /* calls in a block; 0: as many as fit */
    double row_s;
    int root;
    bool json;
    bool late; /* measure processor time with one rank late, not latency */
    int late_rank;
    double skew_us;
};

/* Reads the command line for a job of so many ranks and fills in defaults. Speaks on stdout and
 * stderr: to be called on one rank. *out is written only with SG_BENCH_RUN. */
enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out);

#endif
