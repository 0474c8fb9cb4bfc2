/* A communicator's segment inside a machine: set-up, the wait loop around sg_node_poll, recovery of
 * ranks that disagree, agreement on choices, and the look for other ranks' calls. See intranode.h.
 */
#include "intranode/mpi/intranode.h"

#include "core/account.h"
#include "core/calibration.h"
#include "core/cpu/cpu.h"
#include "intranode/forms.h"
#include "intranode/memory.h"
#include "intranode/mpi/plan_call.h"
#include "intranode/node.h"
#include "intranode/reading.h"
#include "intranode/ring.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"
#include "wait/catch_up.h"
#include "wait/processors.h"
#include "wait/turn.h"
#include "wait/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES 4096u
/* A wait begins with this many polls in succession: a peer that arrives at the same time needs no
 * wait ladder, and is seen sooner. */
#define FIRST_POLLS 64
#define FIRST_POLLS_CONTESTED 4
/* A contributor that waits for a slot uses its box if no rank leaves an instance for this long. */
#define GOES_ON_NS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

struct sg_intranode {
    struct sg_node node;
    struct sg_wait_queue wait_queue;
    struct sg_intranode_planner planner;
    void *segment;
    size_t segment_bytes;
    bool is_maker;
    struct sg_pool_rank **pool; /* by rank; NULL: none */
    struct sg_auto *automatic;  /* NULL: no rule has `auto` */
    struct sg_boxes *boxes;     /* NULL: no memory for them */
    _Alignas(64) unsigned char scratch[SLOT_BYTES];
};

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

struct sg_node *sg_intranode_node(struct sg_intranode *intranode)
{
    return &intranode->node;
}

struct sg_intranode_planner *sg_intranode_planner(struct sg_intranode *intranode)
{
    return &intranode->planner;
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
                                                   .wake = &intranode->node.header->wake};
    intranode->planner.operation = SG_OPERATION_COUNT;
    intranode->planner.user.scratch = intranode->scratch;
    intranode->planner.user.scratch_bytes = sizeof intranode->scratch;
    intranode->boxes = sg_boxes_create(&intranode->node);
    *out = intranode;
    return SG_OK;
}

enum sg_status sg_intranode_offer(const char *name, int ranks, struct sg_intranode **out,
                                  struct sg_segment_ticket *ticket)
{
    size_t size_bytes = sg_node_bytes(ranks, ring_depth, SLOT_BYTES);
    void *segment;
    enum sg_status status = sg_memory_create(size_bytes, name, &segment, ticket);

    if (status != SG_OK)
        return status;
    sg_node_format(segment, ranks, ring_depth, SLOT_BYTES, ticket->nonce);
    sg_node_count_from(segment, counted_from);
    if (ranks > SG_FLAT_RANKS_MAX && !sg_processors_are_short())
        ((struct sg_node_header *)segment)->group =
            (uint32_t)sg_form_group(sg_caches_cores("/sys"), ranks);
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

void sg_intranode_free(struct sg_intranode *intranode)
{
    sg_auto_free(intranode->automatic);
    sg_boxes_free(intranode->boxes);
    sg_memory_free(intranode->segment, intranode->segment_bytes, intranode->is_maker);
    free(intranode->pool);
    free(intranode->node.access);
    free(intranode);
}

/* ---- waiting ---- */

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
        sg_intranode_report_stall(&waiting->intranode->node, waiting->call,
                                  (int)(stall_ns / NS_PER_S));
    }
}

/* Waits for a condition other than an exchange's, given by `ready`. */
static void await(struct sg_intranode *intranode, const struct sg_call *call,
                  bool (*ready)(void *context), void *context)
{
    struct waiting waiting = {.intranode = intranode, .call = call};

    while (!ready(context)) {
        if (sg_wait_step(&waiting.wait, &intranode->wait_queue, ready, context))
            look(&waiting);
    }
}

/* Polls until done. The first poll has published this rank's part, so it also wakes sleepers. Each
 * step restarts the wait: the others reach theirs as soon. False: ranks disagree. */
static bool complete(struct sg_intranode *intranode, const struct sg_call *call,
                     struct sg_node_op *op)
{
    struct waiting waiting = {.intranode = intranode, .call = call, .op = op};
    int polls = sg_turn_is_contested() ? FIRST_POLLS_CONTESTED : FIRST_POLLS;

