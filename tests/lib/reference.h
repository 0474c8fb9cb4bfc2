/* Expected results of a collective of n ranks on one machine: a sequential emulation of the
 * association that the algorithms document and that MPICH 4.0.2 uses there. Tests compare with it.
 *
 * Shapes; (x y) is the fold of x on the left with y on the right, operands in rank order:
 *   doubling  with p the largest power of two up to n and r = n - p, ranks 2k and 2k+1 (k < r) fold
 *             first; the p operands are then folded as a balanced tree. n = 5: (((0 1) 2) (3 4))
 *   binomial  from a first rank: ranks count from it, wrapping round; neighbours fold, then
 *             neighbours of those; one without a neighbour waits. n = 5, first 0: (((0 1) (2 3)) 4)
 *
 *                                          up to 2048 bytes          above
 *   allreduce                              doubling                  doubling
 *   reduce, predefined operation           binomial at the root      doubling, or with fewer
 *                                                                    elements than p binomial at
 *                                                                    rank 0
 *   reduce, user's, commutative            binomial at the root      binomial at rank 0
 *   reduce, user's, not commutative        binomial at rank 0        binomial at rank 0
 *
 * Bytes are count times MPI_Type_size. Rank 0 appears because above 2048 bytes MPICH reduces
 * commutative operations to the first rank of each node and sends the result from there to the
 * root; a reduce within a node then scatters the data over p ranks, if there is an element for
 * each. MPICH swaps the sides of commutative operations freely (the ranks of one allreduce differ
 * in it). Where that shows (MIN and MAX of NaN or of zeros of both signs, NaN payloads), MPICH's
 * result is not one value and differs from this one.
 */
#ifndef SG_TESTS_LIB_REFERENCE_H
#define SG_TESTS_LIB_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_SWITCH_BYTES 2048

struct reference {
    /* right[i] = left[i] op right[i], as MPI_Reduce_local(left, right) does. */
    void (*fold)(const void *left, void *right, size_t count, void *context);
    void *context;
    size_t extent_bytes; /* of one element */
    size_t size_bytes;   /* MPI_Type_size */
    bool predefined;
    bool commutative;
};

static inline void *reference_memory(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);

    if (memory == NULL) {
        fprintf(stderr, "reference: out of memory\n");
        abort();
    }
    return memory;
}

/* Copies of the operands, in rank order from `first`, wrapping round. Folding consumes them. */
static inline char **reference_copies(const struct reference *reference, int n,
                                      const void *const *operands, size_t count, int first)
{
    const size_t bytes = count * reference->extent_bytes;
    char **copies = reference_memory((size_t)n * sizeof *copies);

    for (int i = 0; i < n; i++) {
        copies[i] = reference_memory(bytes);
        memcpy(copies[i], operands[(i + first) % n], bytes);
    }
    return copies;
}

/* Copies copies[0] to the result and frees all copies. */
static inline void reference_finish(const struct reference *reference, char **copies, int n,
                                    size_t count, void *result)
{
    memcpy(result, copies[0], count * reference->extent_bytes);
    for (int i = 0; i < n; i++)
        free(copies[i]);
    free(copies);
}

/* copies[to] = copies[left] op copies[right], by swapping buffers. */
static inline void reference_fold(const struct reference *reference, char **copies, int to,
                                  int left, int right, size_t count)
{
    char *folded = copies[right];

    reference->fold(copies[left], folded, count, reference->context);
    copies[right] = copies[to];
    copies[to] = folded;
}

static inline int reference_power(int n)
{
    int power = 1;

    while (power * 2 <= n)
        power *= 2;
    return power;
}

static inline void reference_doubling(const struct reference *reference, int n,
                                      const void *const *operands, size_t count, void *result)
{
    const int power = reference_power(n), extra = n - power;
    char **copies = reference_copies(reference, n, operands, count, 0);

    for (int k = 0; k < extra; k++)
        reference_fold(reference, copies, 2 * k, 2 * k, 2 * k + 1, count);
    for (int k = 0; k < power; k++) { /* moves operand k of the balanced tree to index k */
        char *operand = copies[k < extra ? 2 * k : k + extra];

        copies[k < extra ? 2 * k : k + extra] = copies[k];
        copies[k] = operand;
    }
    for (int step = 1; step < power; step *= 2)
        for (int k = 0; k < power; k += 2 * step)
            reference_fold(reference, copies, k, k, k + step, count);
    reference_finish(reference, copies, n, count, result);
}

static inline void reference_binomial(const struct reference *reference, int n,
                                      const void *const *operands, size_t count, int first,
                                      void *result)
{
    char **copies = reference_copies(reference, n, operands, count, first);

    for (int step = 1; step < n; step *= 2)
        for (int k = 0; k + step < n; k += 2 * step)
            reference_fold(reference, copies, k, k, k + step, count);
    reference_finish(reference, copies, n, count, result);
}

/* The result on every rank. operands[i] belongs to rank i; result must be none of them. */
static inline void reference_allreduce(const struct reference *reference, int n,
                                       const void *const *operands, size_t count, void *result)
{
    reference_doubling(reference, n, operands, count, result);
}

/* Shape of a reduce: doubling, or binomial from the rank `first`. */
struct reference_choice {
    bool doubling;
    int first;
};

static inline struct reference_choice reference_choose(const struct reference *reference, int n,
                                                       size_t count, int root)
{
    if (count * reference->size_bytes <= REFERENCE_SWITCH_BYTES)
        return (struct reference_choice){false, reference->commutative ? root : 0};
    return (struct reference_choice){reference->predefined && count >= (size_t)reference_power(n),
                                     0};
}

/* The result on the root. */
static inline void reference_reduce(const struct reference *reference, int n,
                                    const void *const *operands, size_t count, int root,
                                    void *result)
{
    const struct reference_choice choice = reference_choose(reference, n, count, root);

    if (choice.doubling)
        reference_doubling(reference, n, operands, count, result);
    else
        reference_binomial(reference, n, operands, count, choice.first, result);
}

#endif
