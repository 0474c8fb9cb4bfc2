/* Tests shapes against a direct emulation of the algorithms they stand for, by expressions:
 * "(a+b)" is a folded left of b. The emulation sends messages between ranks as the textbook
 * algorithms do. */
#include "algos/tree.h"
#include "lib/unit.h"

#define RANKS_MAX 33
#define TEXT_BYTES 512

typedef char expression[TEXT_BYTES];

static void fold(const char *left, const char *right, char *out)
{
    expression text;

    snprintf(text, sizeof text, "(%.250s+%.250s)", left, right);
    strcpy(out, text);
}

static void leaves(expression *at, int size)
{
    for (int rank = 0; rank < size; rank++)
        snprintf(at[rank], TEXT_BYTES, "%d", rank);
}

/* All ranks climb in the order given; the second at a node folds. */
static void climb_all(const struct sg_shape *shape, const int *order, char *out)
{
    static expression waiting[RANKS_MAX], own;
    bool there[RANKS_MAX] = {false};
    int tops = 0;

    for (int i = 0; i < shape->size; i++) {
        int rank = order[i];
        struct sg_climb climb = sg_climb_start(shape, rank);
        bool right, top = true;
        int node;

        snprintf(own, sizeof own, "%d", rank);
        while (sg_climb_step(shape, &climb, &node, &right)) {
            ASSERT(node >= 1 && node < shape->size);
            if (!there[node]) {
                there[node] = true;
                strcpy(waiting[node], own);
                top = false;
                break;
            }
            if (right)
                fold(waiting[node], own, own);
            else
                fold(own, waiting[node], own);
        }
        if (top) {
            tops++;
            strcpy(out, own);
        }
    }
    EXPECT(tops == 1);
}

static void recursive_doubling(int size, char *out)
{
    static expression value[RANKS_MAX], next[RANKS_MAX];
    int power = 1;

    while (2 * power <= size)
        power *= 2;
    int extra = size - power;
    leaves(value, size);
    for (int rank = 0; rank < 2 * extra; rank += 2)
        fold(value[rank], value[rank + 1], value[rank + 1]);
    for (int i = 0; i < power; i++)
        memmove(value[i], value[i < extra ? 2 * i + 1 : i + extra], TEXT_BYTES);
    for (int mask = 1; mask < power; mask *= 2) {
        for (int i = 0; i < power; i++)
            fold(value[i & ~mask], value[i | mask], next[i]);
        memcpy(value, next, sizeof value);
    }
    strcpy(out, value[0]);
}

static void binomial(int size, int root, char *out)
{
    static expression value[RANKS_MAX];

    for (int i = 0; i < size; i++)
        snprintf(value[i], TEXT_BYTES, "%d", (i + root) % size);
    for (int mask = 1; mask < size; mask *= 2) {
        for (int i = 0; i + mask < size; i += 2 * mask)
            fold(value[i], value[i + mask], value[i]);
    }
    strcpy(out, value[0]);
}

