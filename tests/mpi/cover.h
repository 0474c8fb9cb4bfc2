/* A pairwise cover: rows of factor levels that contain every legal pair of levels of any two
 * factors. Built greedily; the same on every rank and in every run.
 */
#ifndef SG_TESTS_COVER_H
#define SG_TESTS_COVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COVER_FACTORS_MAX 12
#define COVER_TRIES 60

struct cover {
    int factors;
    int levels[COVER_FACTORS_MAX];
    bool (*legal)(const int *row);
    /* result */
    int (*rows)[COVER_FACTORS_MAX];
    int row_count;
    long pairs;   /* covered pairs */
    long illegal; /* pairs for which no legal row was found */
    /* private */
    bool *seen;
    int stride;
    uint64_t random;
};

static inline int cover_draw(struct cover *cover, int below)
{
    cover->random = cover->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)(cover->random >> 33) % below;
}

static inline bool *cover_seen(const struct cover *cover, int f, int a, int g, int b)
{
    const size_t row = (size_t)(f * cover->stride + a);

    return &cover->seen[row * (size_t)(cover->factors * cover->stride) +
                        (size_t)(g * cover->stride + b)];
}

/* Returns the number of the row's pairs that no earlier row has; with `take` they become covered.
 */
static inline int cover_gain(struct cover *cover, const int *row, bool take)
{
    int gain = 0;

    for (int f = 0; f < cover->factors; f++) {
        for (int g = f + 1; g < cover->factors; g++) {
            bool *seen = cover_seen(cover, f, row[f], g, row[g]);

            gain += !*seen;
            *seen = *seen || take;
        }
    }
    return gain;
}

/* Draws legal rows that hold the pair and keeps the best; returns false if there is none. */
static inline bool cover_row(struct cover *cover, int f, int a, int g, int b, int *best)
{
    int best_gain = 0;

    for (int k = 0; k < COVER_TRIES; k++) {
        int row[COVER_FACTORS_MAX] = {0};

        for (int h = 0; h < cover->factors; h++)
            row[h] = cover_draw(cover, cover->levels[h]);
        row[f] = a;
        row[g] = b;
        int gain = cover->legal(row) ? cover_gain(cover, row, false) : 0;
        if (gain <= best_gain)
            continue;
        best_gain = gain;
        for (int h = 0; h < COVER_FACTORS_MAX; h++)
            best[h] = row[h];
    }
    return best_gain > 0;
}

static inline void cover_pair(struct cover *cover, int f, int a, int g, int b)
{
    int row[COVER_FACTORS_MAX];

    if (*cover_seen(cover, f, a, g, b))
        return;
    if (!cover_row(cover, f, a, g, b, row)) {
        cover->illegal++;
        return;
    }
    cover->pairs += cover_gain(cover, row, true);
    cover->rows = realloc(cover->rows, (size_t)(cover->row_count + 1) * sizeof *cover->rows);
    if (cover->rows == NULL)
        abort();
    for (int h = 0; h < COVER_FACTORS_MAX; h++)
        cover->rows[cover->row_count][h] = row[h];
    cover->row_count++;
}

/* The caller sets factors, levels and legal; the rest must be zero. */
static inline void cover_make(struct cover *cover)
{
    for (int f = 0; f < cover->factors; f++)
        if (cover->levels[f] > cover->stride)
            cover->stride = cover->levels[f];
    cover->seen =
        calloc((size_t)(cover->factors * cover->stride) * (size_t)(cover->factors * cover->stride),
               sizeof *cover->seen);
    if (cover->seen == NULL)
        abort();
    for (int f = 0; f < cover->factors; f++)
        for (int g = f + 1; g < cover->factors; g++)
            for (int a = 0; a < cover->levels[f]; a++)
                for (int b = 0; b < cover->levels[g]; b++)
                    cover_pair(cover, f, a, g, b);
}

static inline void cover_free(struct cover *cover)
{
    free(cover->rows);
    free(cover->seen);
}

#endif
