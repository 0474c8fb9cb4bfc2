/* srm between nodes: barrier, reduce, allreduce and broadcast by puts into the partners' memory
 * (paper: srm, sections 2.3 and 2.4).
 *
 * Partners are those of recursive doubling: if size is no power of two, the first 2*(size - p)
 * endpoints fold in pairs, the even one into the odd one, and the remaining p positions have a
 * partner across each dimension of a hypercube. All data use these edges:
 *
 *   barrier, allreduce      recursive doubling: values cross each edge both ways
 *   allreduce in chunks     up the binomial tree of position 0 and down again; each chunk is an
 *                           instance, and several are in progress
 *   reduce                  up the binomial tree of the root's position: positions are relative to
 *                           it by exclusive or, so each tree's edges are the hypercube's
 *   broadcast               down the same tree, by slots: the receiver may not have called yet
 *   broadcast in chunks     likewise, into the partners' results: addresses first, then puts
 *                           (figure 4, right)
 *
 * Association: SG_SHAPE_DOUBLING, the same at every root and size; ranks stay in order.
 *
 * A value is written to a slot of the partner, and then a word to the cell that the partner
 * watches. A result is written directly to the partner's result, from which all ranks of its node
 * copy it. The partner must have called by then. Its own value proves that, without another word;
 * in a broadcast it offers its place by a word that carries no data. Several chunks are in
 * progress, so offers arrive before the data. A slot is reused once the partner has reported it
 * taken.
 *
 * A call that is not split ends with its instance. A split call gets its COMPLETE at once, and its
 * operand is copied if it is needed later; instances progress concurrently, each in its order of
 * steps. Numbers are assigned in the order of calls, so an instance never waits for a later one. */
#include "algos/broadcast.h"
#include "algos/tree.h"

/* ---- state, without pointers ---- */

/* An endpoint has a partner across each dimension, and one to fold with. With more than 2^16
 * endpoints, one event could cause more actions than fit. */
#define SG_SRM_ENDPOINTS_MAX (1 << 16)
#define SG_SRM_EDGES_MAX 17
/* Values that the slots for one partner hold; half of them taken triggers a report. */
#define SG_SRM_ROOM 4u
#define SG_SRM_TELL (SG_SRM_ROOM / 2)

/* Next step of an instance, and its partner: kind and edge in one byte. */
enum sg_srm_step {
    SG_SRM_OFFER,       /* tell the partner the result's place; carries no data */
    SG_SRM_SEND,        /* write the value so far to a slot of the partner */
    SG_SRM_SEND_RESULT, /* write the result to the partner's result */
    SG_SRM_FOLD,        /* fold the partner's value once it has arrived */
    SG_SRM_AWAIT,       /* wait until the partner has written the result here */
    SG_SRM_TAKE,        /* take the partner's value as the result once it has arrived */
    SG_SRM_HEAR         /* wait for the partner's offer */
};

#define SG_SRM_EDGE_BITS 5
#define SG_SRM_STEPS_MAX (2 * SG_SRM_EDGES_MAX + 2)

/* A set of numbers from 1: all up to `whole`, and those after it in the mask. */
struct sg_srm_numbers {
    uint64_t whole;
    uint32_t beyond; /* bit i: whole + 1 + i */
};

/* Values to a partner are numbered in the order of the calls that cause them, and so are values
 * from it. */
struct sg_srm_edge {
    uint64_t next_out, next_in;  /* last numbers given to instances */
    struct sg_srm_numbers out;   /* written to the partner */
    struct sg_srm_numbers in;    /* written by the partner, as its cell here says */
    struct sg_srm_numbers taken; /* ... and no longer needed */
    uint64_t acked, told;        /* of out, the numbers that the partner has taken; of taken, those
                                  * reported to it */
    uint64_t seen;               /* last known content of the cell here */
    bool watching, wanted;
};

