/* Calls that go to MPICH whatever the rules say, beside similar calls that do not. The functions'
 * names tell the script which is which:
 *
 *     fallbacks
 *
 * To MPICH go derived types with the user's operations, types of MPI_Type_create_f90_real, calls
 * without elements, and logical operations on Fortran's reals, which some MPICHs neither refuse nor
 * do. Large counts, the user's operations on predefined types, and an operation freed as soon as
 * the call returns are the library's. The program skips cases that its MPICH lacks or refuses
 * itself, and prints a line for each.
 */
#include "mpi_test.h"
#include "predefined.h"

#define COUNT 700 /* pairs: beyond MPICH's switch */

static struct own_counts counts;
static int rank, ranks;

/* (a, b) then (c, d): x -> c (a x + b) + d. Associative, not commutative, and exact. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint64_t *left = in;
    uint64_t *right = inout;
    int pairs = *type == MPI_UINT64_T ? *count / 2 : *count;

    for (int i = 0; i < pairs; i++) {
        right[2 * i + 1] += right[2 * i] * left[2 * i + 1];
        right[2 * i] *= left[2 * i];
    }
}

static uint64_t part(int r, int i)
{
    return (uint64_t)(r + 2) * 2654435761u + (uint64_t)i;
}

static void fill(uint64_t *pairs)
{
    for (int i = 0; i < 2 * COUNT; i++)
        pairs[i] = part(rank, i);
}

static void check(const uint64_t *got)
{
    for (int i = 0; i < COUNT; i++) {
        uint64_t a = 1, b = 0;

        for (int r = 0; r < ranks; r++) {
            b = b * part(r, 2 * i) + part(r, 2 * i + 1);
            a *= part(r, 2 * i);
        }
        REQUIRE(got[2 * i] == a && got[2 * i + 1] == b);
    }
}

static void derived_type(void)
{
    uint64_t mine[2 * COUNT], got[2 * COUNT];
    MPI_Datatype pair;
    MPI_Op op;

    MUST(MPI_Type_contiguous(2, MPI_UINT64_T, &pair));
    MUST(MPI_Type_commit(&pair));
    MUST(MPI_Op_create(compose, 0, &op));
    fill(mine);
    COUNTED(counts.allreduce, MPI_Allreduce(mine, got, COUNT, pair, op, MPI_COMM_WORLD));
    check(got);
    for (int root = 0; root < ranks; root++) {
        COUNTED(counts.reduce, MPI_Reduce(mine, got, COUNT, pair, op, root, MPI_COMM_WORLD));
        if (rank == root)
            check(got);
    }
    MUST(MPI_Op_free(&op));
    MUST(MPI_Type_free(&pair));
}

static void freed_operation(void)
{
    uint64_t mine[2 * COUNT], got[2 * COUNT];

    fill(mine);
    for (int root = 0; root < ranks; root++) {
        MPI_Op op;

        MUST(MPI_Op_create(compose, 0, &op));
        COUNTED(counts.reduce,
                MPI_Reduce(mine, got, 2 * COUNT, MPI_UINT64_T, op, root, MPI_COMM_WORLD));
        MUST(MPI_Op_free(&op));
        if (rank == root)
            check(got);
    }
}

/* An MPICH that is built without Fortran has none. */
int MPI_Type_create_f90_real(int precision, int range, MPI_Datatype *type) __attribute__((weak));

static void leave_out(const char *what, const char *why)
{
    if (rank == 0)
        printf("skip - %s: this MPICH %s\n", what, why);
}

static void fortran_real(void)
{
    double mine[3] = {rank, 2.0 * rank, 1}, sum[3];
    MPI_Datatype real;

    if (MPI_Type_create_f90_real == NULL) {
        leave_out("fortran real", "has no MPI_Type_create_f90_real");
        return;
    }
    MUST(MPI_Type_create_f90_real(15, 300, &real));
    COUNTED(counts.allreduce, MPI_Allreduce(mine, sum, 3, real, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum[0] == ranks * (ranks - 1) / 2.0 && sum[1] == 2 * sum[0] && sum[2] == ranks);
    COUNTED(counts.reduce, MPI_Reduce(mine, sum, 3, real, MPI_MAX, ranks - 1, MPI_COMM_WORLD));
    REQUIRE(rank != ranks - 1 || (sum[0] == ranks - 1 && sum[2] == 1));
}

static void no_elements(void)
{
    int mine = 4, sum = 17;

    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    COUNTED(counts.allreduce, MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    COUNTED(counts.reduce, MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD));
    REQUIRE(mine == 4 && sum == 17);
}

/* Asked of MPICH itself, where nobody else takes part. */
static int is_refused(MPI_Datatype type, MPI_Op op)
{
    MPI_Errhandler handler;
    float mine = 1, got = 0;

    MUST(PMPI_Comm_get_errhandler(MPI_COMM_SELF, &handler));
    MUST(PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int error = PMPI_Allreduce(&mine, &got, 1, type, op, MPI_COMM_SELF);
    MUST(PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    MUST(PMPI_Errhandler_free(&handler));
    return error != MPI_SUCCESS;
}

static void logical_real(void)
{
    static const MPI_Op operations[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
    static const MPI_Datatype types[] = {MPI_REAL, MPI_REAL4};

    for (int i = 0; i < 6; i++) {
        if (is_refused(types[i % 2], operations[i / 2])) {
            leave_out("logical real", "refuses it");
            return;
        }
    }
    for (int i = 0; i < 6; i++) {
        float mine[5], got[5], stock[5];

        for (int k = 0; k < 5; k++)
            mine[k] = (float)((rank + k) % 3), got[k] = stock[k] = -1;
        MUST(PMPI_Allreduce(mine, stock, 5, types[i % 2], operations[i / 2], MPI_COMM_WORLD));
        COUNTED(counts.allreduce,
                MPI_Allreduce(mine, got, 5, types[i % 2], operations[i / 2], MPI_COMM_WORLD));
        REQUIRE(memcmp(got, stock, sizeof got) == 0);
    }
}

static void large_count(void)
{
    static double mine[100000], sum[100000];
    const int sizes[] = {1, 1000, 100000};

    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < sizes[k]; i++)
            mine[i] = rank + i;
        COUNTED(counts.allreduce,
                MPI_Allreduce_c(mine, sum, sizes[k], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < sizes[k]; i++)
            REQUIRE(sum[i] == ranks * (ranks - 1) / 2.0 + (double)ranks * i);
        for (int root = 0; root < ranks; root++) {
            memset(sum, 0, sizeof sum);
            COUNTED(counts.reduce,
                    MPI_Reduce_c(rank == root ? MPI_IN_PLACE : mine, rank == root ? mine : NULL,
                                 sizes[k], MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD));
            for (int i = 0; i < sizes[k]; i++) {
                REQUIRE(mine[i] == (rank == root ? ranks - 1 : rank) + i);
                mine[i] = rank + i;
            }
        }
    }
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    derived_type();
    fortran_real();
    no_elements();
    logical_real();
    freed_operation();
    large_count();
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
