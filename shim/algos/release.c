#include "algos/release.h"

#include "algos/tree.h"

#include <string.h>

#define BACKOFF_MAX 6
/* Degree of the tree on which a drain agrees. */
#define DRAIN_DEGREE 8
#define ALL_PIECES ((1u << SG_RELEASE_PIECES_MAX) - 1)

enum { DRAIN_NO, DRAIN_WANTED, DRAIN_REPORTED, DRAIN_OVER };

uint32_t sg_release_slots(uint32_t tokens, uint32_t extras)
{
    /* A result for each of two releases, and their pieces. */
    return 2 + (tokens > 1 ? 2 * (tokens + extras) : 0);
}

void sg_release_init(struct sg_release *release, const struct sg_algo_setup *setup, uint32_t base,
                     uint32_t extras)
{
    const struct sg_algo_parameters *parameters = &setup->parameters;
    uint32_t tokens = sg_tokens(parameters);

    release->rank = setup->rank;
    release->size = setup->size;
    release->timeout_ns =
        parameters->timeout_ns ? parameters->timeout_ns : 1000 * SG_TIMEOUT_DEFAULT_US;
    release->credits = sg_credits(parameters);
    release->base = base;
    release->tokens = (uint8_t)tokens;
    release->piece_slots = (uint8_t)(tokens > 1 ? tokens + extras : 0);
    /* No release is open before the first. */
    for (uint64_t back = 0; back < 2; back++)
        release->at[(parameters->first - back) % 2] = (struct sg_release_instance){
            .number = parameters->first - back, .state = SG_RELEASE_COMPLETE};
}

static struct sg_data kept_result(const struct sg_release *release, uint64_t number)
{
    return sg_data_slot(release->base + (uint32_t)(number % 2));
}

struct sg_data sg_release_piece(const struct sg_release *release, uint64_t number, int piece,
                                int part)
{
    uint32_t base = release->base + 2 + (uint32_t)(number % 2) * release->piece_slots;

    return sg_data_slot(base + (uint32_t)(part == 0 ? piece : release->tokens + part - 1));
}

static bool is_complete(const struct sg_release_instance *instance)
{
    return instance->state >= SG_RELEASE_COMPLETE;
}

struct sg_release_instance *sg_release_open(struct sg_release *release, uint64_t number,
                                            int32_t top)
{
    struct sg_release_instance *instance = &release->at[number % 2];

    if (instance->number == number)
        return is_complete(instance) ? NULL : instance;
    /* Signed difference: no number precedes the first. */
    if ((int64_t)(number - instance->number) < 0)
        return NULL;
    release->used = true;
    memset(instance, 0, sizeof *instance);
    instance->number = number;
    instance->top = top;
    instance->last = -1;
    for (int i = 0; i < SG_RELEASE_PIECES_MAX; i++)
        instance->toward[i] = -1;
    return instance;
}

/* ---- questions ------------------------------------------------------------------------------- */

static uint32_t lacking(const struct sg_release_instance *instance)
{
    uint32_t all = instance->pieces ? (1u << instance->pieces) - 1 : ALL_PIECES;

    return all & ~(uint32_t)instance->have;
}

/* Sends one question to each neighbour, for all pieces that may come from there. */
static void ask(struct sg_release *release, const struct sg_release_instance *instance,
                struct sg_actions *actions)
{
    uint32_t left = lacking(instance);

    release->asked = 1;
    sg_emit_mark(actions, SG_MARK_RELEASE_LOST);
    while (left != 0) {
        struct sg_header header = {.seq = (uint32_t)instance->number, .kind = SG_RELEASE_ASK};
        int32_t toward = instance->toward[__builtin_ctz(left)];
        uint32_t which = 0;

        for (int i = 0; i < SG_RELEASE_PIECES_MAX; i++)
            which |= instance->toward[i] == toward ? left & 1u << i : 0;
        left &= ~which;
        header.operation = instance->operation;
        header.number[SG_RELEASE_WHICH] = which;
        sg_emit_send(actions, toward, &header)->solicited = true;
    }
}

