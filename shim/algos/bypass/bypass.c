/* Application-bypass reduce (paper "Application-Bypass Reduction", sections IV and V): an internal
 * endpoint leaves its call without waiting for late children. Their contributions are combined on
 * arrival, by whichever thread or handler delivers them.
 *
 * Tree: binomial, relative to the root. An endpoint's value is ((own . c1) . c2) . c4 ..., children
 * in increasing mask. An operation that does not commute uses the tree rooted at endpoint 0, so
 * that ranks stay in order, and 0 forwards the result. With a user's operation an endpoint stays in
 * its call until its value is complete. If the order cannot matter (EXACT, or arrival_order=1 for a
 * commutative operation), contributions are folded on arrival.
 *
 * An edge is a power of two: endpoint r has at most one child r + 2^i and one parent r - 2^i
 * (modulo size) for each i, whatever the roots. An endpoint keeps
 *   - a ring of `credits` instances (the paper's descriptors), instance seq at seq modulo credits;
 *     each has a slot for the value so far (at the root, the result itself);
 *   - for each edge, `credits` slots for contributions that cannot be folded yet: the call has not
 *     been made (early), or an earlier child is missing;
 *   - `pool` slots for contributions above eager_bytes, which the parent pulls.
 *
 * A call waits (its COMPLETE is delayed) until its ring entry is free, it holds a credit of its
 * parent and, if it is a leaf with a large contribution, a pool slot. With split calls it also
 * waits until the next ring entry holds no result of its own: results share the ring's entries, and
 * the event loop assigns the next one with the CALL. All are taken in the order of the calls, and
 * an instance never needs what a later one holds; so the oldest instance always progresses and no
 * deadlock is possible. Credits come back when the parent has folded a contribution. Only the DONE
 * of a pulled contribution carries them; otherwise they return in one CREDIT message for each
 * credits/2. The parent then never holds back more than credits/2 - 1, so a child that waits always
 * has one on its way. */
#include "algos/algo.h"
#include "algos/broadcast.h"
#include "algos/release.h"
#include "algos/tree.h"

/* ---- state, without pointers: offsets locate the arrays behind the struct ---- */

/* Edges of an endpoint: 2^0 .. 2^23 reach SG_ENDPOINTS_MAX. */
#define SG_BYPASS_EDGES 24

/* A reduction that has begun here and is not over. */
struct instance {
    uint64_t seq; /* 0: free */
    uint32_t bytes;
    uint32_t pending; /* edges whose contribution is not folded yet, as bits */
    uint32_t waiting; /* ... of these, the ones whose contribution waits in a slot */
    int32_t root;
    struct sg_data value; /* the value folded so far */
    uint8_t flags;        /* SG_CALL_* */
    uint8_t site;
    int8_t parent;   /* edge to the parent; -1: this is the top */
    bool children;   /* true if it has any */
    bool sent;       /* all folded; passed on, or the result */
    bool unread;     /* ... but not pulled yet: the value's slot is still in use */
    bool has_result; /* true at the root once the result is complete */
    uint64_t entered_ns;
};

/* A contribution that waits in a slot. */
struct early {
    uint64_t seq; /* 0: free */
    bool here;    /* false: the pull is in progress */
};

/* Lateness of a call site's last child after the call: smoothed mean and mean deviation, as TCP
 * estimates round trips (RFC 6298). */
struct lateness {
    uint32_t mean_ns, deviation_ns;
    bool known;
};

struct bypass {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t linger_ns, eager_bytes, edges;
    uint8_t credits;
    bool arrival_order, linger_auto;

    /* The current call. */
    struct sg_algo_call call;
    bool begun, stalled, lingering;
    uint64_t entered_ns, linger_until_ns;

    uint64_t pool_used, pool_all;      /* one bit per slot */
    uint8_t reserved[SG_BYPASS_EDGES]; /* by edge: the parent's credits in use */
    uint8_t consumed[SG_BYPASS_EDGES]; /* by edge: the child's credits not returned yet */
    struct lateness sites[SG_SITES];

