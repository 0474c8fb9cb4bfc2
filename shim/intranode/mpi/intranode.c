/* The engine of a communicator of one node: plans a call, chooses its method, begins it in the
 * segment, and waits for it around sg_node_poll. Also set-up, recovery of ranks that disagree,
 * agreement on choices, and the look for other ranks' calls. See intranode.h.
 *
 * The call is described once for the methods of shim/intranode, by op.call: planning fills it in,
 * and a repeated call keeps what has not changed. All ranks decide in the same way about the
 * operation and its type (derived types, and pairs that MPI does not allow, go to MPICH) and about
 * count 0. Argument errors may occur on this rank alone; MPICH then reports them, and the other
 * ranks do not learn of them, as without stagger.
 */
#include "intranode/mpi/intranode.h"

#include "core/account.h"
#include "core/cpu/cpu.h"
#include "intranode/forms.h"
#include "intranode/memory.h"
#include "intranode/mpi/auto_inside.h"
#include "intranode/mpi/group_choice.h"
#include "intranode/mpi/pool.h"
#include "intranode/node.h"
#include "intranode/reading.h"
#include "intranode/ring.h"
#include "mpi/gpu_buffers.h"
#include "mpi/operands.h"
#include "mpi/packed.h"
#include "mpi/user_lines.h"
#include "wait/catch_up.h"
#include "wait/turn.h"
#include "wait/wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES 4096u
/* A wait begins with this many polls in succession: a peer that arrives at the same time needs no
 * wait ladder, and is seen sooner. */
#define FIRST_POLLS 64
#define FIRST_POLLS_CONTESTED 4
/* A contributor that waits for a slot uses its box if no rank leaves an instance for this long. */
#define GOES_ON_NS UINT64_C(1000000)
/* A broadcast's root wakes this many readers, and each of these the next one: the root goes on, and
 * the next readers find several broadcasts. */
#define FIRST_WOKEN 2
#define NS_PER_S UINT64_C(1000000000)

#define RANKS_NAMED 16

/* Arguments of the last call, for which op.call is planned. A program often makes the same call
 * again. */
struct last {
    enum sg_operation operation; /* SG_OPERATION_COUNT: plan anew */
    MPI_Op op;
    MPI_Datatype datatype;
    MPI_Count count;
    int root;
};

struct sg_intranode {
    struct sg_node node;
    struct sg_wait_queue wait_queue, slot_queue;
    struct sg_node_op op; /* the call in progress */
    struct last last;
    struct sg_user_fold user; /* of the call in progress */
    struct sg_auto_turn turn; /* likewise */
    void *segment;
    size_t segment_bytes;
    bool is_maker;
    struct sg_pool_rank **pool; /* by rank; NULL: none */
    struct sg_auto *automatic;  /* NULL: no rule has `auto` */
    struct sg_boxes *boxes;     /* NULL: no memory for them */
    _Alignas(64) unsigned char scratch[SLOT_BYTES];
};

/* ---- set-up ---- */

static uint32_t ring_depth = 8;
static uint64_t stall_ns;
static uint64_t counted_from;

void sg_intranode_start(uint32_t depth, int stall_s)
{
    ring_depth = depth;
    stall_ns = (uint64_t)stall_s * NS_PER_S;
}

void sg_intranode_count_from(uint64_t first)
{
    counted_from = first;
}

/* Takes ownership of the segment; frees it on failure. */
static enum sg_status attach(void *segment, size_t size_bytes, int rank, uint64_t nonce,
                             struct sg_intranode **out)
{
    struct sg_intranode *intranode = aligned_alloc(64, (sizeof *intranode + 63) / 64 * 64);

