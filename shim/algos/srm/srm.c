/* srm between nodes: barrier, reduce, allreduce and broadcast by puts into the partners' memory
 * (paper: srm, sections 2.3 and 2.4).
 *
 * Partners are those of recursive doubling: of a size that is no power of two, the first 2*(size -
 * p) endpoints fold in pairs, the even one into the odd one, and the p positions that are left have
 * a partner across each dimension of a hypercube. All goes along these edges:
 *
 *   barrier, allreduce      recursive doubling: values cross each edge both ways
 *   allreduce in chunks     up the binomial tree of position 0, and from there down again; chunks
 *                           are instances of which several are under way
 *   reduce                  up the binomial tree of the root's position: positions count from it by
 *                           exclusive or, so that each tree's edges are the hypercube's
 *   broadcast               down the same tree, by slots: who gets the data may not have called yet
 *   broadcast in chunks     likewise, into the partners' results: addresses first, then puts
 *                           (figure 4, right)
 *
 * Association: SG_SHAPE_DOUBLING, at every root and size alike; ranks stay in order.
 *
 * A value is written to a slot of the partner's, which watches its cell for the word behind it
 * (edges.c); a result is written straight to the partner's result, from where all ranks of its
 * node copy it out. Its call must have come: where its own value has, that needs no word
 * beforehand; in a broadcast it offers its place by a word that carries nothing else. Several
 * chunks are under way, so offers are there before the data. A slot is reused when the partner has
 * told so.
 *
 * A call that is not split ends with its instance. Of one that is split COMPLETE comes at once,
 * with its operand put by if it is needed later; instances go on side by side, each in its order of
 * steps. Numbers are given in the order of calls, so an instance never waits for a later one.
 */
#include "algos/srm/state.h"

#include "algos/peers.h"
#include "algos/tree.h"

/* ---- set-up ---- */

static uint32_t chunk_of(const struct sg_algo_setup *setup)
{
    return setup->parameters.chunk_bytes ? setup->parameters.chunk_bytes
                                         : 1024 * SG_CHUNK_DEFAULT_KIB;
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *out)
{
    uint32_t credits = sg_credits(&setup->parameters);

    if (setup->size < 1 || setup->size > SG_SRM_ENDPOINTS_MAX || credits < 2 ||
        credits > SG_CREDITS_MAX)
        return false;
    *out = (struct sg_algo_needs){
        .state_bytes = (uint32_t)(sizeof(struct sg_srm) + credits * sizeof(struct sg_srm_instance)),
        .slots = sg_hypercube_edges(setup->size) * SG_SRM_ROOM + credits,
        .cells = sg_hypercube_edges(setup->size),
        .slot_bytes = chunk_of(setup),
    };
    return true;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    struct sg_srm *s = memory;

    s->head.seq = setup->parameters.first;
    s->rank = setup->rank;
    s->size = setup->size;
    s->credits = sg_credits(&setup->parameters);
    s->chunk_bytes = chunk_of(setup);
    s->edges = sg_hypercube_edges(setup->size);
    s->fold = sg_tree_power(setup->size) < setup->size;
    sg_srm_begin_edges(s, setup->parameters.first);
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers found = sg_peers_into(out, capacity);

    sg_peers_add_hypercube(&found, setup->rank, setup->size);
    return sg_peers_count(&found);
}

/* ---- the steps of an instance ---- */

static void add_step(struct sg_srm *s, struct sg_srm_instance *instance, enum sg_srm_step kind,
                     uint32_t edge)
{
    uint8_t step = (uint8_t)((uint32_t)kind << SG_SRM_EDGE_BITS | edge);

    instance->steps[instance->count++] = step;
    sg_srm_number(s, instance, step);
}

static void plan_doubling(struct sg_srm *s, struct sg_srm_instance *instance)
{
    for (uint32_t edge = s->fold; edge < s->edges; edge++) {
        add_step(s, instance, SG_SRM_SEND, edge);
        add_step(s, instance, SG_SRM_FOLD, edge);
    }
}

