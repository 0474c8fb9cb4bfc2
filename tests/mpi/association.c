/* Compares the documented association (tests/lib/reference.h) with what MPICH does:
 *
 *     association
 *
 * Predefined operations: sums and products of random reals, in which another association gives
 * other bits. User's operations: hashes of both operands, in which it gives another number; one
 * hash is symmetric and declared commutative, one is neither. Every root, sizes on both sides of
 * the switch. Rank 0 prints what was compared; the exit status is 1 where anything differs, and
 * where the two shapes gave the same in every case that should tell them apart.
 */
#include "lib/reference.h"
#include "mpi_test.h"
#include "predefined.h"

#include <stdint.h>

#define RANKS 64
#define COUNT (32 * REFERENCE_SWITCH_BYTES / 4)
#define ELEMENT_BYTES 16

struct operation {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    bool predefined;
    bool commutative;
    bool real;
};

static unsigned char operands[RANKS][COUNT * ELEMENT_BYTES];
static unsigned char expected[COUNT * ELEMENT_BYTES], other[COUNT * ELEMENT_BYTES];
static unsigned char got[COUNT * ELEMENT_BYTES];
static int rank, ranks, compared, failures, discerning;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void hash_ordered(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint64_t *left = in;
    uint64_t *right = inout;

    for (int i = 0; i < *count; i++)
        right[i] = mix(3 * left[i] + mix(right[i]));
}

static void hash_symmetric(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint64_t *left = in;
    uint64_t *right = inout;

    for (int i = 0; i < *count; i++)
        right[i] = mix(left[i] + right[i]);
}

static void fold(const void *left, void *right, size_t count, void *context)
{
    const struct operation *operation = context;

    MUST(PMPI_Reduce_local(left, right, (int)count, operation->type, operation->op));
}

/* Every rank knows every rank's operand. */
static void fill(const struct operation *operation)
{
    const size_t bytes = COUNT * ELEMENT_BYTES;
    uint64_t state = 1;

    for (int r = 0; r < ranks; r++) {
        for (size_t at = 0; at < bytes; at += 8) {
            const uint64_t bits = mix(state++);
            const double d = 1 + (double)bits / 0x1p65;
            const float f[2] = {(float)d, (float)(1 + (double)(uint32_t)bits / 0x1p33)};
            const bool single =
                operation->type == MPI_FLOAT || operation->type == MPI_C_FLOAT_COMPLEX;

            memcpy(operands[r] + at,
                   !operation->real ? (const void *)&bits
                   : single         ? (const void *)f
                                    : (const void *)&d,
                   8);
        }
    }
}

static struct reference reference_of(const struct operation *operation)
{
    int size_bytes;

    MUST(PMPI_Type_size(operation->type, &size_bytes));
    return (struct reference){fold,
                              (void *)operation,
                              (size_t)size_bytes,
                              (size_t)size_bytes,
                              operation->predefined,
                              operation->commutative};
}

static void judge(const struct operation *operation, const char *collective, int root, size_t bytes)
{
    compared++;
    if (memcmp(other, expected, bytes) != 0)
        discerning++;
    if (memcmp(got, expected, bytes) == 0)
        return;
    failures++;
    printf("rank %d of %d: %s, %s, %zu bytes, root %d: not the documented association\n", rank,
           ranks, collective, operation->name, bytes, root);
}

static void compare(const struct operation *operation, int count)
{
    const void *pointers[RANKS];
    const struct reference reference = reference_of(operation);
    const size_t bytes = (size_t)count * reference.size_bytes;

    for (int r = 0; r < ranks; r++)
        pointers[r] = operands[r];
    reference_binomial(&reference, ranks, pointers, (size_t)count, 0, other);
    reference_allreduce(&reference, ranks, pointers, (size_t)count, expected);
    MUST(
        PMPI_Allreduce(operands[rank], got, count, operation->type, operation->op, MPI_COMM_WORLD));
    judge(operation, "allreduce", -1, bytes);

    for (int root = 0; root < ranks; root++) {
        MUST(PMPI_Reduce(operands[rank], got, count, operation->type, operation->op, root,
                         MPI_COMM_WORLD));
        if (rank != root)
            continue;
        reference_reduce(&reference, ranks, pointers, (size_t)count, root, expected);
        reference_binomial(&reference, ranks, pointers, (size_t)count, (root + 1) % ranks, other);
        judge(operation, "reduce", root, bytes);
    }
}

/* Few elements, both sides of the switch, and what large-message algorithms cut up. */
static void compare_sizes(const struct operation *operation)
{
    const int switch_count = REFERENCE_SWITCH_BYTES / (int)reference_of(operation).size_bytes;
    const int counts[] = {1, 3, switch_count, switch_count + 1, 32 * switch_count};

    fill(operation);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        compare(operation, counts[k]);
}

int main(int argc, char **argv)
{
    MPI_Op ordered, symmetric;
    int totals[3], own[3];

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(ranks <= RANKS);
    if (!documented_mpich()) {
        MUST(MPI_Finalize());
        return 77;
    }
    MUST(MPI_Op_create(hash_ordered, 0, &ordered));
    MUST(MPI_Op_create(hash_symmetric, 1, &symmetric));

    const struct operation operations[] = {
        {"float sum", MPI_FLOAT, MPI_SUM, true, true, true},
        {"double product", MPI_DOUBLE, MPI_PROD, true, true, true},
        {"complex sum", MPI_C_DOUBLE_COMPLEX, MPI_SUM, true, true, true},
        {"user's commutative operation", MPI_UINT64_T, symmetric, false, true, false},
        {"user's ordered operation", MPI_UINT64_T, ordered, false, false, false},
    };

    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++)
        compare_sizes(&operations[k]);
    own[0] = compared, own[1] = failures, own[2] = discerning;
    MUST(PMPI_Reduce(own, totals, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("%d ranks: %d results compared, %d differ, %d tell associations apart\n", ranks,
               totals[0], totals[1], totals[2]);
    MUST(MPI_Op_free(&ordered));
    MUST(MPI_Op_free(&symmetric));
    MUST(MPI_Finalize());
    return failures > 0 || (ranks > 2 && discerning == 0);
}