    if (intranode == NULL || !sg_node_attach(&intranode->node, segment, rank, nonce)) {
        free(intranode);
        sg_memory_free(segment, size_bytes, rank == 0);
        errno = intranode == NULL ? ENOMEM : EBADF;
        return SG_ERR_SYSTEM;
    }
    intranode->pool = NULL;
    intranode->automatic = NULL;
    intranode->is_maker = rank == 0;
    intranode->segment = segment;
    intranode->segment_bytes = size_bytes;
    intranode->wait_queue = (struct sg_wait_queue){.sleepers = &intranode->node.header->sleepers,
                                                   .wake = &intranode->node.header->wake,
                                                   .is_always_woken = true};
    intranode->slot_queue =
        (struct sg_wait_queue){.sleepers = &intranode->node.header->slot_sleepers,
                               .wake = &intranode->node.header->slot_wake,
                               .is_always_woken = true};
    intranode->last.operation = SG_OPERATION_COUNT;
    intranode->user.scratch = intranode->scratch;
    intranode->user.scratch_bytes = sizeof intranode->scratch;
    intranode->boxes = sg_boxes_create(&intranode->node);
    *out = intranode;
    return SG_OK;
}

enum sg_status sg_intranode_offer(const char *name, const int *world_ranks, int ranks,
                                  struct sg_intranode **out, struct sg_segment_ticket *ticket)
{
    struct sg_group_choice choice = sg_group_choice_of(name, world_ranks, ranks);
    struct sg_node_header *header;
    size_t size_bytes = sg_node_bytes(ranks, ring_depth, SLOT_BYTES);
    void *segment;
    enum sg_status status = sg_memory_create(size_bytes, name, &segment, ticket);

    if (status != SG_OK)
        return status;
    sg_node_format(segment, ranks, ring_depth, SLOT_BYTES, ticket->nonce);
    sg_node_count_from(segment, counted_from);
    header = segment;
    header->group = (uint16_t)choice.sizes.group;
    header->outer = (uint16_t)choice.sizes.outer;
    header->grouped_bytes = choice.bytes;
    status = attach(segment, size_bytes, 0, ticket->nonce, out);
    if (status != SG_OK)
        sg_segment_seal(ticket);
    return status;
}

enum sg_status sg_intranode_accept(const struct sg_segment_ticket *ticket, int rank,
                                   struct sg_intranode **out)
{
    void *segment;
    enum sg_status status = sg_segment_open(ticket, &segment);

    return status != SG_OK ? status : attach(segment, ticket->size_bytes, rank, ticket->nonce, out);
}

bool sg_intranode_use_pool(struct sg_intranode *intranode, const int *world_ranks)
{
    int ranks = intranode->node.ranks;

    if (sg_pool_of(world_ranks[0]) == NULL)
        return true;
    intranode->pool = calloc((size_t)ranks, sizeof *intranode->pool);
    if (intranode->pool == NULL)
        return false;
    for (int rank = 0; rank < ranks; rank++)
        intranode->pool[rank] = sg_pool_of(world_ranks[rank]);
    intranode->node.pool = intranode->pool;
    return sg_reading_access(world_ranks, ranks, &intranode->node.access);
}

bool sg_intranode_use_auto(struct sg_intranode *intranode, const struct sg_ruleset *rules,
                           const char *name)
{
    if (!sg_learning_is_wanted(rules, name, intranode->node.ranks, SG_REACH_NODE))
        return true;
    intranode->automatic = sg_auto_create(rules, name, intranode->node.ranks);
    return intranode->automatic != NULL;
}

bool sg_intranode_is_drained(struct sg_intranode *intranode)
{
    return sg_outbox_is_empty(&intranode->node);
}

void sg_intranode_free(struct sg_intranode *intranode)
{
    sg_auto_free(intranode->automatic);
    sg_boxes_free(intranode->boxes);
    sg_memory_free(intranode->segment, intranode->segment_bytes, intranode->is_maker);
    free(intranode->pool);
    free(intranode->node.access);
    free(intranode);
}

/* ---- planning ---- */

/* Returns the shape in which stock MPICH 4.0.2 would fold (shim/algos/tree.h). */
static struct sg_shape shape_of(const struct sg_call *call, int ranks, bool predefined)
{
    struct sg_shape_reduce reduce = {.ranks = ranks,
                                     .root = call->root,
                                     .count = (uint64_t)call->count,
                                     .bytes = call->bytes,
                                     .predefined = predefined,
                                     .commutative = true};

