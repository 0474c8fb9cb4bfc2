/* tree: reduce, allreduce, barrier and broadcast on a tree that does not adapt: the baseline of the
 * papers.
 *
 * Every endpoint waits for its children, then sends its value to its parent, all inside its call.
 * An allreduce and a barrier end with a multicast from rank 0, as reliable as adaptive's
 * (release.h).
 *
 * The tree is the contiguous one of tree.h, of degree 8 in a barrier and 4 otherwise;
 * parameters.degree = 1 selects the binomial tree, whose reduce is that of stock MPICH. The tree is
 * relative to the root of a reduce; if the operation does not commute, it is relative to rank 0,
 * which forwards the result to the root.
 *
 * Association: own and the children's values by SG_SHAPE_BINOMIAL; in the binomial tree ((own . c1)
 * . c2) . c4 ...; in order of arrival with arrival_order=1 and a commutative operation.
 *
 * A broadcast goes down the tree relative to its root, of the same degree or of its own shape; each
 * endpoint passes it on in its own call (broadcast.h).
 *
 * A leaf of a reduce leaves at once and may run ahead of its parent, which keeps early
 * contributions in a ring of `credits` instances; so may the root of a broadcast. Roots and so
 * parents may change, so no count between two endpoints bounds the messages that one receives; the
 * flow control of release.h does. */
#include "algos/broadcast.h"
#include "algos/partial_results.h"
#include "algos/release.h"
#include "algos/tree.h"

enum { TREE_CONTRIBUTION = 1, TREE_FORWARD };

/* Header.number of a contribution: the rank to which its tree is relative. */
enum { NUMBER_TOP };

struct tree_instance {
    int32_t top;
    uint8_t operation;
    struct sg_partial_results partial_results;
};

struct fixed_tree {
    struct sg_algo_head head;
    int32_t rank, size;
    uint64_t releases; /* number of the last release called */
    uint8_t degree, arrival_order;
    uint8_t credits;
    uint8_t stalled; /* the call waits for flow control */
    uint8_t sent;    /* the call's contribution has been sent or forwarded */
    uint16_t item_slots;
    struct sg_algo_call call; /* current call */
    struct sg_flow flow;
    struct sg_broadcast broadcast; /* its data wait in the slot of an instance's first item */
    struct sg_release release;
    struct tree_instance ring[]; /* credits entries: instance n at n modulo credits */
};

/* ---- the trees ------------------------------------------------------------------------------- */

static int degree_of(const struct fixed_tree *state, enum sg_operation operation)
{
    if (state->degree > 0)
        return state->degree;
    return operation == SG_OPERATION_BARRIER ? SG_DEGREE_BARRIER : SG_DEGREE_DATA;
}

/* Absolute rank of the parent in a tree relative to top; -1 at the top. */
static int32_t parent_rank(const struct fixed_tree *state, int32_t top, enum sg_operation operation)
{
    int32_t parent = sg_branch_parent(sg_tree_relative(state->rank, top, state->size), state->size,
                                      degree_of(state, operation));

    return parent < 0 ? -1 : sg_tree_absolute(parent, top, state->size);
}

static int broadcast_degree(const struct sg_algo_parameters *parameters)
{
    switch ((enum sg_tree_shape)parameters->shape) {
    case SG_TREE_SHAPE_BINOMIAL:
        return SG_TREE_BINOMIAL;
    case SG_TREE_SHAPE_BINARY:
        return 2;
    case SG_TREE_SHAPE_FIBONACCI:
        return SG_TREE_FIBONACCI;
    default:
        return sg_data_degree(parameters);
    }
}

/* ---- setup ----------------------------------------------------------------------------------- */

