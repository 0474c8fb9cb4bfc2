/* One rank's part in an instance of the ring: addresses, the data that it publishes, and its view
 * of the other ranks. */
#ifndef SG_INTRANODE_RING_H
#define SG_INTRANODE_RING_H

#include "core/cpu/cpu.h"
#include "intranode/method.h"

#include <string.h>

static inline unsigned char *sg_ring_instance(const struct sg_node *node, uint64_t position)
{
    return node->instances + (position & (node->depth - 1)) * node->instance_bytes;
}

static inline struct sg_node_control *sg_ring_control(const struct sg_node *node, int rank)
{
    return (struct sg_node_control *)(node->header + 1) + rank;
}

/* Returns the instances that a rank has left. Acquire: reads of its data come after. */
static inline uint64_t sg_ring_left(const struct sg_node *node, int rank)
{
    const struct sg_node_control *control = sg_ring_control(node, rank);
    uint64_t finished = atomic_load_explicit(&control->finished, memory_order_acquire);
    uint64_t left = atomic_load_explicit(&control->left, memory_order_acquire);

    return finished > left ? finished : left;
}

static inline _Atomic uint64_t *sg_ring_release(const struct sg_node *node, uint64_t position)
{
    return &((struct sg_node_word *)sg_ring_instance(node, position))->word;
}

static inline _Atomic uint64_t *sg_ring_choice(const struct sg_node *node, uint64_t position)
{
    return &((struct sg_node_word *)sg_ring_instance(node, position) + 1)->word;
}

/* meeting: 1..ranks-1 */
static inline _Atomic uint64_t *sg_ring_meeting(const struct sg_node *node, uint64_t position,
                                                int meeting)
{
    return &((struct sg_node_word *)sg_ring_instance(node, position) + 1 + meeting)->word;
}

/* leaf: 0..ranks-1; for groups of groups */
static inline _Atomic uint64_t *sg_ring_outer(const struct sg_node *node, uint64_t position,
                                              int leaf)
{
    return &((struct sg_node_word *)sg_ring_instance(node, position) + 1 + node->ranks + leaf)
                ->word;
}

static inline size_t sg_ring_words(int ranks)
{
    return 1 + 2 * (size_t)ranks;
}

static inline struct sg_node_line *sg_ring_line(const struct sg_node *node, uint64_t position,
                                                int rank)
{
    return (struct sg_node_line *)(sg_ring_instance(node, position) +
                                   sg_ring_words(node->ranks) * SG_NODE_LINE_BYTES +
                                   (size_t)rank * node->slot_stride);
}

static inline struct sg_call_info *sg_ring_call_info(const struct sg_node *node, uint64_t position,
                                                     int rank)
{
    return (struct sg_call_info *)(sg_ring_line(node, position, rank) + 1);
}

/* Requests a line's ownership before a store to it; a hint. */
static inline void sg_ring_take(const void *line)
{
    sg_cpu_take(line);
}

static inline bool sg_broadcast_is_root(const struct sg_node_op *op)
{
    return op->node->rank == op->call.root;
}

/* Counts the root as early if its line shows that it arrived before this rank. */
void sg_broadcast_find_skew(struct sg_node_op *op);

/* Words tagged with their position. */
static inline uint64_t sg_ring_tag(uint64_t position, uint32_t value)
{
    return (position + 1) << SG_NODE_VALUE_BITS | value;
}

static inline bool sg_ring_is(uint64_t word, uint64_t position)
{
    return word >> SG_NODE_VALUE_BITS == ((position + 1) & (UINT64_MAX >> SG_NODE_VALUE_BITS));
}

static inline uint32_t sg_ring_value(uint64_t word)
{
    return (uint32_t)word & ((1u << SG_NODE_VALUE_BITS) - 1);
}

/* Returns the address of a rank's operand of that size. */
static inline void *sg_ring_data(const struct sg_node *node, uint64_t position, int rank,
                                 size_t size_bytes)
{
    return size_bytes <= SG_NODE_INLINE_BYTES ? sg_ring_line(node, position, rank)->payload
                                              : (void *)(sg_ring_line(node, position, rank) + 2);
}

