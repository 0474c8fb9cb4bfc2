/* The course of a scheduled instance, which every endpoint has called (paper: BCS-MPI, section
 * 4.4), and the slices: strobes, what they schedule, and their ends (section 4.2).
 *
 * A barrier is over with the strobe. Partial results climb the binomial tree of the root's position
 * in the hypercube, as in srm; an allreduce's root is endpoint 0, which multicasts the result. So
 * the association is SG_SHAPE_DOUBLING.
 *
 * A broadcast's root multicasts its data. They also climb the tree of strobes to endpoint 0, from
 * which all repeats come. Endpoints on that way take the data only from it, and have run when they
 * have passed them on. The data may arrive anywhere before the strobe. */
#include "bcs/posts.h"
#include "bcs/state.h"

/* Slots of an instance: one for each edge, and one for the value. */
static struct sg_data part_slot(const struct sg_bcs *s, uint64_t seq, uint32_t edge)
{
    return sg_data_slot(sg_count_place(seq, s->credits) * (s->edges + 1) + edge);
}

static struct sg_data value_slot(const struct sg_bcs *s, uint64_t seq)
{
    return part_slot(s, seq, s->edges);
}

struct sg_data sg_bcs_result(const struct sg_bcs *s, uint64_t seq)
{
    return (struct sg_data){SG_DATA_RESULT, (uint16_t)sg_count_place(seq, s->credits)};
}

void sg_bcs_keep_operand(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions)
{
    struct sg_data slot = value_slot(s, instance->seq);

    if (instance->value.kind != SG_DATA_OPERAND || instance->bytes == 0)
        return;
    sg_emit_copy(actions, instance->value, slot, instance->bytes);
    instance->value = slot;
    s->head.copies++;
}

static int32_t root_of(const struct sg_bcs_instance *instance)
{
    return instance->operation == SG_OPERATION_REDUCE ? instance->root : 0;
}

static void send_part(const struct sg_bcs *s, const struct sg_bcs_instance *instance, uint32_t edge,
                      bool is_result, struct sg_actions *actions)
{
    struct sg_header header = sg_bcs_header(instance, SG_BCS_PART);

    header.number[SG_BCS_EDGE] = edge;
    header.number[SG_BCS_IS_RESULT] = is_result;
    sg_emit_part(actions, instance->value);
    sg_emit_send(actions, sg_hypercube_partner(&s->cube, s->size, edge), &header)->solicited = true;
}

/* Copies the result, which is data, at its root or at any endpoint that gets it. */
static void take_result(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_data data,
                        struct sg_actions *actions)
{
    instance->value = sg_bcs_result(s, instance->seq);
    sg_emit_copy(actions, data, instance->value, instance->bytes);
    s->head.copies++;
    instance->has_result = true;
}

/* The root's result is data: ends the reduce here. */
static void end_reduce(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_data data,
                       struct sg_actions *actions)
{
    take_result(s, instance, data, actions);
    instance->has_run = true;
    if (instance->operation == SG_OPERATION_ALLREDUCE && s->size > 1)
        sg_bcs_send_value(s, instance, actions);
}

static bool is_climbing(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    uint32_t relative =
        (uint32_t)(s->cube.position ^ sg_hypercube_position(root_of(instance), s->size));

    if (s->cube.position < 0 || instance->edge == s->edges)
        return false;
    return instance->edge < s->fold || !(relative >> (instance->edge - s->fold) & 1);
}

static void fold(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    uint32_t edge = instance->edge;
    /* The endpoint folded into this one precedes it in rank order. */
    bool left = edge < s->fold || (s->cube.position >> (edge - s->fold) & 1);
    struct sg_data part = part_slot(s, instance->seq, edge);
    struct sg_data into = value_slot(s, instance->seq);

    sg_emit_reduce(actions, left ? part : instance->value, left ? instance->value : part, into,
                   instance->bytes)
        ->data.seq = instance->seq;
    instance->value = into;
}

