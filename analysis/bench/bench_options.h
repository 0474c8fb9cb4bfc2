/* The options of stagger-bench: parses the command line, fills in defaults, and checks that the
 * options are consistent. struct sg_bench_options contains no pointers, because rank 0 reads the
 * command line and sends the struct to the other ranks as it is. */
#ifndef SG_BENCH_BENCH_OPTIONS_H
#define SG_BENCH_BENCH_OPTIONS_H

#include "bench/distribution.h"
#include "bench/limits.h"
#include "bench/pattern.h"
#include "bench/sampling.h"
#include "options/options.h"

/* ---- options */

#define SG_BENCH_PATH_BYTES 1024

enum sg_bench_command {
    SG_BENCH_LATENCY,
    SG_BENCH_CPU,
    SG_BENCH_DELAY,
    SG_BENCH_OVERLAP,
    SG_BENCH_CLOCK,
    SG_BENCH_NOISE,
    SG_BENCH_ACCOUNT,
    SG_BENCH_COMMANDS
};

enum sg_bench_format { SG_BENCH_TEXT, SG_BENCH_JSON, SG_BENCH_CSV };

struct sg_bench_sizes {
    uint64_t list[SG_OPTION_LIST_MAX];
    int count;
};

struct sg_bench_options {
    int ranks; /* ranks of the job */
    enum sg_bench_command command;
    int operations[SG_BENCH_COLLECTIVES]; /* in the order asked for */
    int operation_count;
    struct sg_bench_sizes bytes; /* operand sizes, multiples of 8 */
    uint64_t iterations;         /* calls in a block; rounds of cpu and delay; 0: as many as fit */
    double row_s;
    int root;
    int format;                     /* enum sg_bench_format */
    bool version;                   /* print the version only */
    bool samples;                   /* output every sample */
    char plot[SG_BENCH_PATH_BYTES]; /* file for a figure; "": none */
    int scheme;                     /* enum sg_bench_scheme */
    int reduction;                  /* enum sg_bench_reduction */
    enum sg_bench_arrival arrival;
    int late_count;
    char arrivals[SG_BENCH_PATH_BYTES]; /* file of arrivals to replay */
    bool busy;                          /* cpu: late ranks work instead of sleeping */
    int vs;                             /* the algorithm that the others are compared with */
    uint64_t seed;
    struct sg_bench_sizes test_bytes; /* overlap: bytes for each test */
    bool cold;                        /* caches are swept before each call */
    /* Numbers of ranks that measure, one after the other; count 0: all ranks. */
    struct sg_bench_sizes processes;
    bool late_is_last; /* late_rank is the last of the ranks that measure */
    bool each;         /* clock: each rank counts as a machine of its own */
    double quantum_us; /* noise: length of a quantum */
    bool late;         /* latency: measure processor time with one rank late */
    int late_rank;
    struct sg_numbers skews_us;              /* skews of the pattern; exactly one with late */
    int algorithms[SG_BENCH_ALGORITHMS_MAX]; /* of cpu and delay */
    int algorithm_count;                     /* 0: the command's default */
};

enum sg_bench_verdict {
    SG_BENCH_RUN,  /* options are complete */
    SG_BENCH_DONE, /* help or the version has been printed */
    SG_BENCH_BAD   /* bad usage; one message has been printed */
};

extern const char *const sg_bench_command_names[SG_BENCH_COMMANDS + 1]; /* ends with NULL */

/* Reads the command line for a job of `ranks` ranks. Writes to stdout and stderr, so only one rank
 * calls it. *out is written only with SG_BENCH_RUN. */
enum sg_bench_verdict sg_bench_options_read(int argc, char **argv, int ranks,
                                            struct sg_bench_options *out);

#endif
