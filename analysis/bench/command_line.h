/* The command line of stagger-bench: parses it, fills in defaults, and checks that the options are
 * consistent. */
#ifndef SG_BENCH_COMMAND_LINE_H
#define SG_BENCH_COMMAND_LINE_H

#include "bench/options.h"

enum sg_bench_verdict {
    SG_BENCH_RUN,  /* the options are complete */
    SG_BENCH_DONE, /* help or the version was asked for and is printed */
    SG_BENCH_BAD   /* bad usage; one message has been printed */
};

extern const char *const sg_bench_command_names[SG_BENCH_COMMANDS + 1]; /* NULL at the end */

/* Reads the command line for a job of so many ranks. Writes to stdout and stderr, so only one rank
 * calls it. *out is written only with SG_BENCH_RUN. */
enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out);

#endif
