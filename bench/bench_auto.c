/* Measures the time that calls cost their ranks under a pattern of skew: bench_auto OPERATION
 * PATTERN CALLS.
 *
 *   alike     all compute for 2 us before each call
 *   late      the last rank computes for 20 us
 *   random    each rank up to 20 us, by a seed
 *   root      rank 0 for 20 us
 *   changing  the last rank, or the first in every other 1000 calls
 *
 * Prints the time in a call, averaged over ranks, in ns: the median and the mean of the calls after
 * the first 200, and the mean of all.
 */
#include "clock.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEARNING_CALLS = 200, CHANGE_CALLS = 1000, SHORT_NS = 2000, LONG_NS = 20000 };

static int rank, size;

static uint64_t work_ns(const char *pattern, int call)
{
    uint64_t random = ((uint64_t)call * 1009 + (uint64_t)rank) * UINT64_C(0x9e3779b97f4a7c15);
    int late = size - 1;

    if (strcmp(pattern, "random") == 0)
        return (random ^ random >> 31) % LONG_NS;
    if (strcmp(pattern, "root") == 0 ||
        (strcmp(pattern, "changing") == 0 && call / CHANGE_CALLS % 2 == 1))
        late = 0;
    return strcmp(pattern, "alike") != 0 && rank == late ? LONG_NS : SHORT_NS;
}

static void call(const char *operation)
{
    double own = rank, sum;

    if (strcmp(operation, "barrier") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(operation, "reduce") == 0)
        MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double mean(const double *values, int from, int to)
{
    double sum = 0;

    for (int i = from; i < to; i++)
        sum += values[i];
    return sum / (to - from);
}

int main(int argc, char **argv)
{
    double *own, *all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int calls = argc > 3 ? atoi(argv[3]) : 0;
    if (calls <= LEARNING_CALLS)
        return EXIT_FAILURE;
    own = malloc((size_t)calls * sizeof *own);
    all = malloc((size_t)calls * sizeof *all);
    if (own == NULL || all == NULL)
        return EXIT_FAILURE;
    call(argv[1]); /* sets the communicator up */
    for (int i = 0; i < calls; i++) {
        uint64_t begin_ns = now_ns(), end_ns = begin_ns + work_ns(argv[2], i);

        while (begin_ns < end_ns)
            begin_ns = now_ns();
        call(argv[1]);
        own[i] = (double)(now_ns() - begin_ns);
    }
    PMPI_Reduce(own, all, calls, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < calls; i++)
        all[i] /= size;
    if (rank == 0) {
        double of_all = mean(all, 0, calls), later = mean(all, LEARNING_CALLS, calls);
        int count = calls - LEARNING_CALLS;

        qsort(all + LEARNING_CALLS, (size_t)count, sizeof *all, by_value);
        printf("%.0f %.0f %.0f\n", all[LEARNING_CALLS + count / 2], later, of_all);
    }
    free(own);
    free(all);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
