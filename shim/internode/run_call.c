/* Runs a call on a communicator over several nodes: plans it, begins it, and unless it is
 * nonblocking (nonblocking.h) waits for it. Both kinds run chunk by chunk through a window
 * (chunk.h). Also looks for other ranks' calls after a call that failed. */
#include "internode/auto_between.h"
#include "internode/chunk.h"
#include "internode/communicator.h"
#include "internode/connect.h"
#include "internode/disagree.h"
#include "internode/endpoint.h"
#include "internode/nonblocking.h"
#include "mpi/operands.h"
#include "mpi/packed.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"
#include "wait/catch_up.h"

/* A rank that waits for nobody leaves its call after this long. */
#define GOES_ON_NS UINT64_C(1000000)

/* ---- planning ---- */

/* A broadcast moves bytes, whatever the ranks' types are: nothing is folded. */
static bool plan_broadcast(const struct sg_internode *internode, const struct sg_call *call,
                           struct sg_internode_plan *plan)
{
    /* The buffer of a type that has to be packed may be MPI_BOTTOM; another takes its place before
     * the call runs. */
    static char anywhere;
    void *buffer = sg_packed_wants(call) ? &anywhere : call->receive;

    if (call->bytes == 0 || buffer == NULL || buffer == MPI_IN_PLACE || call->root < 0 ||
        call->root >= internode->ranks)
        return false;
    plan->operands = (struct sg_operands){.element = SG_ELEMENT_BYTE};
    plan->count = (size_t)call->bytes;
    plan->own = plan->result = NULL;
    if (call->root == internode->rank)
        plan->own = buffer;
    else
        plan->result = buffer;
    /* A nonblocking call follows only if errors are not fatal, because following delays it. */
    plan->follows = plan->own == NULL && internode->remote == NULL &&
                    (call->request == NULL || !sg_report_is_fatal(call->comm));
    return true;
}

/* True if a user's operation runs here: on all ranks or on none. Not in a nonblocking call, which
 * runs outside of application threads. */
static bool takes_users(const struct sg_internode *internode, const struct sg_call *call,
                        bool commutes)
{
    if (!internode->runs_users || call->request != NULL)
        return false;
    if (commutes)
        return true;
    /* Between machines the tree of root 0 is connected for root 0 only. */
    return internode->by_endpoint.is_in_order &&
           (internode->remote == NULL || call->operation != SG_OPERATION_REDUCE ||
            sg_internode_root_endpoint(internode, call->root) == 0);
}

static bool plan_user(struct sg_internode *internode, const struct sg_call *call,
                      struct sg_internode_plan *plan)
{
    enum sg_element element;

    if (!sg_type_of(call->datatype, &element))
        return false;
    plan->commutes = sg_operation_is_commutative(call->op);
    if (!takes_users(internode, call, plan->commutes))
        return false;
    plan->operands = (struct sg_operands){.element = element, .copy = sg_copy_find(element)};
    internode->user = (struct sg_user_fold){.op = call->op,
                                            .datatype = call->datatype,
                                            .extent_bytes = sg_element_extent_bytes(element),
                                            .copy = plan->operands.copy,
                                            .scratch = internode->scratch,
                                            .scratch_bytes = sizeof internode->scratch};
    plan->user = &internode->user;
    return true;
}

/* Plans the parts that do not depend on the choice; not for a barrier. */
static bool plan_operands(struct sg_internode *internode, const struct sg_call *call,
                          struct sg_internode_plan *plan)
{
    if (call->operation == SG_OPERATION_BCAST)
        return plan_broadcast(internode, call, plan);
    plan->count = (size_t)call->count;
    plan->commutes = true;
    plan->user = NULL;
    if (call->count <= 0 || (call->operation == SG_OPERATION_REDUCE &&
                             (call->root < 0 || call->root >= internode->ranks)))
        return false;
    return (sg_operation_is_users(call->op) ? plan_user(internode, call, plan)
                                            : sg_operands_of(call, &plan->operands)) &&
           sg_buffers_of(call, internode->rank, &plan->own, &plan->result);
}

bool sg_internode_takes(struct sg_internode *internode, const struct sg_call *call)
{
    struct sg_internode_plan plan = {0};

    return call->operation == SG_OPERATION_BARRIER || plan_operands(internode, call, &plan);
}

/* Without asynchronous progress, a program that starts a call and then waits for something else
 * would wait forever. */