static uint32_t item_slots(const struct sg_algo_setup *setup)
{
    int degree = sg_data_degree(&setup->parameters);

    return (uint32_t)sg_branch_children(0, setup->size, degree) + 1;
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    uint32_t credits = sg_credits(&setup->parameters);

    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX ||
        setup->parameters.degree > SG_DEGREE_MAX || credits < 2 || credits > SG_CREDITS_MAX)
        return false;
    needs->state_bytes =
        (uint32_t)(sizeof(struct fixed_tree) + credits * sizeof(struct tree_instance));
    needs->slots = credits * item_slots(setup) + sg_release_slots(1, 0);
    needs->cells = 0;
    needs->parts = 1;
    needs->receivers =
        (uint32_t)sg_branch_children(0, setup->size, broadcast_degree(&setup->parameters));
    return true;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    struct fixed_tree *state = memory;
    struct sg_algo_setup single = *setup;
    int degree = sg_data_degree(&setup->parameters);

    state->head.seq = state->releases = setup->parameters.first;
    state->rank = setup->rank;
    state->size = setup->size;
    state->degree = setup->parameters.degree;
    state->arrival_order = setup->parameters.arrival_order;
    state->credits = (uint8_t)sg_credits(&setup->parameters);
    state->item_slots = (uint16_t)item_slots(setup);
    sg_flow_init(&state->flow, setup, degree, state->credits, SG_FLOW_REPORT);
    sg_broadcast_init(&state->broadcast, setup, broadcast_degree(&setup->parameters), false, 0,
                      item_slots(setup));
    single.parameters.tokens = 1;
    sg_release_init(&state->release, &single, state->credits * item_slots(setup), 0);
}

/* ---- instances ------------------------------------------------------------------------------- */

static struct tree_instance *instance_at(struct fixed_tree *state, uint64_t seq)
{
    return &state->ring[sg_count_place(seq, state->credits)];
}

static uint32_t items_at(const struct fixed_tree *state, uint64_t seq)
{
    return sg_count_place(seq, state->credits) * state->item_slots;
}

static enum sg_partial_results_mode mode_of(const struct fixed_tree *state, uint32_t flags)
{
    bool user = (flags & SG_CALL_USER) != 0;

    if (state->arrival_order && (flags & SG_CALL_COMMUTATIVE) && !user)
        return SG_PARTIAL_ANY;
    if (state->degree == SG_TREE_BINOMIAL)
        return SG_PARTIAL_CHAIN;
    return user ? SG_PARTIAL_HELD : SG_PARTIAL_BALANCED;
}

/* Returns the instance, initialised on first use: by the CALL, or by a child's contribution with
 * the same information. */
static struct tree_instance *open_instance(struct fixed_tree *state, uint64_t seq, int32_t top,
                                           enum sg_operation operation, uint32_t flags,
                                           uint32_t bytes)
{
    struct tree_instance *instance = instance_at(state, seq);
    int children;

    if (instance->partial_results.seq == seq)
        return instance;
    instance->top = top;
    instance->operation = (uint8_t)operation;
    children = sg_branch_children(sg_tree_relative(state->rank, top, state->size), state->size,
                                  degree_of(state, operation));
    sg_partial_begin(&instance->partial_results, seq, children + 1, mode_of(state, flags), bytes);
    return instance;
}

static struct sg_header instance_header(const struct fixed_tree *state,
                                        const struct tree_instance *instance, uint8_t kind)
{
    return (struct sg_header){
        .seq = (uint32_t)instance->partial_results.seq,
        .kind = kind,
        .operation = instance->operation,
        .flags = (uint8_t)state->call.flags,
        .bytes = instance->partial_results.bytes,
        .number = {(uint32_t)instance->top},
    };
}

static void send_value(struct fixed_tree *state, const struct tree_instance *instance, uint8_t kind,
                       int32_t to, struct sg_actions *actions)
{
    struct sg_header header = instance_header(state, instance, kind);

    if (header.bytes > 0) {
        header.parts = 1;
        sg_emit_part(actions, sg_partial_value(&instance->partial_results,
                                               items_at(state, instance->partial_results.seq), 0));
    }
    sg_emit_send(actions, to, &header);
}

/* ---- a call's end ---------------------------------------------------------------------------- */

static void leave(struct fixed_tree *state, struct sg_actions *actions)
{
    uint64_t seq = state->head.seq;

    sg_emit_complete(actions, seq);
    sg_emit_finish(actions, seq);
    state->head.in_call = 0;
    sg_flow_finished(&state->flow, seq, actions);
    sg_release_settle(&state->release, &state->head, actions);
}

