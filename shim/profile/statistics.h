/* Running statistics in the log: one entry per (site, communicator, operation, algorithm, arm
 * of a trial, size class), found by a table without locks, updated in place.
 *
 * Entries of one communicator are written by one thread at a time (MPI forbids concurrent
 * collectives on one), so plain loads and stores suffice; they are atomic for the readers.
 */
#ifndef SG_PROFILE_STATISTICS_H
#define SG_PROFILE_STATISTICS_H

#include "mpi/call.h"
#include "profile/site.h"

#include <stdint.h>

/* Adds one call; comm is this log's index. */
void sg_statistics_add(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                       const struct sg_call_statistics *statistics, uint64_t blocked_ns);

/* Times of a nonblocking call: in the call that starts it; then in waits and tests; the rest until
 * its completion. */
struct sg_nonblocking_times {
    uint64_t start_ns, exposed_ns, hidden_ns;
};

/* The same for a nonblocking call when its request is completed. Threads that complete requests of
 * one communicator take turns. */
void sg_statistics_add_nonblocking(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                                   const struct sg_call_statistics *statistics,
                                   const struct sg_nonblocking_times *times);

/* MPI_Pcontrol(2): all entries to zero. */
void sg_statistics_reset(void);

/* MPI_Pcontrol(3): writes DIR/interim-RANK-N.csv; N counts from 1. One line where that fails. */
void sg_statistics_write(void);

#endif
