/* Handoff between endpoints: a tree of fixed shape that late endpoints climb by one-sided accesses
 * (docs/algorithms.md, "handoff"). Only the arriver's own processor takes part, so no signal is
 * needed, and an early endpoint leaves a reduce after one round trip, whatever the skew.
 *
 * Shape: SG_SHAPE_DOUBLING over absolute ranks (tree.h), whatever the root; so ranks stay in order
 * and the result has the same bits in any order of arrival. Node n of the shape is at home at
 * endpoint n, which has a left and a right operand and a counter for each of `credits` ring entries
 * ("places" in the code); instance seq uses entry seq modulo credits. An arriver WRITEs its value
 * to its side and then FETCH_ADDs the counter: one round trip decides whether it is the first,
 * which leaves, or the second, which READs the other operand, folds and climbs. Up to eager_bytes
 * the READ is sent with the FETCH_ADD and takes effect after it: a second arriver gets its operand
 * in the same round trip, and a first one ignores what it read. Counters are never reset: each
 * instance adds two, so an odd count is a second arriver's.
 *
 * Reduce: the endpoint that folds at the top WRITEs the result to the root's slot and then the
 * instance's number to the root's cell, which the root watches. A split root's call returns when
 * its own climb is over, which waits for nobody; the watch is not solicited, because the result is
 * needed only when the application asks for it. Allreduce, barrier: the endpoint that folds at the
 * top releases by a binomial tree of messages relative to itself; everything is inside the call
 * (splitting does not affect them).
 *
 * A ring entry is reused when its last instance is over everywhere. For a reduce, that is known
 * once the root has its result; it then writes to the entry's done cell at endpoint 0. Other
 * endpoints read these cells when they have used half of the entries known to be free, and so wait
 * only if the root is that far behind. For a barrier or allreduce, having left it is the proof. (It
 * also proves that earlier reduces are over, but that must not be used: their entry could then be
 * reused before the done cell is written, which would set the cell back.)
 *
 * An endpoint has one climb at a time, inside its call. Replies that are no longer awaited (of a
 * counter that the release has overtaken, of a first arriver's READ, of done cells) may still
 * arrive later; an entry with a READ in progress is not reused. */
#include "algos/handoff/handoff.h"

#include "algos/tree.h"

/* ---- ring entries: layout, known free entries, and the results that a root awaits ---- */

#define RESULT_WATCH 0

/* Records that the instance is over everywhere. */
static void note_done(struct handoff *s, uint64_t seq)
{
    struct place *place = &s->places[sg_handoff_place_of(s, seq)];

    if (place->done < seq)
        place->done = seq;
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *out)
{
    uint32_t credits = sg_credits(&setup->parameters);

    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX || credits < 2 ||
        credits > SG_CREDITS_MAX)
        return false;
    out->state_bytes = (uint32_t)(sizeof(struct handoff) + credits * sizeof(struct place));
    out->slots = 5 * credits;
    out->cells = 3 * credits;
    out->parts = 1;
    out->slot_bytes = sg_read_bytes(&setup->parameters);
    out->part_bytes = SG_PART_DEFAULT;
    out->in_parts = 1u << SG_OPERATION_ALLREDUCE;
    return true;
}

static void init(void *state, const struct sg_algo_setup *setup)
{
    struct handoff *s = state;

    s->rank = setup->rank;
    s->size = setup->size;
    s->credits = sg_credits(&setup->parameters);
    s->eager_bytes = sg_eager_bytes(&setup->parameters);
    s->head.seq = setup->parameters.first;
    for (uint64_t back = 0; back < s->credits && back < s->head.seq; back++)
        note_done(s, s->head.seq - back);
}

/* ---- peers ---- */

/* Adds the homes on the way up, and all endpoints below the node that is at home here: the first
 * node on that way that this endpoint reaches from the right. */