/* Ends a reduce at its root; the result is data. */
static void finish_reduce(struct fixed_tree *state, struct sg_data data, uint32_t bytes,
                          struct sg_actions *actions)
{
    struct sg_data result = {SG_DATA_RESULT,
                             (uint16_t)sg_count_place(state->head.seq, state->credits)};

    if (bytes > 0)
        sg_emit_copy(actions, data, result, bytes);
    leave(state, actions);
}

static void finish_release(struct fixed_tree *state, struct sg_data data, bool keep,
                           struct sg_actions *actions)
{
    sg_flow_synchronised(&state->flow, state->head.seq);
    sg_release_complete(&state->release, &state->head, state->releases, data, keep, actions);
}

static void release_all(struct fixed_tree *state, const struct tree_instance *instance,
                        struct sg_actions *actions)
{
    struct sg_header header = instance_header(state, instance, SG_RELEASE_PIECE);
    struct sg_data value = sg_partial_value(&instance->partial_results,
                                            items_at(state, instance->partial_results.seq), 0);

    header.seq = (uint32_t)state->releases;
    header.parts = header.bytes > 0;
    header.number[SG_RELEASE_LAST] = 0;
    header.number[SG_RELEASE_WHICH] = 1 << 8;
    sg_release_make(&state->release, &header, &value, actions);
    finish_release(state, value, state->size > 1, actions);
}

/* Continues once everything below has arrived. */
static void gathered(struct fixed_tree *state, const struct tree_instance *instance,
                     const struct sg_event *event, struct sg_actions *actions)
{
    enum sg_operation operation = (enum sg_operation)instance->operation;
    int32_t parent = parent_rank(state, instance->top, operation);
    struct sg_data value = sg_partial_value(&instance->partial_results,
                                            items_at(state, instance->partial_results.seq), 0);
    struct sg_header header;

    state->sent = 1;
    if (operation == SG_OPERATION_REDUCE) {
        if (parent < 0 && state->call.root == state->rank) {
            finish_reduce(state, value, instance->partial_results.bytes, actions);
            return;
        }
        if (parent < 0)
            send_value(state, instance, TREE_FORWARD, state->call.root, actions);
        else
            send_value(state, instance, TREE_CONTRIBUTION, parent, actions);
        /* A root that is not the tree's top waits for the result that the top forwards. */
        if (state->call.root != state->rank)
            leave(state, actions);
        return;
    }
    if (parent < 0) {
        release_all(state, instance, actions);
        return;
    }
    send_value(state, instance, TREE_CONTRIBUTION, parent, actions);
    header = instance_header(state, instance, 0);
    sg_release_await(&state->release, state->releases, parent, &header, event, actions);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Starts the call: its instance is within the ring. */
static void start(struct fixed_tree *state, const struct sg_event *event,
                  struct sg_actions *actions)
{
    uint64_t seq = state->head.seq;
    struct tree_instance *instance = instance_at(state, seq);

    state->stalled = 0;
    sg_flow_enter(&state->flow, seq, sg_operation_synchronises(state->call.operation));
    if (state->call.operation == SG_OPERATION_BCAST) {
        if (sg_broadcast_call(&state->broadcast, &state->head, seq, &state->call, actions))
            leave(state, actions);
        return;
    }
    sg_partial_add(&instance->partial_results, items_at(state, seq), 0, sg_data_operand(), actions);
    if (sg_partial_missing(&instance->partial_results) == 0)
        gathered(state, instance, event, actions);
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct fixed_tree *state = memory;
    const struct sg_algo_call *call = &event->call;
    uint64_t seq = ++state->head.seq;
    int32_t top = call->operation == SG_OPERATION_REDUCE && (call->flags & SG_CALL_COMMUTATIVE)
                      ? call->root
                      : 0;

    state->head.in_call = 1;
    sg_release_settle(&state->release, &state->head, actions);
    state->call = *call;
    state->sent = 0;
    if (sg_operation_synchronises(call->operation))
        sg_release_open(&state->release, ++state->releases, 0);
    if (call->operation != SG_OPERATION_BCAST)
        open_instance(state, seq, top, call->operation, call->flags, call->bytes);
    if (!sg_flow_allows(&state->flow, seq)) {
        state->stalled = 1;
        state->head.stalls++;
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        return;
    }
    start(state, event, actions);
}

static void on_contribution(struct fixed_tree *state, const struct sg_event *event,
                            struct sg_actions *actions)
{
    const struct sg_header *header = &event->message.header;
    enum sg_operation operation = (enum sg_operation)header->operation;
    int32_t top = (int32_t)header->number[NUMBER_TOP];
    int32_t from = sg_tree_relative(event->message.from, top, state->size);
    int child = sg_branch_index(from, state->size, degree_of(state, operation));
    uint64_t seq = sg_count_told(state->head.seq, header->seq);
    struct tree_instance *instance =
        open_instance(state, seq, top, operation, header->flags, header->bytes);

    if (seq != state->head.seq || !state->head.in_call) {
        state->head.early++;
        sg_emit_mark(actions, SG_MARK_EARLY);
    }
    /* A contribution to a later instance shows that the release awaited here is lost. */
    if (seq > state->head.seq)
        sg_release_gap(&state->release, state->releases + 1, actions);
    sg_partial_add(&instance->partial_results, items_at(state, seq), child + 1, sg_data_part(0),
                   actions);
    if (seq == state->head.seq && !state->stalled && !state->sent &&
        sg_partial_missing(&instance->partial_results) == 0)
        gathered(state, instance, event, actions);
}

static void on_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct fixed_tree *state = memory;
    const struct sg_message *message = &event->message;
    int degree;

    switch (message->header.kind) {
    case TREE_CONTRIBUTION:
        on_contribution(state, event, actions);
        break;
    case TREE_FORWARD:
        finish_reduce(state, sg_data_part(0), message->header.bytes, actions);
        break;
    case SG_BROADCAST_DATA:
        if (sg_broadcast_take(&state->broadcast, &state->head, state->head.seq, message, actions))
            leave(state, actions);
        break;
    case SG_FLOW_REPORT:
    case SG_FLOW_RAISED:
        sg_flow_message(&state->flow, &message->header, actions);
        if (state->stalled && sg_flow_allows(&state->flow, state->head.seq))
            start(state, event, actions);
        break;
    case SG_RELEASE_PIECE:
    case SG_RELEASE_RESULT:
        degree = degree_of(state, (enum sg_operation)message->header.operation);
        if (sg_release_take(&state->release, message, state->releases, actions))
            finish_release(state, sg_data_part(0),
                           sg_branch_children(state->rank, state->size, degree) > 0, actions);
        break;
    default:
        sg_release_message(&state->release, &state->head, message, actions);
        break;
    }
}

