#include "intranode/ring.h"

#include "core/text.h"

void sg_call_info_set_site(struct sg_call_info *info, uint32_t site, uint64_t offset,
                           const char *module)
{
    if (info->site == site)
        return;
    info->site = site;
    info->offset = offset;
    if (module != NULL)
        sg_text_tail(module, info->module, sizeof info->module);
}

void sg_call_info_write(struct sg_call_info *info, const struct sg_node_call *call)
{
    info->bytes = (uint64_t)call->count * call->element_bytes;
    info->root = call->root;
    info->operation = (uint8_t)call->operation;
    info->algorithm = call->algorithm;
    info->method = (uint8_t)call->method;
    info->in_place = sg_op_is_in_place(call);
    sg_call_info_set_site(info, call->site, call->site_offset, call->site_module);
}

void sg_op_publish(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    struct sg_node_line *line = sg_ring_line(node, op->position, node->rank);

    sg_call_info_write(sg_ring_call_info(node, op->position, node->rank), &op->call);
    line->signature = op->signature;
    line->arrival_ns = op->call.arrival_ns;
    /* Release: a rank that sees the sequence also sees operand, line and call info. */
    atomic_store_explicit(&line->sequence, (uint32_t)(op->position + 1), memory_order_release);
}

bool sg_op_sees(struct sg_node_op *op, int rank)
{
    const struct sg_node_line *line = sg_ring_line(op->node, op->position, rank);

    /* Acquire: pairs with sg_op_publish. */
    if (atomic_load_explicit(&line->sequence, memory_order_acquire) != (uint32_t)(op->position + 1))
        return false;
    if (line->signature != op->signature)
        op->mismatch_rank = rank;
    return true;
}

/* Skips this rank's own line: a load from it would wait, with all later loads, until the store owns
 * the line, which others poll. */
bool sg_op_sees_all(struct sg_node_op *op)
{
    while (op->seen_ranks < op->node->ranks) {
        if (op->seen_ranks != op->node->rank && !sg_op_sees(op, op->seen_ranks))
            return false;
        op->seen_ranks++;
    }
    op->seen_ranks = 0;
    return true;
}

void sg_stage_begin(struct sg_node_op *op)
{
    struct sg_node_control *control = sg_ring_control(op->node, op->node->rank);

    op->stage_base = atomic_load_explicit(&control->stage[SG_STAGE_FETCH], memory_order_relaxed);
    memset(op->stage_count, 0, sizeof op->stage_count);
    op->seen_ranks = 0;
}

void sg_stage_done(struct sg_node_op *op, int stage)
{
    struct sg_node_control *control = sg_ring_control(op->node, op->node->rank);

    op->stage_count[stage]++;
    /* Release: this stage's writes and reads come before. */
    atomic_store_explicit(&control->stage[stage], op->stage_base + op->stage_count[stage],
                          memory_order_release);
}

bool sg_stage_all(struct sg_node_op *op, int stage, uint64_t count)
{
    while (op->seen_ranks < op->node->ranks) {
        const struct sg_node_control *control = sg_ring_control(op->node, op->seen_ranks);

        /* Acquire: pairs with sg_stage_done. */
        if ((int64_t)(atomic_load_explicit(&control->stage[stage], memory_order_acquire) -
                      (op->stage_base + count)) < 0)
            return false;
        op->seen_ranks++;
    }
    op->seen_ranks = 0;
    return true;
}

void sg_op_say_failed(struct sg_node_op *op)
{
    /* Relaxed: this rank's next count, a release, comes after it. */
    atomic_store_explicit(&sg_ring_control(op->node, op->node->rank)->failed, op->position + 1,
                          memory_order_relaxed);
    op->failed = true;
}

bool sg_op_anyone_failed(const struct sg_node_op *op)
{
    for (int rank = 0; rank < op->node->ranks; rank++) {
        if (atomic_load_explicit(&sg_ring_control(op->node, rank)->failed, memory_order_relaxed) ==
            op->position + 1)
            return true;
    }
    return false;
}
