/* Tree arithmetic of the protocols (parents, children, partners), and the shapes of reductions.
 *
 * Pure functions of (rank, size, degree); any thread, any signal handler. Ranks here are relative
 * to the tree's top: sg_tree_relative() and sg_tree_absolute() convert them. Time is at most
 * O(depth).
 *
 *   binomial       the children of r are r + 1, r + 2, r + 4, ... below r's lowest bit; a subtree
 *                  is a contiguous range.
 *   d-ary          contiguous: the subtree [lo, hi) has lo as its top, and the rest is split in
 *                  order into `degree` parts whose sizes differ by at most one, larger ones first.
 *   Fibonacci      an endpoint that has a message passes it on to another one in each step, and a
 *                  message takes two steps: at most F(t) endpoints have it after t steps, where F
 *                  is the Fibonacci sequence. The subtree [lo, hi) has lo as its top, whose first
 *                  child's subtree is the end of the range.
 *   hypercube      partners of recursive doubling, where 2*(size - p) ranks first fold in pairs
 *                  into p positions (p is the greatest power of two that is at most size).
 *   dissemination  in round i, r sends to r + 2^i and receives from r - 2^i, modulo size. */
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

/* Returns the greatest power of two that is at most size, which is at least 1. */
int32_t sg_tree_power(int32_t size);
/* Returns the least i with 2^i >= count: levels of a balanced binary tree, rounds of a
 * dissemination. */
int sg_tree_levels(int32_t count);

/* ---- binomial ---- */

/* Returns -1 at the top. */
int32_t sg_binomial_parent(int32_t rank);
int sg_binomial_children(int32_t rank, int32_t size);
/* Child i, in increasing rank: rank + 2^i. */
int32_t sg_binomial_child(int32_t rank, int i);
/* Returns the index of `child` among its parent's children. */
int sg_binomial_index(int32_t child);

/* ---- contiguous d-ary ---- */

/* A rank's position: its subtree is [lo, hi), and lo is the rank itself. */
struct sg_tree_place {
    int32_t lo, hi;
    int32_t parent; /* -1 at the top */
    int16_t index;  /* index among its parent's children; -1 at the top */
    int16_t depth;  /* 0 at the top */
};

struct sg_tree_place sg_tree_top(int32_t size);
struct sg_tree_place sg_tree_find(int32_t rank, int32_t size, int degree);
int sg_tree_children(const struct sg_tree_place *place, int degree);
struct sg_tree_place sg_tree_child(const struct sg_tree_place *place, int degree, int i);
/* Returns the child whose subtree contains rank; -1 if rank is place's own or not below it. */
int sg_tree_toward(const struct sg_tree_place *place, int degree, int32_t rank);
/* Returns the depth of the deepest rank. */
int sg_tree_depth(int32_t size, int degree);

/* ---- any kind, by rank alone; degree 1 is the binomial tree, 0 the Fibonacci tree --------- */

#define SG_TREE_FIBONACCI 0
#define SG_TREE_BINOMIAL 1

int sg_branch_children(int32_t rank, int32_t size, int degree);
int32_t sg_branch_child(int32_t rank, int32_t size, int degree, int i);
/* Returns -1 at the top. */
int32_t sg_branch_parent(int32_t rank, int32_t size, int degree);
/* Index among its parent's children; not for the top, and not for degree 0. */
int sg_branch_index(int32_t rank, int32_t size, int degree);

/* ---- hypercube ---- */

/* A rank's part in recursive doubling. */
struct sg_hypercube {
    int32_t power;    /* number of positions */
    int32_t position; /* -1: folded into its partner, waits for the result */
    int32_t partner;  /* rank with which it folds; -1: none */
    int dimensions;   /* number of rounds: power is 2^dimensions */
};

struct sg_hypercube sg_hypercube_find(int32_t rank, int32_t size);
/* Returns the rank at a position. */
int32_t sg_hypercube_rank(int32_t position, int32_t size);
/* Returns the position of a rank, or of the rank into which it is folded. */
int32_t sg_hypercube_position(int32_t rank, int32_t size);
/* Number of edges: if size is no power of two, edge 0 leads to the folding partner; then one edge
 * for each dimension. */
uint32_t sg_hypercube_edges(int32_t size);
/* Returns the partner on an edge of a rank's cube; -1: none there. */
int32_t sg_hypercube_partner(const struct sg_hypercube *cube, int32_t size, uint32_t edge);

/* ---- dissemination, in sg_tree_levels(size) rounds ---- */

int32_t sg_dissemination_to(int32_t rank, int32_t size, int round);

