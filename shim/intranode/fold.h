/* Folds the operands of all ranks in the association of a shape. Pure: buffers in, buffer out. */
#ifndef SG_INTRANODE_FOLD_H
#define SG_INTRANODE_FOLD_H

#include "algos/tree.h"

#include <stddef.h>

/* left (op) right -> out; out may be one of the two, but must not overlap them otherwise. */
typedef void (*sg_node_fold)(void *context, const void *left, const void *right, void *out,
                             size_t count);

/* Returns an operand: a rank's, or a subtree's (sg_fold_part). */
typedef const void *(*sg_fold_operand)(void *context, int which);

struct sg_folding {
    const struct sg_shape *shape;
    sg_node_fold fold;
    void *fold_context;
    size_t element_bytes;
    sg_fold_operand operand;
    void *operand_context;
};

/* out may be exactly one of the operands, or must not overlap any. */
void sg_fold_all(const struct sg_folding *folding, size_t count, void *out);

/* Folds the subtrees [first, end) of a level, two or more, up to the level `top` where they form
 * one subtree. At level 0 they are leaves. The operand callback gets these numbers. */
#define SG_FOLD_TO_TOP 64
struct sg_fold_part {
    int level, first, end, top;
};
void sg_fold_part(const struct sg_folding *folding, const struct sg_fold_part *part, size_t count,
                  void *out);

#endif
