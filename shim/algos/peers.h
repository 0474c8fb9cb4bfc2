/* Sets of endpoints, for the functions `peers` of algo.h: in increasing order, each once, in memory
 * of the caller's. Pure.
 */
#ifndef SG_ALGOS_PEERS_H
#define SG_ALGOS_PEERS_H

#include "algos/algo.h"

struct sg_peers {
    int32_t *out;
    int capacity;
    int count;
    bool is_short; /* there was no room for all */
};

static inline struct sg_peers sg_peers_into(int32_t *out, int capacity)
{
    return (struct sg_peers){.out = out, .capacity = capacity};
}

/* How many they are; -1: there was no room. */
static inline int sg_peers_count(const struct sg_peers *peers)
{
    return peers->is_short ? -1 : peers->count;
}

void sg_peers_add(struct sg_peers *peers, int32_t peer);

/* rank + distance and rank - distance, modulo size. */
void sg_peers_add_both(struct sg_peers *peers, int32_t rank, int32_t size, int32_t distance);

/* Parent and children of rank in the tree of that degree relative to top (sg_branch_*). */
void sg_peers_add_branch(struct sg_peers *peers, int32_t rank, int32_t size, int32_t top,
                         int degree);

/* The same in the contiguous tree of rank 0, of degree 1 too. */
void sg_peers_add_tree(struct sg_peers *peers, int32_t rank, int32_t size, int degree);

/* The same over all tops: every distance between a child and its parent in the contiguous tree
 * of tree_size. */
void sg_peers_add_branches(struct sg_peers *peers, int32_t rank, int32_t size, int32_t tree_size,
                           int degree);

/* Partners on the edges of the hypercube. */
void sg_peers_add_hypercube(struct sg_peers *peers, int32_t rank, int32_t size);

/* Of a binomial tree relative to any endpoint: the powers of two. */
void sg_peers_add_powers(struct sg_peers *peers, int32_t rank, int32_t size);

#endif
