#include "algos/shape.h"

/* Above this MPICH reduces commutative operations to rank 0, which passes the result on. */
#define SMALL_BYTES_MAX 2048

/* The greatest power of two within size. */
static int power_within(int size)
{
    int power = 1;

    while (2 * power <= size)
        power *= 2;
    return power;
}

struct sg_shape sg_shape_of_reduce(const struct sg_shape_reduce *reduce)
{
    struct sg_shape shape = {SG_SHAPE_BINOMIAL, reduce->ranks, 0};

    if (reduce->bytes <= SMALL_BYTES_MAX)
        shape.root = reduce->commutative ? reduce->root : 0;
    else if (reduce->predefined && reduce->count >= (uint64_t)power_within(reduce->ranks))
        shape.kind = SG_SHAPE_DOUBLING; /* it has an element for each rank to reduce */
    return shape;
}

/* The first leaf below (level, index). In a doubling shape, level 0 are single ranks and level 1
 * the power-of-two's partial results, of which the first (size - power) have two leaves. */
static int first_leaf(const struct sg_shape *shape, int level, int index)
{
    int partial, extra;

    if (level == 0 || shape->kind == SG_SHAPE_BINOMIAL)
        return index << level;
    extra = shape->size - power_within(shape->size);
    partial = index << (level - 1);
    return partial < extra ? 2 * partial : partial + extra;
}

struct sg_climb sg_climb_start(const struct sg_shape *shape, int rank)
{
    return (struct sg_climb){0, sg_shape_leaf_of(shape, rank)};
}

/* From a single rank of a doubling shape to its partial. True when it meets a neighbour. */
static bool step_to_partial(const struct sg_shape *shape, struct sg_climb *climb, int *node,
                            bool *right)
{
    int extra = shape->size - power_within(shape->size);
    int rank = climb->index;

    climb->level = 1;
    if (rank >= 2 * extra) {
        climb->index = rank - extra;
        return false;
    }
    climb->index = rank / 2;
    *node = rank | 1;
    *right = rank & 1;
    return true;
}

bool sg_climb_step(const struct sg_shape *shape, struct sg_climb *climb, int *node, bool *right)
{
    bool doubling = shape->kind == SG_SHAPE_DOUBLING;
    int width = doubling ? power_within(shape->size) : shape->size;

    if (doubling && climb->level == 0 && step_to_partial(shape, climb, node, right))
        return true;
    for (;;) {
        /* Partial results (or ranks) below one subtree of this level. */
        int spread = 1 << (doubling ? climb->level - 1 : climb->level);
        int sibling = climb->index | 1;

        if (spread >= width)
            return false;
        *right = climb->index & 1;
        *node = first_leaf(shape, climb->level, sibling);
        climb->level++;
        climb->index /= 2;
        /* A binomial shape is cut off at the right: without a right part nothing meets. */
        if (sibling * spread < width)
            return true;
    }
}

void sg_shape_below(const struct sg_shape *shape, const struct sg_climb *climb, int *first,
                    int *end)
{
    *first = first_leaf(shape, climb->level, climb->index);
    *end = first_leaf(shape, climb->level, climb->index + 1);
    if (*end > shape->size)
        *end = shape->size;
}

int sg_shape_leaf(const struct sg_shape *shape, int leaf)
{
    return shape->kind == SG_SHAPE_BINOMIAL ? (leaf + shape->root) % shape->size : leaf;
}

int sg_shape_leaf_of(const struct sg_shape *shape, int rank)
{
    return shape->kind == SG_SHAPE_BINOMIAL ? (rank - shape->root + shape->size) % shape->size
                                            : rank;
}

void sg_shape_group(const struct sg_shape *shape, const struct sg_shape_groups *groups, int group,
                    int *first, int *end)
{
    struct sg_climb at = {groups->level, group};

    sg_shape_below(shape, &at, first, end);
}

/* The first subtree of a level is the greatest. */
struct sg_shape_groups sg_shape_groups(const struct sg_shape *shape, int most)
{
    bool doubling = shape->kind == SG_SHAPE_DOUBLING;
    int width = doubling ? power_within(shape->size) : shape->size;
    struct sg_shape_groups groups = {0, 0};
    int first, end, spread;

    do {
        struct sg_climb next = {++groups.level, 0};

        sg_shape_below(shape, &next, &first, &end);
        spread = 1 << (doubling ? groups.level - 1 : groups.level);
    } while (end <= most && spread < width);
    if (end > most)
        groups.level--;
    spread = doubling ? 1 << groups.level >> 1 : 1 << groups.level;
    groups.count = groups.level == 0 ? shape->size : (width + spread - 1) / spread;
    return groups;
}
