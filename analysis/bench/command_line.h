/* The command line of stagger-bench: reads it, fills in defaults, and checks what goes together. */
#ifndef SG_BENCH_COMMAND_LINE_H
#define SG_BENCH_COMMAND_LINE_H

#include "bench/options.h"

enum sg_bench_verdict {
    SG_BENCH_RUN,  /* the options are complete */
    SG_BENCH_DONE, /* help or the version was asked for and is printed */
    SG_BENCH_BAD   /* bad usage; one message has said so */
};

extern const char *const sg_bench_command_names[SG_BENCH_COMMANDS + 1]; /* NULL at the end */

/* Reads the command line for a job of so many ranks. Writes to stdout and stderr: to be called on
 * one rank. *out is written only with SG_BENCH_RUN. */
enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out);

#endif