static bool can_post(const struct sg_choice *choice)
{
    return sg_real.x_Grequest_start != NULL && sg_progress_is_to_come(choice);
}

/* True if the plan's protocol has the connections that it needs. The same on all ranks. sets_up: if
 * that is not known yet, all ranks make the connections, collectively. */
static bool reaches(struct sg_internode *internode, const struct sg_internode_plan *plan,
                    bool sets_up)
{
    int root = sg_internode_root_endpoint(internode, plan->call->root);

    return internode->remote == NULL ||
           sg_internode_reaches(internode, plan->protocol, root, sets_up);
}

/* arm: the candidate in the current trial round. */
static bool plan_chosen(struct sg_internode *internode, const struct sg_call *call,
                        const struct sg_choice *choice, int arm, struct sg_internode_plan *plan)
{
    int index = sg_ruleset_index(internode->rules, choice);

    *plan = (struct sg_internode_plan){
        .call = call, .protocol = (uint32_t)index, .executed = sg_executed(choice->algorithm, arm)};
    if (index < 0 || index >= internode->protocol_count ||
        internode->protocols[index].algo == NULL ||
        (internode->protocols[index].algo->operations & 1u << call->operation) == 0)
        return false;
    if (call->operation == SG_OPERATION_BARRIER)
        return true;
    if (!plan_operands(internode, call, plan) ||
        (plan->user != NULL && !(internode->protocols[index].algo->uses & SG_ALGO_USER)))
        return false;
    sg_chunk_plan(internode, plan);
    return true;
}

bool sg_internode_plan_call(struct sg_internode *internode, const struct sg_call *call,
                            const struct sg_choice *choice, struct sg_internode_plan *plan)
{
    bool waits = call->request == NULL;
    const struct sg_choice *runs = choice;

    if (runs->algorithm == SG_ALGORITHM_AUTO)
        runs = waits ? sg_internode_begin_turn(internode, call, runs)
                     : sg_internode_usual(internode, call, runs);
    return runs->algorithm != SG_ALGORITHM_MPICH && (waits || can_post(runs)) &&
           plan_chosen(internode, call, runs, choice->arm, plan) && reaches(internode, plan, waits);
}

/* ---- waiting ---- */

struct awaited {
    struct sg_internode *internode;
    struct sg_chunk_window *window;
    struct sg_internode_waiting waiting;
    bool has_gone; /* the call has been kept (nonblocking.h) and owns the window */
};

/* True for a contributor to a reduce, or a broadcast's root: its call needs progress after it has
 * left. */
static bool may_go_on(const struct sg_internode *internode, const struct sg_chunk_window *window)
{
    const struct sg_internode_plan *plan = window->plan;

    return plan->own != NULL && plan->result == NULL && plan->user == NULL &&
           sg_progress_comes(internode->protocols[plan->protocol].progress);
}

/* Leaves after GOES_ON_NS, or at once if an earlier call has been kept. */
static bool goes_on(const struct awaited *awaited)
{
    struct sg_internode *internode = awaited->internode;
    bool others = atomic_load_explicit(&internode->kept_bytes, memory_order_relaxed) > 0;

    return (others || sg_wait_elapsed_ns(&awaited->waiting.wait) > GOES_ON_NS) &&
           may_go_on(internode, awaited->window) && sg_nonblocking_keep(internode, awaited->window);
}

static bool is_over(void *context)
{
    struct awaited *awaited = context;
    struct sg_chunk_window *window = awaited->window;
    size_t left = window->left;
    bool has_left;

    if (awaited->has_gone)
        return true;
    sg_internode_progress(awaited->internode);
    has_left = sg_nonblocking_step_call(awaited->internode, window);
    if (window->left > left) {
        /* Each chunk has its own start time. */
        awaited->waiting.wait.begin_ns = 0;
        awaited->waiting.position = window->position + window->left;
    }
    if (has_left || window->differs)
        return true;
    awaited->has_gone = goes_on(awaited);
    return awaited->has_gone;
}

static __attribute__((noinline)) void await(struct sg_internode *internode,
                                            struct sg_chunk_window *window)
{
    struct awaited awaited = {
        .internode = internode,
        .window = window,
        .waiting = {.call = window->plan->call, .position = window->position + window->left}};

    sg_internode_wait(internode, &awaited.waiting, is_over, &awaited);
}