static void add_climbers(const struct sg_algo_setup *setup, struct sg_peers *peers)
{
    struct sg_shape shape = {SG_SHAPE_DOUBLING, setup->size, 0};
    struct sg_climb climb = sg_climb_start(&shape, setup->rank);
    bool is_home = false, right;
    int node, first, end;

    while (sg_climb_step(&shape, &climb, &node, &right)) {
        sg_peers_add(peers, node);
        if (!right || is_home)
            continue;
        is_home = true;
        sg_shape_below(&shape, &climb, &first, &end);
        for (int32_t below = first; below < end && !peers->is_short; below++)
            sg_peers_add(peers, below);
    }
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers peers = sg_peers_into(out, capacity);
    bool names_all = root == SG_PEERS_OF_ALL_ROOTS || setup->rank == root || setup->rank == 0;

    add_climbers(setup, &peers);
    if (operation != SG_OPERATION_REDUCE) {
        sg_peers_add_powers(&peers, setup->rank, setup->size);
        return sg_peers_count(&peers);
    }
    /* The last arriver writes the result to the root; the root writes the done cell at endpoint
     * 0. */
    sg_peers_add(&peers, root >= 0 ? root : 0);
    sg_peers_add(&peers, 0);
    for (int32_t other = 0; other < setup->size && names_all && !peers.is_short; other++)
        sg_peers_add(&peers, other);
    return sg_peers_count(&peers);
}

/* ---- free ring entries ---- */
/* True if the ring entry of this instance is known to be free for it. */

static bool is_free(const struct handoff *s, uint64_t seq)
{
    return seq <= s->credits || s->places[sg_handoff_place_of(s, seq)].done >= seq - s->credits;
}

/* Counts the entries known to be free for the next instances. */
static uint32_t free_ahead(const struct handoff *s)
{
    uint32_t count = 0;

    while (count < s->credits && is_free(s, s->head.seq + 1 + count))
        count++;
    return count;
}

/* Reads the done cells, unless a read is in progress. */
static void ask_for_done(struct handoff *s, struct sg_actions *actions)
{
    if (s->asking > 0)
        return;
    for (uint32_t first = 0; first < s->credits; first += SG_HANDOFF_CELLS_PER_READ) {
        uint32_t left = s->credits - first;
        struct sg_action *action =
            sg_handoff_access(actions, SG_ACTION_READ_CELLS, 0, 2 * s->credits + first);

        action->access.count = left < SG_HANDOFF_CELLS_PER_READ ? left : SG_HANDOFF_CELLS_PER_READ;
        action->access.tag = first << SG_HANDOFF_TAG_BITS | SG_HANDOFF_CELLS;
        s->asking++;
    }
}

/* Returns the oldest result that this endpoint awaits; 0: none. */
static uint64_t oldest_awaited(const struct handoff *s)
{
    uint64_t oldest = 0;

    for (uint32_t i = 0; i < s->credits; i++) {
        uint64_t seq = s->places[i].awaited;

        if (seq != 0 && (oldest == 0 || seq < oldest))
            oldest = seq;
    }
    return oldest;
}

/* Watches for the oldest awaited result. One watch suffices: results arrive in order, except for
 * races in the network. */
static void watch_next(struct handoff *s, struct sg_actions *actions)
{
    uint64_t seq = oldest_awaited(s);
    struct sg_action *action;

    if (s->watching || seq == 0)
        return;
    s->watching = true;
    action = sg_handoff_access(actions, SG_ACTION_WATCH, s->rank, sg_handoff_result_cell(s, seq));
    action->id = RESULT_WATCH;
    action->access.value = s->places[sg_handoff_place_of(s, seq)].seen;
}

/* This endpoint is the root and has the instance's result, so the instance is over. */
static void consumed(struct handoff *s, uint64_t seq, struct sg_actions *actions)
{
    sg_handoff_access(actions, SG_ACTION_WRITE_CELL, 0, sg_handoff_done_cell(s, seq))
        ->access.value = seq;
    note_done(s, seq);
}

/* ---- the end of a call and of an instance ---- */

