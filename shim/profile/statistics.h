/* Running statistics of collectives in the log: one entry per (site, communicator, operation,
 * algorithm, trial candidate, size class), found in a lock-free table and updated in place.
 *
 * One thread at a time writes entries of a communicator (MPI forbids concurrent collectives on
 * one), so plain loads and stores suffice; they are atomic for the readers.
 */
#ifndef SG_PROFILE_STATISTICS_H
#define SG_PROFILE_STATISTICS_H

#include "mpi/call.h"
#include "profile/site.h"

#include <stdint.h>

/* Adds one call. comm: index in this log. */
void sg_statistics_add(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                       const struct sg_call_statistics *statistics, uint64_t blocked_ns);

/* Times of a nonblocking call: in the call that starts it, in waits and tests, and the rest until
 * its completion. */
struct sg_nonblocking_times {
    uint64_t start_ns, exposed_ns, hidden_ns;
};

/* Adds a nonblocking call when its request completes. Threads that complete requests of one
 * communicator take turns. */
void sg_statistics_add_nonblocking(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                                   const struct sg_call_statistics *statistics,
                                   const struct sg_nonblocking_times *times);

/* MPI_Pcontrol(2): sets all entries to zero. */
void sg_statistics_reset(void);

/* MPI_Pcontrol(3): writes DIR/interim-RANK-N.csv; N counts from 1. Logs one line on failure. */
void sg_statistics_write(void);

#endif
