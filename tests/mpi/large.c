/* Checked allreduces of many bytes, in which ranks read each other's memory.
 *
 *     large BYTES COUNT
 *
 * Each rank prints its process number, its parent's, and how often it was preempted.
 */
#include "mpi_test.h"

#include <sys/resource.h>

static struct own_counts counts;

int main(int argc, char **argv)
{
    int rank, ranks, count = atoi(argv[1]) / (int)sizeof(double), calls = atoi(argv[2]);
    double *own = malloc((size_t)count * sizeof *own), *sum = malloc((size_t)count * sizeof *sum);

    struct rusage usage;

    REQUIRE(own != NULL && sum != NULL);
    START(rank, ranks);
    printf("process %d of %d\n", (int)getpid(), (int)getppid());
    for (int call = 0; call < calls; call++) {
        for (int i = 0; i < count; i++)
            own[i] = rank + i + call;
        COUNTED(counts.allreduce,
                MPI_Allreduce(own, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < count; i++)
            REQUIRE(sum[i] == ranks * (i + call) + ranks * (ranks - 1) / 2);
    }
    free(own);
    free(sum);
    print_counts(rank, &counts);
    getrusage(RUSAGE_SELF, &usage);
    printf("left %ld\n", usage.ru_nivcsw);
    MUST(MPI_Finalize());
    return 0;
}