void sg_release_await(struct sg_release *release, uint64_t number, int32_t toward,
                      const struct sg_header *header, const struct sg_event *event,
                      struct sg_actions *actions)
{
    struct sg_release_instance *instance = &release->at[number % 2];

    for (int i = 0; i < SG_RELEASE_PIECES_MAX; i++) {
        if (instance->toward[i] < 0)
            instance->toward[i] = toward;
    }
    instance->operation = header->operation;
    instance->flags = header->flags;
    instance->bytes = header->bytes;
    if (instance->state == SG_RELEASE_WAITING)
        return;
    instance->state = SG_RELEASE_WAITING;
    release->asked = 0;
    release->backoff = 0;
    sg_emit_set_timer(actions, SG_RELEASE_TIMER, event->time_ns + release->timeout_ns);
}

void sg_release_timer(struct sg_release *release, const struct sg_event *event,
                      struct sg_actions *actions)
{
    for (int i = 0; i < 2; i++) {
        if (release->at[i].state != SG_RELEASE_WAITING)
            continue;
        ask(release, &release->at[i], actions);
        /* If an endpoint is late, asking does not speed up the release: ask less and less often. */
        if (release->backoff < BACKOFF_MAX)
            release->backoff++;
        release->asked = 0;
        sg_emit_set_timer(actions, SG_RELEASE_TIMER,
                          event->time_ns + ((uint64_t)release->timeout_ns << release->backoff));
    }
}

