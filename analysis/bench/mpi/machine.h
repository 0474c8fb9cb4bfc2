/* This machine and this MPI, for bench/host.h: PMPI, CLOCK_MONOTONIC_RAW, and waiting as exactly as
 * possible without keeping other ranks from the processors.
 *
 * While ranks wait for each other's messages outside of measurements they use no processor: with
 * more ranks than processors they would disturb what is measured.
 */
#ifndef SG_BENCH_MPI_MACHINE_H
#define SG_BENCH_MPI_MACHINE_H

#include "bench/host.h"
#include "core/clocksync.h"

#include <mpi.h>
#include <stdbool.h>

/* Collective. quiet: all ranks, for the benchmark's own messages; node: those of this machine. What
 * the tables point to lives until sg_bench_machine_close. Errors are those of the exchange or
 * memory, and logged. */
enum sg_status sg_bench_machine_open(MPI_Comm quiet, MPI_Comm node,
                                     struct sg_bench_machine *machine,
                                     struct sg_clocksync **clocks);
/* Of two that are open, the inner one is in force, and is closed first. */
void sg_bench_machine_close(struct sg_clocksync *clocks);

/* Whether ranks of some machine share processors: then nobody waits spinning. */
bool sg_bench_machine_is_oversubscribed(void);

#endif
