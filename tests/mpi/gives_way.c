/* Rank 0 enters each blocking call last, after all others have yielded their processors in it. If
 * one has not, the program names that call and ends with status 3.
 *
 *     gives_way FILE [session]
 *
 * The program creates FILE, memory that the ranks share, with the number of yields and sleeps of
 * each. session: in a session, without MPI_Init; it also ends with status 3 if any rank sleeps
 * there.
 */
#include "given.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { RANKS_MAX = 16, COUNT = 8, SECONDS = 200 };

static int rank, size;
static MPI_Comm comm;

/* Each rank has what it gave, as much before it announces the call, and its announcements. */
static struct {
    struct given given;
    _Atomic long before, told;
} * of;

static long given_by(int who)
{
    return of[who].given.yields + of[who].given.sleeps;
}

static void be_late(const char *call)
{
    time_t end = time(NULL) + SECONDS;

    for (int i = 1; i < size; i++) {
        while (given_by(i) == of[i].before) {
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
    MUST(MPI_Barrier(comm));
    of[rank].before = given_by(rank);
    of[rank].told++;
    if (rank != 0)
        return;
    for (int i = 1; i < size; i++) {
        while (of[i].told != of[0].told)
            syscall(SYS_sched_yield);
    }
    be_late(call);
}

static void send_all(int tag)
{
    for (int i = 1; i < size; i++)
        MUST(MPI_Send(&tag, 1, MPI_INT, i, tag, comm));
}

static void receive_all(int tag)
{
    int got;

    for (int i = 1; i < size; i++)
        MUST(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE));
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

    TRY("recv", send_all(1), MPI_Recv(&got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    TRY("ssend", receive_all(2), MPI_Ssend(&value, 1, MPI_INT, 0, 2, comm));
    TRY("probe", send_all(3), MPI_Probe(0, 3, comm, MPI_STATUS_IGNORE));
    if (rank != 0)
        MUST(MPI_Recv(&got, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE));
    TRY("mprobe", send_all(4), MPI_Mprobe(0, 4, comm, &message, MPI_STATUS_IGNORE));
    if (rank != 0)
        MUST(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    TRY("sendrecv", (send_all(5), receive_all(5)),
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
    TRY("sendrecv_replace", (send_all(6), receive_all(6)),
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 6, 0, 6, comm, MPI_STATUS_IGNORE));
#define TRY_WAIT(name, tag, wait)                                                                  \
    do {                                                                                           \
        if (rank != 0)                                                                             \
            MUST(MPI_Irecv(&got, 1, MPI_INT, 0, tag, comm, &request));                             \
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
    TRY_ALL("barrier", MPI_Barrier(comm));
    TRY_ALL("bcast", MPI_Bcast(into, COUNT, MPI_INT, 0, comm));
    TRY_ALL("scatter", MPI_Scatter(from, COUNT, MPI_INT, into, COUNT, MPI_INT, 0, comm));
    TRY_ALL("scatterv", MPI_Scatterv(from, counts, starts, MPI_INT, into, COUNT, MPI_INT, 0, comm));
    TRY_ALL("allgather", MPI_Allgather(from, COUNT, MPI_INT, into, COUNT, MPI_INT, comm));
    TRY_ALL("allgatherv",
            MPI_Allgatherv(from, COUNT, MPI_INT, into, counts, starts, MPI_INT, comm));
    TRY_ALL("alltoall", MPI_Alltoall(from, COUNT, MPI_INT, into, COUNT, MPI_INT, comm));
    TRY_ALL("alltoallv",
            MPI_Alltoallv(from, counts, starts, MPI_INT, into, counts, starts, MPI_INT, comm));
    TRY_ALL("allreduce", MPI_Allreduce(from, into, COUNT, MPI_INT, MPI_SUM, comm));
    TRY_ALL("reduce_scatter", MPI_Reduce_scatter(from, into, counts, MPI_INT, MPI_SUM, comm));
    TRY_ALL("scan", MPI_Scan(from, into, COUNT, MPI_INT, MPI_SUM, comm));
    TRY_ALL("exscan", MPI_Exscan(from, into, COUNT, MPI_INT, MPI_SUM, comm));
    TRY_ALL("comm_dup", MPI_Comm_dup(comm, &copy));
    MPI_Comm_free(&copy);
}

static void try_all(const char *name)
{
    const size_t bytes = RANKS_MAX * sizeof *of;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    REQUIRE(size > 1 && size <= RANKS_MAX);
    int file = open(name, O_RDWR | O_CREAT, 0600);
    REQUIRE(file >= 0 && ftruncate(file, bytes) == 0);
    of = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(of != MAP_FAILED);
    close(file);
    given_own = &of[rank].given;
    try_messages();
    try_collectives();
}

static void try_session(const char *name)
{
    MPI_Session sessions[2];
    MPI_Group group;

    for (int i = 0; i < 2; i++)
        MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[i]));
    /* The other one still needs MPICH. */
    MUST(MPI_Session_finalize(&sessions[0]));
    MUST(MPI_Group_from_session_pset(sessions[1], "mpi://WORLD", &group));
    MUST(MPI_Comm_create_from_group(group, "org.stagger.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                    &comm));
    MUST(MPI_Group_free(&group));
    try_all(name);
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Session_finalize(&sessions[1]));
    REQUIRE(of[rank].given.sleeps == 0);
}

int main(int argc, char **argv)
{
    REQUIRE(argc > 1);
    if (argc > 2) {
        try_session(argv[1]);
        return 0;
    }
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    try_all(argv[1]);
    MPI_Finalize();
    return 0;
}