/* relative: the position, counted from the top's. down: the result comes back the same way. */
static void plan_tree(struct sg_srm *s, struct sg_srm_instance *instance, uint32_t relative,
                      bool down)
{
    uint32_t edge = s->fold;

    while (edge < s->edges && !(relative >> (edge - s->fold) & 1))
        add_step(s, instance, SG_SRM_FOLD, edge++);
    if (edge < s->edges)
        add_step(s, instance, SG_SRM_SEND, edge);
    if (!down)
        return;
    if (edge < s->edges)
        add_step(s, instance, SG_SRM_AWAIT, edge);
    while (edge-- > s->fold)
        add_step(s, instance, SG_SRM_SEND_RESULT, edge);
}

/* A broadcast's data from a partner, and to it. */
static void plan_in(struct sg_srm *s, struct sg_srm_instance *instance, uint32_t edge, bool offers)
{
    if (offers)
        add_step(s, instance, SG_SRM_OFFER, edge);
    add_step(s, instance, offers ? SG_SRM_AWAIT : SG_SRM_TAKE, edge);
}

static void plan_out(struct sg_srm *s, struct sg_srm_instance *instance, uint32_t edge, bool offers)
{
    if (offers)
        add_step(s, instance, SG_SRM_HEAR, edge);
    add_step(s, instance, offers ? SG_SRM_SEND_RESULT : SG_SRM_SEND, edge);
}

/* Down the tree that plan_tree goes up. */
static void plan_broadcast(struct sg_srm *s, struct sg_srm_instance *instance,
                           const struct sg_hypercube *cube, int32_t root, bool offers)
{
    uint32_t relative = (uint32_t)(cube->position ^ sg_hypercube_position(root, s->size));
    uint32_t edge = s->fold;

    if (cube->position < 0) {
        if (root == s->rank)
            plan_out(s, instance, 0, offers);
        else
            plan_in(s, instance, 0, offers);
        return;
    }
    if (root == cube->partner)
        plan_in(s, instance, 0, offers);
    while (edge < s->edges && !(relative >> (edge - s->fold) & 1))
        edge++;
    if (edge < s->edges)
        plan_in(s, instance, edge, offers);
    while (edge-- > s->fold)
        plan_out(s, instance, edge, offers);
    if (cube->partner >= 0 && root != cube->partner)
        plan_out(s, instance, 0, offers);
}

static void plan(struct sg_srm *s, struct sg_srm_instance *instance,
                 const struct sg_algo_call *call)
{
    struct sg_hypercube cube = sg_hypercube_find(s->rank, s->size);
    bool reduce = call->operation == SG_OPERATION_REDUCE;
    bool in_chunks = (call->flags & SG_CALL_LONG) || call->bytes > s->chunk_bytes;
    int32_t top = reduce ? sg_hypercube_position(call->root, s->size) : 0;

    if (call->operation == SG_OPERATION_BCAST) {
        plan_broadcast(s, instance, &cube, call->root, in_chunks);
        return;
    }
    if (cube.position < 0) {
        add_step(s, instance, SG_SRM_SEND, 0);
        if (!reduce || call->root == s->rank)
            add_step(s, instance, SG_SRM_AWAIT, 0);
        return;
    }
    if (cube.partner >= 0)
        add_step(s, instance, SG_SRM_FOLD, 0);
    if (reduce || in_chunks)
        plan_tree(s, instance, (uint32_t)(cube.position ^ top), !reduce);
    else
        plan_doubling(s, instance);
    if (cube.partner >= 0 && (!reduce || call->root == cube.partner))
        add_step(s, instance, SG_SRM_SEND_RESULT, 0);
}

/* ---- the course of an instance ---- */

static struct sg_srm_instance *instance_at(struct sg_srm *s, uint64_t seq)
{
    return &s->ring[sg_count_place(seq, s->credits)];
}

static struct sg_data result_of(const struct sg_srm *s, const struct sg_srm_instance *instance)
{
    return (struct sg_data){SG_DATA_RESULT, (uint16_t)sg_count_place(instance->seq, s->credits)};
}

static struct sg_data value_slot(const struct sg_srm *s, const struct sg_srm_instance *instance)
{
    return sg_data_slot(s->edges * SG_SRM_ROOM + sg_count_place(instance->seq, s->credits));
}

static enum sg_srm_step kind_at(const struct sg_srm_instance *instance, uint32_t at)
{
    return (enum sg_srm_step)(instance->steps[at] >> SG_SRM_EDGE_BITS);
}

