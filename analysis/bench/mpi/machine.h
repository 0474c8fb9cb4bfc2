/* This machine and this MPI, for bench/host.h: PMPI, CLOCK_MONOTONIC_RAW, and waiting as exactly as
 * can be without keeping other ranks from the processors.
 *
 * What ranks say to each other beside measurements does not use a processor while they wait: more
 * ranks than processors would take from the others what is measured.
 */
#ifndef SG_BENCH_MPI_MACHINE_H
#define SG_BENCH_MPI_MACHINE_H

#include "bench/host.h"
#include "core/clocksync.h"

#include <mpi.h>
#include <stdbool.h>

/* Collective. quiet: all ranks, for our own words; node: those of this machine. What the tables
 * point to lives until sg_bench_machine_close. Errors are of the exchange or memory, and logged. */
enum sg_status sg_bench_machine_open(MPI_Comm quiet, MPI_Comm node,
                                     struct sg_bench_machine *machine,
                                     struct sg_clocksync **clocks);
void sg_bench_machine_close(struct sg_clocksync *clocks);

/* Whether ranks of some machine have to share processors: then nobody waits spinning. */
bool sg_bench_machine_is_oversubscribed(void);

#endif