/* Folds the contributions of the partners below. False: one of them has not arrived. */
static bool climb(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    while (is_climbing(s, instance)) {
        if (sg_hypercube_partner(&s->cube, s->size, instance->edge) >= 0) {
            if (!(instance->here >> instance->edge & 1))
                return false;
            fold(s, instance, actions);
        }
        instance->edge++;
    }
    return true;
}

static void reduce(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    bool is_top;

    if (instance->sent || !climb(s, instance, actions))
        return;
    instance->sent = true;
    is_top = s->cube.position >= 0 && instance->edge == s->edges;
    if (is_top && root_of(instance) == s->rank) {
        end_reduce(s, instance, instance->value, actions);
        return;
    }
    /* The root may be the endpoint folded into the top, on edge 0. */
    send_part(s, instance, is_top ? 0 : instance->edge, is_top, actions);
    instance->has_run = instance->operation == SG_OPERATION_REDUCE && root_of(instance) != s->rank;
}

/* ---- broadcasts ---- */

static bool is_on_way_up(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    return instance->operation == SG_OPERATION_BCAST &&
           sg_tree_toward(&s->place, s->degree, instance->root) >= 0;
}

static void broadcast(struct sg_bcs *s, struct sg_bcs_instance *instance,
                      struct sg_actions *actions)
{
    if (instance->root == s->rank && !instance->has_result && s->size > 1) {
        sg_bcs_keep_operand(s, instance, actions);
        instance->has_result = true;
        sg_bcs_send_value(s, instance, actions);
        if (s->rank > 0)
            sg_bcs_send_value_up(s, instance, actions);
    }
    instance->has_run = instance->has_result || s->size == 1;
}

/* ---- all operations ---- */

void sg_bcs_run(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    if (instance->operation == SG_OPERATION_BARRIER || instance->bytes == 0)
        instance->has_run = true;
    else if (instance->operation == SG_OPERATION_BCAST)
        broadcast(s, instance, actions);
    else
        reduce(s, instance, actions);
}

static void note_early(struct sg_bcs *s, const struct sg_bcs_instance *instance,
                       struct sg_actions *actions)
{
    if (sg_bcs_is_due(s, instance))
        return;
    s->head.early++;
    sg_emit_mark(actions, SG_MARK_EARLY);
}

/* No endpoint sends a PART before all have called. */
void sg_bcs_take_part(struct sg_bcs *s, const struct sg_message *message,
                      struct sg_actions *actions)
{
    struct sg_bcs_instance *instance =
        sg_bcs_at(s, sg_count_told(s->head.seq, message->header.seq));
    uint32_t edge = message->header.number[SG_BCS_EDGE];

    sg_bcs_measure_routine(SG_ROUTINE_REDUCE, actions);
    if (message->header.number[SG_BCS_IS_RESULT]) {
        end_reduce(s, instance, sg_data_part(0), actions);
        return;
    }
    note_early(s, instance, actions);
    sg_emit_copy(actions, sg_data_part(0), part_slot(s, instance->seq, edge), instance->bytes);
    s->head.copies++;
    instance->here |= 1u << edge;
    if (sg_bcs_is_due(s, instance))
        sg_bcs_run(s, instance, actions);
}

void sg_bcs_take_value(struct sg_bcs *s, const struct sg_message *message,
                       struct sg_actions *actions)
{
    uint64_t seq = sg_count_told(s->head.seq, message->header.seq);
    struct sg_bcs_instance *instance = sg_bcs_at(s, seq);
    bool climbs = !message->multicast && sg_tree_toward(&s->place, s->degree, message->from) >= 0;

    if (instance->seq != seq || instance->has_result || (is_on_way_up(s, instance) && !climbs))
        return;
    sg_bcs_measure_routine(instance->operation == SG_OPERATION_BCAST ? SG_ROUTINE_BROADCAST
                                                                     : SG_ROUTINE_REDUCE,
                           actions);
    note_early(s, instance, actions);
    take_result(s, instance, sg_data_part(0), actions);
    if (climbs && s->rank > 0)
        sg_bcs_send_value_up(s, instance, actions);
    sg_bcs_repeat_value(s, instance, actions);
    instance->has_run = sg_bcs_is_due(s, instance);
}