void sg_release_gap(struct sg_release *release, uint64_t number, struct sg_actions *actions)
{
    const struct sg_release_instance *before = &release->at[(number - 1) % 2];

    if (before->number == number - 1 && before->state == SG_RELEASE_WAITING && !release->asked)
        ask(release, before, actions);
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct sg_header answer_header(const struct sg_release_instance *instance,
                                      enum sg_release_kind kind)
{
    return (struct sg_header){
        .seq = (uint32_t)instance->number,
        .kind = (uint8_t)kind,
        .operation = instance->operation,
        .flags = instance->flags,
        .bytes = instance->bytes,
        .number = {(uint32_t)instance->top, (uint32_t)instance->last, 0,
                   (uint32_t)instance->splitter, instance->mask},
    };
}

static void send_result(struct sg_release *release, const struct sg_release_instance *instance,
                        int32_t to, struct sg_actions *actions)
{
    struct sg_header header = answer_header(instance, SG_RELEASE_RESULT);

    if (instance->bytes > 0) {
        header.parts = 1;
        sg_emit_part(actions, kept_result(release, instance->number));
    }
    sg_emit_send(actions, to, &header);
    sg_emit_mark(actions, SG_MARK_RELEASE_ANSWERED);
}

static void send_piece(struct sg_release *release, const struct sg_release_instance *instance,
                       int piece, int32_t to, struct sg_actions *actions)
{
    struct sg_header header = answer_header(instance, SG_RELEASE_PIECE);

    header.number[SG_RELEASE_WHICH] = (uint32_t)piece | (uint32_t)instance->pieces << 8;
    if (instance->bytes > 0)
        header.parts = (uint8_t)(1 + (piece == 0 ? instance->extras : 0));
    for (int part = 0; part < header.parts; part++)
        sg_emit_part(actions, sg_release_piece(release, instance->number, piece, part));
    sg_emit_send(actions, to, &header);
    sg_emit_mark(actions, SG_MARK_RELEASE_ANSWERED);
}

static void on_ask(struct sg_release *release, const struct sg_message *message,
                   struct sg_actions *actions)
{
    struct sg_release_instance *instance = &release->at[message->header.seq % 2];
    uint32_t which = message->header.number[SG_RELEASE_WHICH];

    /* An older number: the question crossed the answer, so the asker has it by now. */
    if ((uint32_t)instance->number != message->header.seq)
        return;
    if (instance->state == SG_RELEASE_KEPT) {
        send_result(release, instance, message->from, actions);
        return;
    }
    if (is_complete(instance))
        return;
    for (int piece = 0; piece < instance->pieces; piece++) {
        if (which & instance->have & 1u << piece)
            send_piece(release, instance, piece, message->from, actions);
    }
    /* If this endpoint has not contributed yet, no release is overdue: the asker will ask again. */
    if (instance->state != SG_RELEASE_WAITING || (which & lacking(instance)) == 0)
        return;
    if (instance->asker_count < SG_RELEASE_ASKERS_MAX)
        instance->askers[instance->asker_count++] = message->from;
    if (!release->asked) {
        ask(release, instance, actions);
        sg_emit_mark(actions, SG_MARK_RELEASE_FORWARDED);
    }
}

/* ---- releases -------------------------------------------------------------------------------- */

/* With several releasers, all endpoints must remember the same one: top if it is one of them, else
 * the one of piece 0. */
static void note_last(struct sg_release_instance *instance, int piece, int32_t last)
{
    if (last == instance->top || (piece == 0 && instance->last != instance->top))
        instance->last = last;
}

static void note_piece(struct sg_release_instance *instance, const struct sg_header *header)
{
    int piece = (int)(header->number[SG_RELEASE_WHICH] & 0xff);

    instance->pieces = (uint8_t)(header->number[SG_RELEASE_WHICH] >> 8);
    instance->have |= (uint8_t)(1u << piece);
    instance->operation = header->operation;
    instance->flags = header->flags;
    instance->bytes = header->bytes;
    instance->splitter = (int32_t)header->number[SG_RELEASE_SPLITTER];
    instance->mask = header->number[SG_RELEASE_MASK];
    if (piece == 0 && header->parts > 0)
        instance->extras = (uint8_t)(header->parts - 1);
    note_last(instance, piece, (int32_t)header->number[SG_RELEASE_LAST]);
}

void sg_release_make(struct sg_release *release, const struct sg_header *header,
                     const struct sg_data *parts, struct sg_actions *actions)
{
    struct sg_release_instance *instance = &release->at[header->seq % 2];
    int piece = (int)(header->number[SG_RELEASE_WHICH] & 0xff);

    for (int part = 0; part < header->parts; part++)
        sg_emit_part(actions, parts[part]);
    if (release->size > 1)
        sg_emit_multicast(actions, header);
    note_piece(instance, header);
    for (int part = 0; part < header->parts && instance->pieces > 1; part++)
        sg_emit_copy(actions, parts[part], sg_release_piece(release, instance->number, piece, part),
                     header->bytes);
}

static bool take_result(struct sg_release_instance *instance, const struct sg_message *message)
{
    instance->have = ALL_PIECES;
    instance->pieces = 1;
    instance->unicast = 1;
    instance->last = (int32_t)message->header.number[SG_RELEASE_LAST];
    return true;
}

bool sg_release_take(struct sg_release *release, const struct sg_message *message, uint64_t called,
                     struct sg_actions *actions)
{
    const struct sg_header *header = &message->header;
    int32_t top = (int32_t)header->number[SG_RELEASE_TOP];
    uint64_t number = sg_count_told(called, header->seq);
    struct sg_release_instance *instance = NULL;
    int piece = (int)(header->number[SG_RELEASE_WHICH] & 0xff);

    /* Only a piece may precede the call, and by at most one call. */
    if ((int64_t)(number - called) <= 1)
        instance = sg_release_open(release, number, top);
    if (instance == NULL) {
        sg_emit_mark(actions, SG_MARK_RELEASE_REPEATED);
        return false;
    }
    if (header->kind == SG_RELEASE_RESULT)
        return take_result(instance, message);
    if (instance->have & 1u << piece) {
        sg_emit_mark(actions, SG_MARK_RELEASE_REPEATED);
        return false;
    }
    if (number != called)
        sg_emit_mark(actions, SG_MARK_RELEASE_EARLY);
    note_piece(instance, header);
    instance->unicast |= !message->multicast;
    if (instance->pieces > 1) {
        for (int part = 0; part < header->parts; part++)
            sg_emit_copy(actions, sg_data_part((uint32_t)part),
                         sg_release_piece(release, number, piece, part), header->bytes);
    }
    return instance->state == SG_RELEASE_WAITING && lacking(instance) == 0;
}

void sg_release_complete(struct sg_release *release, struct sg_algo_head *head, uint64_t number,
                         struct sg_data data, bool keep, struct sg_actions *actions)
{
    struct sg_release_instance *instance = &release->at[number % 2];
    struct sg_data result = {SG_DATA_RESULT, (uint16_t)sg_count_place(head->seq, release->credits)};

    if (instance->state == SG_RELEASE_WAITING)
        sg_emit_stop_timer(actions, SG_RELEASE_TIMER);
    if (instance->bytes > 0)
        sg_emit_copy(actions, data, result, instance->bytes);
    sg_emit_complete(actions, head->seq);
    /* Copies for other endpoints can wait until this call is over. */
    if (keep && instance->bytes > 0)
        sg_emit_copy(actions, data, kept_result(release, number), instance->bytes);
    sg_emit_finish(actions, head->seq);
    instance->state = keep ? SG_RELEASE_KEPT : SG_RELEASE_COMPLETE;
    /* After a multicast, an endpoint that asked before has most likely received it, too. */
    for (int i = 0; i < instance->asker_count && instance->unicast && keep; i++)
        send_result(release, instance, instance->askers[i], actions);
    instance->asker_count = 0;
    head->in_call = 0;
    release->kept = keep;
    sg_release_settle(release, head, actions);
}

/* ---- drain ----------------------------------------------------------------------------------- */

static void over(struct sg_release *release, const struct sg_tree_place *place,
                 struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)release->at[0].number, .kind = SG_RELEASE_OVER};

    release->drain = DRAIN_OVER;
    for (int i = 0; i < sg_tree_children(place, DRAIN_DEGREE); i++)
        sg_emit_send(actions, sg_tree_child(place, DRAIN_DEGREE, i).lo, &header)->solicited = true;
}

