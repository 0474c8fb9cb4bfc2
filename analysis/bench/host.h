/* What a measurement needs: a table of functions of the machine, and one of what is measured. So
 * the measuring code is free of MPI, and is tested with known clocks and collectives.
 */
#ifndef SG_BENCH_HOST_H
#define SG_BENCH_HOST_H

#include "core/exchange.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