/* ---- slices ----
 *
 * Endpoint 0 sends a strobe at a boundary of slices; it schedules the instances that all endpoints
 * had called before. DONE climbs the tree once a strobe's instances have run at an endpoint and
 * below it. Until then the endpoint answers for those below it: a strobe that is not over after a
 * while is repeated down the tree, with its results, by messages that cannot be lost. */

static void run_due(struct sg_bcs *s, struct sg_actions *actions)
{
    for (uint64_t seq = s->strobe.first; seq <= s->strobe.upto; seq++) {
        if (sg_bcs_is_due(s, sg_bcs_at(s, seq)))
            sg_bcs_run(s, sg_bcs_at(s, seq), actions);
    }
}

/* ---- strobes --------------------------------------------------------------------------------- */

static struct sg_header strobe_header(const struct sg_bcs *s)
{
    return (struct sg_header){
        .seq = (uint32_t)s->strobe.upto,
        .kind = SG_BCS_STROBE,
        .number = {[SG_BCS_INDEX] = (uint32_t)s->strobe.index,
                   [SG_BCS_MASK] = s->strobe.mask | s->strobe.later << SG_BCS_LATER,
                   [SG_BCS_FIRST] = (uint32_t)s->strobe.first,
                   [SG_BCS_SLICE_LOW] = (uint32_t)s->strobe.slice,
                   [SG_BCS_SLICE_HIGH] = (uint32_t)(s->strobe.slice >> 32)},
    };
}

static void begin_strobe(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                         struct sg_actions *actions)
{
    uint64_t restarted = 0;

    if (strobe->slice != s->strobe.slice) {
        /* Calls that ran in an earlier slice return now. */
        s->restarted = s->strobe.upto;
        restarted = s->strobe.index;
        sg_bcs_measure_slice(s, strobe, now_ns, actions);
    }
    sg_bcs_measure_strobe(s, strobe, now_ns, actions);
    s->strobe = *strobe;
    s->strobed = true;
    run_due(s, actions);
    sg_bcs_begin_messages(s, restarted, actions);
}

/* Once suffices: messages are not lost, and later results take the same path. */
static void repeat(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_header header = strobe_header(s);

    s->strobe.repeated = true;
    sg_bcs_send_below(s, &header, (struct sg_data){0}, actions);
    for (uint64_t seq = s->strobe.first; seq <= s->strobe.upto; seq++)
        sg_bcs_repeat_value(s, sg_bcs_at(s, seq), actions);
}

void sg_bcs_take_strobe(struct sg_bcs *s, const struct sg_event *event, struct sg_actions *actions)
{
    const struct sg_header *header = &event->message.header;
    uint64_t index = sg_count_told(s->strobe.index, header->number[SG_BCS_INDEX]);
    uint64_t upto = sg_count_told(s->head.seq, header->seq);

    if (index > s->strobe.index) {
        struct sg_bcs_strobe strobe = {
            .index = index,
            .mask = header->number[SG_BCS_MASK] & (SG_BCS_PHASES | SG_BCS_MESSAGES),
            .first = sg_count_told(upto, header->number[SG_BCS_FIRST]),
            .upto = upto,
            .later = header->number[SG_BCS_MASK] >> SG_BCS_LATER,
            .slice = (uint64_t)header->number[SG_BCS_SLICE_HIGH] << 32 |
                     header->number[SG_BCS_SLICE_LOW],
        };

        begin_strobe(s, &strobe, event->time_ns, actions);
    }
    if (index == s->strobe.index && !event->message.multicast)
        repeat(s, actions);
}

/* ---- endpoint 0 ------------------------------------------------------------------------------ */

/* Returns the last instance that this endpoint and all below it have called. */
static uint64_t called(const struct sg_bcs *s)
{
    uint64_t least = s->head.seq;

    for (int child = 0; child < s->children; child++)
        least = s->below[child] < least ? s->below[child] : least;
    return least;
}

