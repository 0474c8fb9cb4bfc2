/* The command line of stagger-bench: parses it, fills in defaults, and checks that the options are
 * consistent. */
#ifndef SG_BENCH_BENCH_OPTIONS_H
#define SG_BENCH_BENCH_OPTIONS_H

#include "bench/distribution.h"
#include "bench/limits.h"
#include "bench/pattern.h"
#include "bench/sampling.h"
#include "options/options.h"

/* The options of a stagger-bench run. The structure contains no pointers: rank 0 reads the command
 * line (bench/command_line.h) and sends it to the others as it is.
 */

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
    int ranks; /* of the job */
    enum sg_bench_command command;
    int operations[SG_BENCH_COLLECTIVES]; /* in the order asked for */
    int operation_count;
    struct sg_bench_sizes bytes; /* 8 an element */
    uint64_t iterations;         /* calls in a block, rounds of cpu and delay; 0: as many as fit */
    double row_s;
    int root;
    int format;                     /* enum sg_bench_format */
    bool samples;                   /* every sample is in the output */
    char plot[SG_BENCH_PATH_BYTES]; /* a figure's file; "": none */
    int scheme;                     /* enum sg_bench_scheme */
    int reduction;                  /* enum sg_bench_reduction */
    enum sg_bench_arrival arrival;
    int late_count;
    char arrivals[SG_BENCH_PATH_BYTES]; /* the file that is replayed */
    bool busy;                          /* cpu: late ranks work */
    int vs;                             /* the algorithm that all are compared with */
    uint64_t seed;
    struct sg_bench_sizes test_bytes; /* overlap: a test for so many bytes */
    bool cold;                        /* caches are swept before each call */
    /* How many of the ranks measure, one number after the other; count 0: all. */
    struct sg_bench_sizes processes;
    bool late_is_last; /* late_rank is that of the ranks that measure */
    bool each;         /* clock: every rank as if it had a machine of its own */
    double quantum_us; /* noise */
    bool late;         /* latency: measure processor time with one rank late instead */
    int late_rank;
    struct sg_numbers skews_us;              /* the pattern's; one for latency with a late rank */
    int algorithms[SG_BENCH_ALGORITHMS_MAX]; /* of cpu and delay */
    int algorithm_count;                     /* 0: the command's own choice */
};

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
