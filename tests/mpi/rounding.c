/* Programs that set the processor's floating-point modes get the bits that MPICH computes in them:
 *
 *     rounding up|down|zero|flush...
 *
 * The modes are those of fesetround, or FTZ and DAZ. Every rank sets each mode; sums and products
 * of floats, doubles and long doubles go through the library and through PMPI. The same call in the
 * default mode must give other bits, or the test would prove nothing.
 */
#include "float_modes.h"
#include "mpi_test.h"
#include "predefined.h"

#define COUNT_MAX 20000

static union {
    float f[COUNT_MAX];
    double d[COUNT_MAX];
    long double x[COUNT_MAX];
} operand, got, stock, usual;
static int rank, ranks, failures, told_apart;
static const char *mode;

/* With FTZ and DAZ, denormals; products of which are so few that the sums tell. */
static void fill(MPI_Datatype type, int count)
{
    uint64_t state = (uint64_t)rank + 1;
    bool flush = strcmp(mode, "flush") == 0;

    for (int i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        long double value = 0.5L + (long double)(state >> 2) / 0x1p62L;
        if (type == MPI_FLOAT)
            operand.f[i] = (float)(flush ? value * 0x1p-130L : value);
        else if (type == MPI_DOUBLE)
            operand.d[i] = (double)(flush ? value * 0x1p-1025L : value);
        else
            operand.x[i] = value;
    }
}

/* Bytes of the element that hold its value. */
static bool differ(MPI_Datatype type, int count, const void *a, const void *b)
{
    size_t each = type == MPI_FLOAT ? sizeof(float) : type == MPI_DOUBLE ? sizeof(double) : 16;

    for (int i = 0; i < count; i++)
        if (memcmp((const char *)a + (size_t)i * each, (const char *)b + (size_t)i * each,
                   each == 16 ? 10 : each) != 0)
            return true;
    return false;
}

static void judge(const char *what, MPI_Datatype type, int count, int root)
{
    told_apart += differ(type, count, stock.f, usual.f);
    if (!differ(type, count, got.f, stock.f))
        return;
    failures++;
    printf("rank %d, mode %s: %s of %d elements, root %d: not MPICH's result\n", rank, mode, what,
           count, root);
}

static void compare(MPI_Datatype type, MPI_Op op, int count)
{
    fill(type, count);
    MUST(PMPI_Allreduce(operand.f, usual.f, count, type, op, MPI_COMM_WORLD));
    float_mode_set(mode);
    MUST(PMPI_Allreduce(operand.f, stock.f, count, type, op, MPI_COMM_WORLD));
    MUST(MPI_Allreduce(operand.f, got.f, count, type, op, MPI_COMM_WORLD));
    judge("allreduce", type, count, -1);
    for (int root = 0; root < ranks; root++) {
        float_mode_set_default();
        MUST(PMPI_Reduce(operand.f, usual.f, count, type, op, root, MPI_COMM_WORLD));
        float_mode_set(mode);
        MUST(PMPI_Reduce(operand.f, stock.f, count, type, op, root, MPI_COMM_WORLD));
        MUST(MPI_Reduce(operand.f, got.f, count, type, op, root, MPI_COMM_WORLD));
        if (rank == root)
            judge("reduce", type, count, root);
    }
    float_mode_set_default();
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 5, 100, 300, 2000, COUNT_MAX};

    START(rank, ranks);
    if (!documented_mpich()) {
        MUST(MPI_Finalize());
        return 77;
    }
    for (int m = 1; m < argc; m++) {
        mode = argv[m];
        told_apart = 0;
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            compare(MPI_FLOAT, MPI_SUM, counts[i]);
            compare(MPI_DOUBLE, MPI_SUM, counts[i]);
            compare(MPI_DOUBLE, MPI_PROD, counts[i]);
            if (strcmp(mode, "flush") != 0) /* x87 has no such mode */
                compare(MPI_LONG_DOUBLE, MPI_PROD, counts[i]);
        }
        REQUIRE(told_apart > 0);
        if (rank == 0)
            printf("%s: %d results tell the modes apart\n", mode, told_apart);
    }
    MUST(MPI_Finalize());
    return failures > 0;
}