/* Chooses as many instances as a slice can take, at least one. */
static uint64_t choose(struct sg_bcs *s, struct sg_actions *actions)
{
    uint64_t upto = s->sender.scheduled, last = called(s);
    uint64_t bytes = 0;

    while (upto < last && upto - s->sender.scheduled < SG_BCS_TOGETHER) {
        bytes += sg_bcs_at(s, upto + 1)->bytes;
        if (upto > s->sender.scheduled && bytes > s->budget_bytes)
            break;
        upto++;
    }
    if (upto < last)
        sg_emit_mark(actions, SG_MARK_BUDGET_OUT);
    return upto;
}

static uint32_t phases_between(struct sg_bcs *s, uint64_t first, uint64_t upto)
{
    uint32_t phases = 0;

    for (uint64_t seq = first; seq <= upto; seq++)
        phases |= sg_bcs_phase_of(sg_bcs_at(s, seq));
    return phases;
}

static void send_strobe(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                        struct sg_actions *actions)
{
    struct sg_header header;

    begin_strobe(s, strobe, now_ns, actions);
    header = strobe_header(s);
    if (s->size == 1)
        return;
    sg_emit_multicast(actions, &header)->solicited = true;
    sg_emit_set_timer(actions, SG_BCS_TIMER_REPEAT, now_ns + s->repeat_ns);
}

/* True if some endpoint has something to offer or to match. */
static bool has_messages(const struct sg_bcs *s)
{
    return s->want > s->sender.exchange;
}

static void begin_slice(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    uint64_t first = s->sender.scheduled + 1, upto = choose(s, actions);
    uint32_t messages = has_messages(s) ? SG_BCS_MESSAGES : 0;
    uint32_t phases = SG_BCS_DESCRIPTORS | SG_BCS_SCHEDULING | phases_between(s, first, upto) |
                      (messages ? SG_BCS_TRANSFER : 0);
    struct sg_bcs_strobe strobe = {
        .index = s->strobe.index + 1,
        .mask = (s->separate || messages ? phases & -phases : phases) | messages,
        .first = first,
        .upto = upto,
        .later = s->separate || messages ? phases & (phases - 1) : 0,
        .slice = (now_ns - s->epoch_ns) / s->slice_ns,
    };

    if (messages)
        s->sender.exchange = strobe.index;
    s->sender.restarts = s->restart_slice && (upto >= first || messages);
    s->sender.scheduled = upto;
    send_strobe(s, &strobe, now_ns, actions);
}

static void begin_phase(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    struct sg_bcs_strobe strobe = s->strobe;

    strobe.index++;
    strobe.mask = s->separate ? strobe.later & -strobe.later : strobe.later;
    strobe.later &= ~strobe.mask;
    strobe.mask |= s->strobe.mask & SG_BCS_MESSAGES;
    strobe.over = strobe.repeated = false;
    send_strobe(s, &strobe, now_ns, actions);
}

/* True if no further strobes are needed. */
static bool may_stop(struct sg_bcs *s)
{
    return s->drained && sg_bcs_is_left(s);
}

static bool wants_slice(struct sg_bcs *s)
{
    return called(s) > s->sender.scheduled || s->sender.restarts || has_messages(s) ||
           (s->always && s->strobed && !may_stop(s));
}

static void set_alarm(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    uint64_t slices = (now_ns - s->epoch_ns) / s->slice_ns;

    if (s->sender.alarm)
        return;
    s->sender.alarm = true;
    sg_emit_set_timer(actions, SG_BCS_TIMER_BOUNDARY, s->epoch_ns + (slices + 1) * s->slice_ns);
}

void sg_bcs_ring(struct sg_bcs *s, uint32_t timer, uint64_t now_ns, struct sg_actions *actions)
{
    bool busy = !s->strobe.over;

    if (timer == SG_BCS_TIMER_REPEAT) {
        if (busy) {
            sg_emit_mark(actions, SG_MARK_STROBE_REPEATED);
            repeat(s, actions);
        }
        return;
    }
    if (timer == SG_BCS_TIMER_MORE) {
        sg_bcs_messages(s)->more = false;
        return;
    }
    s->sender.alarm = false;
    if (!busy && wants_slice(s))
        begin_slice(s, now_ns, actions);
}

