/* The values that protocols on trees document, by plain recursion over ranks, in the mini host's
 * operations. They are computed without the protocols and the arithmetic that these use. */
#ifndef SG_TESTS_ALGOS_ASSOCIATIONS_H
#define SG_TESTS_ALGOS_ASSOCIATIONS_H

#include "algos/mini_host.h"

struct association {
    int size, origin; /* ranks count from origin */
    int degree;       /* 1: the binomial tree */
    uint32_t seq, flags;
    int element;
};

static inline uint64_t association_leaf(const struct association *of, int relative)
{
    return mini_operand((relative + of->origin) % of->size, of->seq, of->element);
}

static inline uint64_t association_binomial(const struct association *of, int relative)
{
    uint64_t value = association_leaf(of, relative);

    for (int mask = 1; !(relative & mask) && relative + mask < of->size; mask *= 2)
        value = mini_fold(of->flags, value, association_binomial(of, relative + mask));
    return value;
}

/* Ranks [low, high): the first, then its parts, neighbours folded and then neighbours of these. */
static inline uint64_t association_contiguous(const struct association *of, int low, int high)
{
    uint64_t items[33];
    int below = high - low - 1, count = 1, at = low + 1;
    int parts = below < of->degree ? below : of->degree;

    items[0] = association_leaf(of, low);
    for (int i = 0; i < parts; i++) {
        int length = below / parts + (i < below % parts);

        items[count++] = association_contiguous(of, at, at + length);
        at += length;
    }
    for (int width = 1; width < count; width *= 2) {
        for (int i = 0; i + width < count; i += 2 * width)
            items[i] = mini_fold(of->flags, items[i], items[i + width]);
    }
    return items[0];
}

static inline uint64_t association_tree(const struct association *of)
{
    return of->degree == 1 ? association_binomial(of, 0) : association_contiguous(of, 0, of->size);
}

/* Recursive doubling as messages go: pairs first where size is no power of two. */
static inline uint64_t association_doubling(const struct association *of)
{
    uint64_t value[64];
    int count = 0, power = 1, extra;

    while (2 * power <= of->size)
        power *= 2;
    extra = of->size - power;
    for (int rank = 0; rank < of->size; rank++) {
        uint64_t own = association_leaf(of, rank);

        if (rank < 2 * extra && rank % 2 == 1)
            value[count - 1] = mini_fold(of->flags, value[count - 1], own);
        else
            value[count++] = own;
    }
    for (int width = 1; width < count; width *= 2) {
        for (int i = 0; i + width < count; i += 2 * width)
            value[i] = mini_fold(of->flags, value[i], value[i + width]);
    }
    return value[0];
}

#endif
