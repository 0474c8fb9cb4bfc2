/* One rank's part in an instance of the ring, and the methods that need nothing else: the flat
 * exchange and the broadcast of small operands. */
#include "intranode/ring.h"

#include "core/account.h"
#include "core/text.h"

#include <string.h>

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

void sg_op_publish(struct sg_node_op *op, uint32_t told)
{
    struct sg_node *node = op->node;
    struct sg_node_line *line = sg_ring_line(node, op->position, node->rank);

    sg_call_info_write(sg_ring_call_info(node, op->position, node->rank), &op->call);
    line->signature = op->signature;
    line->arrival_ns = op->call.arrival_ns;
    /* Release: a rank that sees the sequence also sees operand, line and call info. */
    atomic_store_explicit(&line->sequence, (uint32_t)(op->position + 1), memory_order_release);
    op->told |= told;
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
    uint32_t told = (uint32_t)SG_TOLD_STAGE << stage;

    op->stage_count[stage]++;
    if ((op->told & told) == 0)
        op->told_stage[stage] = op->stage_base + op->stage_count[stage];
    op->told |= told;
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

/* True if all ranks have published their lines for the call's instance. */
static bool have_all_published(const struct sg_node_op *op)
{
    for (int rank = 0; rank < op->node->ranks; rank++) {
        const struct sg_node_line *line = sg_ring_line(op->node, op->position, rank);

        if (atomic_load_explicit(&line->sequence, memory_order_relaxed) !=
            (uint32_t)(op->position + 1))
            return false;
    }
    return true;
}

/* True if a rank may wait for one of the steps that `told` stands for: a rank that has taken
 * several may be the last in the first of them only. */
static bool have_all_passed(const struct sg_node_op *op, int stage)
{
    uint64_t count = op->told_stage[stage];

    for (int rank = 0; rank < op->node->ranks; rank++) {
        const struct sg_node_control *control = sg_ring_control(op->node, rank);

        if ((int64_t)(atomic_load_explicit(&control->stage[stage], memory_order_relaxed) - count) <
            0)
            return false;
    }
    return true;
}

bool sg_op_tells(struct sg_node_op *op)
{
    uint32_t told = op->told;
    /* The position of a call that is done is the next one's; all have passed its stages. */
    bool is_done = op->done_count == op->call.count && op->state != SG_OP_START;
    bool tells = (told & SG_TOLD) != 0 || (told != 0 && is_done);

    op->told = 0;
    if (!tells && (told & SG_TOLD_ARRIVAL) != 0)
        tells = have_all_published(op);
    for (int stage = SG_STAGE_BRING; stage <= SG_STAGE_FETCH && !tells; stage++)
        tells = (told & (uint32_t)SG_TOLD_STAGE << stage) != 0 && have_all_passed(op, stage);
    return tells;
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

/* ---- flat exchange (paper srm, section 2.2: small messages in shared memory; here without a
 * master) ----
 *
 * Every rank writes its operand into its own line or slot; a rank that needs the result waits for
 * all operands and folds them, in the association of the shape. The critical path is the transfer
 * of one line. A rank that only contributes to a reduce leaves at once.
 */

#define FETCHED_AHEAD 2 /* lines prefetched for each rank */

/* Takes this rank's own operand from its user's buffer: see sg_op_sees_all. */
static const void *operand_of(void *context, int rank)
{
    const struct sg_node_op *op = context;

    if (rank == op->node->rank)
        return sg_op_own(op);
    return sg_ring_data(op->node, op->position, rank, sg_op_chunk_bytes(op));
}

static void fold_all(struct sg_node_op *op)
{
    struct sg_folding folding = sg_op_folding(op, operand_of, op);

    sg_fold_all(&folding, op->chunk_count, sg_op_target(op));
}

/* Lines have time stamps if the call is measured. */
static void find_skew(struct sg_node_op *op)
{
    uint64_t first_ns = op->call.arrival_ns;

    if (first_ns == 0)
        return;
    for (int rank = 0; rank < op->node->ranks; rank++) {
        const struct sg_node_line *line = sg_ring_line(op->node, op->position, rank);

        if (rank == op->node->rank)
            continue;
        if (line->arrival_ns < first_ns)
            first_ns = line->arrival_ns;
        op->early += line->arrival_ns < op->call.arrival_ns;
    }
    /* Counts all contributors as late, because they leave at once: a check would cost the transfer
     * of one more line each. */
    if (op->call.operation == SG_OPERATION_REDUCE)
        op->late += (uint32_t)(op->node->ranks - 1);
    op->skew_known = first_ns != 0;
    op->skew_ns = op->call.arrival_ns - first_ns;
}

/* Requests ownership of the lines that this rank will write for its next call, before it needs
 * them. */
static void take_next(const struct sg_node_op *op, size_t size_bytes)
{
    const struct sg_node *node = op->node;

    sg_ring_take(sg_ring_line(node, op->position + 1, node->rank));
    if (size_bytes > SG_NODE_INLINE_BYTES)
        sg_ring_take(sg_ring_data(node, op->position + 1, node->rank, size_bytes));
}

/* The others arrived before the root, and may be further ahead: prefetches their next lines while
 * the root is busy. If a rank is not ahead, it would have to take its line back. */
static void fetch_next(const struct sg_node_op *op)
{
    for (int rank = 0; rank < op->node->ranks; rank++) {
        if (rank == op->node->rank)
            continue;
        for (int ahead = 1; ahead <= FETCHED_AHEAD; ahead++)
            __builtin_prefetch(sg_ring_line(op->node, op->position + (uint64_t)ahead, rank));
    }
}

enum sg_node_step sg_flat_poll(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    size_t size_bytes = sg_op_chunk_bytes(op);
    bool contributes_only =
        op->call.operation == SG_OPERATION_REDUCE && node->rank != op->call.root;
    bool first_look = op->state == SG_OP_START;

    if (op->state == SG_OP_START) {
        sg_account_mark(SG_ACCOUNT_PLAN);
        if (size_bytes > 0) {
            memcpy(sg_ring_data(node, op->position, node->rank, size_bytes), sg_op_own(op),
                   size_bytes);
            op->copies++;
        }
        sg_op_publish(op, SG_TOLD);
        sg_account_mark(SG_ACCOUNT_PUBLISH);
        op->state = SG_OP_ARRIVED;
        op->seen_ranks = 0;
    }
    if (contributes_only) {
        take_next(op, size_bytes);
        return SG_NODE_DONE;
    }
    if (!sg_op_sees_all(op))
        return SG_NODE_WAIT;
    sg_account_mark(SG_ACCOUNT_SEE);
    if (op->mismatch_rank >= 0)
        return SG_NODE_MISMATCH;
    take_next(op, size_bytes);
    if (first_look && op->call.operation == SG_OPERATION_REDUCE)
        fetch_next(op);
    find_skew(op);
    if (size_bytes > 0)
        fold_all(op);
    sg_account_mark(SG_ACCOUNT_FOLD);
    return SG_NODE_DONE;
}

/* ---- broadcast (paper srm, section 2.2: the root fills shared buffers with READY flags; here
 * slots of the ring) ----
 *
 * The root writes a chunk into its slot and goes on as far as its credits reach, so it
 * leaves when its last chunk is written. Every other rank copies chunks out, and waits for the root
 * alone. All ranks publish their lines, so that mismatched calls are found. For large broadcasts
 * with a single copy, see reading.c.
 */

/* Skew relative to the root only: the rank waits for nobody else. */
void sg_broadcast_find_skew(struct sg_node_op *op)
{
    uint64_t root_ns = sg_ring_line(op->node, op->position, op->call.root)->arrival_ns;

    if (op->done_count > 0 || op->call.arrival_ns == 0 || root_ns == 0)
        return;
    op->early += root_ns < op->call.arrival_ns;
}

enum sg_node_step sg_broadcast_poll(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    size_t size_bytes = sg_op_chunk_bytes(op);

    if (op->state == SG_OP_START) {
        if (sg_broadcast_is_root(op)) {
            memcpy(sg_ring_data(node, op->position, node->rank, size_bytes), sg_op_own(op),
                   size_bytes);
            op->copies++;
        }
        sg_op_publish(op, sg_broadcast_is_root(op) ? SG_TOLD : 0);
        op->state = SG_OP_ARRIVED;
    }
    if (sg_broadcast_is_root(op))
        return SG_NODE_DONE;
    if (!sg_op_sees(op, op->call.root))
        return SG_NODE_WAIT;
    if (op->mismatch_rank >= 0)
        return SG_NODE_MISMATCH;
    sg_broadcast_find_skew(op);
    memcpy(sg_op_target(op), sg_ring_data(node, op->position, op->call.root, size_bytes),
           size_bytes);
    op->copies++;
    return SG_NODE_DONE;
}
