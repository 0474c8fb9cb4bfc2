/* Waiting without using a processor: ranks that wait for one another in a barrier would take from
 * the others what is measured, where there are more ranks than processors.
 *
 * The clock is CLOCK_MONOTONIC, which all ranks of one machine share, and which can be slept by.
 */
#ifndef SG_BENCH_MPI_QUIET_H
#define SG_BENCH_MPI_QUIET_H

#include <mpi.h>
#include <stdint.h>

uint64_t sg_bench_now_ns(void);

/* At once where that has passed. Signals do not end it early. */
void sg_bench_sleep_until(uint64_t deadline_ns);

/* From a rank's word until all have heard it, with room to spare. */
uint64_t sg_bench_ahead_ns(int ranks);

/* Waits for it, asleep. */
void sg_bench_complete_quietly(MPI_Request *request);

/* As a barrier. Of any machines. */
void sg_bench_wait_quietly(MPI_Comm comm);

#endif
