/* Measures calls, one by one, by one of three schemes:
 *
 *   window          all ranks agree on times, on one clock, at which calls begin. No message
 *                   disturbs the call, and leaving early or late does not affect the arrival at the
 *                   next call (paper 004, section 1.3). A call that some rank began late, or that
 *                   took longer than the window, is flagged and repeated; the window's length
 *                   follows the calls'.
 *   barrier         an MPI_Barrier before each call: ranks leave it at different times.
 *   dissemination   a barrier of the benchmark's own messages before each call: the same wherever
 *                   it runs.
 *
 * A round has one call of every variant, in random order, with the same arrivals for each. Every
 * result is verified after its call. A round counts if none of its calls is flagged.
 *
 * Collective; free of MPI.
 */
#ifndef SG_BENCH_SAMPLING_H
#define SG_BENCH_SAMPLING_H

#include "bench/host.h"
#include "bench/pattern.h"
#include "bench/samples.h"
#include "core/clocksync.h"
#include "core/status.h"

enum sg_bench_scheme {
    SG_BENCH_WINDOW,
    SG_BENCH_BARRIER,
    SG_BENCH_DISSEMINATION,
    SG_BENCH_LOOP, /* calls in a loop, with a mean time only; not for sg_bench_sample */
    SG_BENCH_SCHEMES
};

/* How a rank is late. */
enum sg_bench_lateness {
    SG_BENCH_WAITING, /* waits, and meanwhile leaves the processor to others */
    SG_BENCH_BUSY     /* works; anything else that the process does makes it longer */
};

struct sg_bench_sampling {
    enum sg_bench_scheme scheme;
    struct sg_bench_pattern pattern;
    enum sg_bench_lateness lateness;
    int variants;
    bool with_nothing; /* one more variant, the last, which calls nothing */
    bool synchronises; /* no rank may leave before all have arrived: checked by their times */
    bool processor;    /* measure processor time, until catch_up_ns after the call */
    double catch_up_ns;
    uint64_t rounds;   /* so many; 0: until the time is over, or the intervals are narrow */
    double time_ns;    /* measure for so long; with a number of rounds up to three times as long */
    bool until_enough; /* end when the intervals of `reduction` are narrow */
    enum sg_bench_reduction reduction;
    int root;
    uint64_t seed;
    double prepare_ns; /* how long target->prepare takes at most, if it takes longer than a call */
    double window_ns;  /* the first window; 0: a long one. Rank 0's value is used */
};

extern const char *const sg_bench_scheme_names[SG_BENCH_SCHEMES + 1]; /* NULL at the end */

/* clocks: of machine->now_ns, synchronised at least once; this synchronises it again from time to
 * time. *out is filled on rank 0, which clears it. SG_ERR_FORMAT: a result was wrong
 * (out->wrong_variant, on all ranks); other errors are of the exchange or memory, and logged. */
enum sg_status sg_bench_sample(const struct sg_bench_machine *machine,
                               const struct sg_bench_target *target, struct sg_clocksync *clocks,
                               const struct sg_bench_sampling *sampling,
                               struct sg_bench_samples *out);

#endif
