#include "intranode/fold.h"

#include <stdint.h>

/* Partial results are kept in blocks of this size, one for each level, so they stay in the nearest
 * cache. All levels together use at most STACK_BYTES of the thread's stack, unless one element is
 * larger. */
#define BLOCK_BYTES 1024
#define STACK_BYTES 4096
#define LINE_BYTES 64
/* Levels of the largest shape: a position's word holds 2^14 ranks. */
#define LEVELS 16

struct blocks {
    int levels;
    size_t bytes; /* size of one block */
    size_t count; /* elements in one block */
};

/* Folds one block, from the first operand to the last. A stack holds the partial results that wait
 * for their right operand. They come from left to right, so a right operand finds its partner on
 * top. */
static void fold_block(const struct sg_folding *folding, const struct sg_fold_part *part,
                       size_t offset_bytes, size_t count, unsigned char *partial_results,
                       size_t bytes, void *out)
{
    const struct sg_shape *shape = folding->shape;
    const void *stack[LEVELS];
    int depth = 0;

    for (int index = part->first; index < part->end; index++) {
        struct sg_climb climb = {part->level, index};
        const void *value =
            (const char *)folding->operand(folding->operand_context, index) + offset_bytes;
        bool right;
        int meeting;

        while (sg_climb_step(shape, &climb, &meeting, &right) && right &&
               climb.level <= part->top) {
            bool last = --depth == 0 && index == part->end - 1;
            void *target = last ? (void *)((char *)out + offset_bytes)
                                : (void *)(partial_results + (size_t)depth * bytes);

            folding->fold(folding->fold_context, stack[depth], value, target, count);
            value = target;
        }
        stack[depth++] = value;
    }
}

/* Two operands need no partial results, and therefore no blocks. */
static void fold_two(const struct sg_folding *folding, size_t count, void *out)
{
    const void *left = folding->operand(folding->operand_context, sg_shape_leaf(folding->shape, 0));
    const void *right =
        folding->operand(folding->operand_context, sg_shape_leaf(folding->shape, 1));

    folding->fold(folding->fold_context, left, right, out, count);
}

static struct blocks blocks_of(const struct sg_folding *folding, const struct sg_fold_part *part,
                               size_t count)
{
    int levels = 34 - __builtin_clz((unsigned)(part->end - part->first));
    struct blocks blocks = {.levels = levels < LEVELS ? levels : LEVELS, .bytes = BLOCK_BYTES};

    if ((size_t)blocks.levels * BLOCK_BYTES > STACK_BYTES)
        blocks.bytes = STACK_BYTES / (size_t)blocks.levels;
    blocks.count = blocks.bytes / folding->element_bytes;
    if (blocks.count == 0)
        blocks.count = 1;
    if (blocks.count > count)
        blocks.count = count;
    blocks.bytes =
        (blocks.count * folding->element_bytes + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
    return blocks;
}

void sg_fold_part(const struct sg_folding *folding, const struct sg_fold_part *part, size_t count,
                  void *out)
{
    struct blocks blocks = blocks_of(folding, part, count);
    unsigned char memory[(size_t)blocks.levels * blocks.bytes + LINE_BYTES];
    unsigned char *aligned = memory + (-(uintptr_t)memory & (LINE_BYTES - 1));

    for (size_t done = 0; done < count; done += blocks.count) {
        size_t left = count - done;

        fold_block(folding, part, done * folding->element_bytes,
                   left < blocks.count ? left : blocks.count, aligned, blocks.bytes, out);
    }
}

static const void *operand_of_leaf(void *context, int leaf)
{
    const struct sg_folding *folding = context;

    return folding->operand(folding->operand_context, sg_shape_leaf(folding->shape, leaf));
}

void sg_fold_all(const struct sg_folding *folding, size_t count, void *out)
{
    struct sg_folding by_leaf = *folding;
    const struct sg_fold_part whole = {0, 0, folding->shape->size, SG_FOLD_TO_TOP};

    if (folding->shape->size == 2) {
        fold_two(folding, count, out);
        return;
    }
    by_leaf.operand = operand_of_leaf;
    by_leaf.operand_context = (void *)folding;
    sg_fold_part(&by_leaf, &whole, count, out);
}
