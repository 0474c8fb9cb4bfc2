/* Tree arithmetic of the protocols: who is whose parent, child and partner.
 *
 * Pure functions of (rank, size, degree); any thread, any signal handler. Ranks here are relative
 * to the tree's top: sg_tree_relative() and sg_tree_absolute() turn them. Time is O(depth) at most.
 *
 *   binomial       the children of r are r + 1, r + 2, r + 4, ... below r's lowest bit; a subtree
 *                  is a contiguous range.
 *   d-ary          contiguous: the subtree [lo, hi) has lo as its top, and the rest is split in
 *                  order into `degree` parts whose sizes differ by at most one, larger ones first.
 *   Fibonacci      every endpoint, from the time it has a message, passes it on to another one in
 *                  each step, and a message takes two steps: at most F(t) endpoints have it after t
 *                  steps, F being Fibonacci's numbers. The subtree [lo, hi) has lo as its top,
 *                  whose first child has the end of the range.
 *   hypercube      partners of recursive doubling, where 2*(size - p) ranks fold in pairs into p
 *                  positions first (p the greatest power of two within size).
 *   dissemination  in round i, r sends to r + 2^i and receives from r - 2^i, modulo size.
 */
#ifndef SG_ALGOS_TREE_H
#define SG_ALGOS_TREE_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t sg_tree_relative(int32_t rank, int32_t top, int32_t size)
{
    return rank >= top ? rank - top : rank - top + size;
}

static inline int32_t sg_tree_absolute(int32_t relative, int32_t top, int32_t size)
{
    return relative < size - top ? relative + top : relative - (size - top);
}

/* The greatest power of two within size, which is at least 1. */
int32_t sg_tree_power(int32_t size);
/* The least i with 2^i >= count: levels of a balanced binary tree, rounds of a dissemination. */
int sg_tree_levels(int32_t count);

/* ---- binomial */

/* -1 at the top. */
int32_t sg_binomial_parent(int32_t rank);
int sg_binomial_children(int32_t rank, int32_t size);
/* Child i, in increasing rank: rank + 2^i. */
int32_t sg_binomial_child(int32_t rank, int i);
/* The number of the child that `child` is to its parent. */
int sg_binomial_index(int32_t child);

/* ---- contiguous d-ary */

/* A rank's place: its subtree is [lo, hi), lo being the rank itself. */
struct sg_tree_place {
    int32_t lo, hi;
    int32_t parent; /* -1 at the top */
    int16_t index;  /* which child of its parent; -1 at the top */
    int16_t depth;  /* 0 at the top */
};

struct sg_tree_place sg_tree_top(int32_t size);
struct sg_tree_place sg_tree_find(int32_t rank, int32_t size, int degree);
int sg_tree_children(const struct sg_tree_place *place, int degree);
struct sg_tree_place sg_tree_child(const struct sg_tree_place *place, int degree, int i);
/* The child of place whose subtree holds rank; -1 where rank is place's own, or not below it. */
int sg_tree_toward(const struct sg_tree_place *place, int degree, int32_t rank);
/* The depth of the deepest rank. */
int sg_tree_depth(int32_t size, int degree);

/* ---- Fibonacci */

/* ---- any, by rank alone: the d-ary tree, with degree 1 the binomial and 0 the Fibonacci one */

#define SG_TREE_FIBONACCI 0
#define SG_TREE_BINOMIAL 1

int sg_branch_children(int32_t rank, int32_t size, int degree);
int32_t sg_branch_child(int32_t rank, int32_t size, int degree, int i);
/* -1 at the top. */
int32_t sg_branch_parent(int32_t rank, int32_t size, int degree);
/* Which child of its parent; not of the top, and not with degree 0. */
int sg_branch_index(int32_t rank, int32_t size, int degree);

/* ---- hypercube */

