/* Measures the synchronization delay of one operation, alone in its job: the time from the last
 * entry to the last exit when the last rank arrives 1 ms after the others, which sleep until then.
 * All ranks share one machine and its clock. Prints the median of ROUNDS calls, in us: bench_late
 * barrier|allreduce. All ranks sleep between two calls, so that nothing of the previous call
 * remains; stagger-bench, which measures several algorithms in turn, is not as quiet.
 */
#include "clock.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, WARM_ROUNDS = 20, ELEMENTS = 128 };
#define LATE_NS UINT64_C(1000000)
#define ROUND_NS UINT64_C(3000000)

static int is_allreduce;
static double own[ELEMENTS], sum[ELEMENTS];

static void call(void)
{
    if (is_allreduce)
        MPI_Allreduce(own, sum, ELEMENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static uint64_t entry_ns[ROUNDS], exit_ns[ROUNDS], last_entry_ns[ROUNDS], last_exit_ns[ROUNDS];
    static int64_t delay_ns[ROUNDS];
    uint64_t begin_ns = 0;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_allreduce = argc > 1 && strcmp(argv[1], "allreduce") == 0;
    for (int round = 0; round < WARM_ROUNDS; round++)
        call();
    if (rank == 0)
        begin_ns = now_ns() + 100 * LATE_NS;
    PMPI_Bcast(&begin_ns, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        sleep_until(begin_ns + (uint64_t)round * ROUND_NS + (rank == size - 1 ? LATE_NS : 0));
        entry_ns[round] = now_ns();
        call();
        exit_ns[round] = now_ns();
    }
    PMPI_Reduce(entry_ns, last_entry_ns, ROUNDS, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(exit_ns, last_exit_ns, ROUNDS, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int round = 0; round < ROUNDS; round++)
            delay_ns[round] = (int64_t)(last_exit_ns[round] - last_entry_ns[round]);
        qsort(delay_ns, ROUNDS, sizeof *delay_ns, by_value);
        printf("%.1f\n", (double)delay_ns[ROUNDS / 2] / 1e3);
    }
    MPI_Finalize();
    return 0;
}
