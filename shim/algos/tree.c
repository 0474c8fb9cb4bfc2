#include "algos/tree.h"

#include <stddef.h>

int32_t sg_tree_power(int32_t size)
{
    int32_t power = 1;

    while (power <= size / 2)
        power *= 2;
    return power;
}

int sg_tree_levels(int32_t count)
{
    int levels = 0;

    while ((INT64_C(1) << levels) < count)
        levels++;
    return levels;
}

/* ---- binomial -------------------------------------------------------------------------------- */

int32_t sg_binomial_parent(int32_t rank)
{
    return rank == 0 ? -1 : rank & (rank - 1);
}

int sg_binomial_children(int32_t rank, int32_t size)
{
    int count = 0;

    while ((rank == 0 || (rank >> count & 1) == 0) && rank + (INT64_C(1) << count) < size)
        count++;
    return count;
}

int32_t sg_binomial_child(int32_t rank, int i)
{
    return rank + (INT32_C(1) << i);
}

int sg_binomial_index(int32_t child)
{
    return __builtin_ctz((unsigned)child);
}

/* ---- contiguous d-ary ------------------------------------------------------------------------ */

struct sg_tree_place sg_tree_top(int32_t size)
{
    return (struct sg_tree_place){0, size, -1, -1, 0};
}

int sg_tree_children(const struct sg_tree_place *place, int degree)
{
    int32_t below = place->hi - place->lo - 1;

    return below < degree ? (int)below : degree;
}

struct sg_tree_place sg_tree_child(const struct sg_tree_place *place, int degree, int i)
{
    int32_t below = place->hi - place->lo - 1;
    int32_t part = below / degree, extra = below % degree;
    int32_t lo = place->lo + 1 + i * part + (i < extra ? i : extra);

    return (struct sg_tree_place){
        .lo = lo,
        .hi = lo + part + (i < extra),
        .parent = place->lo,
        .index = (int16_t)i,
        .depth = (int16_t)(place->depth + 1),
    };
}

int sg_tree_toward(const struct sg_tree_place *place, int degree, int32_t rank)
{
    int32_t below = place->hi - place->lo - 1;
    int32_t part = below / degree, extra = below % degree;
    int32_t offset = rank - place->lo - 1;

    if (offset < 0 || offset >= below)
        return -1;
    if (offset < (part + 1) * extra)
        return offset / (part + 1);
    return extra + (offset - (part + 1) * extra) / part;
}

struct sg_tree_place sg_tree_find(int32_t rank, int32_t size, int degree)
{
    struct sg_tree_place place = sg_tree_top(size);

    while (place.lo != rank)
        place = sg_tree_child(&place, degree, sg_tree_toward(&place, degree, rank));
    return place;
}

/* The first part is never smaller than another. */
int sg_tree_depth(int32_t size, int degree)
{
    int depth = 0;

    for (int32_t n = size; n > 1; n = (n - 1 + degree - 1) / degree)
        depth++;
    return depth;
}

/* ---- Fibonacci ------------------------------------------------------------------------------- */

/* [lo, hi): a subtree, or the rest of one without its top's first children. */
struct fibonacci_range {
    int32_t lo, hi;
};

/* Takes the next child's subtree from the range; false: the top has no more children. */
static bool take_child(struct fibonacci_range *range, struct fibonacci_range *child)
{
    int32_t count = range->hi - range->lo;
    int32_t reached = 1, before = 1, long_before = 1; /* after t, t - 1 and t - 2 steps */

    if (count < 2)
        return false;
    while (reached < count) {
        long_before = before;
        before = reached;
        reached = before + long_before;
    }
    *child = (struct fibonacci_range){range->hi - long_before, range->hi};
    range->hi = child->lo;
    return true;
}

static struct fibonacci_range find_range(int32_t rank, int32_t size, int32_t *parent)
{
    struct fibonacci_range range = {0, size}, child;

    *parent = -1;
    while (range.lo != rank && take_child(&range, &child)) {
        if (rank < child.lo)
            continue;
        *parent = range.lo;
        range = child;
    }
    return range;
}

/* Returns -1 at the top. */
static int32_t sg_fibonacci_parent(int32_t rank, int32_t size)
{
    int32_t parent;

    find_range(rank, size, &parent);
    return parent;
}

static int sg_fibonacci_children(int32_t rank, int32_t size)
{
    int32_t parent;
    struct fibonacci_range range = find_range(rank, size, &parent), child;
    int count = 0;

    while (take_child(&range, &child))
        count++;
    return count;
}

/* Child i, in decreasing rank: the one with the largest subtree first. */
static int32_t sg_fibonacci_child(int32_t rank, int32_t size, int i)
{
    int32_t parent;
    struct fibonacci_range range = find_range(rank, size, &parent), child = {-1, -1};

    while (i-- >= 0)
        take_child(&range, &child);
    return child.lo;
}

/* ---- any kind, by degree --------------------------------------------------------------------- */

int sg_branch_children(int32_t rank, int32_t size, int degree)
{
    struct sg_tree_place place;

    if (degree == SG_TREE_FIBONACCI)
        return sg_fibonacci_children(rank, size);
    if (degree == SG_TREE_BINOMIAL)
        return sg_binomial_children(rank, size);
    place = sg_tree_find(rank, size, degree);
    return sg_tree_children(&place, degree);
}

