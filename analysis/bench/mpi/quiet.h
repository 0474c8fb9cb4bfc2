/* Waits without using a processor: where there are more ranks than processors, ranks that wait in a
 * barrier would take processors from what is measured.
 *
 * The clock is CLOCK_MONOTONIC, which all ranks of one machine share, and which can be slept on.
 */
#ifndef SG_BENCH_MPI_QUIET_H
#define SG_BENCH_MPI_QUIET_H

#include <mpi.h>
#include <stdint.h>

uint64_t sg_bench_now_ns(void);

/* Returns at once if the time has passed. Signals do not end the sleep early. */
void sg_bench_sleep_until(uint64_t deadline_ns);

/* The time from a rank's message until all have received it, with a margin. */
uint64_t sg_bench_ahead_ns(int ranks);

/* Waits for it, asleep. */
void sg_bench_complete_quietly(MPI_Request *request);

/* The same for a long time: it wakes only a hundred times a second. */
void sg_bench_complete_idly(MPI_Request *request);

/* Like a barrier. The ranks may be on any machines. */
void sg_bench_wait_quietly(MPI_Comm comm);

#endif
