/* Runs collectives without end, until a timer kills one rank at a moment drawn from a seed:
 *
 *     dying SEED [WORD]
 *
 * The timer may strike anywhere, now and then in MPI_Init. WORD serves to find the processes.
 */
#include "mpi_test.h"

#include <signal.h>
#include <sys/time.h>

#define COUNT 3000
#define LONGEST_US 40000
#define LONGEST_INIT_US 120000

static double mine[COUNT], sum[COUNT];

static unsigned draw(uint64_t *random, unsigned below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*random >> 33) % below;
}

static void on_timer(int signal)
{
    kill(getpid(), SIGKILL);
}

static void collective(unsigned kind, int size)
{
    int count = kind % 5 == 0 ? COUNT : (int)(kind % 7) + 1;

    if (kind % 3 == 0)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    else if (kind % 3 == 1)
        MUST(MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    else
        MUST(MPI_Reduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, (int)kind % size, MPI_COMM_WORLD));
}

static void set_timer(long moment_us)
{
    struct itimerval timer = {{0, 0}, {0, moment_us}};

    REQUIRE(signal(SIGALRM, on_timer) != SIG_ERR);
    REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

int main(int argc, char **argv)
{
    const char *launched_rank = getenv("PMI_RANK"); /* known before MPI_Init */
    const char *launched_size = getenv("PMI_SIZE");

    REQUIRE(argc >= 2 && launched_rank != NULL && launched_size != NULL);
    uint64_t random = strtoul(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15);
    int size = atoi(launched_size);
    unsigned victim = draw(&random, (unsigned)size);
    if (draw(&random, 5) == 0) {
        if (atoi(launched_rank) == (int)victim)
            set_timer(1 + draw(&random, LONGEST_INIT_US));
        MUST(MPI_Init(&argc, &argv));
    } else {
        MUST(MPI_Init(&argc, &argv));
        if (atoi(launched_rank) == (int)victim)
            set_timer(1 + draw(&random, LONGEST_US));
    }
    /* From here on all draw alike. */
    random = strtoul(argv[1], NULL, 10);
    for (;;)
        collective(draw(&random, 1000), size);
}
