/* Application-bypass reduce (paper "Application-Bypass Reduction", sections IV and V): an internal
 * endpoint leaves its call without waiting for late children; their contributions are combined when
 * they come, by whoever delivers them.
 *
 * Tree: binomial, relative to the root. Value of an endpoint: ((own . c1) . c2) . c4 ..., children
 * in increasing mask. An operation that does not commute uses the tree rooted at endpoint 0, so
 * that ranks stay in order, and 0 forwards the result. With an operation of the user's an endpoint
 * stays in its call until its value is whole. Where the order cannot matter (EXACT, or
 * arrival_order=1 for a commutative operation) contributions are folded as they come.
 *
 * An edge is a power of two: endpoint r has at most one child r + 2^i and one parent r - 2^i
 * (modulo size) for each i, whatever the roots. An endpoint keeps
 *   - a ring of `credits` instances (the paper's descriptors), instance seq at seq modulo credits;
 *     each has a slot for the value so far (the root's is the result itself);
 *   - for each edge, `credits` slots for contributions that cannot be folded yet: the call has not
 *     been made (early), or an earlier child is missing;
 *   - `pool` slots for contributions above eager_bytes, which the parent pulls.
 *
 * A call waits (its COMPLETE is delayed) until its place in the ring is free, it holds a credit of
 * its parent and, if its contribution is a large leaf's, a pool slot. Where calls are split
 * it also waits until the next place holds no result of its own: results share the ring's places,
 * and the host gives the next one with the CALL. All are taken in the order of the calls, and an
 * instance never needs what a later one holds; so the oldest instance always gets on and nothing
 * can deadlock. Credits come back when the parent has folded a contribution. Nothing else flows
 * from parent to child that could carry them, except the DONE of a pulled contribution, which does;
 * else they return in one CREDIT message for each credits/2. The parent then never holds back more
 * than credits/2 - 1, so a child that waits always has one on its way.
 */
#include "algos/bypass/state.h"
#include "algos/emit.h"
#include "algos/tree.h"

/* Tags of pulls: an early slot's number, or this and a place in the ring. */
#define TAG_RESULT 0x10000u

/* ---- who is where ---- */

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

/* A message without payload, which nobody is interrupted for. */
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
    sg_bypass_fold_waiting(s, instance, actions);
    start_linger(s, instance, time_ns, actions);
    sg_bypass_advance(s, instance, time_ns, actions);
}

/* Begins the call under way if all it needs is there. */
static void try_begin(struct bypass *s, uint64_t time_ns, struct sg_actions *actions)
{
    int32_t relative, parent;
    bool large_leaf;

    relative = sg_tree_relative(s->rank, top_of(&s->call), s->size);
    parent = relative == 0 ? -1 : sg_binomial_index(relative);
    large_leaf = parent >= 0 && sg_binomial_children(relative, s->size) == 0 &&
                 sg_bypass_is_large(s, s->call.bytes);
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

/* Between broadcasts, while others may wait for what this endpoint passes on. */
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

/* As far as it can go. */
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
    if (s->has_broadcast && sg_bypass_next_is_free(s, s->head.seq))
        end_broadcast(s, actions);
}

/* At the end of a handler: whatever happened may be what the call waits for. */
static void resume(struct bypass *s, uint64_t time_ns, struct sg_actions *actions)
{
    if (s->head.in_call && s->call.operation == SG_OPERATION_BCAST)
        broadcast(s, actions);
    else if (s->head.in_call && !s->begun)
        try_begin(s, time_ns, actions);
    else if (s->head.in_call)
        sg_bypass_conclude(s, sg_bypass_find(s, s->head.seq), actions);
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
    } else if (instance && !sg_bypass_is_in_call(s, instance)) {
        s->head.late++;
        sg_emit_mark(actions, SG_MARK_LATE);
    }
    if (instance && !pulled && sg_bypass_may_fold(s, instance, edge)) {
        sg_bypass_fold(s, instance, edge, sg_data_part(0), actions);
        sg_bypass_advance(s, instance, event->time_ns, actions);
        return;
    }
    early = sg_bypass_early(s, edge, 0);
    if (!early)
        return; /* from an endpoint that had no credit: there is none in this protocol */
    early->seq = seq;
    early->here = !pulled;
    if (pulled) {
        struct sg_action *action = sg_emit(actions, SG_ACTION_READ);

        action->to = event->message.from;
        action->solicited = true;
        action->access.into = sg_data_slot(sg_bypass_early_slot(s, early));
        action->access.bytes = header->number[1];
        action->access.remote = header->number[0];
        action->access.tag = sg_bypass_early_slot(s, early);
        return;
    }
    if (header->bytes > 0) {
        sg_emit_copy(actions, sg_data_part(0), sg_data_slot(sg_bypass_early_slot(s, early)),
                     header->bytes);
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
        sg_bypass_conclude(s, instance, actions);
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
        return; /* of a contribution that was never sent: there is none in this protocol */
    instance->unread = false;
    sg_bypass_free_pool_slot(s, instance->value.index);
    sg_bypass_conclude(s, instance, actions);
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
    struct early *early = sg_bypass_early_at(s, slot);
    uint32_t edge = sg_bypass_edge_of(s, slot);
    uint64_t seq = early->seq;
    struct instance *instance = sg_bypass_find(s, seq);

    early->here = true;
    if (instance) {
        instance->waiting |= 1u << edge;
        sg_bypass_advance(s, instance, time_ns, actions);
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
        sg_bypass_conclude(s, instance, actions);
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

/* Every contribution that is still to come comes without being asked for, and all broadcasts have
 * come. */
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
    .needs = sg_bypass_needs,
    .init = sg_bypass_init,
    .on_call = on_call,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_reply = on_reply,
    .on_drain = on_drain,
    .peers = sg_bypass_peers,
};