struct sg_srm_instance {
    uint64_t seq; /* 0: free */
    uint32_t bytes;
    struct sg_data value; /* the value folded so far; or the result */
    uint8_t flags;        /* SG_CALL_* */
    bool gets_result;
    uint8_t at, count; /* position in the steps, and their number */
    uint8_t steps[SG_SRM_STEPS_MAX];
    uint64_t out[SG_SRM_EDGES_MAX], in[SG_SRM_EDGES_MAX]; /* the instance's numbers, by edge */
};

struct sg_srm {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits, chunk_bytes;
    uint32_t edges, fold; /* fold: 1 if edge 0 is for folding */
    struct sg_srm_edge edge[SG_SRM_EDGES_MAX];
    struct sg_srm_instance ring[]; /* credits entries: instance n at n modulo credits */
};

/* ---- values between partners, and the words that announce them ----
 *
 * A value goes to a slot of the partner or to its result; a word then goes to the partner's cell
 * for this edge, which nobody else writes. A value in a slot has its number as stamp, one in a
 * result has its instance's. The word says which numbers have been written, and which of the
 * partner's have been taken, so that its slots are free again. If values go only one way, the word
 * returns by itself, once for each half of the slots. */

/* Layout of the word: numbers written 24 bits, those beyond 15, a bit that is always set, numbers
 * taken 24. Numbers are sent modulo 2^24, and neither side is ever behind by more than the number
 * of slots. No word is zero, the cell's initial value. */
#define NUMBER_BITS 24
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)
#define BEYOND_BITS 15
#define WRITTEN (UINT64_C(1) << NUMBER_BITS)
#define BEYOND_AT (NUMBER_BITS + 1)
#define WHOLE_AT (BEYOND_AT + BEYOND_BITS)
_Static_assert(WHOLE_AT + NUMBER_BITS == 64, "a word");
_Static_assert(SG_SRM_ROOM <= BEYOND_BITS, "what is written is within the room");

static int32_t partner_of(const struct sg_srm *s, uint32_t edge)
{
    struct sg_hypercube cube = sg_hypercube_find(s->rank, s->size);

    return sg_hypercube_partner(&cube, s->size, edge);
}

/* ---- numbers ---- */

static bool holds(const struct sg_srm_numbers *numbers, uint64_t number)
{
    int64_t after = (int64_t)(number - numbers->whole);

    return after <= 0 || (after <= BEYOND_BITS && numbers->beyond >> (after - 1) & 1);
}

static void add(struct sg_srm_numbers *numbers, uint64_t number)
{
    numbers->beyond |= 1u << (number - numbers->whole - 1);
    while (numbers->beyond & 1) {
        numbers->beyond >>= 1;
        numbers->whole++;
    }
}

/* Restores a full number from its low bits; it is at or after a known number. */
static uint64_t widen(uint64_t known, uint64_t told)
{
    return known + ((told - known) & NUMBER_MASK);
}

/* Numbers the values of each edge from `first` + 1, as if all earlier ones had been written, taken
 * and reported. */
static void begin_edges(struct sg_srm *s, uint64_t first)
{
    for (uint32_t at = 0; at < s->edges; at++) {
        struct sg_srm_edge *edge = &s->edge[at];

        edge->next_out = edge->next_in = edge->acked = edge->told = first;
        edge->out.whole = edge->in.whole = edge->taken.whole = first;
    }
}

/* Assigns the instance its number for a step. */
static void number_step(struct sg_srm *s, struct sg_srm_instance *instance, uint8_t step)
{
    uint32_t edge = step & ((1u << SG_SRM_EDGE_BITS) - 1);

    if (step >> SG_SRM_EDGE_BITS <= SG_SRM_SEND_RESULT)
        instance->out[edge] = ++s->edge[edge].next_out;
    else
        instance->in[edge] = ++s->edge[edge].next_in;
}

/* ---- out ---- */