    struct sg_broadcast broadcast;
    struct sg_flow flow;    /* of broadcasts, which have their own count */
    uint64_t broadcasts;    /* number of the last broadcast called */
    bool has_broadcast;     /* the current broadcast's data are in place */
    bool listens;           /* counts as outstanding between broadcasts */
    bool drains;            /* no call will come */
    struct instance ring[]; /* followed by struct early [edges][credits] */
};

/* Kinds of messages. READY announces a contribution that the parent pulls from a slot; the parent
 * then sends DONE. The result goes from endpoint 0 to another root in the same two ways. */
enum sg_bypass_message {
    SG_BYPASS_CONTRIBUTION = 1,
    SG_BYPASS_READY,
    SG_BYPASS_DONE,
    SG_BYPASS_CREDIT,
    SG_BYPASS_RESULT,
    SG_BYPASS_RESULT_READY
};

#define SG_BYPASS_LINGER_TIMER 0

/* Returns the instance if it has begun here and is not over, else NULL. */
static inline struct instance *sg_bypass_find(struct bypass *s, uint64_t seq)
{
    struct instance *instance = &s->ring[sg_count_place(seq, s->credits)];

    return instance->seq == seq ? instance : NULL;
}

static inline bool is_in_call(const struct bypass *s, const struct instance *instance)
{
    return s->head.in_call && instance->seq == s->head.seq;
}

static inline bool is_large(const struct bypass *s, uint32_t bytes)
{
    return bytes > s->eager_bytes;
}

/* ---- layout of the state ---- */

/* Limits the pool to one word of bits, and to the number of instances that could each use a
 * slot. */
static uint32_t pool_of(const struct sg_algo_parameters *parameters)
{
    uint32_t pool = parameters->pool ? parameters->pool : SG_POOL_DEFAULT;

    return pool < sg_credits(parameters) ? pool : sg_credits(parameters);
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    uint32_t credits = sg_credits(&setup->parameters);
    uint32_t edges;

    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX || credits < 2 ||
        credits > SG_CREDITS_MAX)
        return false;
    edges = (uint32_t)sg_tree_levels(setup->size);
    needs->state_bytes = (uint32_t)(sizeof(struct bypass) + credits * sizeof(struct instance) +
                                    edges * credits * sizeof(struct early));
    needs->slots = 2 * credits + edges * credits + pool_of(&setup->parameters);
    needs->cells = 0;
    needs->parts = 1;
    needs->slot_bytes = sg_read_bytes(&setup->parameters);
    needs->part_bytes = sg_eager_bytes(&setup->parameters);
    if (needs->part_bytes < SG_PART_DEFAULT)
        needs->part_bytes = SG_PART_DEFAULT;
    needs->in_parts = 1u << SG_OPERATION_BCAST;
    needs->receivers = (uint32_t)sg_branch_children(0, setup->size, SG_TREE_BINOMIAL);
    return true;
}

static uint32_t pool_at(const struct bypass *state)
{
    return state->credits + state->edges * state->credits;
}

static void init(void *state, const struct sg_algo_setup *setup)
{
    const struct sg_algo_parameters *parameters = &setup->parameters;
    struct bypass *s = state;

    s->head.seq = s->broadcasts = parameters->first;
    s->rank = setup->rank;
    s->size = setup->size;
    s->edges = (uint32_t)sg_tree_levels(setup->size);
    s->credits = (uint8_t)sg_credits(parameters);
    s->pool_all = ~UINT64_C(0) >> (64 - pool_of(parameters));
    s->eager_bytes = sg_eager_bytes(parameters);
    s->linger_ns = parameters->linger_ns;
    s->linger_auto = parameters->linger_auto;
    s->arrival_order = parameters->arrival_order;
    sg_broadcast_init(&s->broadcast, setup, SG_TREE_BINOMIAL, true,
                      pool_at(s) + pool_of(parameters), 1);
    sg_flow_init(&s->flow, setup, SG_TREE_BINOMIAL, s->credits, SG_FLOW_SOLICITED_REPORT);
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers peers = sg_peers_into(out, capacity);

    if (root == SG_PEERS_OF_ALL_ROOTS)
        sg_peers_add_powers(&peers, setup->rank, setup->size);
    else
        sg_peers_add_branch(&peers, setup->rank, setup->size, root, SG_TREE_BINOMIAL);
    /* Peers of flow control. */
    if (operation == SG_OPERATION_BCAST)
        sg_peers_add_branch(&peers, setup->rank, setup->size, 0, SG_TREE_BINOMIAL);
    return sg_peers_count(&peers);
}

