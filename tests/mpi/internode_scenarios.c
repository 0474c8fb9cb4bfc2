/* Reductions whose calls are made in a given order:
 *
 *     internode_scenarios STEP...
 *
 * Each step is RANK or RANK/ROOT: that rank calls its next MPI_Reduce, to that root (else to rank
 * 0), when the previous step's call has returned. "RANK/ROOT&": the next step does not wait for the
 * return; for a root whose result others have yet to contribute to. The n-th calls of all ranks
 * form one reduction and so name one root; every rank makes equally many. Results are checked at
 * the roots.
 */
#include "mpi_test.h"

#define COUNT 16 /* more than the smallest eager= */

struct step {
    int rank, root;
    bool passes; /* the turn is given on before the call */
};

static int rank, ranks, done;
static MPI_Comm turns;

static struct step read_step(const char *text)
{
    struct step step = {.rank = -1};
    char *end;

    step.rank = (int)strtol(text, &end, 10);
    if (*end == '/')
        step.root = (int)strtol(end + 1, &end, 10);
    step.passes = *end == '&';
    REQUIRE(step.rank >= 0 && step.rank < ranks && step.root < ranks);
    return step;
}

/* Passes the turn to another step's rank. Sends to itself are safe: they are small. */
static void give_turn(int to)
{
    MUST(MPI_Send(NULL, 0, MPI_INT, to, 0, turns));
}

static void reduce(int root)
{
    double mine[COUNT], sum[COUNT] = {0};

    for (int i = 0; i < COUNT; i++)
        mine[i] = 1000 * done + (rank + 1) * (i + 1);
    MUST(MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT && rank == root; i++)
        REQUIRE(sum[i] == 1000.0 * done * ranks + ranks * (ranks + 1) / 2 * (i + 1));
    done++;
}

static void run(const struct step *step, const struct step *next, bool first)
{
    if (step->rank != rank)
        return;
    if (!first)
        MUST(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, turns, MPI_STATUS_IGNORE));
    if (step->passes && next != NULL)
        give_turn(next->rank);
    reduce(step->root);
    if (!step->passes && next != NULL)
        give_turn(next->rank);
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &turns));
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* the first is MPICH's own */
    for (int i = 1; i < argc; i++) {
        struct step step = read_step(argv[i]), next = {0};

        if (i + 1 < argc)
            next = read_step(argv[i + 1]);
        run(&step, i + 1 < argc ? &next : NULL, i == 1);
    }
    MUST(MPI_Comm_free(&turns));
    MUST(MPI_Finalize());
    printf("rank %d: %d reductions\n", rank, done);
    return 0;
}