static uint32_t edge_at(const struct sg_srm_instance *instance, uint32_t at)
{
    return instance->steps[at] & ((1u << SG_SRM_EDGE_BITS) - 1);
}

/* Nothing is folded, or comes, after this step: the value is the result. */
static bool is_last_value(const struct sg_srm_instance *instance)
{
    for (uint32_t at = instance->at + 1u; at < instance->count; at++) {
        if (kind_at(instance, at) >= SG_SRM_FOLD)
            return false;
    }
    return true;
}

static void fold(struct sg_srm *s, struct sg_srm_instance *instance, uint32_t edge,
                 struct sg_actions *actions)
{
    struct sg_hypercube cube = sg_hypercube_find(s->rank, s->size);
    /* Who is folded into this endpoint comes before it. */
    bool left = edge < s->fold || (cube.position >> (edge - s->fold) & 1);
    struct sg_data other = sg_srm_slot(instance, edge);
    struct sg_data into = instance->gets_result && is_last_value(instance)
                              ? result_of(s, instance)
                              : value_slot(s, instance);

    if (instance->bytes > 0) {
        struct sg_action *action =
            sg_emit_reduce(actions, left ? other : instance->value, left ? instance->value : other,
                           into, instance->bytes);

        action->data.seq = instance->seq;
        action->data.from = other;
        action->data.stamp = instance->in[edge];
        instance->value = into;
    }
    sg_srm_taken(s, instance, edge);
}

/* The partner's value is the result. */
static void take(struct sg_srm *s, struct sg_srm_instance *instance, uint32_t edge,
                 struct sg_actions *actions)
{
    if (instance->bytes > 0) {
        sg_emit_copy(actions, sg_srm_slot(instance, edge), result_of(s, instance), instance->bytes)
            ->data.stamp = instance->in[edge];
        s->head.copies++;
    }
    instance->value = result_of(s, instance);
    sg_srm_taken(s, instance, edge);
}

/* One step. False: it has to wait. */
static bool step(struct sg_srm *s, struct sg_srm_instance *instance, struct sg_actions *actions)
{
    enum sg_srm_step kind = kind_at(instance, instance->at);
    uint32_t edge = edge_at(instance, instance->at);

    switch (kind) {
    case SG_SRM_OFFER:
    case SG_SRM_SEND:
    case SG_SRM_SEND_RESULT:
        if (!sg_srm_put(s, instance, edge, kind, actions)) {
            sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
            return false;
        }
        break;
    case SG_SRM_FOLD:
        if (!sg_srm_is_there(s, instance, edge))
            return false;
        fold(s, instance, edge, actions);
        break;
    case SG_SRM_AWAIT:
        if (!sg_srm_is_there(s, instance, edge))
            return false;
        instance->value = result_of(s, instance);
        if (instance->bytes > 0)
            sg_emit_await(actions, instance->value, instance->bytes, instance->seq);
        sg_srm_taken(s, instance, edge);
        break;
    case SG_SRM_TAKE:
        if (!sg_srm_is_there(s, instance, edge))
            return false;
        take(s, instance, edge, actions);
        break;
    case SG_SRM_HEAR:
        if (!sg_srm_is_there(s, instance, edge))
            return false;
        sg_srm_taken(s, instance, edge);
        break;
    }
    instance->at++;
    return true;
}

static bool has_ended(const struct sg_srm_instance *instance)
{
    return instance->at == instance->count;
}

/* Of partners that the result goes to, one whose offer is there is next, if any. A plan's last
 * steps are a HEAR and a SEND_RESULT for each of them. */
static void prefer_offered(struct sg_srm *s, struct sg_srm_instance *instance)
{
    uint8_t *next = &instance->steps[instance->at];
    uint32_t at = instance->at;

    if (kind_at(instance, at) != SG_SRM_HEAR)
        return;
    while (at < instance->count && !sg_srm_is_there(s, instance, edge_at(instance, at)))
        at += 2;
    if (at == instance->count || at == instance->at)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t later = instance->steps[at + i];

        instance->steps[at + i] = next[i];
        next[i] = later;
    }
}

