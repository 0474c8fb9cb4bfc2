/* MMDS, the monitoring of paper 001 (section 5.1): where a process's time goes. Computation
 * granularity is the time from leaving a blocking function to entering the next one, communication
 * overhead the time inside one; so the two add up to the run time. Of chosen functions the
 * distributions of latency and bytes are kept, too.
 *
 * A thread keeps its own, in the log, without locks. Nothing happens where STAGGER_MMDS is off, or
 * this rank is not among STAGGER_MMDS_RANKS, and while MPI_Pcontrol has switched recording off.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_MMDS_H
#define SG_PROFILE_MMDS_H

#include "profile/entries.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern atomic_bool sg_mmds_is_on;

/* In MPI_Init, when the log is there. Rank 0 names in a line each glob of no function. */
void sg_mmds_start(void);
/* In MPI_Finalize, entered at end_ns. */
void sg_mmds_stop(uint64_t end_ns);
/* MPI_Pcontrol: recording is switched on or off. */
void sg_mmds_switch(bool on);
/* All to zero. */
void sg_mmds_reset(void);

/* The following only while it is on. */
void sg_mmds_add_call(const struct sg_profile_sample *sample, uint64_t begin_ns);
/* Of what a call of the function had begun. */
void sg_mmds_add_completion(enum sg_function function, uint64_t latency_ns, uint64_t bytes);
/* A blocking collective that is not in the statistics of all calls. nested: it is part of a call
 * that is. */
void sg_mmds_add_collective(const struct sg_profile_sample *sample, uint64_t begin_ns, bool nested);

static inline bool sg_mmds_counts(void)
{
    return __builtin_expect(atomic_load_explicit(&sg_mmds_is_on, memory_order_relaxed), false);
}

#endif
