/* Collectives whose results differ in their last bits when the order of folding changes, from call
 * sites that trials name. Each rank prints one line: a hash of all its results, and the calls that
 * it made.
 *
 *     trial ITERATIONS [posts|late]
 *
 *   common          allreduce, all ranks at one call site
 *   to_root         reduce to rank 0
 *   from_one/_rest  one allreduce, rank 0 at another call site than the others
 *   of_half         allreduce on a communicator of the even or the odd ranks
 *   own_operation   allreduce by an operation of the program's
 *   told            broadcast by one rank after the other
 *
 * posts: also posted, an MPI_Iallreduce, and told_later, an MPI_Ibcast. Sums are then exact in any
 * order, as needed between nodes, where protocols have their own orders. late: instead of all this,
 * a reduce in which the last rank is late, and a barrier.
 */
#include "mpi_test.h"

enum { COUNT = 3, LATE_US = 40000 };

static struct own_counts counts;
static uint64_t hash = 14695981039346656037u;
static int rank, size;

static void note(const double *values)
{
    const unsigned char *bytes = (const unsigned char *)values;

    for (size_t i = 0; i < COUNT * sizeof *values; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
}

/* Values of many magnitudes, so that the order of summing shows, unless sums are to be exact. */
static void operands(int iteration, int exact, double *values)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = (double)((rank + 3) * (iteration + 7) % 101) / (exact ? 1 : 7) *
                    (double)(1 << (rank * 5 + iteration + i) % 23);
}

__attribute__((noinline)) static void common(double *mine, double *sum)
{
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    note(sum);
}

__attribute__((noinline)) static void to_root(double *mine, double *sum)
{
    COUNTED(counts.reduce, MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        note(sum);
}

__attribute__((noinline)) static void from_one(double *mine, double *sum)
{
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    note(sum);
}

__attribute__((noinline)) static void from_rest(double *mine, double *sum)
{
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    note(sum);
}

__attribute__((noinline)) static void of_half(double *mine, double *sum, MPI_Comm half)
{
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, half));
    note(sum);
}

__attribute__((noinline)) static void own_operation(double *mine, double *sum, MPI_Op op)
{
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, op, MPI_COMM_WORLD));
    note(sum);
}

__attribute__((noinline)) static void posted(double *mine, double *sum)
{
    MPI_Request request;

    MUST(MPI_Iallreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note(sum);
}

/* Broadcasts the root's sum. */
__attribute__((noinline)) static void told(int iteration, double *sum)
{
    int root = iteration % size;

    sum[0] += rank;
    MUST(MPI_Bcast(sum, COUNT, MPI_DOUBLE, root, MPI_COMM_WORLD));
    note(sum);
}

__attribute__((noinline)) static void told_later(int iteration, double *sum)
{
    MPI_Request request;

    sum[1] += rank;
    MUST(MPI_Ibcast(sum, COUNT, MPI_DOUBLE, iteration % size, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note(sum);
}

static void sum_up(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void run(int iterations, int posts)
{
    double mine[COUNT], sum[COUNT];
    MPI_Comm half;
    MPI_Op op;

    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    MUST(MPI_Op_create(sum_up, 1, &op));
    for (int i = 0; i < iterations; i++) {
        operands(i, posts, mine);
        common(mine, sum);
        to_root(mine, sum);
        if (rank == 0)
            from_one(mine, sum);
        else
            from_rest(mine, sum);
        of_half(mine, sum, half);
        own_operation(mine, sum, op);
        told(i, sum);
        if (!posts)
            continue;
        posted(mine, sum);
        told_later(i, sum);
    }
    MUST(MPI_Op_free(&op));
    MUST(MPI_Comm_free(&half));
}

static void run_late(int iterations)
{
    double mine[COUNT], sum[COUNT];

    for (int i = 0; i < iterations; i++) {
        operands(i, 0, mine);
        if (rank == size - 1)
            usleep(LATE_US);
        to_root(mine, sum);
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    START(rank, size);
    REQUIRE(argc > 1);
    if (argc > 2 && strcmp(argv[2], "late") == 0)
        run_late(atoi(argv[1]));
    else
        run(atoi(argv[1]), argc > 2);
    printf("rank %d hash %016llx\n", rank, (unsigned long long)hash);
    print_counts(rank, &counts);
    MUST(MPI_Finalize());
    return 0;
}
