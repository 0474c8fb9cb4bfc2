/* Rank 0 comes to each blocking call last, when all others have given their processors away in it:
 * where one does not, that call is named, and the program ends with status 3.
 *
 *     gives_way FILE
 *
 * FILE is made, in memory that the ranks share: how often each has yielded or slept.
 */
#include "mpi_test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { RANKS_MAX = 16, COUNT = 8, SECONDS = 20 };

static int rank, size;
static _Atomic long *yields;

/* In the place of the C library's, as is nanosleep. */
int sched_yield(void)
{
    if (yields != NULL)
        yields[rank]++;
    return (int)syscall(SYS_sched_yield);
}

int nanosleep(const struct timespec *while_ns, struct timespec *left)
{
    if (yields != NULL)
        yields[rank]++;
    return (int)syscall(SYS_nanosleep, while_ns, left);
}

static void be_late(const char *call)
{
    long before[RANKS_MAX];
    time_t end = time(NULL) + SECONDS;

    for (int i = 0; i < size; i++)
        before[i] = yields[i];
    for (int i = 1; i < size; i++) {
        while (yields[i] == before[i]) {
            if (time(NULL) > end) {
                fprintf(stderr, "%s: rank %d keeps its processor\n", call, i);
                _exit(3);
            }
            syscall(SYS_sched_yield);
        }
    }
}

/* Others wait for rank 0. The barrier before is over for all only when rank 0 has told so: what
 * they yield in it does not count. */
static void begin(const char *call)
{
    static _Atomic long *told;

    told = &yields[RANKS_MAX];
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != 0) {
        told[rank]++;
        return;
    }
    told[0]++;
    for (int i = 1; i < size; i++) {
        while (told[i] != told[0])
            syscall(SYS_sched_yield);
    }
    be_late(call);
}

static void send_all(int tag)
{
    for (int i = 1; i < size; i++)
        MUST(MPI_Send(&tag, 1, MPI_INT, i, tag, MPI_COMM_WORLD));
}

static void receive_all(int tag)
{
    int got;

    for (int i = 1; i < size; i++)
        MUST(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* others: what all but rank 0 call; zero: what rank 0 does then. */
#define TRY(name, zero, others)                                                                    \
    do {                                                                                           \
        begin(name);                                                                               \
        if (rank == 0)                                                                             \
            zero;                                                                                  \
        else                                                                                       \
            MUST(others);                                                                          \
    } while (0)
#define TRY_ALL(name, call) TRY(name, MUST(call), call)

static void try_messages(void)
{
    int got, index, done, value = 5;
    MPI_Request request;
    MPI_Message message;

    TRY("recv", send_all(1), MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY("ssend", receive_all(2), MPI_Ssend(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    TRY("probe", send_all(3), MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank != 0)
        MUST(MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY("mprobe", send_all(4), MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    if (rank != 0)
        MUST(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    TRY("sendrecv", (send_all(5), receive_all(5)),
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    TRY("sendrecv_replace", (send_all(6), receive_all(6)),
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 6, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
#define TRY_WAIT(name, tag, wait)                                                                  \
    do {                                                                                           \
        if (rank != 0)                                                                             \
            MUST(MPI_Irecv(&got, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &request));                   \
        TRY(name, send_all(tag), wait);                                                            \
    } while (0)
    TRY_WAIT("wait", 7, MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY_WAIT("waitall", 8, MPI_Waitall(1, &request, (MPI_Status[1]){{0}}));
    TRY_WAIT("waitany", 9, MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE));
    TRY_WAIT("waitsome", 10, MPI_Waitsome(1, &request, &done, &index, (MPI_Status[1]){{0}}));
}

static void try_collectives(void)
{
    int from[RANKS_MAX * COUNT] = {0}, into[RANKS_MAX * COUNT], counts[RANKS_MAX];
    int starts[RANKS_MAX];
    MPI_Comm copy;

    for (int i = 0; i < size; i++) {
        counts[i] = COUNT;
        starts[i] = i * COUNT;
    }
    TRY_ALL("barrier", MPI_Barrier(MPI_COMM_WORLD));
    TRY_ALL("bcast", MPI_Bcast(into, COUNT, MPI_INT, 0, MPI_COMM_WORLD));
    TRY_ALL("scatter", MPI_Scatter(from, COUNT, MPI_INT, into, COUNT, MPI_INT, 0, MPI_COMM_WORLD));
    TRY_ALL("scatterv",
            MPI_Scatterv(from, counts, starts, MPI_INT, into, COUNT, MPI_INT, 0, MPI_COMM_WORLD));
    TRY_ALL("allgather", MPI_Allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, MPI_COMM_WORLD));
    TRY_ALL("allgatherv",
            MPI_Allgatherv(from, COUNT, MPI_INT, into, counts, starts, MPI_INT, MPI_COMM_WORLD));
    TRY_ALL("alltoall", MPI_Alltoall(from, COUNT, MPI_INT, into, COUNT, MPI_INT, MPI_COMM_WORLD));
    TRY_ALL("alltoallv", MPI_Alltoallv(from, counts, starts, MPI_INT, into, counts, starts, MPI_INT,
                                       MPI_COMM_WORLD));
    TRY_ALL("allreduce", MPI_Allreduce(from, into, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    TRY_ALL("reduce_scatter",
            MPI_Reduce_scatter(from, into, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    TRY_ALL("scan", MPI_Scan(from, into, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    TRY_ALL("exscan", MPI_Exscan(from, into, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    TRY_ALL("comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    int file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(argc > 1 && size > 1 && size <= RANKS_MAX);
    file = open(argv[1], O_RDWR | O_CREAT, 0600);
    REQUIRE(file >= 0 && ftruncate(file, 2 * RANKS_MAX * sizeof *yields) == 0);
    yields =
        mmap(NULL, 2 * RANKS_MAX * sizeof *yields, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(yields != MAP_FAILED);
    try_messages();
    try_collectives();
    MPI_Finalize();
    return 0;
}