/* ---- slots ---- */

static struct early *all_early(struct bypass *state)
{
    return (struct early *)(state->ring + state->credits);
}

/* Returns the entry of this instance's contribution over this edge; seq 0: a free entry. NULL:
 * none. */
static struct early *sg_bypass_early(struct bypass *state, uint32_t edge, uint64_t seq)
{
    struct early *early = all_early(state) + (size_t)edge * state->credits;

    for (uint32_t i = 0; i < state->credits; i++) {
        if (early[i].seq == seq)
            return &early[i];
    }
    return NULL;
}

/* Edges over which a contribution of this instance has arrived, as bits. */
static uint32_t sg_bypass_waiting(struct bypass *state, uint64_t seq)
{
    const struct early *early = all_early(state);
    uint32_t waiting = 0;

    for (uint32_t i = 0; i < state->edges * state->credits; i++) {
        if (early[i].seq == seq && early[i].here)
            waiting |= 1u << i / state->credits;
    }
    return waiting;
}

static uint32_t early_slot(struct bypass *state, const struct early *early)
{
    return state->credits + (uint32_t)(early - all_early(state));
}

static struct early *early_at(struct bypass *state, uint32_t slot)
{
    return all_early(state) + (slot - state->credits);
}

static uint32_t edge_of(const struct bypass *state, uint32_t slot)
{
    return (slot - state->credits) / state->credits;
}

/* Takes a free slot of the pool; there must be one. */
static uint32_t take_pool_slot(struct bypass *state)
{
    uint32_t free_one = (uint32_t)__builtin_ctzll(~state->pool_used);

    state->pool_used |= UINT64_C(1) << free_one;
    return pool_at(state) + free_one;
}

/* Does nothing if the slot is not in the pool. */
static void free_pool_slot(struct bypass *state, uint32_t slot)
{
    if (slot >= pool_at(state))
        state->pool_used &= ~(UINT64_C(1) << (slot - pool_at(state)));
}

/* ---- the linger ---- */

/* No wait is worth a second; the limit keeps the arithmetic within 32 bits. */
#define LATE_MAX_NS 1000000000u

static void observe(struct lateness *site, uint64_t late_ns)
{
    uint32_t sample_ns = late_ns < LATE_MAX_NS ? (uint32_t)late_ns : LATE_MAX_NS;
    uint32_t error_ns;

    if (!site->known) {
        site->known = true;
        site->mean_ns = sample_ns;
        site->deviation_ns = sample_ns / 2;
        return;
    }
    error_ns = sample_ns > site->mean_ns ? sample_ns - site->mean_ns : site->mean_ns - sample_ns;
    site->deviation_ns += error_ns / 4 - site->deviation_ns / 4;
    site->mean_ns += sample_ns / 8 - site->mean_ns / 8;
}

/* Returns how long to wait for children. A wait costs processor time, and so does the signal of a
 * later child; bound_ns is the cost of that signal, so a longer wait never pays. */
static uint32_t sg_bypass_linger(const struct lateness *site, uint32_t bound_ns)
{
    uint64_t likely_ns = (uint64_t)site->mean_ns + 4 * (uint64_t)site->deviation_ns;

    if (!site->known || (site->mean_ns <= bound_ns && likely_ns > bound_ns))
        return bound_ns;
    return site->mean_ns > bound_ns ? 0 : (uint32_t)likely_ns;
}

