/* What stagger-bench is asked to do. No pointers inside: rank 0 reads the command line and sends
 * the structure to the others as it is.
 */
#ifndef SG_BENCH_OPTIONS_H
#define SG_BENCH_OPTIONS_H

#include "bench/algorithms.h"
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

enum sg_bench_command { SG_BENCH_LATENCY, SG_BENCH_CPU, SG_BENCH_DELAY, SG_BENCH_COMMANDS };

struct sg_bench_options {
    enum sg_bench_command command;
    enum sg_operation operations[SG_OPERATION_COUNT]; /* in the order asked for */
    int operation_count;
    uint64_t bytes[SG_BENCH_SIZES_MAX]; /* of cpu and delay: 8 an element */
    int bytes_count;
    uint64_t iterations; /* calls in a block, rounds of cpu and delay; 0: as many as fit */
    double row_s;
    int root;
    bool json;
    bool late; /* latency: measure processor time with one rank late instead */
    int late_rank;
    double skews_us[SG_BENCH_SIZES_MAX]; /* latency with a late rank: one; delay: how late it is */
    int skew_count;
    int algorithms[SG_BENCH_ALGORITHMS_MAX]; /* of cpu and delay */
    int algorithm_count;                     /* 0: the command's own choice */
};

/* "latency" and so on; static storage. */
const char *sg_bench_command_name(enum sg_bench_command command);

/* Reads the command line for a job of so many ranks and fills in defaults. Speaks on stdout and
 * stderr: to be called on one rank. *out is written only with SG_BENCH_RUN. */
enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out);

#endif
