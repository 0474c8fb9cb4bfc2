/* Tests a request in vain, many times in a row; works for several times as long; and tests it again
 * until its message, which the rank sends to itself, is there. Each round prints the ns between the
 * end of its work and the test that found the message, or 0 if other processes took much of the
 * time of the work; at the end the number of tests and probes, and the ns that all took. Runs on
 * one rank.
 */
#include "mpi_test.h"

#define ROUNDS 40
#define IN_ROW 500
#define TIMES 6 /* the work takes so many times as long as the tests before it */

static long tests, probes;
static char sent, received;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Returns true if the thread had the processor for nearly all of the time. */
static bool work(uint64_t time_ns)
{
    uint64_t begin_ns = now_ns(CLOCK_MONOTONIC_RAW);
    uint64_t own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), passed_ns;

    do
        passed_ns = now_ns(CLOCK_MONOTONIC_RAW) - begin_ns;
    while (passed_ns < time_ns);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns > passed_ns / 10 * 9;
}

/* The tests of all rounds have one call site. */
static int test(MPI_Request *request)
{
    int found;

    MUST(MPI_Test(request, &found, MPI_STATUS_IGNORE));
    tests++;
    return found;
}

static void probe(void)
{
    int found;

    for (int i = 0; i < ROUNDS * IN_ROW; i++, probes++) {
        MUST(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        REQUIRE(!found);
    }
}

static void play_round(void)
{
    MPI_Request request;
    uint64_t begin_ns = now_ns(CLOCK_MONOTONIC_RAW), since_ns;
    bool worked;

    MUST(MPI_Irecv(&received, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request));
    for (int i = 0; i < IN_ROW; i++)
        REQUIRE(!test(&request));
    worked = work(TIMES * (now_ns(CLOCK_MONOTONIC_RAW) - begin_ns));
    since_ns = now_ns(CLOCK_MONOTONIC_RAW);
    for (int i = 0; i < IN_ROW; i++)
        REQUIRE(!test(&request));
    MUST(MPI_Send(&sent, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD));
    while (!test(&request))
        ;
    printf("round %lld\n", worked ? (long long)(now_ns(CLOCK_MONOTONIC_RAW) - since_ns) : 0);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    uint64_t begin_ns;

    START(rank, ranks);
    REQUIRE(ranks == 1);
    begin_ns = now_ns(CLOCK_MONOTONIC_RAW);
    for (int i = 0; i < ROUNDS; i++)
        play_round();
    probe();
    printf("all %ld %ld %lld\n", tests, probes,
           (long long)(now_ns(CLOCK_MONOTONIC_RAW) - begin_ns));
    MUST(MPI_Finalize());
    return 0;
}