/* ---- shapes: which partial results of a reduction inside a node meet, and on which side ----
 *
 * A shape is a binary tree over the ranks of a communicator. Its nodes are numbered by the first
 * leaf of their right part (1..size-1), which no two nodes share. A rank climbs from its leaf; at
 * each node the partial result of the left part is folded with that of the right part, left first.
 * So a shape fixes the association and order of a reduction, and with it the floating-point result.
 *
 * The shapes are those of stock MPICH 4.0.2 on one node; stagger reproduces its results bit for
 * bit:
 *
 *   SG_SHAPE_DOUBLING  recursive doubling: of the first 2*(size - p) ranks (p the greatest power of
 *                      two that is at most size) the even ones fold into the odd ones, and the p
 *                      partial results into a balanced tree. Allreduce; large reduces.
 *   SG_SHAPE_BINOMIAL  the binomial tree relative to a root: a balanced tree over the ranks
 *                      relative to the root, cut off at the right. Small reduces; user-defined
 *                      operations.
 *
 * Pure functions of their arguments; any thread, any signal handler.
 */

enum sg_shape_kind { SG_SHAPE_DOUBLING, SG_SHAPE_BINOMIAL };

struct sg_shape {
    enum sg_shape_kind kind;
    int size; /* number of ranks, at least 1 */
    int root; /* of a binomial shape; else 0 */
};

/* The properties that determine the shape of a reduce. */
struct sg_shape_reduce {
    int ranks, root;
    uint64_t count, bytes; /* elements; count times MPI's size of one */
    bool predefined, commutative;
};

struct sg_shape sg_shape_of_reduce(const struct sg_shape_reduce *reduce);

/* Position of a climb: a completed subtree, by level and index from the left. */
struct sg_climb {
    int level;
    int index;
};

struct sg_climb sg_climb_start(const struct sg_shape *shape, int rank);
/* Moves up to the next node where two parts meet. *node is its number; *right is true if the
 * climber comes from the right part. False: the climb has reached the top. */
bool sg_climb_step(const struct sg_shape *shape, struct sg_climb *climb, int *node, bool *right);
/* The leaves below a climb's position: [*first, *end), counted from the left. */
void sg_shape_below(const struct sg_shape *shape, const struct sg_climb *climb, int *first,
                    int *end);
/* Returns the rank of leaf i of the shape, counted from the left. */
int sg_shape_leaf(const struct sg_shape *shape, int leaf);
/* The inverse. */
int sg_shape_leaf_of(const struct sg_shape *shape, int rank);

/* All subtrees of one level, numbered from the left: the highest level whose subtrees have at most
 * `most` leaves (2 or more). */
struct sg_shape_groups {
    int level, count;
};

struct sg_shape_groups sg_shape_groups(const struct sg_shape *shape, int most);
/* The leaves of a group: [*first, *end). */
void sg_shape_group(const struct sg_shape *shape, const struct sg_shape_groups *groups, int group,
                    int *first, int *end);
/* Returns the group of a leaf. */
int sg_shape_group_of(const struct sg_shape *shape, const struct sg_shape_groups *groups, int leaf);

/* ---- groups of a shape, and groups of these groups ---- */

#define SG_NEST_LEVELS 2

/* Sizes at most, in ranks. */
struct sg_nest_sizes {
    int group; /* 2 or more */
    int outer; /* of a group of groups; 0: there are none */
};

/* A nest's levels: groups of leaves (level 0), groups of groups (level 1, if levels is 2), and
 * above them one set of all groups of the last level, which has at least two members. */
struct sg_nest {
    int levels;
    struct sg_shape_groups of[SG_NEST_LEVELS];
};

/* A group of some level, or the set of all (level `levels`). */
struct sg_nest_group {
    int first, end; /* leaves; the first one's rank leads the group */
    int low, high;  /* members: leaves at level 0, groups of the level below at others */
};

struct sg_nest sg_nest_of(const struct sg_shape *shape, const struct sg_nest_sizes *sizes);
/* Returns the group of a leaf at a level up to nest->levels. */
struct sg_nest_group sg_nest_at(const struct sg_shape *shape, const struct sg_nest *nest, int level,
                                int leaf);
/* Returns the first leaf of a group's member. */
int sg_nest_member(const struct sg_shape *shape, const struct sg_nest *nest, int level, int member);
/* Returns the number of levels in whose groups a leaf is the first. */
int sg_nest_leads(const struct sg_shape *shape, const struct sg_nest *nest, int leaf);

#endif
