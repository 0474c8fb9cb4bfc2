/* Measures calls, one by one, by one of three schemes; and empties the caches for cold calls.
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

/* ---- tables of functions: the machine, and the target that is measured
 *
 * They keep the measuring code free of MPI, and let tests use known clocks and collectives.
 */

struct sg_bench_machine {
    const struct sg_exchange *exchange;
    /* Reads the local clock, on which the synchronisation is based. */
    uint64_t (*now_ns)(void);
    double (*processor_ns)(void); /* of all threads of the process */
    /* Waits as exactly as possible; returns at once if the time has passed. */
    void (*wait_until)(uint64_t local_ns);
    void (*sleep_until)(uint64_t local_ns); /* without using a processor */
    void (*work)(uint64_t quanta);          /* keeps a processor busy, and does nothing else */
    double quantum_ns;                      /* processor time of a quantum; 0: unknown */
    uint64_t lead_ns;                       /* from rank 0's message until all ranks can be ready */
    uint64_t tolerance_ns;                  /* how late wait_until may be, except rarely */
};

/* A collective, in several variants that are compared, numbered from 0. All ranks call together. */
struct sg_bench_target {
    /* Not timed: prepare fills the buffers for the round, and check verifies this rank's result. */
    void (*prepare)(void *context, int variant, uint64_t round);
    bool (*check)(void *context, int variant, uint64_t round);
    void (*call)(void *context, int variant);
    /* The call in parts; test returns true when it is complete. NULL if there are none. */
    void (*start)(void *context, int variant);
    bool (*test)(void *context);
    void (*finish)(void *context);
    /* Called after every call: completes its remaining work, so that all variants begin alike. */
    void (*settle)(void *context);
    /* Returns the times of the call that has just ended, without computation. May be NULL. */
    void (*details)(void *context, double *overhead_ns, double *waited_ns);
    /* Calls the MPI library's barrier, for SG_BENCH_BARRIER. */
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

/* The activity of a rank while it is late. */
enum sg_bench_lateness {
    SG_BENCH_WAITING, /* it waits, and leaves the processor to others */
    SG_BENCH_BUSY     /* it works; anything else that the process does prolongs this */
};

struct sg_bench_sampling {
    enum sg_bench_scheme scheme;
    struct sg_bench_pattern pattern;
    enum sg_bench_lateness lateness;
    int variants;
    bool with_nothing; /* adds a last variant that calls nothing */
    bool synchronises; /* no rank may leave before all have arrived: checked by their times */
    bool processor;    /* measure processor time, until catch_up_ns after the call */
    double catch_up_ns;
    uint64_t rounds;   /* 0: until the time is over, or the intervals are narrow */
    double time_ns;    /* time to measure; with a number of rounds up to three times that */
    bool until_enough; /* end when the intervals of `reduction` are narrow */
    enum sg_bench_reduction reduction;
    int root;
    uint64_t seed;
    double prepare_ns; /* maximum time of target->prepare, if it takes longer than a call */
    double window_ns;  /* the first window; 0: a long one. Rank 0's value is used */
};

extern const char *const sg_bench_scheme_names[SG_BENCH_SCHEMES + 1]; /* ends with NULL */

/* clocks: of machine->now_ns, synchronised at least once; this synchronises it again from time to
 * time. *out is filled on rank 0, which clears it. SG_ERR_FORMAT: a result was wrong
 * (out->wrong_variant, on all ranks); other errors are of the exchange or memory, and logged. */
enum sg_status sg_bench_sample(const struct sg_bench_machine *machine,
                               const struct sg_bench_target *target, struct sg_clocksync *clocks,
                               const struct sg_bench_sampling *sampling,
                               struct sg_bench_samples *out);

/* ---- cold caches: empties the caches of operands and everything else before a call
 *
 * A sweep reads and writes twice as many bytes as the largest cache holds, which displaces the data
 * and code of the MPI library, the preloaded library and the program. Operands are flushed by
 * address where the processor has an instruction for that, because a cache need not displace the
 * oldest line first. Free of MPI; one sweep at a time.
 */

/* Returns the size of this machine's largest processor cache, in bytes; 0: unknown. */
size_t sg_bench_largest_cache(void);
/* Returns the bytes that displace a cache of that size: 64 to 256 MiB; unknown size: 64 MiB. */
size_t sg_bench_sweep_bytes(size_t cache_bytes);
/* Allocates the memory of sg_bench_sweep; SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_sweep_open(size_t size_bytes);
void sg_bench_sweep(void);
void sg_bench_sweep_close(void);
/* Flushes these bytes from all caches, unchanged; does nothing without an instruction for it. */
void sg_bench_flush(const void *data, size_t size_bytes);

#endif
