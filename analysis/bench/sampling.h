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

#include "bench/distribution.h"
#include "bench/pattern.h"
#include "core/clocksync.h"
#include "core/exchange.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a measurement needs: a table of functions of the machine, and one of what is measured. So
 * the measuring code is free of MPI, and is tested with known clocks and collectives.
 */

struct sg_bench_machine {
    const struct sg_exchange *exchange;
    /* the local clock, on which the synchronisation is based */
    uint64_t (*now_ns)(void);
    double (*processor_ns)(void); /* of the process, all threads */
    /* as exactly as possible; at once if the time has passed */
    void (*wait_until)(uint64_t local_ns);
    void (*sleep_until)(uint64_t local_ns); /* without using a processor */
    void (*work)(uint64_t quanta);          /* keeps a processor busy, and does nothing else */
    double quantum_ns;                      /* processor time of a quantum; 0: not known */
    uint64_t lead_ns;      /* from rank 0's message to a time for which all ranks can be ready */
    uint64_t tolerance_ns; /* how late wait_until may be, except rarely */
};

/* A collective, in several variants that are compared, numbered from 0. All ranks call together. */
struct sg_bench_target {
    /* Not timed: fills the buffers for the round, and checks this rank's result. */
    void (*prepare)(void *context, int variant, uint64_t round);
    bool (*check)(void *context, int variant, uint64_t round);
    void (*call)(void *context, int variant);
    /* The same in parts; test returns whether it is complete. NULL if there are none. */
    void (*start)(void *context, int variant);
    bool (*test)(void *context);
    void (*finish)(void *context);
    /* After every call: completes what it left over, so that variants begin in the same state. */
    void (*settle)(void *context);
    /* For the call that has just ended: its time without computation. May be NULL. */
    void (*details)(void *context, double *overhead_ns, double *waited_ns);
    /* A barrier of the MPI library, for the scheme of that name. */
    void (*barrier)(void *context);
    void *context;
};

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

/* Cold caches: takes operands and everything else out of the caches before a call.
 *
 * A sweep reads and writes twice as many bytes as the largest cache holds, which displaces what the
 * MPI library, the preloaded library and the program have there: data, and code from caches of
 * both. Operands are flushed by name where the processor has an instruction for that, because a
 * cache need not displace the oldest line first.
 *
 * Free of MPI; one sweep at a time.
 */

/* The largest cache of this machine's processors, in bytes; 0: not known. */
size_t sg_bench_largest_cache(void);
/* How many bytes displace a cache of that size: 64 to 256 MiB, if its size is not known 64 MiB. */
size_t sg_bench_sweep_bytes(size_t cache_bytes);
/* Allocates what sg_bench_sweep needs; SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_sweep_open(size_t size_bytes);
void sg_bench_sweep(void);
void sg_bench_sweep_close(void);
/* Takes these bytes out of all caches, unchanged; nothing where there is no instruction for it. */
void sg_bench_flush(const void *data, size_t size_bytes);

#endif
