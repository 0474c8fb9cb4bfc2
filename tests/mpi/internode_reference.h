/* Expected results of a collective between nodes: a sequential emulation of the association that
 * each protocol of shim/algos documents. Tests compare with it.
 *
 * The ranks of a node, in the order of the communicator's ranks, are folded by doubling; the nodes'
 * results are then folded in one of these shapes. Nodes are numbered by their first ranks.
 *   doubling    of lib/reference.h
 *   binomial    from a first node, likewise
 *   contiguous  node `low` of [low, high), then up to `degree` parts of the rest, in order, whose
 *               sizes differ by at most one, the larger first; each part is such a tree, and their
 *               values are folded as a binomial tree at the first. Nodes count from a first node,
 *               wrapping round.
 */
#ifndef SG_TESTS_INTERNODE_REFERENCE_H
#define SG_TESTS_INTERNODE_REFERENCE_H

#include "lib/reference.h"

#define INTERNODE_DEGREE_MAX 32

enum internode_shape { INTERNODE_DOUBLING, INTERNODE_BINOMIAL, INTERNODE_CONTIGUOUS };

struct internode_reference {
    struct reference fold;
    enum internode_shape shape;
    int degree;
    int nodes;
    const int *node_of; /* by rank */
};

struct internode_tree {
    const struct internode_reference *reference;
    const void *const *operands; /* by node, counted from `first` */
    size_t count;
};

/* Folds into result, which must be none of the operands. */
static inline void internode_contiguous(const struct internode_tree *tree, int low, int high,
                                        void *result)
{
    const struct reference *fold = &tree->reference->fold;
    void *values[INTERNODE_DEGREE_MAX + 1];
    const int rest = high - low - 1;
    const int parts = rest < tree->reference->degree ? rest : tree->reference->degree;
    int at = low + 1;

    values[0] = (void *)(uintptr_t)tree->operands[low];
    for (int i = 0; i < parts; i++) {
        int length = rest / parts + (i < rest % parts);

        values[i + 1] = reference_memory(tree->count * fold->extent_bytes);
        internode_contiguous(tree, at, at + length, values[i + 1]);
        at += length;
    }
    reference_binomial(fold, parts + 1, (const void *const *)values, tree->count, 0, result);
    for (int i = 0; i < parts; i++)
        free(values[i + 1]);
}

static inline void internode_fold_nodes(const struct internode_reference *reference, void **values,
                                        size_t count, int first, void *result)
{
    const void *operands[64];
    const int nodes = reference->nodes;
    const struct internode_tree tree = {reference, operands, count};

    if (reference->shape == INTERNODE_DOUBLING)
        reference_doubling(&reference->fold, nodes, (const void *const *)values, count, result);
    if (reference->shape == INTERNODE_BINOMIAL)
        reference_binomial(&reference->fold, nodes, (const void *const *)values, count, first,
                           result);
    for (int i = 0; i < nodes; i++)
        operands[i] = values[(i + first) % nodes];
    if (reference->shape == INTERNODE_CONTIGUOUS)
        internode_contiguous(&tree, 0, nodes, result);
}

/* operands[i] belongs to rank i; at most 64 ranks, and so nodes. first: the node of a reduce's
 * root; 0 for an allreduce. */
static inline void internode_reference(const struct internode_reference *reference, int ranks,
                                       const void *const *operands, size_t count, int first,
                                       void *result)
{
    void *values[64];

    for (int node = 0; node < reference->nodes; node++) {
        const void *members[64];
        int n = 0;

        for (int rank = 0; rank < ranks; rank++)
            if (reference->node_of[rank] == node)
                members[n++] = operands[rank];
        values[node] = reference_memory(count * reference->fold.extent_bytes);
        reference_doubling(&reference->fold, n, members, count, values[node]);
    }
    internode_fold_nodes(reference, values, count, first, result);
    for (int node = 0; node < reference->nodes; node++)
        free(values[node]);
}

#endif
