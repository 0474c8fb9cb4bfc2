/* Reports wrong calls' errors: `wrong_calls HANDLER COMM CALL...` makes each call on the last rank,
 * under the communicator's handler: fatal, return, or handle, which prints the error's text when it
 * is called. Some calls are made on all ranks, which print their outcome. Of those, the ones named
 * met_ are wrong only on the last rank, for which the others do not wait. COMM is used (a
 * communicator that had collectives), first (the call is its first) or world.
 */
#include "mpi_test.h"

static MPI_Comm comm;
static int rank, size;
static int one, other,
    pair[4]; /* the same addresses in every run, but for where the program lies */
static MPI_Request request = MPI_REQUEST_NULL;
static const char *name; /* the call's */

static int alias_reduce(void)
{
    return MPI_Reduce(&one, &one, 1, MPI_INT, MPI_SUM, rank, comm);
}

static int alias_reduce_c(void)
{
    return MPI_Reduce_c(&one, &one, 1, MPI_INT, MPI_SUM, rank, comm);
}

static int alias_allreduce(void)
{
    return MPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, comm);
}

static int alias_allreduce_c(void)
{
    return MPI_Allreduce_c(&one, &one, 1, MPI_INT, MPI_SUM, comm);
}

static int alias_ireduce(void)
{
    return MPI_Ireduce(&one, &one, 1, MPI_INT, MPI_SUM, rank, comm, &request);
}

static int alias_iallreduce(void)
{
    return MPI_Iallreduce(&one, &one, 1, MPI_INT, MPI_SUM, comm, &request);
}

static int alias_iallreduce_c(void)
{
    return MPI_Iallreduce_c(&one, &one, 1, MPI_INT, MPI_SUM, comm, &request);
}

static int root_reduce(void)
{
    return MPI_Reduce(&one, &other, 1, MPI_INT, MPI_SUM, 77, comm);
}

static int root_ireduce(void)
{
    return MPI_Ireduce(&one, &other, 1, MPI_INT, MPI_SUM, 77, comm, &request);
}

static int count_allreduce(void)
{
    return MPI_Allreduce(&one, &other, -1, MPI_INT, MPI_SUM, comm);
}

static int count_reduce(void)
{
    return MPI_Reduce(&one, &other, -1, MPI_INT, MPI_SUM, 0, comm);
}

static int count_iallreduce(void)
{
    return MPI_Iallreduce(&one, &other, -1, MPI_INT, MPI_SUM, comm, &request);
}

static int null_send(void)
{
    return MPI_Allreduce(NULL, &other, 1, MPI_INT, MPI_SUM, comm);
}

static int null_receive(void)
{
    return MPI_Allreduce(&one, NULL, 1, MPI_INT, MPI_SUM, comm);
}

static int null_send_ireduce(void)
{
    return MPI_Ireduce(NULL, &other, 1, MPI_INT, MPI_SUM, rank, comm, &request);
}

static int bad_operation(void)
{
    return MPI_Allreduce(&one, &other, 1, MPI_FLOAT, MPI_BAND, comm);
}

static int bad_operation_iallreduce(void)
{
    return MPI_Iallreduce(&one, &other, 1, MPI_FLOAT, MPI_BAND, comm, &request);
}

