/* Rank 0 waits in MPI_Recv for rank 1, which sleeps between its sends: first in its main thread,
 * then in threads of which each receives twice and has ended before the next begins. By its own
 * clock it measures the waits, and how long its threads were between the begin of their first call
 * and the end of their last: it prints "MAIN_NS THREADS_NS".
 */
#include "clock.h"
#include "mpi_test.h"

#include <inttypes.h>
#include <pthread.h>

enum { RECEIVES = 10, THREADS = 5 };

static void receive(void)
{
    MUST(MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void *work(void *sum)
{
    uint64_t from_ns = now_ns();

    receive();
    receive();
    *(uint64_t *)sum += now_ns() - from_ns;
    return NULL;
}

static void send_late(void)
{
    sleep_until(now_ns() + 30000000);
    MUST(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    uint64_t main_ns, threads_ns = 0;
    pthread_t thread;
    int provided, rank;

    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    REQUIRE(provided == MPI_THREAD_MULTIPLE);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; rank == 1 && i < RECEIVES + 2 * THREADS; i++)
        send_late();
    main_ns = now_ns();
    for (int i = 0; rank == 0 && i < RECEIVES; i++)
        receive();
    main_ns = now_ns() - main_ns;
    for (int i = 0; rank == 0 && i < THREADS; i++) {
        REQUIRE(pthread_create(&thread, NULL, work, &threads_ns) == 0);
        REQUIRE(pthread_join(thread, NULL) == 0);
    }
    MUST(MPI_Finalize());
    if (rank == 0)
        printf("%" PRIu64 " %" PRIu64 "\n", main_ns, threads_ns);
    return 0;
}