void sg_release_settle(struct sg_release *release, struct sg_algo_head *head,
                       struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)release->at[0].number, .kind = SG_RELEASE_DONE};
    struct sg_tree_place place;

    if (release->drain == DRAIN_WANTED && !head->in_call) {
        place = sg_tree_find(release->rank, release->size, DRAIN_DEGREE);
        if (release->done == sg_tree_children(&place, DRAIN_DEGREE)) {
            release->drain = DRAIN_REPORTED;
            if (place.parent < 0)
                over(release, &place, actions);
            else
                sg_emit_send(actions, place.parent, &header)->solicited = true;
        }
    }
    head->outstanding = head->in_call;
    if (release->drain == DRAIN_NO)
        head->outstanding += release->kept;
    else if (release->drain != DRAIN_OVER)
        head->outstanding++;
}

void sg_release_drain(struct sg_release *release, struct sg_algo_head *head,
                      struct sg_actions *actions)
{
    /* Without a release nobody asks for one, so there is nothing to agree on. */
    if (release->drain == DRAIN_NO)
        release->drain = release->used ? DRAIN_WANTED : DRAIN_OVER;
    sg_release_settle(release, head, actions);
}

void sg_release_peers(const struct sg_algo_setup *setup, struct sg_peers *peers)
{
    sg_peers_add_tree(peers, setup->rank, setup->size, DRAIN_DEGREE);
}

void sg_release_message(struct sg_release *release, struct sg_algo_head *head,
                        const struct sg_message *message, struct sg_actions *actions)
{
    struct sg_tree_place place;

    switch (message->header.kind) {
    case SG_RELEASE_ASK:
        on_ask(release, message, actions);
        break;
    case SG_RELEASE_DONE:
        release->done++;
        /* The sender has left its last call, so whatever this endpoint awaits has been released. */
        for (int i = 0; i < 2; i++)
            sg_release_gap(release, release->at[i].number + 1, actions);
        sg_release_settle(release, head, actions);
        break;
    case SG_RELEASE_OVER:
        place = sg_tree_find(release->rank, release->size, DRAIN_DEGREE);
        over(release, &place, actions);
        sg_release_settle(release, head, actions);
        break;
    default:
        break;
    }
}

