/* MPI_THREAD_MULTIPLE: on every rank four threads run concurrently, each with its own sequence of
 * collectives on its own communicator.
 */
#include "mpi_test.h"

#include <pthread.h>

enum { THREADS = 4 };

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int index, iterations;
    struct own_counts counts;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    int rank, size;

    MUST(MPI_Comm_rank(worker->comm, &rank));
    MUST(MPI_Comm_size(worker->comm, &size));
    for (int i = 0; i < worker->iterations; i++) {
        int mine = worker->index * 1000 + i, sum = -1, root = i % size;

        COUNTED(worker->counts.allreduce,
                MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, worker->comm));
        REQUIRE(sum == mine * size);
        COUNTED(worker->counts.barrier, MPI_Barrier(worker->comm));
        COUNTED(worker->counts.reduce,
                MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, root, worker->comm));
        REQUIRE(rank != root || sum == mine);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS] = {0};
    struct own_counts total = {0};
    int provided, rank;

    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    REQUIRE(provided == MPI_THREAD_MULTIPLE);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < THREADS; i++) {
        workers[i].index = i;
        workers[i].iterations = argc > 1 ? atoi(argv[1]) : 50;
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm));
    }
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_join(workers[i].thread, NULL) == 0);
        total.barrier += workers[i].counts.barrier;
        total.reduce += workers[i].counts.reduce;
        total.allreduce += workers[i].counts.allreduce;
        MUST(MPI_Comm_free(&workers[i].comm));
    }
    MUST(MPI_Finalize());
    print_counts(rank, &total);
    return 0;
}
