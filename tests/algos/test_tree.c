/* Tests tree arithmetic against direct constructions, for every rank of many sizes. */
#include "algos/tree.h"
#include "lib/unit.h"

#define SIZE_MAX_TESTED 130

/* Endpoints of the subtree, which is [rank, rank + span). */
static int32_t binomial_span(int32_t rank, int32_t size)
{
    int32_t span = rank == 0 ? size : rank & -rank;

    return span < size - rank ? span : size - rank;
}

static int32_t dissemination_from(int32_t rank, int32_t size, int round)
{
    return (int32_t)((rank - (INT64_C(1) << round) % size + size) % size);
}

TEST("ranks relative to a tree's root convert back to ranks")
{
    for (int size = 1; size < 20; size++) {
        for (int top = 0; top < size; top++) {
            for (int rank = 0; rank < size; rank++) {
                int relative = sg_tree_relative(rank, top, size);

                EXPECT(relative == (rank - top + size) % size,
                       sg_tree_absolute(relative, top, size) == rank);
            }
        }
    }
    EXPECT(sg_tree_absolute(INT32_MAX - 1, INT32_MAX - 1, INT32_MAX) == INT32_MAX - 2);
}

TEST("levels and powers hold up to the largest sizes")
{
    EXPECT(sg_tree_levels(1) == 0, sg_tree_levels(2) == 1, sg_tree_levels(3) == 2,
           sg_tree_levels(1 << 24) == 24, sg_tree_levels(INT32_MAX) == 31, sg_tree_power(1) == 1,
           sg_tree_power(17) == 16, sg_tree_power(INT32_MAX) == 1 << 30);
}

/* Children and parents name each other, and subtrees are the ranges that their children make up. */
TEST("binomial parents and children name each other and partition their ranges")
{
    for (int size = 1; size < SIZE_MAX_TESTED; size++) {
        int children = 0;

        EXPECT(sg_binomial_parent(0) == -1);
        for (int rank = 0; rank < size; rank++) {
            int count = sg_binomial_children(rank, size);
            int next = rank + 1;

            for (int i = 0; i < count; i++) {
                int child = sg_binomial_child(rank, i);

                EXPECT(child == next, sg_binomial_parent(child) == rank,
                       sg_binomial_index(child) == i);
                next = child + binomial_span(child, size);
            }
            EXPECT(next == rank + binomial_span(rank, size));
            children += count;
        }
        EXPECT(children == size - 1);
    }
}

static void check_place(int size, int degree, const struct sg_tree_place *place, int *depth)
{
    int count = sg_tree_children(place, degree);
    struct sg_tree_place found = sg_tree_find(place->lo, size, degree);
    int next = place->lo + 1, first = 0;

    EXPECT(found.lo == place->lo && found.hi == place->hi,
           found.parent == place->parent && found.index == place->index,
           found.depth == place->depth);
    if (place->depth > *depth)
        *depth = place->depth;
    EXPECT(sg_tree_toward(place, degree, place->lo) == -1,
           sg_tree_toward(place, degree, place->hi) == -1);
    for (int i = 0; i < count; i++) {
        struct sg_tree_place child = sg_tree_child(place, degree, i);
        int length = child.hi - child.lo;

        first = i == 0 ? length : first;
        EXPECT(child.lo == next, length >= 1 && (length == first || length == first - 1),
               child.parent == place->lo && child.index == i);
        for (int rank = child.lo; rank < child.hi; rank++)
            EXPECT(sg_tree_toward(place, degree, rank) == i);
        check_place(size, degree, &child, depth);
        next = child.hi;
    }
    EXPECT(next == place->hi);
}

TEST("the contiguous tree partitions every range evenly, and finds ranks in it")
{
    static const int degrees[] = {1, 2, 3, 4, 5, 8, 32};

    for (int size = 1; size < SIZE_MAX_TESTED; size++) {
        for (unsigned i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
            struct sg_tree_place top = sg_tree_top(size);
            int depth = 0;

            EXPECT(top.parent == -1 && top.index == -1);
            check_place(size, degrees[i], &top, &depth);
            EXPECT(sg_tree_depth(size, degrees[i]) == depth);
        }
    }
    EXPECT(sg_tree_find((1 << 24) - 1, 1 << 24, 2).hi == 1 << 24);
}

TEST("a branch is part of the contiguous tree, or with degree 1 of the binomial tree")
{
    for (int size = 1; size < 40; size++) {
        for (int degree = 1; degree < 5; degree++) {
            for (int rank = 0; rank < size; rank++) {
                for (int i = 0; i < sg_branch_children(rank, size, degree); i++) {
                    int child = sg_branch_child(rank, size, degree, i);

                    EXPECT(sg_branch_parent(child, size, degree) == rank,
                           sg_branch_index(child, size, degree) == i);
                }
            }
        }
        EXPECT(sg_branch_children(0, size, 1) == sg_tree_levels(size));
    }
}

TEST("every position of a hypercube has one rank, and the other ranks fold in pairs")
{
    for (int size = 1; size < SIZE_MAX_TESTED; size++) {
        bool taken[SIZE_MAX_TESTED] = {false};

        for (int rank = 0; rank < size; rank++) {
            struct sg_hypercube cube = sg_hypercube_find(rank, size);

            EXPECT(1 << cube.dimensions == cube.power, cube.power <= size && 2 * cube.power > size);
            if (cube.partner >= 0) {
                EXPECT(sg_hypercube_find(cube.partner, size).partner == rank,
                       (cube.position < 0) == (rank % 2 == 0));
            }
            if (cube.position < 0)
                continue;
            EXPECT(cube.position < cube.power && !taken[cube.position]);
            taken[cube.position] = true;
            EXPECT(sg_hypercube_rank(cube.position, size) == rank,
                   sg_hypercube_position(rank, size) == cube.position);
        }
        for (int position = 0; position < sg_tree_power(size); position++)
            EXPECT(taken[position]);
    }
}

/* After all rounds everyone knows of everyone. */
TEST("dissemination informs every rank of every other rank")
{
    for (int size = 1; size < SIZE_MAX_TESTED; size++) {
        static bool knows[SIZE_MAX_TESTED][SIZE_MAX_TESTED],
            before[SIZE_MAX_TESTED][SIZE_MAX_TESTED];

        memset(knows, 0, sizeof knows);
        for (int rank = 0; rank < size; rank++)
            knows[rank][rank] = true;
        for (int round = 0; round < sg_tree_levels(size); round++) {
            memcpy(before, knows, sizeof knows);
            for (int rank = 0; rank < size; rank++) {
                int to = sg_dissemination_to(rank, size, round);

                EXPECT(dissemination_from(to, size, round) == rank);
                for (int i = 0; i < size; i++)
                    knows[to][i] = knows[to][i] || before[rank][i];
            }
        }
        for (int rank = 0; rank < size; rank++) {
            for (int i = 0; i < size; i++)
                ASSERT(knows[rank][i]);
        }
    }
}