    if (call->operation != SG_OPERATION_REDUCE)
        return (struct sg_shape){SG_SHAPE_DOUBLING, ranks, 0};
    if (!predefined)
        reduce.commutative = sg_operation_is_commutative(call->op);
    return sg_shape_of_reduce(&reduce);
}

/* A broadcast moves bytes, whatever the ranks' types are. The buffer of a type that has to be
 * packed may be MPI_BOTTOM; another takes its place before the call runs. */
static bool plan_broadcast(struct sg_intranode *intranode, const struct sg_call *call)
{
    struct sg_node_call *planned = &intranode->op.call;
    void *buffer = sg_packed_wants(call) ? intranode->scratch : call->receive;

    if (call->bytes == 0 || buffer == NULL || call->root < 0 || call->root >= intranode->node.ranks)
        return false;
    planned->count = (size_t)call->bytes;
    planned->element_bytes = 1;
    planned->send = planned->receive = buffer;
    return true;
}

/* Plans everything except the buffers; not for a broadcast. */
static bool plan_operands(struct sg_intranode *intranode, const struct sg_call *call)
{
    struct sg_node_call *planned = &intranode->op.call;
    struct sg_user_fold *user = &intranode->user;
    int ranks = intranode->node.ranks;
    struct sg_operands operands;
    enum sg_element element;
    bool predefined = sg_operation_is_predefined(call->op);

    if (call->operation == SG_OPERATION_BARRIER) {
        planned->shape = shape_of(call, ranks, true);
        return true;
    }
    if (call->count <= 0 || (!predefined && !sg_operation_is_users(call->op)) ||
        !sg_type_of(call->datatype, &element))
        return false;
    if (call->operation == SG_OPERATION_REDUCE && (call->root < 0 || call->root >= ranks))
        return false;
    planned->element_bytes = sg_element_extent_bytes(element);
    planned->count = (size_t)call->count;
    planned->copy = sg_copy_find(element);
    if (predefined) {
        if (!sg_operands_of(call, &operands))
            return false;
        planned->fold = sg_operands_fold;
        planned->fold_context = sg_operands_fold_context(&operands);
    } else {
        user->op = call->op;
        user->datatype = call->datatype;
        user->extent_bytes = planned->element_bytes;
        user->copy = planned->copy;
        planned->fold = sg_user_fold;
        planned->fold_context = user;
    }
    planned->shape = shape_of(call, ranks, predefined);
    return true;
}

/* Finds this rank's operand and result. */
static bool plan_buffers(struct sg_intranode *intranode, const struct sg_call *call)
{
    struct sg_node_call *planned = &intranode->op.call;

    return call->operation == SG_OPERATION_BARRIER ||
           sg_buffers_of(call, intranode->node.rank, &planned->send, &planned->receive);
}

static bool is_last(const struct last *last, const struct sg_call *call)
{
    return last->operation == call->operation && last->op == call->op &&
           last->datatype == call->datatype && last->count == call->count &&
           last->root == call->root;
}

/* Only predefined handles always mean the same. */
static struct last last_of(const struct sg_call *call)
{
    bool always_the_same =
        call->operation == SG_OPERATION_BARRIER ||
        (sg_operation_is_predefined(call->op) && sg_type_is_builtin(call->datatype));

    return (struct last){always_the_same ? call->operation : SG_OPERATION_COUNT, call->op,
                         call->datatype, call->count, call->root};
}

bool sg_intranode_takes(struct sg_intranode *intranode, const struct sg_call *call)
{
    struct sg_node_call *planned = &intranode->op.call;

    if (!is_last(&intranode->last, call)) {
        intranode->last.operation = SG_OPERATION_COUNT;
        memset(planned, 0, sizeof *planned);
        planned->operation = call->operation;
        planned->root = call->root;
        if (call->operation == SG_OPERATION_BCAST)
            return plan_broadcast(intranode, call);
        if (!plan_operands(intranode, call))
            return false;
        intranode->last = last_of(call);
    }
    return plan_buffers(intranode, call);
}

/* ---- methods ---- */

/* In MPI, either all ranks pass MPI_IN_PLACE or none. */
static bool can_read(const struct sg_node *node, const struct sg_node_call *planned)
{
    return planned->operation == SG_OPERATION_ALLREDUCE && !sg_op_is_in_place(planned) &&
           planned->copy == NULL && node->access != NULL;
}