static void advance(struct sg_srm *s, struct sg_srm_instance *instance, struct sg_actions *actions)
{
    bool goes = true;

    while (goes && !has_ended(instance)) {
        prefer_offered(s, instance);
        goes = step(s, instance, actions);
    }
    if (has_ended(instance) && instance->gets_result && instance->value.kind != SG_DATA_RESULT) {
        sg_emit_copy(actions, instance->value, result_of(s, instance), instance->bytes);
        instance->value = result_of(s, instance);
        s->head.copies++;
    }
}

/* ---- the end of a call and of an instance ---- */

static void finish(struct sg_srm *s, uint64_t seq, struct sg_actions *actions)
{
    struct sg_srm_instance *instance = instance_at(s, seq);

    if (seq == 0 || instance->seq != seq || !has_ended(instance))
        return;
    if (seq != s->head.seq)
        sg_emit_mark(actions, SG_MARK_SPLIT_FINISHED);
    sg_emit_finish(actions, seq);
    instance->seq = 0;
    s->head.outstanding--;
}

/* The host gives the next result's place with the next CALL: it must be free. */
static void settle(struct sg_srm *s, struct sg_actions *actions)
{
    struct sg_srm_instance *current = instance_at(s, s->head.seq);

    for (uint32_t back = s->credits - 1; back > 0; back--)
        finish(s, s->head.seq - back, actions);
    if (!s->head.in_call)
        finish(s, s->head.seq, actions);
    if (!s->head.in_call || !(has_ended(current) || (current->flags & SG_CALL_SPLIT)))
        return;
    if (instance_at(s, s->head.seq + 1)->seq != 0) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        return;
    }
    if (current->value.kind == SG_DATA_OPERAND && !has_ended(current) && current->bytes > 0) {
        sg_emit_copy(actions, current->value, value_slot(s, current), current->bytes);
        current->value = value_slot(s, current);
        s->head.copies++;
    }
    s->head.in_call = 0;
    sg_emit_complete(actions, s->head.seq);
    finish(s, s->head.seq, actions);
}

/* ---- events ---- */

static void proceed(struct sg_srm *s, struct sg_actions *actions)
{
    for (uint32_t edge = 0; edge < s->edges; edge++)
        s->edge[edge].wanted = false;
    for (uint32_t back = s->credits; back-- > 0;) {
        uint64_t seq = s->head.seq - back;
        struct sg_srm_instance *instance = instance_at(s, seq);

        if (seq != 0 && instance->seq == seq)
            advance(s, instance, actions);
    }
    settle(s, actions);
    sg_srm_rest(s, actions);
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_srm *s = memory;
    const struct sg_algo_call *call = &event->call;
    struct sg_srm_instance *instance = instance_at(s, ++s->head.seq);

    s->head.in_call = 1;
    s->head.outstanding++;
    instance->seq = s->head.seq;
    instance->bytes = call->bytes;
    instance->flags = (uint8_t)call->flags;
    instance->value = sg_data_operand();
    if (call->operation == SG_OPERATION_BCAST && call->root != s->rank)
        instance->value = (struct sg_data){0}; /* it contributes nothing */
    instance->gets_result =
        call->bytes > 0 && (call->operation == SG_OPERATION_ALLREDUCE ||
                            (call->operation == SG_OPERATION_REDUCE && call->root == s->rank));
    instance->at = instance->count = 0;
    plan(s, instance, call);
    proceed(s, actions);
}

/* A partner's cell has changed. */
static void on_timer(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_srm *s = memory;

    s->edge[event->timer.id].watching = false;
    sg_srm_saw(s, event->timer.id, event->timer.value);
    proceed(s, actions);
}

/* Whoever waits here is in a call, or looked after; nobody needs what is not told any more. */
static void on_drain(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
}

const struct sg_algo sg_algo_srm = {
    .name = "srm",
    .operations = 1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE |
                  1u << SG_OPERATION_ALLREDUCE | 1u << SG_OPERATION_BCAST,
    .uses = SG_ALGO_ONE_SIDED | SG_ALGO_POLLED | SG_ALGO_PIPELINED | SG_ALGO_USER,
    .parameters = sg_parameters_srm,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_timer = on_timer,
    .on_drain = on_drain,
    .peers = peers,
};