static void complete(struct handoff *s, struct sg_actions *actions)
{
    s->phase = OUTSIDE;
    s->head.in_call = 0;
    sg_emit_complete(actions, s->head.seq);
}

static void finish(struct handoff *s, uint64_t seq, struct sg_actions *actions)
{
    sg_emit_finish(actions, seq);
    s->head.outstanding--;
}

/* Ends the call, which has nothing more to do. A result shares its ring entry with other instances,
 * and the event loop assigns the next one with the next CALL: that entry must not hold a result
 * that is still awaited. */
static void leave(struct handoff *s, struct sg_actions *actions)
{
    uint64_t seq = s->head.seq;

    if (s->places[sg_handoff_place_of(s, seq + 1)].awaited != 0) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        s->phase = LEAVING;
        return;
    }
    complete(s, actions);
    if (s->places[sg_handoff_place_of(s, seq)].awaited != seq)
        finish(s, seq, actions);
}

/* ---- the climb ---- */

static void write_value(struct handoff *s, int32_t to, uint32_t slot, struct sg_actions *actions)
{
    struct sg_action *action;

    if (s->call.bytes == 0)
        return;
    action = sg_handoff_access(actions, SG_ACTION_WRITE, to, slot);
    action->access.from = s->value;
    action->access.bytes = s->call.bytes;
    action->access.value = s->head.seq;
}

static struct place *place_now(struct handoff *s)
{
    return &s->places[sg_handoff_place_of(s, s->head.seq)];
}

static void read_other(struct handoff *s, struct sg_actions *actions)
{
    uint64_t seq = s->head.seq;
    struct sg_action *action = sg_handoff_access(actions, SG_ACTION_READ, s->node,
                                                 sg_handoff_operand_slot(s, !s->right, seq));

    action->access.into = sg_data_slot(sg_handoff_other_slot(s, seq));
    action->access.bytes = s->call.bytes;
    action->access.value = seq;
    action->access.tag = sg_handoff_place_of(s, seq) << SG_HANDOFF_TAG_BITS | SG_HANDOFF_READ;
    place_now(s)->reading = true;
}

/* Called at an endpoint that has folded at the top, or has been released. */
static void release(struct handoff *s, int32_t origin, struct sg_data value,
                    struct sg_actions *actions)
{
    int32_t relative = sg_tree_relative(s->rank, origin, s->size);
    struct sg_header header = {.seq = (uint32_t)s->head.seq,
                               .operation = (uint8_t)s->call.operation,
                               .bytes = s->call.bytes,
                               .parts = s->call.bytes > 0,
                               .number = {(uint32_t)origin}};

    /* The deepest subtree first. */
    for (int i = sg_binomial_children(relative, s->size) - 1; i >= 0; i--) {
        int32_t child = sg_binomial_child(relative, i);

        if (header.parts > 0)
            sg_emit_part(actions, value);
        sg_emit_send(actions, sg_tree_absolute(child, origin, s->size), &header);
    }
    note_done(s, s->head.seq);
    leave(s, actions);
}

static struct sg_data result_of(const struct handoff *s)
{
    return (struct sg_data){SG_DATA_RESULT, (uint16_t)sg_handoff_place_of(s, s->head.seq)};
}

static bool gets_result(const struct handoff *s)
{
    return s->call.bytes > 0 &&
           (s->call.operation == SG_OPERATION_ALLREDUCE || s->call.root == s->rank);
}

/* The value is now the complete reduction. */
static void top(struct handoff *s, struct sg_actions *actions)
{
    uint64_t seq = s->head.seq;

    if (gets_result(s) && s->value.kind != SG_DATA_RESULT) {
        sg_emit_copy(actions, s->value, result_of(s), s->call.bytes);
        s->head.copies++;
    }
    if (s->call.operation != SG_OPERATION_REDUCE) {
        release(s, s->rank, s->value, actions);
        return;
    }
    if (s->call.root == s->rank) {
        consumed(s, seq, actions);
    } else {
        write_value(s, s->call.root, sg_handoff_result_slot(s, seq), actions);
        sg_handoff_access(actions, SG_ACTION_WRITE_CELL, s->call.root,
                          sg_handoff_result_cell(s, seq))
            ->access.value = seq;
    }
    leave(s, actions);
}