static enum sg_node_method method_of_broadcast(const struct sg_node *node, size_t size_bytes,
                                               enum sg_srm_form form)
{
    if (form == SG_SRM_AUTO || form == SG_SRM_GROUPS)
        form = sg_form_of_broadcast(size_bytes);
    return form == SG_SRM_SINGLE && node->access != NULL ? SG_NODE_PULL : SG_NODE_BROADCAST;
}

static enum sg_node_method method_of(const struct sg_node *node, const struct sg_node_call *planned,
                                     const struct sg_choice *choice)
{
    enum sg_srm_form form = (enum sg_srm_form)choice->parameters[SG_SRM_FORM];
    size_t size_bytes = planned->count * planned->element_bytes;

    if (planned->operation == SG_OPERATION_BCAST)
        return method_of_broadcast(node, size_bytes, form);
    if (choice->algorithm == SG_ALGORITHM_HANDOFF)
        return SG_NODE_HANDOFF;
    if (form == SG_SRM_GROUPS && sg_form_may_group(size_bytes, node->ranks))
        return SG_NODE_GROUPS;
    if (form == SG_SRM_AUTO || form == SG_SRM_GROUPS)
        form = sg_form_of(planned->operation, size_bytes, node->ranks, node->header->grouped_bytes);
    if (form == SG_SRM_GROUPS)
        return SG_NODE_GROUPS;
    if (form == SG_SRM_FLAT && size_bytes <= sg_form_flat_bytes(node->ranks))
        return SG_NODE_FLAT;
    if (form == SG_SRM_SINGLE && can_read(node, planned))
        return SG_NODE_SINGLE;
    if (form >= SG_SRM_CHUNKS && node->pool != NULL && size_bytes > 0)
        return SG_NODE_CHUNKS;
    return SG_NODE_HANDOFF;
}

/* A rule's sizes precede the machine's, and these the sizes where the caches are unknown. */
static struct sg_nest_sizes sizes_of(const struct sg_node *node, const struct sg_choice *choice)
{
    bool is_srm = choice->algorithm == SG_ALGORITHM_SRM;
    int group = is_srm ? (int)choice->parameters[SG_SRM_GROUP] : 0;
    int outer = is_srm ? (int)choice->parameters[SG_SRM_OUTER] : 0;
    struct sg_nest_sizes sizes = {node->header->group, node->header->outer};

    if (group >= 2)
        sizes = (struct sg_nest_sizes){.group = group};
    else if (sizes.group == 0)
        sizes.group = sg_form_group(node->ranks);
    if (outer >= 2)
        sizes.outer = outer;
    return sizes;
}

/* ---- waiting ---- */

/* Describes another rank's state: in this instance, in another of the communicator, or in none. */
static void describe_rank(const struct sg_node *node, const struct sg_call *call, int rank,
                          char text[SG_REPORT_CALL_BYTES])
{
    uint64_t left = sg_ring_left(node, rank);
    const struct sg_call_info *info = sg_node_call_info(node, left, rank);

    if (info != NULL)
        sg_report_call(info, text);
    else if (sg_report_present(call, rank, text))
        return;
    else if (left <= node->position)
        snprintf(text, SG_REPORT_CALL_BYTES, "in no collective of this communicator");
    else
        snprintf(text, SG_REPORT_CALL_BYTES, "ahead of it");
}

/* Reports the missing rank, or one that is elsewhere: one rank reports, once for each instance. */
static void report_stall(struct sg_node *node, const struct sg_call *call, int seconds)
{
    uint64_t position = node->position;
    uint64_t tag = sg_ring_tag(position, 0);
    char text[SG_REPORT_CALL_BYTES];
    size_t all_bytes = (1 + RANKS_NAMED) * (SG_REPORT_CALL_BYTES + 16);
    char *all; /* all lines of the report */
    int used;

    if (atomic_exchange(&node->header->stall_reported, tag) == tag ||
        (all = malloc(all_bytes)) == NULL)
        return;
    used =
        snprintf(all, all_bytes, "waiting for more than %d s in %s, %s:", seconds,
                 sg_report_function(call), sg_report_instance(call, position, node->ranks, text));
    sg_log("%s", all);
    for (int rank = 0; rank < node->ranks && rank < RANKS_NAMED; rank++) {
        describe_rank(node, call, rank, text);
        sg_log("  rank %d: %s", rank, text);
        used += snprintf(all + used, all_bytes - (size_t)used, " rank %d: %s;", rank, text);
    }
    all[used - 1] = '\0';
    sg_trace_event_line(SG_TRACE_LINE_STALL, all);
    free(all);
}

