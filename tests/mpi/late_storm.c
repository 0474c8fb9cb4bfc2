/* The library's signal at arbitrary moments:
 *
 *     late_storm FILE ROUNDS
 *
 * Once a process has the library's handler, a timer sends it the signal repeatedly while it is
 * inside malloc, stdio and MPI. Every rank is root, parent and leaf in turn. All results, buffers
 * and files must be right.
 */
#include "late.h"

#include <signal.h>
#include <sys/syscall.h>

#define SIGNAL 42 /* STAGGER_SIGNAL's default */
#define BLOCKS 64

#define PERIOD_NS 30000

static timer_t timer;
static bool storming;
static char name[4096];

/* A timer has one signal under way at most, so that the program gets on between them. */
static void start_storm(void)
{
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
    struct sigaction now;

    REQUIRE(sigaction(SIGNAL, NULL, &now) == 0);
    if (storming || now.sa_handler == SIG_DFL)
        return;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    REQUIRE(timer_settime(timer, 0, &period, NULL) == 0);
    storming = true;
}

static void use_malloc(int round)
{
    unsigned char *blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc((size_t)(i * 37 + round % 61 + 1));
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], i, (size_t)(i + 1));
    }
    for (int i = 0; i < BLOCKS; i += 2)
        blocks[i] = realloc(blocks[i], (size_t)(i * 301 + 7));
    for (int i = 0; i < BLOCKS; i++) {
        REQUIRE(blocks[i] != NULL && blocks[i][i] == i);
        free(blocks[i]);
    }
}

static void use_stdio(int round)
{
    FILE *file = fopen(name, "w+");
    double third;
    int got;

    REQUIRE(file != NULL);
    for (int i = 0; i < 50; i++)
        REQUIRE(fprintf(file, "%d %.17g\n", round + i, (round + i) / 3.0) > 0);
    rewind(file);
    for (int i = 0; i < 50; i++) {
        REQUIRE(fscanf(file, "%d %lf", &got, &third) == 2);
        REQUIRE(got == round + i && third == (round + i) / 3.0);
    }
    REQUIRE(fclose(file) == 0);
}

static void use_mpi(int round)
{
    int to = (late_rank + 1) % LATE_RANKS, from = (late_rank + LATE_RANKS - 1) % LATE_RANKS;
    int mine[600], theirs[600], sum;

    for (int i = 0; i < 600; i++)
        mine[i] = round * 1000 + late_rank + i;
    MUST(MPI_Sendrecv(mine, 600, MPI_INT, to, 0, theirs, 600, MPI_INT, from, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    for (int i = 0; i < 600; i++)
        REQUIRE(theirs[i] == round * 1000 + from + i);
    MUST(MPI_Allreduce(mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == LATE_RANKS * round * 1000 + 6);
}

static void compute(int round)
{
    start_storm();
    REQUIRE(pause() == -1); /* it is there */
    atomic_store(&late->free, round + 1);
    do {
        use_malloc(round);
        use_stdio(round);
    } while (atomic_load(&late->result) <= round);
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    MUST(MPI_Init(&argc, &argv));
    late_start(argv[1]);
    snprintf(name, sizeof name, "%s.%d", argv[1], late_rank);
    for (int round = 0; round < atoi(argv[2]); round++) {
        late_round(round, round % LATE_RANKS, compute);
        use_mpi(round);
        use_malloc(round);
    }
    REQUIRE(storming);
    MUST(MPI_Finalize()); /* in it, too */
    REQUIRE(timer_delete(timer) == 0);
    if (late_rank == 0)
        printf("finished\n");
    return 0;
}
