/* A leaf tries to run thousands of reductions ahead of a parent that does not arrive:
 *
 *     internode_runahead REDUCTIONS LATE LEAF FILE
 *
 * Rank LATE arrives when there is a file of that name. Rank LEAF counts its completed reductions in
 * memory that both map, and the late rank prints the count at its arrival. At the end every rank
 * checks that it maps no more shared memory than before and that its own memory has not grown with
 * the reductions. All reductions are to rank 0.
 */
#include "mpi_test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define COUNT 100
/* More than what is kept of operands may take up, and of 10000 reductions less than all of them. */
#define GROWTH_BYTES (5 << 20)

static int rank, ranks;

/* Shared mappings of memory files. */
static long shared_bytes(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long low, high;
    char line[512], access[8];
    long sum = 0;

    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "memfd:") != NULL &&
            sscanf(line, "%lx-%lx %7s", &low, &high, access) == 3 && access[3] == 's')
            sum += (long)(high - low);
    fclose(maps);
    return sum;
}

static long own_bytes(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    REQUIRE(status != NULL);
    while (fgets(line, sizeof line, status) != NULL)
        sscanf(line, "RssAnon: %ld kB", &kib);
    fclose(status);
    REQUIRE(kib > 0);
    return kib * 1024;
}

static void reduce(int number)
{
    double mine[COUNT], sum[COUNT] = {0};

    for (int i = 0; i < COUNT; i++)
        mine[i] = (double)number * COUNT + i + rank;
    MUST(MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT && rank == 0; i++)
        REQUIRE(sum[i] == ranks * ((double)number * COUNT + i) + ranks * (ranks - 1) / 2);
}

int main(int argc, char **argv)
{
    _Atomic int *returned;
    MPI_Win window;
    MPI_Aint bytes;
    void *memory;
    int unit;

    REQUIRE(argc == 5);
    int reductions = atoi(argv[1]);
    int late = atoi(argv[2]);
    int leaf = atoi(argv[3]);
    START(rank, ranks);
    MUST(MPI_Win_allocate_shared(rank == leaf ? sizeof *returned : 0, sizeof *returned,
                                 MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    MUST(MPI_Win_shared_query(window, leaf, &bytes, &unit, &memory));
    returned = memory;
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* the first is MPICH's own */
    reduce(0);
    reduce(1);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    long shared = shared_bytes();
    long own = own_bytes();
    REQUIRE(shared > 0);
    if (rank == late) {
        wait_for_file(argv[4]);
        while (atomic_load(returned) == 0) /* another rank's wait may be reported first */
            sched_yield();
        printf("ahead %d\n", atomic_load(returned));
    }
    for (int i = 0; i < reductions; i++) {
        reduce(i);
        if (rank == leaf)
            atomic_fetch_add(returned, 1);
    }
    REQUIRE(shared_bytes() == shared);
    REQUIRE(own_bytes() - own < GROWTH_BYTES);
    MUST(MPI_Win_free(&window));
    MUST(MPI_Finalize());
    printf("rank %d finished, %ld shared bytes\n", rank, shared);
    return 0;
}