static void tell(struct sg_srm *s, uint32_t at, struct sg_actions *actions)
{
    struct sg_srm_edge *edge = &s->edge[at];
    struct sg_action *action = sg_emit(actions, SG_ACTION_WRITE_CELL);

    action->to = partner_of(s, at);
    action->access.remote = at;
    action->access.value = (uint64_t)(edge->out.whole & NUMBER_MASK) << WHOLE_AT |
                           (uint64_t)edge->out.beyond << BEYOND_AT | WRITTEN |
                           (edge->taken.whole & NUMBER_MASK);
    edge->told = edge->taken.whole;
}

/* kind: OFFER, SEND or SEND_RESULT. False: the partner has no free slot yet. */
static bool put(struct sg_srm *s, const struct sg_srm_instance *instance, uint32_t at,
                enum sg_srm_step kind, struct sg_actions *actions)
{
    struct sg_srm_edge *edge = &s->edge[at];
    bool result = kind == SG_SRM_SEND_RESULT;
    uint64_t number = instance->out[at];
    struct sg_action *action;

    if (number - edge->acked > SG_SRM_ROOM) {
        edge->wanted = true;
        return false;
    }
    if (instance->bytes > 0 && kind != SG_SRM_OFFER) {
        action = sg_emit(actions, result ? SG_ACTION_WRITE_RESULT : SG_ACTION_WRITE);
        action->to = partner_of(s, at);
        action->access.remote = result ? sg_count_place(instance->seq, s->credits)
                                       : at * SG_SRM_ROOM + (uint32_t)(number % SG_SRM_ROOM);
        action->access.from = instance->value;
        action->access.bytes = instance->bytes;
        action->access.value = result ? instance->seq : number;
    }
    add(&edge->out, number);
    tell(s, at, actions);
    return true;
}

/* ---- in ---- */
/* True if the partner's value for this instance has arrived. */

static bool is_there(struct sg_srm *s, const struct sg_srm_instance *instance, uint32_t at)
{
    struct sg_srm_edge *edge = &s->edge[at];

    if (holds(&edge->in, instance->in[at]))
        return true;
    edge->wanted = true;
    return false;
}

/* The slot that contains it. */
static struct sg_data slot_of(const struct sg_srm_instance *instance, uint32_t at)
{
    return sg_data_slot(at * SG_SRM_ROOM + (uint32_t)(instance->in[at] % SG_SRM_ROOM));
}

/* Records that it has been used. */
static void has_taken(struct sg_srm *s, const struct sg_srm_instance *instance, uint32_t at)
{
    add(&s->edge[at].taken, instance->in[at]);
}

/* Decodes a new content of the partner's cell here. */
static void saw(struct sg_srm *s, uint32_t at, uint64_t value)
{
    struct sg_srm_edge *edge = &s->edge[at];

    edge->seen = value;
    edge->in.whole = widen(edge->in.whole, value >> WHOLE_AT);
    edge->in.beyond = (uint32_t)(value >> BEYOND_AT) & ((1u << BEYOND_BITS) - 1);
    edge->acked = widen(edge->acked, value);
}

/* Call at the end of an event: reports free slots to partners, and watches the cells that steps
 * wait for. */
static void rest(struct sg_srm *s, struct sg_actions *actions)
{
    for (uint32_t at = 0; at < s->edges; at++) {
        struct sg_srm_edge *edge = &s->edge[at];
        struct sg_action *action;

        if (edge->taken.whole - edge->told >= SG_SRM_TELL)
            tell(s, at, actions);
        if (!edge->wanted || edge->watching)
            continue;
        edge->watching = true;
        action = sg_emit(actions, SG_ACTION_WATCH);
        action->to = s->rank;
        action->id = (uint16_t)at;
        action->access.remote = at;
        action->access.value = edge->seen;
    }
}

/* ---- setup ---- */

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
    begin_edges(s, setup->parameters.first);
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
    number_step(s, instance, step);
}

