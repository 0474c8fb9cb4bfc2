#include "algos/peers.h"

#include "algos/tree.h"

#include <string.h>

void sg_peers_add(struct sg_peers *peers, int32_t peer)
{
    int low = 0, high = peers->count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (peers->out[middle] < peer)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < peers->count && peers->out[low] == peer)
        return;
    if (peers->count == peers->capacity) {
        peers->is_short = true;
        return;
    }
    memmove(&peers->out[low + 1], &peers->out[low],
            (size_t)(peers->count - low) * sizeof *peers->out);
    peers->out[low] = peer;
    peers->count++;
}

void sg_peers_add_both(struct sg_peers *peers, int32_t rank, int32_t size, int32_t distance)
{
    sg_peers_add(peers, (int32_t)(((int64_t)rank + distance) % size));
    sg_peers_add(peers, (int32_t)(((int64_t)rank + size - distance) % size));
}

void sg_peers_add_branch(struct sg_peers *peers, int32_t rank, int32_t size, int32_t top,
                         int degree)
{
    int32_t relative = sg_tree_relative(rank, top, size);
    int32_t parent = sg_branch_parent(relative, size, degree);
    int children = sg_branch_children(relative, size, degree);

    if (parent >= 0)
        sg_peers_add(peers, sg_tree_absolute(parent, top, size));
    for (int i = 0; i < children; i++)
        sg_peers_add(peers,
                     sg_tree_absolute(sg_branch_child(relative, size, degree, i), top, size));
}

void sg_peers_add_tree(struct sg_peers *peers, int32_t rank, int32_t size, int degree)
{
    struct sg_tree_place place = sg_tree_find(rank, size, degree);
    int children = sg_tree_children(&place, degree);

    if (place.parent >= 0)
        sg_peers_add(peers, place.parent);
    for (int i = 0; i < children; i++)
        sg_peers_add(peers, sg_tree_child(&place, degree, i).lo);
}

/* Level by level: the subtrees of a level are of at most two sizes, one apart. */
void sg_peers_add_branches(struct sg_peers *peers, int32_t rank, int32_t size, int32_t tree_size,
                           int degree)
{
    int32_t least = tree_size, most = tree_size;

    while (most > 1) {
        for (int32_t subtree = least; subtree <= most; subtree++) {
            struct sg_tree_place place = sg_tree_top(subtree);
            int children = subtree > 0 ? sg_tree_children(&place, degree) : 0;

            for (int i = 0; i < children; i++)
                sg_peers_add_both(peers, rank, size, sg_tree_child(&place, degree, i).lo);
        }
        least = (least - 1) / degree;
        most = (most - 1 + degree - 1) / degree;
    }
}

void sg_peers_add_powers(struct sg_peers *peers, int32_t rank, int32_t size)
{
    for (int i = 0; i < sg_tree_levels(size); i++)
        sg_peers_add_both(peers, rank, size, INT32_C(1) << i);
}

void sg_peers_add_hypercube(struct sg_peers *peers, int32_t rank, int32_t size)
{
    struct sg_hypercube cube = sg_hypercube_find(rank, size);

    for (uint32_t edge = 0; edge < sg_hypercube_edges(size); edge++) {
        int32_t partner = sg_hypercube_partner(&cube, size, edge);

        if (partner >= 0)
            sg_peers_add(peers, partner);
    }
}
