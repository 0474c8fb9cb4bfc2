/* MMDS, the monitoring of paper 001 (section 5.1): how a process spends its time. Computation
 * granularity is the time from leaving a blocking function to entering the next one; communication
 * overhead is the time inside one. Together they add up to the run time. Chosen functions also get
 * distributions of latency and bytes.
 *
 * A thread keeps its own figures in the log, without locks. Nothing is measured if STAGGER_MMDS is
 * off, this rank is not among STAGGER_MMDS_RANKS, or MPI_Pcontrol has switched recording off.
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

/* Call in MPI_Init, when the log is open. Rank 0 logs each glob that matches no function. */
void sg_mmds_start(void);
/* Call in MPI_Finalize. end_ns: when it was entered. */
void sg_mmds_stop(uint64_t end_ns);
/* MPI_Pcontrol switches recording on or off. */
void sg_mmds_switch(bool on);
/* Sets all figures to zero. */
void sg_mmds_reset(void);

/* Call the following only while it is on. */
void sg_mmds_add_call(const struct sg_profile_sample *sample, uint64_t begin_ns);
/* Adds the completion of a request that the function made. */
void sg_mmds_add_completion(enum sg_function function, uint64_t latency_ns, uint64_t bytes);
/* Adds a blocking collective that is not in the statistics of all calls. nested: it is inside a
 * call that is. */
void sg_mmds_add_collective(const struct sg_profile_sample *sample, uint64_t begin_ns, bool nested);

static inline bool sg_mmds_counts(void)
{
    return __builtin_expect(atomic_load_explicit(&sg_mmds_is_on, memory_order_relaxed), false);
}

#endif
