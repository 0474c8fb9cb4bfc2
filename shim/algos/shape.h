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
#ifndef SG_ALGOS_SHAPE_H
#define SG_ALGOS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

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
