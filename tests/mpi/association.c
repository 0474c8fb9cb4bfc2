/* Compares the documented association (tests/lib/reference.h) with MPICH's:
 *
 *     association [few]
 *
 * Predefined operations: sums and products of random reals, whose bits depend on the association.
 * User's operations: hashes of both operands, whose value depends on it; one hash is symmetric and
 * declared commutative, the other is neither. Covers every root and sizes on both sides of the
 * switches: 2048 bytes, and as many elements as the greatest power of two within the ranks. "few",
 * for more ranks than processors: reduces to the first, a middle and the last rank, of the type
 * with the largest elements. Rank 0 prints what was compared. The exit status is 1 if anything
 * differs, or if both shapes gave the same result in every case that should distinguish them.
 */
#include "lib/operands.h"
#include "lib/reference.h"
#include "mpi_test.h"
#include "predefined.h"

#define RANKS 256
#define OPERAND_BYTES (32 * REFERENCE_SWITCH_BYTES)

struct operation {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    bool predefined;
    bool commutative;
    bool real;
};

static unsigned char operands[RANKS][OPERAND_BYTES];
static unsigned char expected[OPERAND_BYTES], other[OPERAND_BYTES], got[OPERAND_BYTES];
static int rank, ranks, compared, failures, discerning;
static bool few;

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

static bool is_long_double(const struct operation *operation)
{
    return operation->type == MPI_C_LONG_DOUBLE_COMPLEX;
}

/* The next 16 bytes of an operand. */
static void draw(const struct operation *operation, uint64_t *state, unsigned char *at)
{
    const uint64_t bits[2] = {mix(*state), mix(*state + 1)};
    const bool single = operation->type == MPI_FLOAT;
    /* With bits to the last place, also where there are 113 of them. */
    const long double real = 1 + (long double)bits[0] / 0x1p65L + (long double)bits[1] / 0x1p129L;

    *state += 2;
    memset(at, 0, 16);
    if (is_long_double(operation)) {
        memcpy(at, &real, LONG_DOUBLE_BYTES);
        return;
    }
    for (int i = 0; i < 2; i++) {
        const double d = 1 + (double)bits[i] / 0x1p65;
        const float f[2] = {(float)d, (float)(1 + (double)(uint32_t)bits[i] / 0x1p33)};

        memcpy(at + 8 * i,
               !operation->real ? (const void *)&bits[i]
               : single         ? (const void *)f
                                : (const void *)&d,
               8);
    }
}

/* Every rank knows every rank's operand. */
static void fill(const struct operation *operation)
{
    uint64_t state = 1;

    for (int r = 0; r < ranks; r++)
        for (size_t at = 0; at < OPERAND_BYTES; at += 16)
            draw(operation, &state, operands[r] + at);
}

/* The padding of long doubles holds no value. */
static void clear_padding(const struct operation *operation, unsigned char *values, size_t bytes)
{
    for (size_t at = 0; at < bytes && is_long_double(operation); at += 16)
        memset(values + at + LONG_DOUBLE_BYTES, 0, 16 - LONG_DOUBLE_BYTES);
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
    clear_padding(operation, expected, bytes);
    clear_padding(operation, other, bytes);
    clear_padding(operation, got, bytes);
    if (memcmp(other, expected, bytes) != 0)
        discerning++;
    if (memcmp(got, expected, bytes) == 0)
        return;
    failures++;
    printf("rank %d of %d: %s, %s, %zu bytes, root %d: not the documented association\n", rank,
           ranks, collective, operation->name, bytes, root);
}

static void compare_allreduce(const struct operation *operation, const void *const *pointers,
                              int count)
{
    const struct reference reference = reference_of(operation);

    reference_binomial(&reference, ranks, pointers, (size_t)count, 0, other);
    reference_allreduce(&reference, ranks, pointers, (size_t)count, expected);
    MUST(
        PMPI_Allreduce(operands[rank], got, count, operation->type, operation->op, MPI_COMM_WORLD));
    judge(operation, "allreduce", -1, (size_t)count * reference.size_bytes);
}

static void compare_reduce(const struct operation *operation, const void *const *pointers,
                           int count, int root)
{
    const struct reference reference = reference_of(operation);
    const bool large = (size_t)count * reference.size_bytes > REFERENCE_SWITCH_BYTES;

    MUST(PMPI_Reduce(operands[rank], got, count, operation->type, operation->op, root,
                     MPI_COMM_WORLD));
    if (rank != root)
        return;
    reference_reduce(&reference, ranks, pointers, (size_t)count, root, expected);
    /* With few elements for the number of ranks, another MPICH might use doubling instead. */
    if (large && count < reference_power(ranks))
        reference_doubling(&reference, ranks, pointers, (size_t)count, other);
    else
        reference_binomial(&reference, ranks, pointers, (size_t)count, (root + 1) % ranks, other);
    judge(operation, "reduce", root, (size_t)count * reference.size_bytes);
}

static void compare(const struct operation *operation, int count)
{
    const void *pointers[RANKS];

    for (int r = 0; r < ranks; r++)
        pointers[r] = operands[r];
    if (!few)
        compare_allreduce(operation, pointers, count);
    for (int root = 0; root < ranks; root++) {
        if (!few || root == 0 || root == ranks / 2 || root == ranks - 1)
            compare_reduce(operation, pointers, count, root);
    }
}

/* Few elements, both sides of the switches, and what large-message algorithms cut up. */
static void compare_sizes(const struct operation *operation)
{
    const int switch_count = REFERENCE_SWITCH_BYTES / (int)reference_of(operation).size_bytes;
    const int power = reference_power(ranks);
    const int counts[] = {1,         3,     switch_count,     switch_count + 1,
                          power - 1, power, 32 * switch_count};

    fill(operation);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        compare(operation, counts[k]);
}

int main(int argc, char **argv)
{
    MPI_Op ordered, symmetric;
    int totals[3], own[3];

    START(rank, ranks);
    REQUIRE(ranks <= RANKS);
    few = argc > 1;
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
        {"complex long double sum", MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, true, true, true},
        {"user's commutative operation", MPI_UINT64_T, symmetric, false, true, false},
        {"user's ordered operation", MPI_UINT64_T, ordered, false, false, false},
    };

    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++)
        if (!few || is_long_double(&operations[k]))
            compare_sizes(&operations[k]);
    own[0] = compared, own[1] = failures, own[2] = discerning;
    MUST(PMPI_Reduce(own, totals, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("%d ranks: %d results compared, %d differ, %d tell associations apart\n", ranks,
               totals[0], totals[1], totals[2]);
    MUST(MPI_Op_free(&ordered));
    MUST(MPI_Op_free(&symmetric));
    MUST(MPI_Finalize());
    return failures > 0 || (ranks > 2 && compared > 0 && discerning == 0);
}
