/* Tests one thread level, given by name: collectives from the main thread and, from "serialized"
 * up, from other threads in succession.
 */
#include "mpi_test.h"

#include <pthread.h>

static struct own_counts counts;

static void *collectives(void *unused)
{
    int mine = 1, sum = 0, size;

    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == size);
    COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    return unused;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    int level = -1, provided, asked_again, rank, main_thread;

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (argc > 1 && strcmp(argv[1], levels[i].name) == 0)
            level = levels[i].level;
    }
    REQUIRE(level != -1);
    MUST(MPI_Init_thread(&argc, &argv, level, &provided));
    REQUIRE(provided == level);
    MUST(MPI_Query_thread(&asked_again));
    MUST(MPI_Is_thread_main(&main_thread));
    REQUIRE(asked_again == provided && main_thread);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    collectives(NULL);
    for (int i = 0; level >= MPI_THREAD_SERIALIZED && i < 3; i++) {
        pthread_t thread;

        REQUIRE(pthread_create(&thread, NULL, collectives, NULL) == 0);
        REQUIRE(pthread_join(thread, NULL) == 0);
    }
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
