/* Blocking functions whose numbers tests/profile/test_mmds_figures.py knows, on 2 ranks or more:
 *
 *     known_mmds [threads|pcontrol|reset|kill]
 *
 * Every rank makes 34 such calls: 5 barriers, 7 broadcasts of 64 bytes, 4 MPI_Waitall for 40 bytes
 * from one neighbour and to the other, 3 MPI_Sendrecv of 8 bytes, 6 allreduces of 4 doubles, and 9
 * MPI_Wait: 3 for barriers, 6 for a persistent receive of 24 bytes from itself. Each prints these
 * times in ns: from MPI_Init to MPI_Finalize, measured first inside both and then around them; then
 * around its blocking functions; and those of a computation.
 *
 * threads: then a second thread makes 4 more. pcontrol: then 2 barriers that are not recorded.
 * reset: what came before them does not count. kill: then rank 1 kills itself.
 */
#include "mpi_test.h"

#include <pthread.h>
#include <signal.h>

static int rank, ranks;
static uint64_t blocking_ns;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define BLOCKING(call)                                                                             \
    do {                                                                                           \
        uint64_t begin_ns = now_ns();                                                              \
                                                                                                   \
        MUST(call);                                                                                \
        blocking_ns += now_ns() - begin_ns;                                                        \
    } while (0)

static uint64_t compute(void)
{
    uint64_t begin_ns = now_ns();

    while (now_ns() < begin_ns + 5000000)
        ;
    return now_ns() - begin_ns;
}

static void collectives(void)
{
    double mine[4] = {rank}, sum[4];
    char text[64] = "";
    MPI_Request request;

    for (int i = 0; i < 5; i++)
        BLOCKING(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 7; i++)
        BLOCKING(MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 6; i++)
        BLOCKING(MPI_Allreduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < 3; i++) {
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        BLOCKING(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void messages(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    char out[40] = "", in[40];
    MPI_Request requests[2];
    MPI_Status statuses[2];

    for (int i = 0; i < 4; i++) {
        MUST(MPI_Irecv(in, 40, MPI_CHAR, before, i, MPI_COMM_WORLD, &requests[0]));
        MUST(MPI_Isend(out, 40, MPI_CHAR, next, i, MPI_COMM_WORLD, &requests[1]));
        BLOCKING(MPI_Waitall(2, requests, statuses));
    }
    for (int i = 0; i < 3; i++)
        BLOCKING(MPI_Sendrecv(out, 8, MPI_CHAR, next, 9, in, 8, MPI_CHAR, before, 9, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
    MUST(MPI_Recv_init(in, 24, MPI_CHAR, rank, 11, MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Send_init(out, 24, MPI_CHAR, rank, 11, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 6; i++) {
        int done = 0;

        MUST(MPI_Startall(2, requests));
        BLOCKING(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        while (!done)
            MUST(MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE));
    }
    MUST(MPI_Request_free(&requests[0]));
    MUST(MPI_Request_free(&requests[1]));
}

static void *second(void *nothing)
{
    char out = 0, in;

    for (int i = 0; i < 4; i++)
        MUST(MPI_Sendrecv(&out, 1, MPI_CHAR, 0, 0, &in, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF,
                          MPI_STATUS_IGNORE));
    return nothing;
}

static void extra(const char *what)
{
    pthread_t thread;

    if (strcmp(what, "threads") == 0 && pthread_create(&thread, NULL, second, NULL) == 0)
        pthread_join(thread, NULL);
    if (strcmp(what, "pcontrol") == 0)
        MUST(MPI_Pcontrol(0));
    if (strcmp(what, "reset") == 0)
        MUST(MPI_Pcontrol(2));
    for (int i = 0; i < 2 && (strcmp(what, "pcontrol") == 0 || strcmp(what, "reset") == 0); i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (strcmp(what, "pcontrol") == 0)
        MUST(MPI_Pcontrol(1));
    if (strcmp(what, "kill") == 0 && rank == 1)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    uint64_t before_ns = now_ns(), begin_ns, end_ns, computed_ns;
    int provided;

    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    begin_ns = now_ns();
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    collectives();
    computed_ns = compute();
    messages();
    extra(argc > 1 ? argv[1] : "");
    end_ns = now_ns();
    MUST(MPI_Finalize());
    printf("rank %d: %llu %llu %llu %llu\n", rank, (unsigned long long)(end_ns - begin_ns),
           (unsigned long long)(now_ns() - before_ns), (unsigned long long)blocking_ns,
           (unsigned long long)computed_ns);
    return 0;
}