/* Tags of pulls: an early slot's number, or this flag and a ring index. */
#define TAG_RESULT 0x10000u

/* ---- endpoints and edges ---- */

static int32_t child_of(const struct bypass *s, uint32_t edge)
{
    return (int32_t)(((int64_t)s->rank + (INT64_C(1) << edge)) % s->size);
}

/* The edge between a child and its parent. */
static uint32_t edge_between(const struct bypass *s, int32_t child, int32_t parent)
{
    return (uint32_t)sg_binomial_index(sg_tree_relative(child, parent, s->size));
}

static int32_t top_of(const struct sg_algo_call *call)
{
    return call->flags & SG_CALL_COMMUTATIVE ? call->root : 0;
}

/* Sends a message without payload, which interrupts nobody. */
static void tell(struct sg_actions *actions, int32_t to, uint64_t seq, enum sg_bypass_message kind,
                 uint32_t credits)
{
    struct sg_header header = {.seq = (uint32_t)seq, .kind = (uint8_t)kind, .number = {credits}};

    header.operation = SG_OPERATION_REDUCE;
    sg_emit_send(actions, to, &header);
}

static void return_credits(struct bypass *s, struct sg_actions *actions)
{
    for (uint32_t edge = 0; edge < s->edges; edge++) {
        if (s->consumed[edge] < s->credits / 2)
            continue;
        tell(actions, child_of(s, edge), 0, SG_BYPASS_CREDIT, s->consumed[edge]);
        s->consumed[edge] = 0;
    }
}

/* ---- order of folding, and the location of values ---- */

static int32_t parent_of(const struct bypass *s, uint32_t edge)
{
    return (int32_t)(((int64_t)s->rank - (INT64_C(1) << edge) + s->size) % s->size);
}

static bool any_order(const struct bypass *s, const struct instance *instance)
{
    return (instance->flags & SG_CALL_COMMUTATIVE) &&
           (s->arrival_order || (instance->flags & SG_CALL_EXACT));
}

/* Location of the partial results. */
static struct sg_data target(const struct bypass *s, const struct instance *instance)
{
    uint32_t place = sg_count_place(instance->seq, s->credits);
    bool result = instance->root == s->rank && instance->parent < 0;

    return (struct sg_data){result ? SG_DATA_RESULT : SG_DATA_SLOT, (uint16_t)place};
}

static void copy_own(struct bypass *s, struct instance *instance, struct sg_data into,
                     struct sg_actions *actions)
{
    if (instance->bytes > 0) {
        sg_emit_copy(actions, instance->value, into, instance->bytes);
        s->head.copies++;
    }
    instance->value = into;
}

/* ---- leaving the call, and the instance's end ---- */
/* True if the next call's ring entry holds no result of this endpoint, in case that call has a
 * result. */

static bool next_is_free(const struct bypass *s, uint64_t seq)
{
    const struct instance *oldest = &s->ring[sg_count_place(seq + 1, s->credits)];

    return oldest->seq == 0 || oldest->root != s->rank;
}

static bool may_leave(const struct bypass *s, const struct instance *instance,
                      struct sg_actions *actions)
{
    if (!next_is_free(s, instance->seq)) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        return false;
    }
    if (instance->root == s->rank)
        return instance->has_result || (instance->flags & SG_CALL_SPLIT);
    return instance->sent || (!s->lingering && !(instance->flags & SG_CALL_USER));
}

static void leave(struct bypass *s, struct instance *instance, struct sg_actions *actions)
{
    if (instance->value.kind == SG_DATA_OPERAND && !instance->sent)
        copy_own(s, instance, target(s, instance), actions);
    if (s->lingering)
        sg_emit_stop_timer(actions, SG_BYPASS_LINGER_TIMER);
    s->lingering = false;
    s->head.in_call = 0;
    sg_emit_complete(actions, instance->seq);
}