static int no_operation(void)
{
    return MPI_Reduce(&one, &other, 1, MPI_INT, MPI_OP_NULL, 0, comm);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* An operation that was freed before the call, which MPICH does not look at. */
static MPI_Op freed(void)
{
    MPI_Op op;
    int mine = 1, sum = 2;

    MUST(MPI_Op_create(add, 1, &op));
    MUST(MPI_Reduce_local(&mine, &sum, 1, MPI_INT, op));
    REQUIRE(sum == 3);
    MPI_Op handle = op;
    MUST(MPI_Op_free(&op));
    return handle;
}

static int freed_reduce(void)
{
    return MPI_Reduce(&one, &other, 1, MPI_INT, freed(), 0, comm);
}

static int freed_allreduce(void)
{
    return MPI_Allreduce(&one, &other, 1, MPI_INT, freed(), comm);
}

static int freed_iallreduce(void)
{
    int error = MPI_Iallreduce(&one, &other, 1, MPI_INT, freed(), comm, &request);

    return error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int no_type(void)
{
    return MPI_Allreduce(&one, &other, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
}

static int no_request_ibarrier(void)
{
    return MPI_Ibarrier(comm, NULL);
}

static int no_request_ireduce(void)
{
    return MPI_Ireduce(&one, &other, 1, MPI_INT, MPI_SUM, 0, comm, NULL);
}

static int no_request_iallreduce(void)
{
    return MPI_Iallreduce(&one, &other, 1, MPI_INT, MPI_SUM, comm, NULL);
}

static int no_index_waitany(void)
{
    int error;

    MUST(MPI_Irecv(&other, 1, MPI_INT, rank, 5, comm, &request));
    error = MPI_Waitany(1, &request, NULL, MPI_STATUS_IGNORE);
    MUST(MPI_Send(&one, 1, MPI_INT, rank, 5, comm));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return error;
}

static int no_request_iallreduce_c(void)
{
    return MPI_Iallreduce_c(&one, &other, 1, MPI_INT, MPI_SUM, comm, NULL);
}

/* Three times, to three calls of the others. */
static int met_reduce(void)
{
    int error = MPI_SUCCESS;

    for (int i = 0; i < 3; i++)
        error =
            MPI_Reduce(&one, rank < size - 1 ? &other : &one, 1, MPI_INT, MPI_SUM, size - 1, comm);
    return error;
}

static int met_bcast(void)
{
    return MPI_Bcast(rank < size - 1 ? &other : NULL, 1, MPI_INT, 0, comm);
}

/* Wrong on all ranks, which then wait for the last one, the reduce's root. */
static int lone_reduce(void)
{
    int error = MPI_Reduce(&one, &other, 1, MPI_INT, MPI_REPLACE, size - 1, comm);

    MUST(MPI_Error_class(error, &error));
    REQUIRE(error == MPI_ERR_OP);
    error = MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_REPLACE, comm);
    MUST(MPI_Bcast(&other, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    return error;
}

/* The last rank's type is not committed: pairs have no holes, columns have. */
static int broadcast_of(bool has_holes, bool waits)
{
    MPI_Datatype type;

    if (has_holes)
        MUST(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    else
        MUST(MPI_Type_contiguous(2, MPI_INT, &type));
    int error = waits ? MPI_Bcast(pair, 1, type, rank, comm)
                      : MPI_Ibcast(pair, 1, type, rank, comm, &request);
    MUST(MPI_Type_free(&type));
    return error;
}

static int unready_pair(void)
{
    return broadcast_of(false, true);
}

static int unready_columns(void)
{
    return broadcast_of(true, true);
}

static int unready_pair_ibcast(void)
{
    return broadcast_of(false, false);
}

static int unready_columns_ibcast(void)
{
    return broadcast_of(true, false);
}

static const struct {
    const char *name;
    int (*call)(void);
} calls[] = {
    {"alias_reduce", alias_reduce},
    {"alias_reduce_c", alias_reduce_c},
    {"alias_allreduce", alias_allreduce},
    {"alias_allreduce_c", alias_allreduce_c},
    {"alias_ireduce", alias_ireduce},
    {"alias_iallreduce", alias_iallreduce},
    {"alias_iallreduce_c", alias_iallreduce_c},
    {"root_reduce", root_reduce},
    {"root_ireduce", root_ireduce},
    {"count_allreduce", count_allreduce},
    {"count_reduce", count_reduce},
    {"count_iallreduce", count_iallreduce},
    {"null_send", null_send},
    {"null_receive", null_receive},
    {"null_send_ireduce", null_send_ireduce},
    {"bad_operation", bad_operation},
    {"bad_operation_iallreduce", bad_operation_iallreduce},
    {"no_operation", no_operation},
    {"freed_reduce", freed_reduce},
    {"freed_allreduce", freed_allreduce},
    {"freed_iallreduce", freed_iallreduce},
    {"met_reduce", met_reduce},
    {"met_bcast", met_bcast},
    {"lone_reduce", lone_reduce},
    {"unready_pair", unready_pair},
    {"unready_columns", unready_columns},
    {"unready_pair_ibcast", unready_pair_ibcast},
    {"unready_columns_ibcast", unready_columns_ibcast},
    {"no_type", no_type},
    {"no_request_ibarrier", no_request_ibarrier},
    {"no_request_ireduce", no_request_ireduce},
    {"no_request_iallreduce", no_request_iallreduce},
    {"no_request_iallreduce_c", no_request_iallreduce_c},
    {"no_index_waitany", no_index_waitany},
};

static void say(const char *who, int error)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    MUST(MPI_Error_string(error, text, &length));
    printf("%s: %s: %s\n", name, who, text);
    fflush(stdout);
}

static void on_error(MPI_Comm *of, int *error, ...)
{
    REQUIRE(*of == comm || *of == MPI_COMM_WORLD);
    say(*of == comm ? "handler" : "handler of the world", *error);
}

static void use(void)
{
    int mine = 1, sum = 0;
    MPI_Request own;

    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size);
    MUST(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &own));
    MUST(MPI_Wait(&own, MPI_STATUS_IGNORE));
    REQUIRE(sum == size);
}

static void set_handler(const char *way)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

    if (strcmp(way, "return") == 0)
        handler = MPI_ERRORS_RETURN;
    else if (strcmp(way, "handle") == 0)
        MUST(MPI_Comm_create_errhandler(on_error, &handler));
    MUST(MPI_Comm_set_errhandler(comm, handler));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
}

static void run(const char *way, const char *of)
{
    bool by_all = strncmp(name, "freed_", 6) == 0 || strncmp(name, "met_", 4) == 0 ||
                  strncmp(name, "lone_", 5) == 0;
    size_t i = 0;

    while (strcmp(name, calls[i].name) != 0)
        REQUIRE(++i < sizeof calls / sizeof *calls);
    comm = MPI_COMM_WORLD;
    if (strcmp(of, "world") != 0)
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    set_handler(way);
    if (strcmp(of, "first") != 0)
        use();
    one = rank + 1;
    other = 0;
    if (by_all || rank == size - 1)
        say("returned", calls[i].call());
    if (by_all)
        printf("%s: rank %d has %d\n", name, rank, other);
    use();
    if (comm != MPI_COMM_WORLD)
        MUST(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    REQUIRE(argc > 3);
    START(rank, size);
    for (int i = 3; i < argc; i++) {
        name = argv[i];
        run(argv[1], argv[2]);
    }
    MUST(MPI_Finalize());
    return 0;
}