/* A wait in progress, for the wait ladder. */
struct waiting {
    struct sg_intranode *intranode;
    const struct sg_call *call;
    struct sg_node_op *op; /* NULL: waits for a slot to choose in */
    enum sg_node_step step;
    uint64_t steps; /* steps_of op when its last wait began */
    struct sg_wait wait;
    bool reported;
};

/* Changes whenever the call has taken a step that another rank may wait for. */
static uint64_t steps_of(const struct sg_node_op *op)
{
    return op->position << 36 | (uint64_t)op->state << 32 |
           (uint32_t)(op->stage_count[0] + op->stage_count[1] + op->stage_count[2]);
}

/* Also true after a step: other ranks need a wake-up. */
static bool op_is_ready(void *context)
{
    struct waiting *waiting = context;

    waiting->step = sg_node_poll(waiting->op);
    return waiting->step != SG_NODE_WAIT || steps_of(waiting->op) != waiting->steps;
}

/* Checks a long wait: for a mismatch, for a stuck slot, and for a stall to report. */
static void look(struct waiting *waiting)
{
    if (waiting->op != NULL && sg_node_disagrees(waiting->op)) {
        waiting->step = SG_NODE_MISMATCH;
        return;
    }
    if (waiting->op != NULL && waiting->op->stalled &&
        sg_wait_elapsed_ns(&waiting->wait) > GOES_ON_NS && !sg_node_goes_on(waiting->op))
        waiting->wait = (struct sg_wait){0};
    if (stall_ns > 0 && !waiting->reported && sg_wait_elapsed_ns(&waiting->wait) > stall_ns) {
        waiting->reported = true;
        report_stall(&waiting->intranode->node, waiting->call, (int)(stall_ns / NS_PER_S));
    }
}

/* Waits for a condition other than an exchange's, given by `ready`. Nobody knows of it, or passes a
 * broadcast's wake-up on. */
static void await(struct sg_intranode *intranode, const struct sg_call *call,
                  bool (*ready)(void *context), void *context)
{
    struct waiting waiting = {.intranode = intranode, .call = call};
    struct sg_wait_queue queue = intranode->slot_queue;

    queue.is_always_woken = false;
    while (!ready(context)) {
        if (sg_wait_step(&waiting.wait, &queue, ready, context))
            look(&waiting);
    }
}

static void free_slot(struct sg_intranode *intranode)
{
    if (sg_wait_has_sleepers(&intranode->slot_queue) && sg_node_frees_slot(&intranode->node))
        sg_wait_wake(&intranode->slot_queue);
}

static void skip(struct sg_intranode *intranode)
{
    sg_node_skip(&intranode->node);
    free_slot(intranode);
}

/* Wakes those of whom one may be able to go on now, or all if they have to see that ranks disagree.
 */
static void tell(struct sg_intranode *intranode, struct sg_node_op *op, enum sg_node_step step)
{
    bool is_mismatch = step == SG_NODE_MISMATCH;
    bool is_in_box = (op->told & SG_TOLD_BOX) != 0;
    bool tells = is_mismatch || (sg_wait_has_sleepers(&intranode->wait_queue) && sg_op_tells(op));

    op->told = 0;
    if (tells && op->call.operation == SG_OPERATION_BCAST && !is_mismatch)
        sg_wait_wake_first(&intranode->wait_queue, FIRST_WOKEN);
    else if (tells)
        sg_wait_wake(&intranode->wait_queue);
    if (is_mismatch || is_in_box)
        sg_wait_wake(&intranode->slot_queue);
    else
        free_slot(intranode);
}