/* Leaves the call and ends the instance if possible. The instance may be over afterwards. */
static void conclude(struct bypass *s, struct instance *instance, struct sg_actions *actions)
{
    bool in_call = is_in_call(s, instance);

    if (in_call && !may_leave(s, instance, actions))
        return;
    if (in_call)
        leave(s, instance, actions);
    if (!instance->sent || instance->unread || (instance->root == s->rank && !instance->has_result))
        return;
    if (instance->root == s->rank && !in_call)
        sg_emit_mark(actions, SG_MARK_SPLIT_FINISHED);
    sg_emit_finish(actions, instance->seq);
    instance->seq = 0;
    s->head.outstanding--;
}

/* ---- upwards ---- */

/* Passes the value to another endpoint: in a message, or kept here until it has been pulled. */
static void pass_on(struct bypass *s, struct instance *instance, int32_t to,
                    enum sg_bypass_message eager, enum sg_bypass_message large,
                    struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)instance->seq, .operation = SG_OPERATION_REDUCE};

    if (is_large(s, instance->bytes)) {
        if (instance->value.kind == SG_DATA_OPERAND)
            copy_own(s, instance, sg_data_slot(take_pool_slot(s)), actions);
        header.kind = (uint8_t)large;
        header.number[0] = instance->value.index;
        header.number[1] = instance->bytes;
        instance->unread = true;
    } else {
        header.kind = (uint8_t)eager;
        header.bytes = instance->bytes;
        header.parts = instance->bytes > 0;
        if (header.parts > 0)
            sg_emit_part(actions, instance->value);
    }
    sg_emit_send(actions, to, &header)->solicited = true;
}

/* Continues once all children's contributions are folded. */
static void gathered(struct bypass *s, struct instance *instance, uint64_t time_ns,
                     struct sg_actions *actions)
{
    instance->sent = true;
    if (instance->children)
        observe(&s->sites[instance->site], time_ns - instance->entered_ns);
    if (instance->parent >= 0) {
        pass_on(s, instance, parent_of(s, (uint32_t)instance->parent), SG_BYPASS_CONTRIBUTION,
                SG_BYPASS_READY, actions);
    } else if (instance->root != s->rank) {
        s->head.forwarded++;
        pass_on(s, instance, instance->root, SG_BYPASS_RESULT, SG_BYPASS_RESULT_READY, actions);
    } else {
        if (instance->value.kind == SG_DATA_OPERAND)
            copy_own(s, instance, target(s, instance), actions);
        instance->has_result = true;
    }
}

/* ---- contributions ---- */
/* True if the order allows this edge's contribution to be folded now. */

static bool may_fold(const struct bypass *s, const struct instance *instance, uint32_t edge)
{
    return any_order(s, instance) || edge == (uint32_t)__builtin_ctz(instance->pending);
}

static void fold(struct bypass *s, struct instance *instance, uint32_t edge, struct sg_data from,
                 struct sg_actions *actions)
{
    struct sg_data into = target(s, instance);

    if (instance->bytes > 0)
        sg_emit_reduce(actions, instance->value, from, into, instance->bytes)->data.seq =
            instance->seq;
    instance->value = into;
    instance->pending &= ~(1u << edge);
    s->consumed[edge]++;
    if (s->lingering && is_in_call(s, instance))
        sg_emit_mark(actions, SG_MARK_LINGER_PAID);
}

/* Folds the contributions that wait in slots, as far as the order allows. */
static void fold_waiting(struct bypass *s, struct instance *instance, struct sg_actions *actions)
{
    while (instance->pending & instance->waiting) {
        uint32_t edge = (uint32_t)__builtin_ctz(instance->pending & instance->waiting);
        struct early *early = sg_bypass_early(s, edge, instance->seq);

        if (!may_fold(s, instance, edge))
            return;
        fold(s, instance, edge, sg_data_slot(early_slot(s, early)), actions);
        instance->waiting &= ~(1u << edge);
        early->seq = 0;
    }
}