    for (int i = 0; i < polls; i++) {
        waiting.step = sg_node_poll(op);
        if (i == 0 || waiting.step != SG_NODE_WAIT)
            sg_wait_wake(&intranode->wait_queue);
        if (waiting.step != SG_NODE_WAIT)
            break;
        sg_cpu_in_order();
    }
    if (waiting.step == SG_NODE_WAIT) /* a later poll may have taken a step, too */
        sg_wait_wake(&intranode->wait_queue);
    while (waiting.step == SG_NODE_WAIT) {
        bool slow;

        waiting.steps = steps_of(op);
        slow = sg_wait_step(&waiting.wait, &intranode->wait_queue, op_is_ready, &waiting);

        if (waiting.step == SG_NODE_WAIT)
            waiting.step = sg_node_poll(op);
        if (slow && waiting.step == SG_NODE_WAIT)
            look(&waiting);
        if (waiting.step == SG_NODE_WAIT && steps_of(op) == waiting.steps)
            continue;
        sg_wait_wake(&intranode->wait_queue);
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
    return SG_CALL_RAISES(error);
}

static void name_site(struct sg_node_call *node_call, const struct sg_call *call)
{
    if (call->site == NULL)
        return;
    node_call->site = call->site->id;
    node_call->site_offset = call->site->offset;
    node_call->site_module = call->site->module;
}

int sg_intranode_run(struct sg_intranode *intranode, const struct sg_call *call,
                     const struct sg_intranode_plan *plan, enum sg_node_method method, int group,
                     struct sg_call_statistics *statistics)
{
    struct sg_node_op op;

    op.call = (struct sg_node_call){
        .operation = call->operation,
        .method = method,
        .shape = plan->shape,
        .group = group,
        .root = call->root,
        .send = plan->own,
        .receive = plan->result,
        .count = plan->count,
        .element_bytes = plan->element_bytes,
        .copy = plan->copy,
        .fold = plan->fold,
        .fold_context = plan->fold_context,
        .root_writes = method == SG_NODE_PULL && !sg_turn_is_contested(),
        .arrival_ns = call->arrival_ns,
        .algorithm = (uint8_t)sg_executed_algorithm(statistics->executed),
    };

    name_site(&op.call, call);
    intranode->planner.user.error = MPI_SUCCESS;
    if (method == SG_NODE_SINGLE || method == SG_NODE_PULL)
        sg_reading_open();
    sg_node_begin(&op, &intranode->node);
    if (!complete(intranode, call, &op))
        return settle(intranode, call, &op);
    sg_catch_up_owe();
    sg_account_mark(SG_ACCOUNT_LEAVE);
    statistics->early = op.early;
    statistics->late = op.late;
    statistics->stalls = op.stalls;
    statistics->copies = op.copies;
    statistics->skew_known = op.skew_known;
    statistics->skew_ns = op.skew_ns;
    return sg_user_fold_error(&intranode->planner.user, call->comm);
}

static void fold_any(void *context, const void *left, const void *right, void *out, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)out)[i] =
            ((const unsigned char *)left)[i] | ((const unsigned char *)right)[i];
}

bool sg_intranode_any(struct sg_intranode *intranode, const struct sg_call *call, bool own)
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

const struct sg_choice *sg_intranode_agree(struct sg_intranode *intranode,
                                           const struct sg_call *call, const struct sg_choice *own)
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

struct deciding {
    struct sg_intranode *intranode;
    const struct sg_call *call;
    const struct sg_choice *choice;
    struct sg_auto_turn *turn;
    bool done;
};

static bool decide(void *context)
{
    struct deciding *deciding = context;

    deciding->done =
        deciding->done || sg_auto_begin(deciding->intranode->automatic, &deciding->intranode->node,
                                        deciding->call, deciding->choice, deciding->turn);
    return deciding->done;
}

static __attribute__((noinline)) void await_decision(struct sg_intranode *intranode,
                                                     const struct sg_call *call,
                                                     const struct sg_choice *choice,
                                                     struct sg_auto_turn *turn)
{
    struct deciding deciding = {intranode, call, choice, turn, false};

    await(intranode, call, decide, &deciding);
}

void sg_intranode_begin_auto(struct sg_intranode *intranode, const struct sg_call *call,
                             const struct sg_choice *choice, struct sg_auto_turn *turn)
{
    if (!sg_auto_begin(intranode->automatic, &intranode->node, call, choice, turn))
        await_decision(intranode, call, choice, turn);
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
