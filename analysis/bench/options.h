/* What stagger-bench is asked to do. No pointers inside: rank 0 reads the command line and sends
 * the structure to the others as it is.
 */
#ifndef SG_BENCH_OPTIONS_H
#define SG_BENCH_OPTIONS_H

#include "bench/algorithms.h"
#include "bench/pattern.h"
#include "bench/samples.h"
#include "bench/sampling.h"
#include "core/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_BENCH_SIZES_MAX 32
#define SG_BENCH_PATH_BYTES 1024

enum sg_bench_verdict {
    SG_BENCH_RUN,  /* the options are complete */
    SG_BENCH_DONE, /* help or the version was asked for and is printed */
    SG_BENCH_BAD   /* bad usage; one message has said so */
};

enum sg_bench_command {
    SG_BENCH_LATENCY,
    SG_BENCH_CPU,
    SG_BENCH_DELAY,
    SG_BENCH_OVERLAP,
    SG_BENCH_CLOCK,
    SG_BENCH_NOISE,
    SG_BENCH_COMMANDS
};

/* One scheme more: calls in a loop, whose time is shared out among them. */
enum { SG_BENCH_LOOP = SG_BENCH_SCHEMES };

enum sg_bench_format { SG_BENCH_TEXT, SG_BENCH_JSON, SG_BENCH_CSV };

struct sg_bench_options {
    enum sg_bench_command command;
    enum sg_operation operations[SG_OPERATION_COUNT]; /* in the order asked for */
    int operation_count;
    uint64_t bytes[SG_BENCH_SIZES_MAX]; /* 8 an element */
    int bytes_count;
    uint64_t iterations; /* calls in a block, rounds of cpu and delay; 0: as many as fit */
    double row_s;
    int root;
    enum sg_bench_format format;
    bool samples;                   /* every sample is in the output */
    char plot[SG_BENCH_PATH_BYTES]; /* a figure's file; "": none */
    int scheme;                     /* of latency; SG_BENCH_LOOP, or enum sg_bench_scheme */
    enum sg_bench_reduction reduction;
    enum sg_bench_arrival arrival;
    int late_count;
    char arrivals[SG_BENCH_PATH_BYTES]; /* the file that is replayed */
    bool busy;                          /* cpu: late ranks work */
    int vs;                             /* the algorithm that all are compared with */
    uint64_t seed;
    uint64_t test_bytes[SG_BENCH_SIZES_MAX]; /* overlap: a test for so many bytes */
    int test_count;
    bool each;         /* clock: every rank by itself */
    double quantum_us; /* noise */
    bool late;         /* latency: measure processor time with one rank late instead */
    int late_rank;
    double skews_us[SG_BENCH_SIZES_MAX]; /* the pattern's; latency with a late rank: one */
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