/* Wakes the next reader of a broadcast. One that cannot go on has had the data before, and so have
 * all that fell asleep after it. */
static void pass_on(struct sg_intranode *intranode, struct waiting *waiting)
{
    if (waiting->wait.is_woken && waiting->op->call.operation == SG_OPERATION_BCAST &&
        (waiting->step != SG_NODE_WAIT || steps_of(waiting->op) != waiting->steps))
        sg_wait_wake_first(&intranode->wait_queue, 1);
    waiting->wait.is_woken = false;
}

/* A broadcast's root that has no slot beside many ranks uses its box at once: the readers' next
 * turns are far off. True: it does not wait. */
static bool runs_ahead(const struct sg_intranode *intranode, struct waiting *waiting)
{
    struct sg_node_op *op = waiting->op;
    bool is_stuck = false;

    if (op->call.operation != SG_OPERATION_BCAST || !sg_wait_is_crowded(&intranode->slot_queue))
        return false;
    while (op->stalled && waiting->step == SG_NODE_WAIT && !is_stuck) {
        is_stuck = sg_node_goes_on(op);
        waiting->step = sg_node_poll(op);
    }
    return waiting->step != SG_NODE_WAIT;
}

/* Polls until done. Each step restarts the wait: the others reach theirs as soon. False: ranks
 * disagree. */
static bool complete(struct sg_intranode *intranode, const struct sg_call *call,
                     struct sg_node_op *op)
{
    struct waiting waiting = {.intranode = intranode, .call = call, .op = op};
    int polls = sg_turn_is_contested() ? FIRST_POLLS_CONTESTED : FIRST_POLLS;

    for (int i = 0; i < polls; i++) {
        waiting.step = sg_node_poll(op);
        if (i == 0 || waiting.step != SG_NODE_WAIT)
            tell(intranode, op, waiting.step);
        if (waiting.step != SG_NODE_WAIT)
            break;
        sg_cpu_in_order();
    }
    if (waiting.step == SG_NODE_WAIT) /* a later poll may have taken a step, too */
        tell(intranode, op, waiting.step);
    while (waiting.step == SG_NODE_WAIT) {
        bool slow = false;

        waiting.steps = steps_of(op);
        if (!op->stalled || !runs_ahead(intranode, &waiting))
            slow = sg_wait_step(&waiting.wait,
                                op->stalled ? &intranode->slot_queue : &intranode->wait_queue,
                                op_is_ready, &waiting);
        if (waiting.step == SG_NODE_WAIT)
            waiting.step = sg_node_poll(op);
        pass_on(intranode, &waiting);
        if (slow && waiting.step == SG_NODE_WAIT)
            look(&waiting);
        if (waiting.step == SG_NODE_WAIT && steps_of(op) == waiting.steps)
            continue;
        tell(intranode, op, waiting.step);
        waiting.wait = (struct sg_wait){0};
    }
    return waiting.step == SG_NODE_DONE;
}

/* ---- ranks that disagree ---- */

static bool have_come(void *context)
{
    return sg_node_have_come(context);
}

/* Receives the root's broadcast and copies as much as this rank's buffer holds. False: out of
 * memory. */
static bool receive_other_size(struct sg_intranode *intranode, const struct sg_call *call,
                               struct sg_node_op *op, size_t bytes)
{
    size_t room = op->call.count * op->call.element_bytes;
    void *receive = op->call.receive, *buffer = room < bytes ? malloc(bytes) : receive;

    if (buffer == NULL)
        return false;
    sg_node_conform(op, buffer);
    complete(intranode, call, op);
    if (buffer != receive) {
        memcpy(receive, buffer, room);
        free(buffer);
    }
    return true;
}

/* Aborts the job if errors are fatal, with both call sites. Otherwise leaves the call so that the
 * ranks meet in the next one, and returns the error to raise. */
