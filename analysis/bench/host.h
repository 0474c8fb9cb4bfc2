/* What a measurement needs of the machine, and of what it measures: two tables, so that the
 * measuring itself is free of MPI and is tested with clocks and collectives that are known.
 */
#ifndef SG_BENCH_HOST_H
#define SG_BENCH_HOST_H

#include "core/exchange.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_bench_machine {
    const struct sg_exchange *exchange;
    uint64_t (*now_ns)(void);               /* the local clock, which is the one synchronised */
    double (*processor_ns)(void);           /* spent by the process, all threads */
    void (*wait_until)(uint64_t local_ns);  /* as exactly as can be; at once where it has passed */
    void (*sleep_until)(uint64_t local_ns); /* without using a processor */
    void (*work)(uint64_t quanta);          /* uses one, and does nothing else */
    double quantum_ns;                      /* processor time of a quantum; 0: not known */
    uint64_t lead_ns;      /* from rank 0's word to a time that all ranks can be ready for */
    uint64_t tolerance_ns; /* wait_until is later than this seldom */
};

/* A collective, in several variants that are compared, numbered from 0. All ranks call together. */
struct sg_bench_target {
    /* Outside of what is timed: buffers of the round, and whether this rank's result is right. */
    void (*prepare)(void *context, int variant, uint64_t round);
    bool (*check)(void *context, int variant, uint64_t round);
    void (*call)(void *context, int variant);
    /* The same in parts; test says whether it is complete. NULL where there are none. */
    void (*start)(void *context, int variant);
    bool (*test)(void *context);
    void (*finish)(void *context);
    /* After every call: what it left over is done, and all variants begin in one state. */
    void (*settle)(void *context);
    /* Of the call that has just ended: what of its time was not computation. May be NULL. */
    void (*details)(void *context, double *overhead_ns, double *waited_ns);
    /* A barrier of the MPI library, for the scheme of that name. */
    void (*barrier)(void *context);
    void *context;
};

#endif
