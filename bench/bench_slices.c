/* Measures a barrier under buffered coscheduling when all ranks arrive at the same moment, at any
 * point of a slice: bench_slices SLICE_US ROUNDS. Prints the mean time from the last entry to the
 * last exit, in us. All ranks share one machine and its clock.
 */
#include "clock.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUND_SLICES 6
#define WARM_ROUNDS 20

/* Alike on all ranks. */
static uint64_t draw(uint64_t *random, uint64_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*random >> 33) % below;
}

int main(int argc, char **argv)
{
    uint64_t slice_ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000 : 500000;
    int rounds = argc > 2 ? atoi(argv[2]) : 500, rank;
    uint64_t begin_ns, random = 1, own[2], last[2], sum_ns = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_ns = now_ns() + NS_PER_S / 10;
    PMPI_Bcast(&begin_ns, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int round = 0; round < WARM_ROUNDS + rounds; round++) {
        sleep_until(begin_ns + (uint64_t)round * ROUND_SLICES * slice_ns + draw(&random, slice_ns));
        own[0] = now_ns();
        MPI_Barrier(MPI_COMM_WORLD);
        own[1] = now_ns();
        PMPI_Allreduce(own, last, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        if (round >= WARM_ROUNDS)
            sum_ns += last[1] - last[0];
    }
    if (rank == 0)
        printf("%.1f\n", (double)sum_ns / rounds / 1000);
    MPI_Finalize();
    return 0;
}