/* ---- the end of a strobe --------------------------------------------------------------------- */

static bool are_below_done(const struct sg_bcs *s)
{
    for (int child = 0; child < s->children; child++) {
        if (!sg_bcs_is_done(s, child))
            return false;
    }
    return true;
}

void sg_bcs_take_done(struct sg_bcs *s, const struct sg_message *message)
{
    uint64_t *done = &s->done[sg_tree_toward(&s->place, s->degree, message->from)];

    *done = sg_count_told(s->strobe.index, message->header.number[SG_BCS_INDEX]);
    if (s->rank == 0 && !are_below_done(s))
        sg_bcs_measure_retry(s);
}

static bool has_run_here(struct sg_bcs *s)
{
    for (uint64_t seq = s->strobe.first; seq <= s->strobe.upto; seq++) {
        if (sg_bcs_is_due(s, sg_bcs_at(s, seq)) && !sg_bcs_at(s, seq)->has_run)
            return false;
    }
    return sg_bcs_are_messages_done(s);
}

static void tell_parent(const struct sg_bcs *s, enum sg_bcs_kind kind, uint64_t seq,
                        struct sg_actions *actions)
{
    struct sg_header header = {
        .seq = (uint32_t)seq,
        .kind = (uint8_t)kind,
        .number = {[SG_BCS_INDEX] = (uint32_t)s->strobe.index},
    };

    sg_emit_send(actions, s->place.parent, &header)->solicited = true;
}

static bool has_overrun(const struct sg_bcs *s, uint64_t now_ns)
{
    return (now_ns - s->epoch_ns) / s->slice_ns > s->strobe.slice;
}

static void end_strobe(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    sg_bcs_go_on_messages(s, now_ns, actions);
    if (s->strobe.over || !has_run_here(s))
        return;
    sg_bcs_measure_run(s, now_ns);
    if (!are_below_done(s))
        return;
    s->strobe.over = true;
    if (s->rank > 0)
        tell_parent(s, SG_BCS_DONE, s->strobe.upto, actions);
    else if (s->size > 1)
        sg_emit_stop_timer(actions, SG_BCS_TIMER_REPEAT);
    sg_bcs_measure_end(s, now_ns, actions);
    if (s->rank == 0 && has_overrun(s, now_ns))
        sg_emit_mark(actions, SG_MARK_SLICE_OVERRUN);
}

void sg_bcs_end_strobes(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_header header = {.kind = SG_BCS_OFF};

    s->strobed = false;
    if (sg_bcs_messages(s) != NULL)
        sg_bcs_messages(s)->off = true;
    for (int child = 0; child < s->children; child++)
        sg_emit_send(actions, sg_bcs_child(s, child), &header)->solicited = true;
}

/* Endpoint 0: sends the next strobe, or sets the timer for it. */
static void go_on_sending(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    while (s->strobe.later > 0 && s->strobe.over) {
        begin_phase(s, now_ns, actions);
        end_strobe(s, now_ns, actions);
    }
    if (!s->strobe.over)
        return;
    if (wants_slice(s))
        set_alarm(s, now_ns, actions);
    else if (sg_bcs_is_strobed(s) && may_stop(s))
        sg_bcs_end_strobes(s, actions);
}

/* Other endpoints: report news from here and below to the parent. */
static void go_on_telling(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_messages *m = sg_bcs_messages(s);

    if (called(s) > s->told) {
        s->told = called(s);
        tell_parent(s, SG_BCS_CALLED, s->told, actions);
    }
    if (s->want > s->told_want) {
        s->told_want = s->want;
        tell_parent(s, SG_BCS_WANT, s->want, actions);
    }
    if (m != NULL && !m->left && sg_bcs_is_left(s)) {
        m->left = true;
        tell_parent(s, SG_BCS_LEFT, 0, actions);
    }
}

void sg_bcs_go_on(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    end_strobe(s, now_ns, actions);
    if (s->rank == 0)
        go_on_sending(s, now_ns, actions);
    else
        go_on_telling(s, actions);
}
