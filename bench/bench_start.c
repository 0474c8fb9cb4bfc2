/* Measures MPI_Init, MPI_Finalize, and communicators that are made for few calls. Prints on rank 0
 * "NAME seconds" lines: init, finalize; with an argument, its number of repetitions, instead of
 * finalize: once (duplicate, allreduce, free) and alive (the allreduce of each of as many
 * communicators, all alive), a communicator each.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(int count, int rank)
{
    MPI_Comm *comms = calloc((size_t)count, sizeof *comms);
    double begin_s = now_s(), once_s, alive_s;
    int own = 1, sum;

    for (int i = 0; i < count; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
        MPI_Comm_free(&comms[0]);
    }
    once_s = now_s() - begin_s;
    for (int i = 0; i < count; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    begin_s = now_s();
    for (int i = 0; i < count; i++)
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
    alive_s = now_s() - begin_s;
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comms[i]);
    if (rank == 0)
        printf("once %.9f\nalive %.9f\n", once_s / count, alive_s / count);
    free(comms);
}

int main(int count, char **arguments)
{
    double begin_s = now_s(), init_s;
    int rank;

    MPI_Init(NULL, NULL);
    init_s = now_s() - begin_s;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count > 1)
        measure(atoi(arguments[1]), rank);
    begin_s = now_s();
    MPI_Finalize();
    if (rank == 0 && count == 1)
        printf("init %.6f\nfinalize %.6f\n", init_s, now_s() - begin_s);
    return 0;
}
