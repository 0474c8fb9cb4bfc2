/* Repeats collectives, each kind on its own communicator of all ranks:
 *
 *     repeat barrier|tested|allreduce|reduce|bcast|@FILE[,...] CALLS [ROOT [ELEMENTS]]
 *
 * @FILE: it waits until that file exists, and rank 0 announces the wait. "tested" is MPI_Ibarrier,
 * completed by MPI_Test alone. Results are checked. Rank 0 announces when the first collectives are
 * over. Some barriers have a late rank, each rank in turn, which must not find a word of a rank
 * that has already left.
 */
#include "mpi_test.h"

#define CHECKED_EVERY 10
#define LOOKS 200
#define ELEMENTS_MAX 65536

static int rank, ranks;
static MPI_Comm all, words;

/* This rank is late, and looks all the while. */
static void be_late(int tag)
{
    int there;

    for (int i = 0; i < LOOKS; i++) {
        MUST(MPI_Iprobe(MPI_ANY_SOURCE, tag, words, &there, MPI_STATUS_IGNORE));
        REQUIRE(!there);
    }
}

static void barrier(long call, int root)
{
    int late = (int)(call / CHECKED_EVERY % ranks), tag = (int)(call / CHECKED_EVERY % 1000);

    (void)root;
    if (call % CHECKED_EVERY != 0) {
        MUST(MPI_Barrier(all));
        return;
    }
    if (rank == late)
        be_late(tag);
    MUST(MPI_Barrier(all));
    if (rank != late)
        MUST(MPI_Send(NULL, 0, MPI_INT, late, tag, words));
    for (int i = 1; i < ranks && rank == late; i++)
        MUST(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, tag, words, MPI_STATUS_IGNORE));
}

static void tested(long call, int root)
{
    MPI_Request request;
    int done = 0;

    (void)root;
    if (call == 1) /* between machines a call that waits connects the ranks */
        MUST(MPI_Barrier(all));
    MUST(MPI_Ibarrier(all, &request));
    while (!done)
        MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
}

static int elements = 1;
static double own[ELEMENTS_MAX], result[ELEMENTS_MAX];

static void fill(long call)
{
    for (int i = 0; i < elements; i++)
        own[i] = (double)call + rank + i;
}

static void check_sums(long call)
{
    for (int i = 0; i < elements; i++)
        REQUIRE(result[i] == ranks * ((double)call + i) + ranks * (ranks - 1) / 2.0);
}

static void allreduce(long call, int root)
{
    (void)root;
    fill(call);
    MUST(MPI_Allreduce(own, result, elements, MPI_DOUBLE, MPI_SUM, all));
    check_sums(call);
}

static void reduce(long call, int root)
{
    fill(call);
    MUST(MPI_Reduce(own, result, elements, MPI_DOUBLE, MPI_SUM, root, all));
    if (rank == root)
        check_sums(call);
}

static void bcast(long call, int root)
{
    fill(call);
    MUST(MPI_Bcast(own, elements, MPI_DOUBLE, root, all));
    for (int i = 0; i < elements; i++)
        REQUIRE(own[i] == (double)call + root + i);
}

static const struct {
    const char *name;
    void (*run)(long call, int root);
} operations[] = {{"barrier", barrier},
                  {"tested", tested},
                  {"allreduce", allreduce},
                  {"reduce", reduce},
                  {"bcast", bcast}};

static void repeat(const char *name, long calls, int root)
{
    size_t which = 0;

    while (which < sizeof operations / sizeof *operations &&
           strcmp(operations[which].name, name) != 0)
        which++;
    REQUIRE(which < sizeof operations / sizeof *operations);
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &all));
    if (strcmp(name, "reduce") == 0)
        MUST(MPI_Barrier(all)); /* sets it up */
    for (long call = 1; call <= calls; call++) {
        operations[which].run(call, root);
        if (rank == 0 && call == CHECKED_EVERY) {
            printf("goes on\n");
            fflush(stdout);
        }
    }
    MUST(MPI_Comm_free(&all));
    printf("rank %d: %ld calls of %s\n", rank, calls, name);
}

static void await(const char *file)
{
    if (rank == 0) {
        printf("waits\n");
        fflush(stdout);
    }
    wait_for_file(file);
}

int main(int argc, char **argv)
{
    char *rest;

    REQUIRE(argc >= 3);
    elements = argc > 4 ? atoi(argv[4]) : 1;
    REQUIRE(elements >= 1 && elements <= ELEMENTS_MAX);
    START(rank, ranks);
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &words));
    for (char *name = strtok_r(argv[1], ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (name[0] == '@')
            await(name + 1);
        else
            repeat(name, atol(argv[2]), argc > 3 ? atoi(argv[3]) : 0);
    }
    MUST(MPI_Comm_free(&words));
    MUST(MPI_Finalize());
    return 0;
}