/* A rank's part in recursive doubling. */
struct sg_hypercube {
    int32_t power;    /* positions */
    int32_t position; /* -1: folded into its partner, waits for the result */
    int32_t partner;  /* the rank it is folded with, -1 for none */
    int dimensions;   /* rounds: power is 2^dimensions */
};

struct sg_hypercube sg_hypercube_find(int32_t rank, int32_t size);
/* The rank at a position. */
int32_t sg_hypercube_rank(int32_t position, int32_t size);
/* The position of a rank, or of the one that it is folded into. */
int32_t sg_hypercube_position(int32_t rank, int32_t size);
/* Edges: 0 is to whom it is folded with, where the size is no power of two; then one across each
 * dimension. */
uint32_t sg_hypercube_edges(int32_t size);
/* The partner on an edge of a rank's cube; -1: it has none there. */
int32_t sg_hypercube_partner(const struct sg_hypercube *cube, int32_t size, uint32_t edge);

/* ---- dissemination: rounds are sg_tree_levels(size) */

int32_t sg_dissemination_to(int32_t rank, int32_t size, int round);

/* The shape of a reduction inside a node: which partial results meet, and on which side.
 *
 * A shape is a binary tree over the ranks of a communicator. Its nodes are numbered by the first
 * leaf of their right part (1..size-1), which no two nodes share. A rank climbs from its leaf; at
 * each node the partial result of the left part is folded with that of the right part, left first.
 * So a shape fixes the association and order of a reduction, and with it the floating-point result.
 *
 * The shapes are those of stock MPICH 4.0.2 on one node, whose results stagger repeats bit for bit:
 *
 *   SG_SHAPE_DOUBLING  recursive doubling: of the first 2*(size - p) ranks (p the greatest power of
 *                      two within size) the even ones fold into the odd ones, and the p partial
 *                      results into a balanced tree. Allreduce; large reduces.
 *   SG_SHAPE_BINOMIAL  the binomial tree relative to a root: a balanced tree over the ranks counted
 *                      from the root, cut off at the right. Small reduces; operations that users
 *                      define.
 *
 * Pure functions of their arguments; any thread, any signal handler.
 */

enum sg_shape_kind { SG_SHAPE_DOUBLING, SG_SHAPE_BINOMIAL };

struct sg_shape {
    enum sg_shape_kind kind;
    int size; /* ranks, at least 1 */
    int root; /* of a binomial shape; else 0 */
};

/* What the shape of a reduce depends on. */
struct sg_shape_reduce {
    int ranks, root;
    uint64_t count, bytes; /* elements; count times MPI's size of one */
    bool predefined, commutative;
};

struct sg_shape sg_shape_of_reduce(const struct sg_shape_reduce *reduce);

/* Where a climb stands: a subtree that is done, by level and index from the left. */
struct sg_climb {
    int level;
    int index;
};

struct sg_climb sg_climb_start(const struct sg_shape *shape, int rank);
/* Moves up to the next node where two parts meet. False at the top: the climb is done. *node is its
 * number, *right whether the climber comes from the right part. */
bool sg_climb_step(const struct sg_shape *shape, struct sg_climb *climb, int *node, bool *right);
/* The leaves below where a climb stands: [*first, *end), counted from the left. */
void sg_shape_below(const struct sg_shape *shape, const struct sg_climb *climb, int *first,
                    int *end);
/* The rank that is leaf i of the shape, counted from the left. */
int sg_shape_leaf(const struct sg_shape *shape, int leaf);
/* The other way. */
int sg_shape_leaf_of(const struct sg_shape *shape, int rank);

/* All subtrees of one level, numbered from the left: the greatest that have `most` leaves at most
 * (2 or more). */
struct sg_shape_groups {
    int level, count;
};

struct sg_shape_groups sg_shape_groups(const struct sg_shape *shape, int most);
/* Its leaves: [*first, *end). */
void sg_shape_group(const struct sg_shape *shape, const struct sg_shape_groups *groups, int group,
                    int *first, int *end);

#endif