static void on_timer(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct fixed_tree *state = memory;

    sg_release_timer(&state->release, event, actions);
}

static void on_drain(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct fixed_tree *state = memory;

    sg_release_drain(&state->release, &state->head, actions);
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers found = sg_peers_into(out, capacity);
    struct fixed_tree state = {.degree = setup->parameters.degree};
    int degree = degree_of(&state, operation);
    int rooted = operation == SG_OPERATION_BCAST ? broadcast_degree(&setup->parameters) : degree;

    if (sg_operation_has_root(operation)) {
        if (root == SG_PEERS_OF_ALL_ROOTS)
            sg_peers_add_tops(&found, setup->rank, setup->size, rooted);
        else
            sg_peers_add_branch(&found, setup->rank, setup->size, root, rooted);
        /* Peers of flow control. */
        sg_peers_add_branch(&found, setup->rank, setup->size, 0, degree);
    } else {
        sg_peers_add_branch(&found, setup->rank, setup->size, 0, degree);
        sg_release_peers(setup, &found);
    }
    return sg_peers_count(&found);
}

const struct sg_algo sg_algo_tree = {
    .name = "tree",
    .operations = 1 << SG_OPERATION_BARRIER | 1 << SG_OPERATION_REDUCE |
                  1 << SG_OPERATION_ALLREDUCE | 1 << SG_OPERATION_BCAST,
    .uses = SG_ALGO_MULTICAST | SG_ALGO_USER,
    .parameters = sg_parameters_tree,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_drain = on_drain,
    .peers = peers,
};