/* Call after anything that may have advanced an instance: folds, passes on, leaves and ends as far
 * as possible. The instance may be over afterwards. */
static void advance(struct bypass *s, struct instance *instance, uint64_t time_ns,
                    struct sg_actions *actions)
{
    fold_waiting(s, instance, actions);
    if (!instance->pending && !instance->sent)
        gathered(s, instance, time_ns, actions);
    conclude(s, instance, actions);
}

/* ---- the call ---- */

static void start_linger(struct bypass *s, const struct instance *instance, uint64_t time_ns,
                         struct sg_actions *actions)
{
    uint32_t linger_ns =
        s->linger_auto ? sg_bypass_linger(&s->sites[instance->site], s->linger_ns) : s->linger_ns;

    if (!instance->pending || linger_ns == 0 || instance->root == s->rank ||
        (instance->flags & SG_CALL_SPLIT))
        return;
    s->lingering = true;
    s->linger_until_ns = time_ns + linger_ns;
    sg_emit_set_timer(actions, SG_BYPASS_LINGER_TIMER, s->linger_until_ns);
}

static void begin(struct bypass *s, int32_t relative, int32_t parent, uint64_t time_ns,
                  struct sg_actions *actions)
{
    uint64_t seq = s->head.seq;
    struct instance *instance = &s->ring[sg_count_place(seq, s->credits)];
    int children = sg_binomial_children(relative, s->size);

    s->begun = true;
    *instance = (struct instance){
        .seq = seq,
        .bytes = s->call.bytes,
        .children = children > 0,
        .pending = (1u << children) - 1,
        .root = s->call.root,
        .parent = (int8_t)parent,
        .flags = (uint8_t)s->call.flags,
        .site = (uint8_t)(s->call.site % SG_SITES),
        .value = {SG_DATA_OPERAND, 0},
        .entered_ns = s->entered_ns,
    };
    if (parent >= 0)
        s->reserved[parent]++;
    instance->waiting = sg_bypass_waiting(s, seq);
    fold_waiting(s, instance, actions);
    start_linger(s, instance, time_ns, actions);
    advance(s, instance, time_ns, actions);
}

/* Begins the current call if everything it needs is available. */
static void try_begin(struct bypass *s, uint64_t time_ns, struct sg_actions *actions)
{
    int32_t relative, parent;
    bool large_leaf;

    relative = sg_tree_relative(s->rank, top_of(&s->call), s->size);
    parent = relative == 0 ? -1 : sg_binomial_index(relative);
    large_leaf =
        parent >= 0 && sg_binomial_children(relative, s->size) == 0 && is_large(s, s->call.bytes);
    if (s->ring[sg_count_place(s->head.seq, s->credits)].seq != 0 ||
        (parent >= 0 && s->reserved[parent] == s->credits)) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
    } else if (large_leaf && s->pool_used == s->pool_all) {
        sg_emit_mark(actions, SG_MARK_POOL_OUT);
    } else {
        begin(s, relative, parent, time_ns, actions);
        return;
    }
    s->head.stalls += !s->stalled;
    s->stalled = true;
}

/* ---- a broadcast ---- */

/* Stays armed between broadcasts while other endpoints may wait for data that this one passes
 * on. */
static void listen(struct bypass *s)
{
    bool passes_on = s->rank == 0 || sg_broadcast_passes_on(&s->broadcast, 0) ||
                     sg_broadcast_passes_on(&s->broadcast, s->call.root);
    bool listens = passes_on && s->size > 1 && !s->drains;

    s->head.outstanding += listens;
    s->head.outstanding -= s->listens;
    s->listens = listens;
}

static void end_broadcast(struct bypass *s, struct sg_actions *actions)
{
    s->head.in_call = 0;
    s->head.outstanding--;
    sg_emit_complete(actions, s->head.seq);
    sg_emit_finish(actions, s->head.seq);
    sg_flow_finished(&s->flow, s->broadcasts, actions);
    listen(s);
}