/* Bytes of the call's chunk at op->position. */
static inline size_t sg_op_chunk_bytes(const struct sg_node_op *op)
{
    return op->chunk_count * op->call.element_bytes;
}

/* In MPI, either all ranks of an allreduce pass MPI_IN_PLACE or none. */
static inline bool sg_op_is_in_place(const struct sg_node_call *call)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send == call->receive;
}

/* Differs, almost always, between calls that differ in operation, root, bytes or MPI_IN_PLACE; one
 * multiplication, because it is on the path of every call. */
static inline uint32_t sg_op_signature(const struct sg_node_call *call)
{
    uint64_t bytes = (uint64_t)call->count * call->element_bytes;
    uint64_t rest = (uint64_t)(uint32_t)(call->root + 1) << 3 |
                    (uint64_t)sg_op_is_in_place(call) << 2 | (uint64_t)call->operation;

    return (uint32_t)((bytes ^ rest << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Writes the call site, unless it is the last call's. */
void sg_call_info_set_site(struct sg_call_info *info, uint32_t site, uint64_t offset,
                           const char *module);

void sg_call_info_write(struct sg_call_info *info, const struct sg_node_call *call);

/* Publishes this rank's line for op->position; the operand, if any, must be in place. told: what
 * that means to ranks that wait. */
void sg_op_publish(struct sg_node_op *op, uint32_t told);

/* Returns this rank's operand of the chunk, in its user's buffer. */
static inline const void *sg_op_own(const struct sg_node_op *op)
{
    return (const char *)op->call.send + op->done_count * op->call.element_bytes;
}

static inline void *sg_op_target(const struct sg_node_op *op)
{
    return (char *)op->call.receive + op->done_count * op->call.element_bytes;
}

/* Copies elements into the user's buffer. */
static inline void sg_op_deliver(const struct sg_node_op *op, void *to, const void *from,
                                 size_t count)
{
    if (op->call.copy != NULL)
        op->call.copy(to, from, count);
    else
        memcpy(to, from, count * op->call.element_bytes);
}

/* Folds all ranks' operands by the call's operation. */
static inline struct sg_folding sg_op_folding(const struct sg_node_op *op, sg_fold_operand operand,
                                              void *operand_context)
{
    return (struct sg_folding){.shape = &op->call.shape,
                               .fold = op->call.fold,
                               .fold_context = op->call.fold_context,
                               .element_bytes = op->call.element_bytes,
                               .operand = operand,
                               .operand_context = operand_context};
}

/* Returns the size of a rank's share of `elements`; every share except the last ones has `each`. */
static inline size_t sg_op_share(size_t elements, size_t each, int rank, size_t *first)
{
    size_t left;

    *first = each * (size_t)rank < elements ? each * (size_t)rank : elements;
    left = elements - *first;
    return left < each ? left : each;
}

/* After a poll, if other ranks sleep: true if one of them may be able to go on by this rank's steps
 * since the last sg_op_tells. After sg_wait_has_sleepers: of the ranks whose steps together let
 * another one go on, the last sees the steps of all. */
bool sg_op_tells(struct sg_node_op *op);

/* True if the rank's line for op->position has arrived. Compares its signature: on a difference
 * sets the operation's mismatch_rank. */
bool sg_op_sees(struct sg_node_op *op, int rank);
/* As sg_op_sees, for every other rank. */
bool sg_op_sees_all(struct sg_node_op *op);

/* Counters for large operands in each rank's control: the times that a rank has brought its
 * operand, folded its share, fetched the other shares. They continue from call to call, identically
 * on all ranks. */
enum { SG_STAGE_BRING, SG_STAGE_FOLD, SG_STAGE_FETCH };
void sg_stage_begin(struct sg_node_op *op);
void sg_stage_done(struct sg_node_op *op, int stage);
/* True if every rank has passed a stage `count` times since sg_stage_begin. */
bool sg_stage_all(struct sg_node_op *op, int stage, uint64_t count);

/* Reports that this rank could not read another one's memory, before its next count: a rank that
 * sees that count sees the report. */
void sg_op_say_failed(struct sg_node_op *op);
bool sg_op_anyone_failed(const struct sg_node_op *op);

#endif