/* Runs the call; the window then shows the outcome. */
static void run_window(struct sg_internode *internode, const struct sg_internode_plan *plan,
                       struct sg_call_statistics *statistics, struct sg_chunk_window *window)
{
    /* Sized for the chunks in progress at a time: few calls have more than one. */
    struct sg_chunk chunks[plan->side_by_side ? SG_INTERNODE_INSTANCES_MAX : 1];

    *window = (struct sg_chunk_window){.plan = plan,
                                       .count = sg_chunk_count(plan),
                                       .width = plan->side_by_side ? internode->depth : 1,
                                       .chunks = chunks};
    statistics->executed = plan->executed;
    sg_internode_enter(internode);
    if (plan->user != NULL)
        sg_endpoint_runs_users(internode);
    sg_nonblocking_begin_call(internode, window);
    if (!sg_nonblocking_step_call(internode, window))
        await(internode, window);
    sg_endpoint_runs_users(NULL);
    sg_internode_leave(internode);
    if (window->left < window->count)
        sg_progress_look_after(&internode->client);
    window->chunks = NULL;
}

/* Returns the error to raise. */
static __attribute__((noinline)) int settle(struct sg_internode *internode,
                                            const struct sg_chunk_window *window,
                                            struct sg_call_statistics *statistics)
{
    struct sg_chunk_window others_window;
    struct sg_others_call others;

    if (!window->differs)
        return SG_CALL_RAISES(sg_internode_dissent(internode, window));
    sg_internode_conform(internode, window, &others);
    internode->position = window->position;
    run_window(internode, &others.plan, statistics, &others_window);
    sg_internode_conformed(window->plan, &others);
    return SG_CALL_RAISES(others.error);
}

int sg_internode_run_planned(struct sg_internode *internode, const struct sg_internode_plan *plan,
                             struct sg_call_statistics *statistics)
{
    struct sg_chunk_window window;
    int error = MPI_SUCCESS;

    run_window(internode, plan, statistics, &window);
    if (__builtin_expect(window.differs || window.dissent != 0, 0))
        error = settle(internode, &window, statistics);
    sg_catch_up_owe();
    sg_internode_read_counters(internode, statistics);
    statistics->slice = window.slice;
    return error != MPI_SUCCESS || plan->user == NULL
               ? error
               : sg_user_fold_error(plan->user, plan->call->comm);
}

/* ---- the others' call ---- */

struct looking {
    struct sg_internode *internode;
    const _Atomic uint64_t *word;
    bool all_look; /* the call failed on the other ranks, too: nobody has made it */
};

static bool has_come(void *context)
{
    struct looking *looking = context;
    struct sg_internode *internode = looking->internode;
    bool is_there;
    int unmet = 0;

    sg_internode_progress(internode);
    is_there = sg_internode_is_taken(looking->word, internode->position);
    for (int number = 0; number < sg_internode_states(internode); number++)
        /* Relaxed: a rank that is missed is seen at the next step. */
        unmet += atomic_load_explicit(&sg_internode_state(internode, number)->unmet,
                                      memory_order_relaxed) == internode->position + 1;
    looking->all_look = !is_there && unmet == internode->ranks;
    return is_there || looking->all_look;
}

enum sg_others sg_internode_look(struct sg_internode *internode, const struct sg_call *call,
                                 bool waits)
{
    struct looking looking = {
        .internode = internode,
        .word = &internode->header->signatures[internode->position % SG_INTERNODE_SIGNATURES]};
    struct sg_internode_waiting waiting = {.call = call, .position = internode->position};
    _Atomic uint64_t *unmet = &sg_internode_own_state(internode)->unmet;
    struct sg_internode_found found;
    bool is_there;

    if (internode->remote != NULL)
        return SG_OTHERS_NOWHERE;
    if (waits) {
        atomic_store_explicit(unmet, internode->position + 1, memory_order_relaxed);
        sg_internode_wait(internode, &waiting, has_come, &looking);
    }
    is_there = has_come(&looking);
    atomic_store_explicit(unmet, 0, memory_order_relaxed);
    if (looking.all_look)
        return SG_OTHERS_ELSEWHERE;
    if (!is_there)
        return SG_OTHERS_NOWHERE;
    found = sg_internode_found_in(atomic_load_explicit(looking.word, memory_order_relaxed));
    return found.brought == sg_chunk_signature(call) ? SG_OTHERS_THERE : SG_OTHERS_ELSEWHERE;
}
