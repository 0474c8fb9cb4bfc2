/* Ranks that disagree on a communicator whose errors are not fatal. The calls that cannot be right
 * fail with the matching class and one call of the handler; all later calls are right.
 *
 *     disagree_errors HANDLER WAY...
 *
 * HANDLER is return, call (a function) or jump (a function that leaves the call by longjmp). WAY:
 *     bcast:ROOT,OTHER     rank 0 broadcasts ROOT integers, rank 1 expects OTHER
 *     allreduce:ONE,OTHER  rank 1 has another number of integers than all others
 *     reduce:ONE,OTHER     likewise in a reduce to the last rank
 *     root                 rank 0 reduces to rank 0, the others to rank 1
 *     operation            rank 0 in a barrier, the others in an allreduce
 * With an i before its name (ibcast:1,2) the call is nonblocking, and others follow it before it is
 * waited for.
 */
#include "mpi_test.h"

#include <setjmp.h>

static int rank, ranks;
static MPI_Comm comm;
static bool jumps, is_nonblocking;
static int handled, handled_class;
static jmp_buf before;

static void on_error(MPI_Comm *of, int *error, ...)
{
    REQUIRE(*of == comm || is_nonblocking);
    handled++;
    MUST(MPI_Error_class(*error, &handled_class));
    if (jumps)
        longjmp(before, 1);
}

/* ---- the ways ---- */

enum { ANY = -1, ANY_ERROR = -2 };

struct way {
    const char *name;
    int (*call)(int *values, int *results, int count);
    int (*error)(int own, int other); /* this rank's class */
};

/* Right calls behind one that may not be, before it is waited for: MPICH waits with the handler of
 * MPI_COMM_WORLD. */
static int wait_behind(MPI_Request *request)
{
    int mine = rank + 1, sum = 0, values[3000];
    MPI_Request requests[2];
    MPI_Status statuses[2];

    for (int at = 0; at < 3000; at++)
        values[at] = rank == ranks - 1 ? at : 0;
    MUST(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
    MUST(MPI_Ibcast(values, 3000, MPI_INT, ranks - 1, comm, &requests[1]));
    MUST(MPI_Barrier(comm));
    MUST(MPI_Waitall(2, requests, statuses));
    REQUIRE(sum == ranks * (ranks + 1) / 2);
    for (int at = 0; at < 3000; at++)
        REQUIRE(values[at] == at);
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int call_bcast(int *values, int *results, int count)
{
    int *buffer = rank == 0 ? values : results;
    MPI_Request request;

    if (!is_nonblocking)
        return MPI_Bcast(buffer, count, MPI_INT, 0, comm);
    MUST(MPI_Ibcast(buffer, count, MPI_INT, 0, comm, &request));
    return wait_behind(&request);
}

static int error_of_bcast(int root, int other)
{
    if (rank != 1)
        return MPI_SUCCESS;
    return root > other ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

static int call_allreduce(int *values, int *results, int count)
{
    MPI_Request request;

    if (!is_nonblocking)
        return MPI_Allreduce(values, results, count, MPI_INT, MPI_SUM, comm);
    MUST(MPI_Iallreduce(values, results, count, MPI_INT, MPI_SUM, comm, &request));
    return wait_behind(&request);
}

static int error_of_all(int own, int other)
{
    (void)own;
    (void)other;
    return ANY_ERROR;
}

static int reduce_to(int root, int *values, int *results, int count)
{
    MPI_Request request;

    if (!is_nonblocking)
        return MPI_Reduce(values, results, count, MPI_INT, MPI_SUM, root, comm);
    MUST(MPI_Ireduce(values, results, count, MPI_INT, MPI_SUM, root, comm, &request));
    return wait_behind(&request);
}

static int call_reduce(int *values, int *results, int count)
{
    return reduce_to(ranks - 1, values, results, count);
}

/* The root waits for all; others notice or do not. */
static int error_of_reduce(int own, int other)
{
    (void)own;
    (void)other;
    return rank == ranks - 1 ? ANY_ERROR : ANY;
}

static int call_root(int *values, int *results, int count)
{
    return reduce_to(rank == 0 ? 0 : 1, values, results, count);
}

static int error_of_root(int own, int other)
{
    (void)own;
    (void)other;
    return rank <= 1 ? MPI_ERR_ROOT : ANY;
}

static int call_operation(int *values, int *results, int count)
{
    MPI_Request request;

    if (rank > 0)
        return call_allreduce(values, results, count);
    if (!is_nonblocking)
        return MPI_Barrier(comm);
    MUST(MPI_Ibarrier(comm, &request));
    return wait_behind(&request);
}

static const struct way ways[] = {
    {"bcast", call_bcast, error_of_bcast},       {"allreduce", call_allreduce, error_of_all},
    {"reduce", call_reduce, error_of_reduce},    {"root", call_root, error_of_root},
    {"operation", call_operation, error_of_all},
};

/* ---- what comes of them ---- */

static void expect_right_calls(void)
{
    int mine = rank + 1, sum = 0, values[3000];

    for (int i = 0; i < 20; i++) {
        MUST(MPI_Barrier(comm));
        MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == ranks * (ranks + 1) / 2);
        for (int at = 0; at < 3000; at++)
            values[at] = rank == i % ranks ? at + i : 0;
        MUST(MPI_Bcast(values, 3000, MPI_INT, i % ranks, comm));
        for (int at = 0; at < 3000; at++)
            REQUIRE(values[at] == at + i);
        MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, i % ranks, comm));
        REQUIRE(rank != i % ranks || sum == ranks * (ranks + 1) / 2);
    }
}

