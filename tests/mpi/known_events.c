/* Calls whose events tests/profile/events.sh knows, on 2 ranks. The argument names one of the
 * functions below, or is "killed": both ranks wait in MPI_Recv; rank 1 prints its process id.
 */
#include "mpi_test.h"

#include <pthread.h>
#include <setjmp.h>

/* Not a constant, which the compiler takes for the address of too small an array. */
static MPI_Status *volatile none = MPI_STATUSES_IGNORE;
static int rank;
static char data[4][100], other[4][100];

/* ---- messages ---- */

static void messages(void)
{
    int peer = 1 - rank, flag;

    if (rank == 0) {
        MUST(MPI_Send(data, 10, MPI_CHAR, 1, 7, MPI_COMM_WORLD));
        MUST(MPI_Ssend(data, 5, MPI_INT, 1, 8, MPI_COMM_WORLD));
    } else {
        MUST(MPI_Recv(data, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
        MUST(MPI_Probe(0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(MPI_Recv(data, 100, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    MUST(MPI_Sendrecv(data, 11 + rank, MPI_CHAR, peer, 9 + rank, other, 100, MPI_CHAR,
                      MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Sendrecv_replace(data, 13, MPI_CHAR, peer, 3, peer, 3, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
    MUST(MPI_Send(data, 10, MPI_CHAR, MPI_PROC_NULL, 7, MPI_COMM_WORLD));
    MUST(MPI_Recv(data, 10, MPI_CHAR, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Iprobe(peer, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE)); /* finds nothing */
    REQUIRE(!flag);
}

/* ---- requests ---- */

static void requests(void)
{
    MPI_Request request, two[2];
    int peer = 1 - rank, flag, index, done, indices[2];

    MUST(MPI_Isendrecv(data, 14, MPI_CHAR, peer, 5, other, 14, MPI_CHAR, peer, 5, MPI_COMM_WORLD,
                       &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Irecv(other[0], 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)); /* nothing */
    REQUIRE(!flag);
    MUST(MPI_Testsome(1, &request, &done, indices, none)); /* nothing */
    REQUIRE(done == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Isend(data, 15, MPI_CHAR, peer, 6, MPI_COMM_WORLD, &two[1]));
    two[0] = MPI_REQUEST_NULL;
    MUST(MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Irecv(data, 10, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Irecv(data, 10, MPI_CHAR, peer, 98, MPI_COMM_WORLD, &request));
    MUST(MPI_Cancel(&request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Isend(data, 16, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &request));
    MUST(MPI_Request_free(&request));
    MUST(MPI_Recv(other, 100, MPI_CHAR, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void persistent(void)
{
    MPI_Request both[2];

    MUST(MPI_Recv_init(other, 100, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &both[0]));
    MUST(MPI_Send_init(data, 10 + rank, MPI_CHAR, 1 - rank, 5, MPI_COMM_WORLD, &both[1]));
    MUST(MPI_Startall(2, both));
    MUST(MPI_Wait(&both[1], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&both[0], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&both[0], MPI_STATUS_IGNORE)); /* not active */
    MUST(MPI_Start(&both[0]));
    MUST(MPI_Start(&both[1]));
    MUST(MPI_Wait(&both[0], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&both[1], MPI_STATUS_IGNORE));
    MUST(MPI_Request_free(&both[0]));
    MUST(MPI_Request_free(&both[1]));
}

/* The message probed first is received last. */
static void probed(void)
{
    MPI_Message first, second, third = MPI_MESSAGE_NULL;
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        for (int i = 0; i < 3; i++)
            MUST(MPI_Send(data, 10 + i, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
        return;
    }
    MUST(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE));
    MUST(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE));
    while (!flag)
        MUST(MPI_Improbe(0, 1, MPI_COMM_WORLD, &flag, &third, MPI_STATUS_IGNORE));
    MUST(MPI_Mrecv(data, 100, MPI_CHAR, &third, MPI_STATUS_IGNORE));
    MUST(MPI_Imrecv(data, 100, MPI_CHAR, &first, &request));
    MUST(MPI_Mrecv(data, 100, MPI_CHAR, &second, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE));
    MUST(MPI_Mrecv(data, 100, MPI_CHAR, &first, MPI_STATUS_IGNORE));
}

/* ---- collectives ---- */

static void collectives(void)
{
    MPI_Request request;
    MPI_Comm comm;
    int sum, one = 1;

    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Bcast(data, 20, MPI_CHAR, 1, MPI_COMM_WORLD));
    MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MUST(MPI_Ibcast(data, 21, MPI_CHAR, 0, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Bcast_init(data, 22, MPI_CHAR, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int i = 0; i < 2; i++) {
        MUST(MPI_Start(&request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    MUST(MPI_Request_free(&request));
    MUST(MPI_Gather(data, 3, MPI_CHAR, other, 3, MPI_CHAR, 0, MPI_COMM_WORLD));
    /* Calls that one rank does not record still count in the order. */
    MUST(MPI_Pcontrol(rank == 0));
    MUST(MPI_Bcast(data, 23, MPI_CHAR, 0, MPI_COMM_WORLD));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Pcontrol(1));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_set_name(comm, "dup"));
    MUST(MPI_Bcast(data, 24, MPI_CHAR, 0, comm));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Bcast(data, 25, MPI_CHAR, 0, comm));
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Bcast(data, 26, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void between(void)
{
    MPI_Comm inter;
    int sum, one = 1;

    MUST(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 5, &inter));
    MUST(MPI_Comm_set_name(inter, "inter"));
    MUST(MPI_Bcast(data, 30, MPI_CHAR, rank == 1 ? MPI_ROOT : 0, inter));
    MUST(MPI_Barrier(inter));
    MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
    MUST(MPI_Sendrecv(data, 31, MPI_CHAR, 0, 1, other, 100, MPI_CHAR, 0, 1, inter,
                      MPI_STATUS_IGNORE));
    MUST(MPI_Comm_free(&inter));
}

static void windows(void)
{
    MPI_Comm comm;
    MPI_Win window;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_set_name(comm, "dup"));
    MUST(MPI_Win_create(other, sizeof other, 1, MPI_INFO_NULL, comm, &window));
    MUST(MPI_Win_fence(0, window));
    MUST(MPI_Put(data, 32, MPI_CHAR, 1 - rank, 0, 32, MPI_CHAR, window));
    MUST(MPI_Get(data, 8, MPI_INT, 1 - rank, 0, 8, MPI_INT, window));
    MUST(MPI_Win_fence(0, window));
    MUST(MPI_Win_free(&window));
    MUST(MPI_Comm_free(&comm));
}

/* ---- threads and errors ---- */

static void *send_one(void *argument)
{
    MUST(MPI_Send(data, 40, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD));
    return argument;
}

static void threads(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, send_one, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    MUST(MPI_Recv(other, 100, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static jmp_buf out;

static void leave(MPI_Comm *comm, int *error, ...)
{
    longjmp(out, 1);
}

static void errors(void)
{
    MPI_Errhandler handler;
    char one;

    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    REQUIRE(MPI_Send(data, 10, MPI_CHAR, 5, 7, MPI_COMM_WORLD) != MPI_SUCCESS);
    MUST(MPI_Comm_create_errhandler(leave, &handler));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    if (setjmp(out) == 0)
        MPI_Bcast(data, -1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MUST(MPI_Sendrecv(data, 1, MPI_CHAR, 1 - rank, 3, &one, 1, MPI_CHAR, 1 - rank, 3,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (setjmp(out) == 0)
        MPI_Bcast(data, -1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Bcast(data, 1, MPI_CHAR, 0, MPI_COMM_WORLD));
    MUST(MPI_Errhandler_free(&handler));
}

static void killed(void)
{
    if (rank == 1) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Recv(data, 100, MPI_CHAR, 1 - rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* More events than there is room for; few collectives. */
static void many(void)
{
    for (int i = 0; i < 20000; i++) {
        if (i % 1000 == 0)
            MUST(MPI_Barrier(MPI_COMM_WORLD));
        MUST(MPI_Sendrecv(data, 1, MPI_CHAR, 1 - rank, 0, other, 1, MPI_CHAR, 1 - rank, 0,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"messages", messages},
                 {"requests", requests},
                 {"persistent", persistent},
                 {"probed", probed},
                 {"collectives", collectives},
                 {"between", between},
                 {"windows", windows},
                 {"threads", threads},
                 {"errors", errors},
                 {"killed", killed},
                 {"many", many}};
    int required, provided, found = 0;

    REQUIRE(argc == 2);
    /* MPICH cannot be left by a jump where it has locks. */
    required = strcmp(argv[1], "errors") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MUST(MPI_Init_thread(&argc, &argv, required, &provided));
    REQUIRE(provided == required);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run();
            found = 1;
        }
    }
    REQUIRE(found);
    MUST(MPI_Finalize());
    return 0;
}
