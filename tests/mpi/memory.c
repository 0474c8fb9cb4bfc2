/* Many communicators of all ranks at once: prints how much of stagger's memory is mapped, and the
 * number in a file, the memory usage of a control group.
 *
 *     memory COMMUNICATORS [USAGE-FILE [nonblocking]]
 *
 * With "nonblocking" all reductions are nonblocking, for which the library provides no segment.
 * Rank 0 prints "start", "made" (with all communicators), "freed" and "again" (with one more), each
 * with the mapped bytes of stagger's segments and the number in the file.
 */
#include "mpi_test.h"

#include <sched.h>

static int rank, ranks;
static bool nonblocking;

static unsigned long mapped_bytes(void)
{
    unsigned long begin, end, bytes = 0;
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");

    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "/memfd:stagger") != NULL && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            bytes += end - begin;
    }
    fclose(maps);
    return bytes;
}

static unsigned long usage_bytes(const char *path)
{
    unsigned long bytes = 0;
    FILE *file = path != NULL ? fopen(path, "r") : NULL;

    if (file != NULL) {
        REQUIRE(fscanf(file, "%lu", &bytes) == 1);
        fclose(file);
    }
    return bytes;
}

static void show(const char *when, const char *path)
{
    if (rank == 0)
        printf("%s %lu %lu\n", when, mapped_bytes(), usage_bytes(path));
    fflush(stdout);
}

/* MPICH's own waits hold the processor for a turn of the scheduler, which with many ranks on few
 * processors takes minutes in all. */
static void complete(MPI_Request request)
{
    int done = 0;

    while (!done) {
        MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (!done)
            sched_yield();
    }
}

static void reduce(const int *from, int *to, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    if (nonblocking) {
        MUST(MPI_Ireduce(from, to, 1, MPI_INT, op, 0, comm, &request));
        complete(request);
    } else {
        MUST(MPI_Reduce(from, to, 1, MPI_INT, op, 0, comm));
    }
}

static MPI_Comm make(void)
{
    MPI_Request request;
    MPI_Comm comm;
    int one = 1, sum = 0;

    MUST(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    complete(request);
    if (nonblocking) {
        MUST(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
        complete(request);
    } else {
        MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    }
    REQUIRE(sum == ranks);
    return comm;
}

/* The first collective of a communicator was MPICH's own; these are the second and third. */
static void use(MPI_Comm comm, int value)
{
    int mine = value + rank, most = -1, sum = -1;

    reduce(&mine, &sum, MPI_SUM, comm);
    REQUIRE(sum == (rank == 0 ? ranks * value + ranks * (ranks - 1) / 2 : -1));
    reduce(&mine, &most, MPI_MAX, comm);
    REQUIRE(most == (rank == 0 ? value + ranks - 1 : -1));
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 20;
    const char *path = argc > 2 ? argv[2] : NULL;
    MPI_Comm *comms = malloc((size_t)count * sizeof *comms);

    nonblocking = argc > 3 && strcmp(argv[3], "nonblocking") == 0;
    REQUIRE(comms != NULL);
    START(rank, ranks);
    show("start", path);
    for (int i = 0; i < count; i++)
        comms[i] = make();
    for (int i = 0; i < count; i++)
        use(comms[i], i);
    show("made", path);
    for (int i = 0; i < count; i++)
        MUST(MPI_Comm_free(&comms[i]));
    show("freed", path);
    MPI_Comm again = make();
    use(again, 7);
    show("again", path);
    MUST(MPI_Comm_free(&again));
    free(comms);
    MUST(MPI_Finalize());
    return 0;
}
