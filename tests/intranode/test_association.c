/* Tests the association of a reduce inside a node against the reference of MPICH's, for every
 * number of ranks up to those of a large node, and counts on both sides of where MPICH changes
 * its algorithm. An element is a hash of the values folded into it, which shows every association
 * and order. */
#include "intranode/fold.h"
#include "lib/reference.h"
#include "lib/unit.h"

#define RANKS_MAX 512
#define LENGTH(array) (int)(sizeof(array) / sizeof((array)[0]))

static uint64_t operands[RANKS_MAX];

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

static void fold_reference(const void *left, void *right, size_t count, void *context)
{
    (void)count;
    (void)context;
    *(uint64_t *)right = mix(3 * *(const uint64_t *)left + mix(*(uint64_t *)right));
}

static void fold_node(void *context, const void *left, const void *right, void *out, size_t count)
{
    uint64_t folded = *(const uint64_t *)right;

    fold_reference(left, &folded, count, context);
    *(uint64_t *)out = folded;
}

static const void *operand_of(void *context, int rank)
{
    (void)context;
    return &operands[rank];
}

static uint64_t ours(const struct sg_shape *shape)
{
    struct sg_folding folding = {.shape = shape,
                                 .fold = fold_node,
                                 .element_bytes = sizeof(uint64_t),
                                 .operand = operand_of};
    uint64_t result = operands[0];

    if (shape->size > 1)
        sg_fold_all(&folding, 1, &result);
    return result;
}

/* One element of the count, by the association that the count has. */
static bool agrees(const struct reference *reference, int ranks, int root, size_t count)
{
    const struct sg_shape_reduce reduce = {ranks,
                                           root,
                                           count,
                                           count * reference->size_bytes,
                                           reference->predefined,
                                           reference->commutative};
    const struct reference_choice choice = reference_choose(reference, ranks, count, root);
    const struct sg_shape shape = sg_shape_of_reduce(&reduce);
    const void *pointers[RANKS_MAX];
    uint64_t expected;

    for (int rank = 0; rank < ranks; rank++)
        pointers[rank] = &operands[rank];
    if (choice.doubling)
        reference_doubling(reference, ranks, pointers, 1, &expected);
    else
        reference_binomial(reference, ranks, pointers, 1, choice.first, &expected);
    return ours(&shape) == expected;
}

static int differences(const struct reference *reference, int ranks)
{
    const size_t switch_count = REFERENCE_SWITCH_BYTES / reference->size_bytes;
    const size_t power = (size_t)reference_power(ranks);
    const size_t counts[] = {1,         switch_count, switch_count + 1, power - 1, power,
                             power + 1, 100000};
    const int roots[] = {0, 1, ranks / 2, ranks - 1};
    int different = 0;

    for (int c = 0; c < LENGTH(counts); c++)
        for (int r = 0; r < LENGTH(roots); r++)
            different +=
                counts[c] > 0 && roots[r] < ranks && !agrees(reference, ranks, roots[r], counts[c]);
    return different;
}

static void check_all(bool predefined, bool commutative)
{
    static const size_t sizes_bytes[] = {1, 8, 20, 32};
    struct reference reference = {.fold = fold_reference,
                                  .extent_bytes = sizeof(uint64_t),
                                  .predefined = predefined,
                                  .commutative = commutative};

    for (int rank = 0; rank < RANKS_MAX; rank++)
        operands[rank] = mix((uint64_t)rank + 1);
    for (int ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (int s = 0; s < LENGTH(sizes_bytes); s++) {
            /* Large numbers of ranks without each size. */
            if (ranks > 64 && s != ranks % LENGTH(sizes_bytes) && s != 3)
                continue;
            reference.size_bytes = sizes_bytes[s];
            EXPECT(differences(&reference, ranks) == 0);
        }
    }
}

TEST("predefined reductions over 512 ranks have MPICH's association")
{
    check_all(true, true);
}

TEST("the user's commutative reductions over 512 ranks have MPICH's association")
{
    check_all(false, true);
}

TEST("the user's ordered reductions over 512 ranks have MPICH's association")
{
    check_all(false, false);
}
