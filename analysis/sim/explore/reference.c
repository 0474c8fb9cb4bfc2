#include "sim/explore/reference.h"

/* Positions of ranks: reductions of operations that may be reordered count from their root. */
static int32_t origin(const struct sg_reference *reference)
{
    bool reorder = (reference->flags & (SG_CALL_COMMUTATIVE | SG_CALL_EXACT)) != 0;

    return reorder && reference->root > 0 ? reference->root : 0;
}

static struct sg_value leaf(const struct sg_reference *reference, int32_t relative)
{
    int32_t rank = (int32_t)(((int64_t)relative + origin(reference)) % reference->size);

    return sg_value_contribution(reference->instance, rank, reference->bytes, reference->flags);
}

/* Contributions are disjoint and belong to one instance, so only the order could be wrong; it is
 * right for every operation to which order matters, because its ranks count from 0. */
static void append(struct sg_value *left, const struct sg_value *right)
{
    sg_value_combine(left, right, left);
}

/* Folds neighbours, then neighbours of the results: a balanced tree, cut off at the right. */
static struct sg_value fold_balanced(struct sg_value *items, int32_t count)
{
    for (; count > 1; count = (count + 1) / 2) {
        for (int32_t i = 0; i < count; i += 2) {
            items[i / 2] = items[i];
            if (i + 1 < count)
                append(&items[i / 2], &items[i + 1]);
        }
    }
    return items[0];
}

/* ((own . child at 1) . child at 2) . child at 4 ... */
static struct sg_value binomial(const struct sg_reference *reference, int32_t relative)
{
    struct sg_value value = leaf(reference, relative);

    for (int32_t mask = 1; !(relative & mask) && relative + mask < reference->size; mask *= 2) {
        struct sg_value child = binomial(reference, relative + mask);

        append(&value, &child);
    }
    return value;
}

/* The contiguous tree over [low, high): low itself, then `degree` parts in order whose sizes differ
 * by at most one, the larger first. */
static struct sg_value contiguous(const struct sg_reference *reference, int32_t degree, int32_t low,
                                  int32_t high)
{
    struct sg_value items[SG_DEGREE_MAX + 1];
    int32_t rest = high - low - 1;
    int32_t parts = rest < degree ? rest : degree;
    int32_t at = low + 1;

    items[0] = leaf(reference, low);
    for (int32_t i = 0; i < parts; i++) {
        int32_t length = rest / parts + (i < rest % parts);

        items[i + 1] = contiguous(reference, degree, at, at + length);
        at += length;
    }
    return fold_balanced(items, parts + 1);
}

/* Operand `index` of 2^level: one rank, or two if there are more ranks than operands. */
static struct sg_value doubling(const struct sg_reference *reference, int32_t power, int32_t index,
                                int32_t count)
{
    int32_t extra = reference->size - power;
    struct sg_value left, right;

    if (count > 1) {
        left = doubling(reference, power, index, count / 2);
        right = doubling(reference, power, index + count / 2, count / 2);
    } else if (index < extra) {
        left = sg_value_contribution(reference->instance, 2 * index, reference->bytes,
                                     reference->flags);
        right = sg_value_contribution(reference->instance, 2 * index + 1, reference->bytes,
                                      reference->flags);
    } else {
        return sg_value_contribution(reference->instance, index + extra, reference->bytes,
                                     reference->flags);
    }
    append(&left, &right);
    return left;
}

static struct sg_value doubled(const struct sg_reference *reference)
{
    int32_t power = 1;

    while (2 * power <= reference->size)
        power *= 2;
    return doubling(reference, power, 0, power);
}

bool sg_reference_result(const struct sg_reference *reference, struct sg_value *value)
{
    const struct sg_algo *algo = reference->algo;
    int32_t degree = reference->degree ? reference->degree : SG_DEGREE_DATA;

    if (reference->operation == SG_OPERATION_BCAST)
        *value = sg_value_contribution(reference->instance, reference->root, reference->bytes,
                                       reference->flags);
    else if (algo == &sg_algo_bypass || (algo == &sg_algo_tree && degree == 1))
        *value = binomial(reference, 0);
    else if (algo == &sg_algo_tree || algo == &sg_algo_adaptive)
        *value = contiguous(reference, degree, 0, reference->size);
    else if (algo == &sg_algo_pairwise || algo == &sg_algo_handoff || algo == &sg_algo_srm ||
             algo == &sg_algo_bcs)
        *value = doubled(reference);
    else
        return false;
    return true;
}