int32_t sg_branch_child(int32_t rank, int32_t size, int degree, int i)
{
    struct sg_tree_place place;

    if (degree == SG_TREE_FIBONACCI)
        return sg_fibonacci_child(rank, size, i);
    if (degree == SG_TREE_BINOMIAL)
        return sg_binomial_child(rank, i);
    place = sg_tree_find(rank, size, degree);
    return sg_tree_child(&place, degree, i).lo;
}

int32_t sg_branch_parent(int32_t rank, int32_t size, int degree)
{
    if (degree == SG_TREE_FIBONACCI)
        return sg_fibonacci_parent(rank, size);
    return degree == SG_TREE_BINOMIAL ? sg_binomial_parent(rank)
                                      : sg_tree_find(rank, size, degree).parent;
}

int sg_branch_index(int32_t rank, int32_t size, int degree)
{
    return degree == SG_TREE_BINOMIAL ? sg_binomial_index(rank)
                                      : sg_tree_find(rank, size, degree).index;
}

/* ---- hypercube ------------------------------------------------------------------------------- */

struct sg_hypercube sg_hypercube_find(int32_t rank, int32_t size)
{
    struct sg_hypercube cube = {.power = sg_tree_power(size), .partner = -1};
    int32_t extra = size - cube.power;

    cube.dimensions = sg_tree_levels(cube.power);
    if (rank >= 2 * extra) {
        cube.position = rank - extra;
    } else {
        cube.partner = rank ^ 1;
        cube.position = rank & 1 ? rank / 2 : -1;
    }
    return cube;
}

int32_t sg_hypercube_rank(int32_t position, int32_t size)
{
    int32_t extra = size - sg_tree_power(size);

    return position < extra ? 2 * position + 1 : position + extra;
}

int32_t sg_hypercube_position(int32_t rank, int32_t size)
{
    struct sg_hypercube cube = sg_hypercube_find(rank, size);

    return cube.position >= 0 ? cube.position : sg_hypercube_find(cube.partner, size).position;
}

uint32_t sg_hypercube_edges(int32_t size)
{
    int32_t power = sg_tree_power(size);

    return (uint32_t)(power < size) + (uint32_t)sg_tree_levels(power);
}

int32_t sg_hypercube_partner(const struct sg_hypercube *cube, int32_t size, uint32_t edge)
{
    uint32_t fold = cube->power < size;

    if (edge < fold)
        return cube->partner;
    if (cube->position < 0)
        return -1;
    return sg_hypercube_rank(cube->position ^ (int32_t)(1u << (edge - fold)), size);
}

/* ---- dissemination --------------------------------------------------------------------------- */

int32_t sg_dissemination_to(int32_t rank, int32_t size, int round)
{
    return (int32_t)((rank + (INT64_C(1) << round)) % size);
}

/* For larger operands MPICH reduces commutative operations to rank 0, which forwards the result. */
#define SMALL_BYTES_MAX 2048

/* The greatest power of two that is at most size. */
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
        shape.kind = SG_SHAPE_DOUBLING; /* it has at least one element per rank */
    return shape;
}

/* The first leaf below (level, index). In a doubling shape, level 0 is the single ranks and level 1
 * the power-of-two partial results, of which the first (size - power) have two leaves. */
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

/* Climbs from a single rank of a doubling shape to its partial result. True if it meets a
 * neighbour. */
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
        /* A binomial shape is cut off at the right: without a right part there is no meeting. */
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

/* The first subtree of a level is the largest. */
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

int sg_shape_group_of(const struct sg_shape *shape, const struct sg_shape_groups *groups, int leaf)
{
    int extra;

    if (shape->kind == SG_SHAPE_BINOMIAL || groups->level == 0)
        return leaf >> groups->level;
    extra = shape->size - power_within(shape->size);
    return (leaf < 2 * extra ? leaf / 2 : leaf - extra) >> (groups->level - 1);
}

/* ---- groups of groups ---- */

struct sg_nest sg_nest_of(const struct sg_shape *shape, const struct sg_nest_sizes *sizes)
{
    int most = shape->size - 1; /* two groups at least */
    struct sg_nest nest = {.levels = 1};

    nest.of[0] = sg_shape_groups(shape, sizes->group < most ? sizes->group : most);
    nest.of[1] = nest.of[0];
    if (sizes->outer > sizes->group)
        nest.of[1] = sg_shape_groups(shape, sizes->outer < most ? sizes->outer : most);
    nest.levels += nest.of[1].level > nest.of[0].level;
    return nest;
}

struct sg_nest_group sg_nest_at(const struct sg_shape *shape, const struct sg_nest *nest, int level,
                                int leaf)
{
    struct sg_nest_group at = {.end = shape->size};
    const struct sg_shape_groups *below = level > 0 ? &nest->of[level - 1] : NULL;

    if (level < nest->levels)
        sg_shape_group(shape, &nest->of[level], sg_shape_group_of(shape, &nest->of[level], leaf),
                       &at.first, &at.end);
    at.low = below == NULL ? at.first : sg_shape_group_of(shape, below, at.first);
    at.high = below == NULL ? at.end : sg_shape_group_of(shape, below, at.end - 1) + 1;
    return at;
}

int sg_nest_member(const struct sg_shape *shape, const struct sg_nest *nest, int level, int member)
{
    int first = member, end;

    if (level > 0)
        sg_shape_group(shape, &nest->of[level - 1], member, &first, &end);
    return first;
}

int sg_nest_leads(const struct sg_shape *shape, const struct sg_nest *nest, int leaf)
{
    int leads = 0;

    while (leads < nest->levels && sg_nest_at(shape, nest, leads, leaf).first == leaf)
        leads++;
    return leads;
}