void sg_flow_init(struct sg_flow *flow, const struct sg_algo_setup *setup, int degree,
                  uint32_t credits, enum sg_flow_kind kind)
{
    flow->rank = setup->rank;
    flow->size = setup->size;
    flow->degree = (uint8_t)degree;
    flow->credits = (uint8_t)credits;
    flow->kind = (uint8_t)kind;
    flow->floor = flow->moot = setup->parameters.first;
}

bool sg_flow_allows(const struct sg_flow *flow, uint64_t seq)
{
    return seq <= flow->floor + flow->credits;
}

void sg_flow_enter(struct sg_flow *flow, uint64_t seq, bool synchronises)
{
    if (synchronises) {
        flow->run = 0;
        flow->moot = seq - 1;
    } else {
        flow->run++;
    }
}

void sg_flow_synchronised(struct sg_flow *flow, uint64_t seq)
{
    if (seq - 1 > flow->floor)
        flow->floor = seq - 1;
}

/* Sends to a tree neighbour; solicited only if that neighbour passes it on. */
static void tell(const struct sg_flow *flow, int32_t to, uint64_t seq, uint8_t kind,
                 struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)seq, .kind = kind};
    bool passes_on = to == 0 || sg_branch_children(to, flow->size, flow->degree) > 0;

    sg_emit_send(actions, to, &header)->solicited =
        flow->kind == SG_FLOW_SOLICITED_REPORT && passes_on;
}

static void raise_bound(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions)
{
    int children = sg_branch_children(flow->rank, flow->size, flow->degree);

    for (int i = 0; i < children; i++)
        tell(flow, sg_branch_child(flow->rank, flow->size, flow->degree, i), seq,
             (uint8_t)(flow->kind + 1), actions);
    if (seq > flow->floor)
        flow->floor = seq;
}

/* Counts a report of this endpoint, or of a child for its subtree. */
static void report(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions)
{
    uint32_t due = (uint32_t)sg_branch_children(flow->rank, flow->size, flow->degree) + 1;
    int at = -1;

    /* A synchronising instance has overtaken the report. */
    if (seq <= flow->moot || seq <= flow->floor)
        return;
    for (int i = 0; i < SG_FLOW_REPORTS_MAX; i++) {
        if (flow->reports[i].count > 0 && flow->reports[i].seq == seq) {
            at = i;
            break;
        }
        /* Messages may overtake each other: a later report may have raised the bound. */
        if (flow->reports[i].count == 0 || flow->reports[i].seq <= flow->moot ||
            flow->reports[i].seq <= flow->floor)
            at = i;
    }
    if (at < 0)
        __builtin_trap(); /* no more than three are due within the credits */
    if (flow->reports[at].seq != seq) {
        flow->reports[at].seq = seq;
        flow->reports[at].count = 0;
    }
    if (++flow->reports[at].count < due)
        return;
    flow->reports[at].count = 0;
    if (flow->rank == 0)
        raise_bound(flow, seq, actions);
    else
        tell(flow, sg_branch_parent(flow->rank, flow->size, flow->degree), seq, flow->kind,
             actions);
}

void sg_flow_finished(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions)
{
    if (flow->size > 1 && sg_count_place(flow->run, flow->credits / 2u) == 0)
        report(flow, seq, actions);
    else if (flow->size == 1)
        flow->floor = seq;
}

void sg_flow_message(struct sg_flow *flow, const struct sg_header *header,
                     struct sg_actions *actions)
{
    uint64_t seq = sg_count_told(flow->floor, header->seq);

    if (header->kind == flow->kind)
        report(flow, seq, actions);
    else
        raise_bound(flow, seq, actions);
}