static void plan_doubling(struct sg_srm *s, struct sg_srm_instance *instance)
{
    for (uint32_t edge = s->fold; edge < s->edges; edge++) {
        add_step(s, instance, SG_SRM_SEND, edge);
        add_step(s, instance, SG_SRM_FOLD, edge);
    }
}

/* relative: the position, relative to the top's. down: the result returns along the same path. */
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

/* Steps that get a broadcast's data from a partner, and those that pass it on. */
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

/* Plans the way down the tree that plan_tree goes up. */
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

/* True if no later step folds or receives a value: the value is then the result. */
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
    /* The endpoint folded into this one precedes it in rank order. */
    bool left = edge < s->fold || (cube.position >> (edge - s->fold) & 1);
    struct sg_data other = slot_of(instance, edge);
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
    has_taken(s, instance, edge);
}

/* Takes the partner's value as the result. */
static void take(struct sg_srm *s, struct sg_srm_instance *instance, uint32_t edge,
                 struct sg_actions *actions)
{
    if (instance->bytes > 0) {
        sg_emit_copy(actions, slot_of(instance, edge), result_of(s, instance), instance->bytes)
            ->data.stamp = instance->in[edge];
        s->head.copies++;
    }
    instance->value = result_of(s, instance);
    has_taken(s, instance, edge);
}

/* Performs one step. False: it has to wait. */
static bool step(struct sg_srm *s, struct sg_srm_instance *instance, struct sg_actions *actions)
{
    enum sg_srm_step kind = kind_at(instance, instance->at);
    uint32_t edge = edge_at(instance, instance->at);

    switch (kind) {
    case SG_SRM_OFFER:
    case SG_SRM_SEND:
    case SG_SRM_SEND_RESULT:
        if (!put(s, instance, edge, kind, actions)) {
            sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
            return false;
        }
        break;
    case SG_SRM_FOLD:
        if (!is_there(s, instance, edge))
            return false;
        fold(s, instance, edge, actions);
        break;
    case SG_SRM_AWAIT:
        if (!is_there(s, instance, edge))
            return false;
        instance->value = result_of(s, instance);
        if (instance->bytes > 0)
            sg_emit_await(actions, instance->value, instance->bytes, instance->seq);
        has_taken(s, instance, edge);
        break;
    case SG_SRM_TAKE:
        if (!is_there(s, instance, edge))
            return false;
        take(s, instance, edge, actions);
        break;
    case SG_SRM_HEAR:
        if (!is_there(s, instance, edge))
            return false;
        has_taken(s, instance, edge);
        break;
    }
    instance->at++;
    return true;
}

static bool has_ended(const struct sg_srm_instance *instance)
{
    return instance->at == instance->count;
}

/* Prefers a partner whose offer has arrived among those that still need the result. A plan ends
 * with a HEAR and a SEND_RESULT for each of them. */
static void prefer_offered(struct sg_srm *s, struct sg_srm_instance *instance)
{
    uint8_t *next = &instance->steps[instance->at];
    uint32_t at = instance->at;

    if (kind_at(instance, at) != SG_SRM_HEAR)
        return;
    while (at < instance->count && !is_there(s, instance, edge_at(instance, at)))
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

/* The event loop assigns the next result's place with the next CALL, so that place must be free. */
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
    rest(s, actions);
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
        instance->value = (struct sg_data){0}; /* contributes nothing */
    instance->gets_result =
        call->bytes > 0 && (call->operation == SG_OPERATION_ALLREDUCE ||
                            (call->operation == SG_OPERATION_REDUCE && call->root == s->rank));
    instance->at = instance->count = 0;
    plan(s, instance, call);
    proceed(s, actions);
}

/* Handles a change of a partner's cell. */
static void on_timer(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_srm *s = memory;

    s->edge[event->timer.id].watching = false;
    saw(s, event->timer.id, event->timer.value);
    proceed(s, actions);
}

/* Waiting endpoints are inside a call, or their event loop polls; nobody needs unreported numbers
 * any more. */
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