/* A permutation of the ranks, another for each seed. */
static void shuffle(int *order, int size, unsigned seed)
{
    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int i = size - 1; i > 0; i--) {
        seed = seed * 1103515245u + 12345u;
        int j = (int)(seed >> 16) % (i + 1);
        int other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

static void compare(const struct sg_shape *shape, const char *expected)
{
    int order[RANKS_MAX];
    expression got;

    for (unsigned seed = 0; seed < 20; seed++) {
        shuffle(order, shape->size, seed);
        climb_all(shape, order, got);
        EXPECT(text_is(got, expected));
    }
}

TEST("a doubling shape is recursive doubling in every order of arrival")
{
    for (int size = 1; size < RANKS_MAX; size++) {
        struct sg_shape shape = {SG_SHAPE_DOUBLING, size, 0};
        expression expected;

        recursive_doubling(size, expected);
        compare(&shape, expected);
    }
}

TEST("a binomial shape is the binomial tree of every root in every order of arrival")
{
    for (int size = 1; size < RANKS_MAX; size++) {
        for (int root = 0; root < size; root++) {
            struct sg_shape shape = {SG_SHAPE_BINOMIAL, size, root};
            expression expected;

            binomial(size, root, expected);
            compare(&shape, expected);
        }
    }
}

/* Each of the size - 1 nodes is met twice, once from each side. */
TEST("every node of a shape is reached from its left and its right child")
{
    for (int kind = SG_SHAPE_DOUBLING; kind <= SG_SHAPE_BINOMIAL; kind++) {
        for (int size = 1; size < 200; size++) {
            struct sg_shape shape = {(enum sg_shape_kind)kind, size, 0};
            int paths[2][200] = {{0}};

            for (int rank = 0; rank < size; rank++) {
                struct sg_climb climb = sg_climb_start(&shape, rank);
                bool right;
                int node;

                while (sg_climb_step(&shape, &climb, &node, &right))
                    paths[right][node]++;
            }
            for (int node = 1; node < size; node++)
                EXPECT(paths[0][node] > 0 && paths[1][node] > 0);
        }
    }
}

/* Groups follow each other, none has more leaves than are asked for, and the next level's would. */
TEST("groups are the greatest subtrees of a size and cover the shape")
{
    for (int size = 2; size < 200; size++) {
        for (int most = 2; most < size; most++) {
            for (int kind = SG_SHAPE_DOUBLING; kind <= SG_SHAPE_BINOMIAL; kind++) {
                struct sg_shape shape = {(enum sg_shape_kind)kind, size, 0};
                struct sg_shape_groups groups = sg_shape_groups(&shape, most);
                struct sg_shape_groups above = {groups.level + 1, 0};
                int first, end, last_end = 0;

                ASSERT(groups.count >= 2);
                for (int group = 0; group < groups.count; group++) {
                    sg_shape_group(&shape, &groups, group, &first, &end);
                    ASSERT(first == last_end && end > first && end - first <= most);
                    last_end = end;
                }
                ASSERT(last_end == size);
                sg_shape_group(&shape, &above, 0, &first, &end);
                ASSERT(end > most);
            }
        }
    }
}

/* Every level's groups have the members of the level below, in order, and cover the shape. */
static void check_level(const struct sg_shape *shape, const struct sg_nest *nest, int level)
{
    int leaf = 0, members = 0;

    while (leaf < shape->size) {
        struct sg_nest_group group = sg_nest_at(shape, nest, level, leaf);

        ASSERT(group.first == leaf && group.low == members && group.high > group.low);
        for (int member = group.low; member < group.high; member++) {
            struct sg_nest_group below = {.first = leaf, .end = leaf + 1};

            if (level > 0)
                below = sg_nest_at(shape, nest, level - 1, leaf);
            ASSERT(sg_nest_member(shape, nest, level, member) == leaf && below.first == leaf);
            for (; leaf < below.end; leaf++)
                ASSERT(sg_nest_at(shape, nest, level, leaf).first == group.first &&
                       (sg_nest_leads(shape, nest, leaf) > level) == (leaf == group.first));
        }
        ASSERT(leaf == group.end);
        members = group.high;
    }
}

TEST("groups of groups cover the shape, and at least two are at the top")
{
    for (int size = 2; size < 70; size++) {
        for (int group = 2; group < 12; group++) {
            for (int outer = 0; outer < 50; outer += 5) {
                struct sg_shape shape = {(enum sg_shape_kind)((group + outer) % 2), size, 0};
                struct sg_nest nest = sg_nest_of(&shape, &(struct sg_nest_sizes){group, outer});
                struct sg_nest_group all = sg_nest_at(&shape, &nest, nest.levels, size - 1);

                ASSERT(nest.levels == 1 || outer > group, all.first == 0, all.end == size,
                       all.high - all.low >= 2);
                for (int level = 0; level < nest.levels; level++)
                    check_level(&shape, &nest, level);
            }
        }
    }
}

TEST("rank to leaf and leaf to rank are inverse")
{
    for (int root = 0; root < 7; root++) {
        struct sg_shape shape = {SG_SHAPE_BINOMIAL, 7, root};

        for (int rank = 0; rank < 7; rank++)
            EXPECT(sg_shape_leaf(&shape, sg_shape_leaf_of(&shape, rank)) == rank);
    }
}