/* Goes on as far as possible. */
static void broadcast(struct bypass *s, struct sg_actions *actions)
{
    bool is_root = s->call.root == s->rank;

    if (!s->begun && (s->ring[sg_count_place(s->head.seq, s->credits)].seq != 0 ||
                      (is_root && !sg_flow_allows(&s->flow, s->broadcasts)))) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        s->head.stalls += !s->stalled;
        s->stalled = true;
        return;
    }
    if (!s->begun) {
        s->begun = true;
        sg_flow_enter(&s->flow, s->broadcasts, false);
        s->has_broadcast =
            sg_broadcast_call(&s->broadcast, &s->head, s->broadcasts, &s->call, actions);
    }
    if (s->has_broadcast && next_is_free(s, s->head.seq))
        end_broadcast(s, actions);
}

/* Call at the end of a handler: the event may be the one that the call waits for. */
static void resume(struct bypass *s, uint64_t time_ns, struct sg_actions *actions)
{
    if (s->head.in_call && s->call.operation == SG_OPERATION_BCAST)
        broadcast(s, actions);
    else if (s->head.in_call && !s->begun)
        try_begin(s, time_ns, actions);
    else if (s->head.in_call)
        conclude(s, sg_bypass_find(s, s->head.seq), actions);
    return_credits(s, actions);
}

static void on_call(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct bypass *s = state;

    s->call = event->call;
    s->entered_ns = event->time_ns;
    s->begun = s->stalled = false;
    s->head.in_call = 1;
    s->head.seq++;
    s->head.outstanding++;
    s->broadcasts += s->call.operation == SG_OPERATION_BCAST;
    resume(s, event->time_ns, actions);
}

/* ---- messages ---- */

static void on_contribution(struct bypass *s, const struct sg_event *event,
                            struct sg_actions *actions)
{
    const struct sg_header *header = &event->message.header;
    uint32_t edge = edge_between(s, event->message.from, s->rank);
    uint64_t seq = sg_count_told(s->head.seq, header->seq);
    struct instance *instance = sg_bypass_find(s, seq);
    bool pulled = header->kind == SG_BYPASS_READY;
    struct early *early;

    if (seq > s->head.seq) {
        s->head.early++;
        sg_emit_mark(actions, SG_MARK_EARLY);
    } else if (instance && !is_in_call(s, instance)) {
        s->head.late++;
        sg_emit_mark(actions, SG_MARK_LATE);
    }
    if (instance && !pulled && may_fold(s, instance, edge)) {
        fold(s, instance, edge, sg_data_part(0), actions);
        advance(s, instance, event->time_ns, actions);
        return;
    }
    early = sg_bypass_early(s, edge, 0);
    if (!early)
        return; /* only an endpoint without a credit would send it: cannot happen in this
                 * protocol */
    early->seq = seq;
    early->here = !pulled;
    if (pulled) {
        struct sg_action *action = sg_emit(actions, SG_ACTION_READ);

        action->to = event->message.from;
        action->solicited = true;
        action->access.into = sg_data_slot(early_slot(s, early));
        action->access.bytes = header->number[1];
        action->access.remote = header->number[0];
        action->access.tag = early_slot(s, early);
        return;
    }
    if (header->bytes > 0) {
        sg_emit_copy(actions, sg_data_part(0), sg_data_slot(early_slot(s, early)), header->bytes);
        s->head.copies++;
    }
    if (instance)
        instance->waiting |= 1u << edge;
}

static void on_result(struct bypass *s, const struct sg_event *event, struct sg_actions *actions)
{
    const struct sg_header *header = &event->message.header;
    uint32_t place = sg_count_place(sg_count_told(s->head.seq, header->seq), s->credits);
    struct sg_data result = {SG_DATA_RESULT, (uint16_t)place};
    struct instance *instance = &s->ring[place];
    struct sg_action *action;

    if (header->kind == SG_BYPASS_RESULT) {
        if (header->bytes > 0) {
            sg_emit_copy(actions, sg_data_part(0), result, header->bytes);
            s->head.copies++;
        }
        instance->has_result = true;
        conclude(s, instance, actions);
        return;
    }
    action = sg_emit(actions, SG_ACTION_READ);
    action->to = event->message.from;
    action->solicited = true;
    action->access.into = result;
    action->access.bytes = header->number[1];
    action->access.remote = header->number[0];
    action->access.tag = TAG_RESULT | place;
}