static int class_of(int error)
{
    int class = MPI_SUCCESS;

    MUST(MPI_Error_class(error, &class));
    return class;
}

static int run(const struct way *way, int *values, int *results, int count)
{
    if (setjmp(before) != 0)
        return handled_class;
    return class_of(way->call(values, results, count));
}

static void try_way(const char *text, bool has_function)
{
    static int values[200000], results[200000];
    const struct way *way = ways;
    const char *numbers = strchr(text, ':');
    int counts[2] = {1, 1}, class, expected, own;

    is_nonblocking = text[0] == 'i';
    text += is_nonblocking;
    while (strncmp(text, way->name, strlen(way->name)) != 0)
        REQUIRE(++way < ways + sizeof ways / sizeof *ways);
    if (numbers != NULL)
        REQUIRE(sscanf(numbers, ":%d,%d", &counts[0], &counts[1]) == 2);
    own = counts[rank == 1];
    for (int i = 0; i < 200000; i++) {
        values[i] = i;
        results[i] = -1;
    }
    handled = 0;
    class = run(way, values, results, own);
    expected = way->error(counts[0], counts[1]);
    if (expected == ANY_ERROR ? class == MPI_SUCCESS : expected != ANY && class != expected) {
        fprintf(stderr, "rank %d, %s: class %d\n", rank, text, class);
        exit(1);
    }
    REQUIRE(handled == (has_function && class != MPI_SUCCESS));
    /* The root's data have arrived, and nothing is written past the buffer. */
    for (int i = 0; strcmp(way->name, "bcast") == 0 && rank > 0 && i < 200000; i++)
        REQUIRE(results[i] == (i < own && i < counts[0] ? i : -1));
    expect_right_calls();
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;

    REQUIRE(argc >= 3);
    bool has_function = strcmp(argv[1], "return") != 0;
    jumps = strcmp(argv[1], "jump") == 0;
    START(rank, ranks);
    if (has_function)
        MUST(MPI_Comm_create_errhandler(on_error, &handler));
    for (int i = 0; i < 2; i++) {
        comm = MPI_COMM_WORLD;
        if (i == 1)
            MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MUST(MPI_Comm_set_errhandler(comm, handler));
        MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
        expect_right_calls(); /* the first call of a communicator is MPICH's */
        for (int way = 2; way < argc; way++)
            try_way(argv[way], has_function);
        MUST(MPI_Barrier(comm));
    }
    MUST(MPI_Comm_free(&comm));
    MUST(MPI_Finalize());
    printf("rank %d is done\n", rank);
    return 0;
}