/* The instance's low bits suffice: a late reply belongs to one of this endpoint's last few
 * accesses. */
static uint32_t add_tag(const struct handoff *s)
{
    return (uint32_t)s->head.seq << SG_HANDOFF_TAG_BITS | SG_HANDOFF_ADD;
}

/* Climbs to the next node, or ends at the top. */
static void climb(struct handoff *s, struct sg_actions *actions)
{
    struct sg_shape shape = {SG_SHAPE_DOUBLING, s->size, 0};
    struct sg_action *action;
    int node;

    if (!sg_climb_step(&shape, &s->climb, &node, &s->right)) {
        top(s, actions);
        return;
    }
    s->node = node;
    s->phase = ADDING;
    write_value(s, node, sg_handoff_operand_slot(s, s->right, s->head.seq), actions);
    action = sg_handoff_access(actions, SG_ACTION_FETCH_ADD, node,
                               sg_handoff_counter_cell(s, s->head.seq));
    action->access.value = 1;
    action->access.tag = add_tag(s);
    s->read_ahead = s->call.bytes > 0 && s->call.bytes <= s->eager_bytes;
    if (s->read_ahead)
        read_other(s, actions);
}

/* Folds the value and the other operand, left first; at the top, directly into the result. */
static void fold(struct handoff *s, struct sg_actions *actions)
{
    struct sg_shape shape = {SG_SHAPE_DOUBLING, s->size, 0};
    struct sg_climb next = s->climb;
    struct sg_data other = sg_data_slot(sg_handoff_other_slot(s, s->head.seq));
    struct sg_data into = sg_data_slot(sg_handoff_value_slot(s, s->head.seq));
    struct sg_action *action;
    int node;
    bool right;

    if (gets_result(s) && !sg_climb_step(&shape, &next, &node, &right))
        into = result_of(s);
    action = sg_emit_reduce(actions, s->right ? other : s->value, s->right ? s->value : other, into,
                            s->call.bytes);
    action->to = s->node;
    action->data.from = other;
    action->data.remote = sg_handoff_operand_slot(s, !s->right, s->head.seq);
    action->data.stamp = action->data.seq = s->head.seq;
    s->value = into;
}

static void first_arrived(struct handoff *s, struct sg_actions *actions)
{
    struct place *place = place_now(s);

    s->phase = AWAITING;
    if (s->call.operation != SG_OPERATION_REDUCE)
        return;
    if (s->call.root == s->rank) {
        place->awaited = s->head.seq;
        place->bytes = s->call.bytes;
        watch_next(s, actions);
        if (!(s->call.flags & SG_CALL_SPLIT))
            return;
    }
    leave(s, actions);
}

static void fold_and_climb(struct handoff *s, struct sg_actions *actions)
{
    fold(s, actions);
    climb(s, actions);
}

static void second_arrived(struct handoff *s, struct sg_actions *actions)
{
    sg_emit_mark(actions, SG_MARK_SECOND_CLIMBED);
    if (s->call.bytes == 0) {
        climb(s, actions);
        return;
    }
    s->phase = READING;
    if (!s->read_ahead)
        read_other(s, actions);
    if (!place_now(s)->reading)
        fold_and_climb(s, actions);
}

/* ---- events ---- */

static void enter(struct handoff *s, struct sg_actions *actions)
{
    struct sg_shape shape = {SG_SHAPE_DOUBLING, s->size, 0};
    uint32_t ahead;

    if (!is_free(s, s->head.seq) || place_now(s)->reading) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        s->head.stalls += s->phase != STALLED;
        s->phase = STALLED;
        if (!is_free(s, s->head.seq))
            ask_for_done(s, actions);
        return;
    }
    s->climb = sg_climb_start(&shape, s->rank);
    s->value = sg_data_operand();
    climb(s, actions);
    /* After the arrival, for which other endpoints may be waiting. Only reduces leave ring entries
     * that are not known to be free. */
    ahead = free_ahead(s);
    if (ahead <= s->credits / 2 && ahead < s->credits - 1)
        ask_for_done(s, actions);
}