static void on_credit(struct bypass *s, const struct sg_message *message)
{
    uint32_t count = message->header.number[0];

    if (count > 0) {
        uint32_t edge = edge_between(s, s->rank, message->from);

        s->reserved[edge] = (uint8_t)(s->reserved[edge] - count);
    }
}

static void on_done(struct bypass *s, const struct sg_message *message, struct sg_actions *actions)
{
    struct instance *instance = sg_bypass_find(s, sg_count_told(s->head.seq, message->header.seq));

    on_credit(s, message);
    if (!instance)
        return; /* answers a contribution that was never sent: cannot happen in this protocol */
    instance->unread = false;
    free_pool_slot(s, instance->value.index);
    conclude(s, instance, actions);
}

static void on_message(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct bypass *s = state;

    switch (event->message.header.kind) {
    case SG_BYPASS_CONTRIBUTION:
    case SG_BYPASS_READY:
        on_contribution(s, event, actions);
        break;
    case SG_BYPASS_DONE:
        on_done(s, &event->message, actions);
        break;
    case SG_BYPASS_CREDIT:
        on_credit(s, &event->message);
        break;
    case SG_BYPASS_RESULT:
    case SG_BYPASS_RESULT_READY:
        on_result(s, event, actions);
        break;
    case SG_BROADCAST_DATA:
        s->has_broadcast |=
            sg_broadcast_take(&s->broadcast, &s->head, s->broadcasts, &event->message, actions);
        break;
    default:
        sg_flow_message(&s->flow, &event->message.header, actions);
        break;
    }
    resume(s, event->time_ns, actions);
}

/* ---- pulls, timers ---- */

static void pulled_contribution(struct bypass *s, uint32_t slot, uint64_t time_ns,
                                struct sg_actions *actions)
{
    struct early *early = early_at(s, slot);
    uint32_t edge = edge_of(s, slot);
    uint64_t seq = early->seq;
    struct instance *instance = sg_bypass_find(s, seq);

    early->here = true;
    if (instance) {
        instance->waiting |= 1u << edge;
        advance(s, instance, time_ns, actions);
    }
    tell(actions, child_of(s, edge), seq, SG_BYPASS_DONE, s->consumed[edge]);
    s->consumed[edge] = 0;
}

static void on_reply(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct bypass *s = state;
    uint32_t tag = event->reply.tag;

    sg_emit_mark(actions, SG_MARK_PULLED);
    if (tag & TAG_RESULT) {
        struct instance *instance = &s->ring[tag & ~TAG_RESULT];

        tell(actions, 0, instance->seq, SG_BYPASS_DONE, 0);
        instance->has_result = true;
        conclude(s, instance, actions);
    } else {
        pulled_contribution(s, tag, event->time_ns, actions);
    }
    resume(s, event->time_ns, actions);
}

static void on_timer(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct bypass *s = state;

    if (!s->lingering || event->time_ns < s->linger_until_ns)
        return;
    s->lingering = false;
    sg_emit_mark(actions, SG_MARK_LINGER_VAIN);
    resume(s, event->time_ns, actions);
}

/* Remaining contributions arrive without being asked for, and all broadcasts have arrived. */
static void on_drain(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct bypass *s = state;

    s->drains = true;
    listen(s);
}

const struct sg_algo sg_algo_bypass = {
    .name = "bypass",
    .operations = 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_BCAST,
    .uses = SG_ALGO_ONE_SIDED | SG_ALGO_USER,
    .parameters = sg_parameters_bypass,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_reply = on_reply,
    .on_drain = on_drain,
    .peers = peers,
};