static __attribute__((noinline)) int settle(struct sg_intranode *intranode,
                                            const struct sg_call *call, struct sg_node_op *op)
{
    const struct sg_node *node = op->node;
    const struct sg_call_info *own = sg_node_call_info(node, op->position, node->rank);
    const struct sg_call_info *other = sg_node_call_info(node, op->position, op->mismatch_rank);
    size_t bytes = sg_node_broadcast_bytes(op);
    int error = sg_report_error(own, other), other_rank = op->mismatch_rank;

    intranode->last.operation = SG_OPERATION_COUNT; /* recovery may change op->call */
    sg_report_mismatch(call, node->rank, own, other_rank, other);
    /* Ranks that learn have counted the call in different learning slots. */
    if (intranode->automatic != NULL)
        sg_report_end(call, node->rank, own, other_rank, other);
    if (bytes > 0 && receive_other_size(intranode, call, op, bytes))
        return SG_CALL_RAISES(error);
    await(intranode, call, have_come, op);
    if (!sg_node_step_over(op))
        sg_report_end(call, node->rank, own, other_rank, other);
    sg_wait_wake(&intranode->wait_queue);
    sg_wait_wake(&intranode->slot_queue);
    return SG_CALL_RAISES(error);
}

/* ---- one call ---- */

static void name_site(struct sg_node_call *planned, const struct sg_call *call)
{
    if (call->site == NULL)
        return;
    planned->site = call->site->id;
    planned->site_offset = call->site->offset;
    planned->site_module = call->site->module;
}

int sg_intranode_run_planned(struct sg_intranode *intranode, const struct sg_call *call,
                             const struct sg_choice *choice, struct sg_call_statistics *statistics)
{
    struct sg_node_op *op = &intranode->op;
    struct sg_node_call *planned = &op->call;

    planned->method = method_of(&intranode->node, planned, choice);
    if (planned->method == SG_NODE_GROUPS)
        planned->sizes = sizes_of(&intranode->node, choice);
    planned->root_writes = planned->method == SG_NODE_PULL && !sg_turn_is_contested();
    planned->arrival_ns = call->arrival_ns;
    planned->algorithm = (uint8_t)sg_executed_algorithm((uint8_t)choice->executed);
    name_site(planned, call);
    statistics->executed = (uint8_t)choice->executed;
    intranode->user.error = MPI_SUCCESS;
    if (planned->method == SG_NODE_SINGLE || planned->method == SG_NODE_PULL)
        sg_reading_open();
    sg_node_begin(op, &intranode->node);
    if (!complete(intranode, call, op))
        return settle(intranode, call, op);
    sg_catch_up_owe();
    sg_account_mark(SG_ACCOUNT_LEAVE);
    statistics->early = op->early;
    statistics->late = op->late;
    statistics->stalls = op->stalls;
    statistics->copies = op->copies;
    statistics->skew_known = op->skew_known;
    statistics->skew_ns = op->skew_ns;
    return sg_user_fold_error(&intranode->user, call->comm);
}

/* ---- decisions of all ranks before a call ---- */

static void fold_any(void *context, const void *left, const void *right, void *out, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)out)[i] =
            ((const unsigned char *)left)[i] | ((const unsigned char *)right)[i];
}

/* True if the condition holds on any rank; takes a separate instance. */
static bool is_true_on_any(struct sg_intranode *intranode, const struct sg_call *call, bool own)
{
    unsigned char mine = own, any = own;
    struct sg_node_op op;

    op.call = (struct sg_node_call){
        .operation = SG_OPERATION_ALLREDUCE,
        .method = SG_NODE_HANDOFF,
        .shape = {SG_SHAPE_DOUBLING, intranode->node.ranks, 0},
        .root = -1,
        .send = &mine,
        .receive = &any,
        .count = 1,
        .element_bytes = 1,
        .fold = fold_any,
        .algorithm = SG_ALGORITHM_HANDOFF,
    };

    name_site(&op.call, call);
    sg_node_begin(&op, &intranode->node);
    if (!complete(intranode, call, &op))
        settle(intranode, call, &op);
    return any;
}

struct choosing {
    struct sg_node *node;
    uint32_t choice, chosen;
    int chooser;
    bool done;
};

static bool choose(void *context)
{
    struct choosing *choosing = context;

    choosing->done = choosing->done || sg_node_choose(choosing->node, choosing->choice,
                                                      &choosing->chosen, &choosing->chooser);
    return choosing->done;
}