static void on_call(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct handoff *s = state;

    s->call = event->call;
    s->phase = OUTSIDE;
    s->head.in_call = 1;
    s->head.seq++;
    s->head.outstanding++;
    enter(s, actions);
}

/* Handles a release; it may overtake the counter's reply. */
static void on_message(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct handoff *s = state;
    const struct sg_header *header = &event->message.header;

    if (gets_result(s)) {
        sg_emit_copy(actions, sg_data_part(0), result_of(s), header->bytes);
        s->head.copies++;
    }
    release(s, (int32_t)header->number[0], sg_data_part(0), actions);
}

/* The watched result has arrived. */
static void on_timer(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct handoff *s = state;
    uint64_t seq = oldest_awaited(s);
    struct place *place = &s->places[sg_handoff_place_of(s, seq)];
    struct sg_data result = {SG_DATA_RESULT, (uint16_t)sg_handoff_place_of(s, seq)};

    s->watching = false;
    if (place->bytes > 0) {
        sg_emit_copy(actions, sg_data_slot(sg_handoff_result_slot(s, seq)), result, place->bytes)
            ->data.stamp = seq;
        s->head.copies++;
    }
    place->awaited = 0;
    place->seen = seq;
    consumed(s, seq, actions);
    watch_next(s, actions);
    if (s->phase == AWAITING && seq == s->head.seq) {
        leave(s, actions);
        return;
    }
    /* A split root's result, unless its call is still LEAVING: the end of the call then finishes
     * it. */
    if (seq != s->head.seq || !s->head.in_call) {
        sg_emit_mark(actions, SG_MARK_SPLIT_FINISHED);
        s->head.late++;
        finish(s, seq, actions);
    }
    if (s->phase == LEAVING)
        leave(s, actions);
    else if (s->phase == STALLED)
        enter(s, actions);
}

static void on_done_cells(struct handoff *s, uint32_t first, const uint64_t *done)
{
    for (uint32_t i = 0; i < SG_HANDOFF_CELLS_PER_READ && first + i < s->credits; i++) {
        struct place *place = &s->places[first + i];

        if (place->done < done[i])
            place->done = done[i];
    }
    s->asking--;
}

static void on_reply(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct handoff *s = state;
    uint32_t tag = event->reply.tag;

    switch ((enum sg_handoff_tag)(tag % (1u << SG_HANDOFF_TAG_BITS))) {
    case SG_HANDOFF_CELLS:
        on_done_cells(s, tag >> SG_HANDOFF_TAG_BITS, event->reply.value);
        break;
    case SG_HANDOFF_READ:
        s->places[tag >> SG_HANDOFF_TAG_BITS].reading = false;
        if (s->phase == READING && !place_now(s)->reading)
            fold_and_climb(s, actions);
        break;
    case SG_HANDOFF_ADD:
        if (s->phase != ADDING || tag != add_tag(s))
            break;
        if (event->reply.value[0] % 2 == 0)
            first_arrived(s, actions);
        else
            second_arrived(s, actions);
        break;
    }
    if (s->phase == STALLED)
        enter(s, actions);
}

/* Polling finds everything that may still be awaited. */
static void on_drain(void *state, const struct sg_event *event, struct sg_actions *actions)
{
}

const struct sg_algo sg_algo_handoff = {
    .name = "handoff",
    .operations =
        1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_ALLREDUCE,
    .uses = SG_ALGO_ONE_SIDED | SG_ALGO_ADDS | SG_ALGO_POLLED | SG_ALGO_USER,
    .parameters = sg_parameters_handoff,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_reply = on_reply,
    .on_drain = on_drain,
    .peers = peers,
};
