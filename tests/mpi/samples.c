/* Compares the library's algorithms with MPICH's own (PMPI) in the same run: sums and products of
 * floats and doubles, sizes around MPICH's switch at 2048 bytes, every root.
 *
 *     samples
 *
 * PMPI uses separate buffers: MPI_IN_PLACE at a root other than 0 crashes in MPICH 4.0.2.
 */
#include "mpi_test.h"
#include "predefined.h"

#define SWITCH_BYTES 2048
#define BYTES_MAX (64 * 1024)

static unsigned char operand[BYTES_MAX], got[BYTES_MAX], stock[BYTES_MAX];
static int rank, ranks, compared, failures;
static struct own_counts counts;

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 0.5 + (double)(*state >> 11) / 0x1p53;
}

static void fill(bool is_double, int count, uint64_t seed)
{
    uint64_t state = seed + (uint64_t)rank;

    for (int i = 0; i < count; i++) {
        if (is_double)
            ((double *)(void *)operand)[i] = draw(&state);
        else
            ((float *)(void *)operand)[i] = (float)draw(&state);
    }
}

static void judge(const char *what, int root, int count, size_t bytes)
{
    compared++;
    if (memcmp(got, stock, bytes) == 0)
        return;
    failures++;
    printf("rank %d: %s, %d elements, root %d: not MPICH's result\n", rank, what, count, root);
}

static void compare(MPI_Datatype type, MPI_Op op, int count, size_t bytes)
{
    MUST(PMPI_Allreduce(operand, stock, count, type, op, MPI_COMM_WORLD));
    COUNTED(counts.allreduce, MPI_Allreduce(operand, got, count, type, op, MPI_COMM_WORLD));
    judge("allreduce", -1, count, bytes);
    for (int root = 0; root < ranks; root++) {
        MUST(PMPI_Reduce(operand, stock, count, type, op, root, MPI_COMM_WORLD));
        COUNTED(counts.reduce, MPI_Reduce(operand, got, count, type, op, root, MPI_COMM_WORLD));
        if (rank == root)
            judge("reduce", root, count, bytes);
    }
}

static void compare_sizes(bool is_double, MPI_Op op)
{
    const int each = is_double ? sizeof(double) : sizeof(float);
    const int at = SWITCH_BYTES / each;
    const int sizes[] = {1, 7, at - 1, at, at + 1, BYTES_MAX / each};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fill(is_double, sizes[i], (uint64_t)i * 1000 + (uint64_t)op);
        compare(is_double ? MPI_DOUBLE : MPI_FLOAT, op, sizes[i], (size_t)(sizes[i] * each));
    }
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    if (!documented_mpich()) {
        MUST(MPI_Finalize());
        return 77;
    }
    for (int is_double = 0; is_double < 2; is_double++) {
        compare_sizes(is_double, MPI_SUM);
        compare_sizes(is_double, MPI_PROD);
    }
    if (rank == 0)
        printf("%d results of rank 0 compared\n", compared);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return failures > 0;
}