/* Returns the choice that all ranks of the instance follow: the first arriver's, as its index in
 * call->rules. Waits for a slot if necessary; warns once for each pair of call sites that choose
 * differently. */
static const struct sg_choice *agree(struct sg_intranode *intranode, const struct sg_call *call,
                                     const struct sg_choice *own)
{
    struct choosing choosing = {.node = &intranode->node,
                                .choice = (uint32_t)sg_ruleset_index(call->rules, own)};
    const struct sg_choice *choice;

    await(intranode, call, choose, &choosing);
    choice = sg_ruleset_choice(call->rules, (int)choosing.chosen);
    sg_report_choice(intranode->node.header->warned, call, intranode->node.rank, own->algorithm,
                     choice->algorithm, choosing.chooser);
    return choice;
}

bool sg_intranode_plan(struct sg_intranode *intranode, const struct sg_call *call,
                       const struct sg_choice **choice)
{
    if (((*choice)->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL) ||
        !sg_intranode_takes(intranode, call))
        return false;
    if (call->devices && call->operation != SG_OPERATION_BARRIER &&
        is_true_on_any(intranode, call, sg_device_has_buffer(call))) {
        sg_device_say_mpich(call);
        return false;
    }
    if (call->rules != NULL)
        *choice = agree(intranode, call, *choice);
    if ((*choice)->algorithm != SG_ALGORITHM_MPICH)
        return true;
    skip(intranode);
    return false;
}

struct deciding {
    struct sg_intranode *intranode;
    const struct sg_call *call;
    const struct sg_choice *choice;
    bool done;
};

static bool decide(void *context)
{
    struct deciding *deciding = context;
    struct sg_intranode *intranode = deciding->intranode;

    deciding->done =
        deciding->done || sg_auto_begin(intranode->automatic, &intranode->node, deciding->call,
                                        deciding->choice, &intranode->turn);
    return deciding->done;
}

static __attribute__((noinline)) void await_decision(struct sg_intranode *intranode,
                                                     const struct sg_call *call,
                                                     const struct sg_choice *choice)
{
    struct deciding deciding = {intranode, call, choice, false};

    await(intranode, call, decide, &deciding);
}

const struct sg_choice *sg_intranode_begin_turn(struct sg_intranode *intranode,
                                                const struct sg_call *call,
                                                const struct sg_choice *rule)
{
    if (!sg_auto_begin(intranode->automatic, &intranode->node, call, rule, &intranode->turn))
        await_decision(intranode, call, rule);
    if (intranode->turn.choice->algorithm == SG_ALGORITHM_MPICH)
        skip(intranode);
    return intranode->turn.choice;
}

void sg_intranode_end_turn(struct sg_intranode *intranode)
{
    sg_auto_end(&intranode->turn);
}

/* ---- other ranks' calls ---- */

struct looking {
    const struct sg_node *node;
    const struct sg_call_info *found;
    bool all_look; /* the call failed on the other ranks, too: nobody has made it */
};

static bool has_found(void *context)
{
    struct looking *looking = context;

    looking->found = sg_node_others_call(looking->node, &looking->all_look);
    return looking->found != NULL || looking->all_look;
}

enum sg_others sg_intranode_look(struct sg_intranode *intranode, const struct sg_call *call,
                                 bool waits)
{
    struct looking looking = {.node = &intranode->node};
    _Atomic uint64_t *unmet = &sg_ring_control(looking.node, looking.node->rank)->unmet;

    if (waits) {
        atomic_store_explicit(unmet, looking.node->position + 1, memory_order_relaxed);
        await(intranode, call, has_found, &looking);
        atomic_store_explicit(unmet, 0, memory_order_relaxed);
    } else {
        has_found(&looking);
    }
    if (looking.all_look)
        return SG_OTHERS_ELSEWHERE;
    if (looking.found == NULL)
        return SG_OTHERS_NOWHERE;
    return looking.found->operation == call->operation && looking.found->root == call->root &&
                   looking.found->bytes == call->bytes
               ? SG_OTHERS_THERE
               : SG_OTHERS_ELSEWHERE;
}
