/* bcs: buffered coscheduling (paper: BCS-MPI, sections 3 and 4). Time is cut into slices; a
 * collective that every endpoint has called before a boundary runs in the slice after it, on a
 * strobe.
 *
 * CALLED climbs a tree to endpoint 0, whose clock alone times slices. Its strobe says what is
 * scheduled; every endpoint runs that and answers by DONE (course.c). While there is nothing to do,
 * nothing is sent and nobody wakes (strobe=demand); with strobe=always a strobe comes at every
 * boundary, as in the paper.
 *
 * A call returns when its instance has run here or, with restart=slice, at the strobe of a later
 * slice. It stays outstanding until its strobe is over for everything below this endpoint, which
 * must repeat for the endpoints below what they have missed. */
#include "algos/broadcast.h"
#include "bcs/posts.h"

#define CHUNK_LEAST 1024u
#define CHUNK_MOST 65536u

/* ---- setup ---- */

static uint32_t budget_of(const struct sg_algo_setup *setup)
{
    uint32_t budget = setup->parameters.budget_bytes;

    return budget > 0 ? budget : 1024 * SG_BUDGET_DEFAULT_KIB;
}

static uint32_t chunk_of(const struct sg_algo_setup *setup)
{
    uint32_t chunk = budget_of(setup) / SG_BCS_TOGETHER;

    return chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk > CHUNK_MOST ? CHUNK_MOST : chunk;
}

/* Excludes the binomial tree: it has more children than an endpoint could serve in one event. */
static int degree_of(const struct sg_algo_setup *setup)
{
    return setup->parameters.degree > 1 ? setup->parameters.degree : SG_DEGREE_BARRIER;
}

/* Slots of calls; those of messages follow. */
static uint32_t call_slots(const struct sg_algo_setup *setup)
{
    return sg_credits(&setup->parameters) * (sg_hypercube_edges(setup->size) + 1);
}

static uint32_t messages_at(const struct sg_algo_setup *setup)
{
    return (uint32_t)(sizeof(struct sg_bcs) +
                      sg_credits(&setup->parameters) * sizeof(struct sg_bcs_instance));
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *out)
{
    uint32_t credits = sg_credits(&setup->parameters), posts = setup->parameters.posts;

    if (setup->size < 1 || setup->size > SG_BCS_ENDPOINTS_MAX || credits < 2 ||
        credits > SG_CREDITS_MAX || degree_of(setup) > SG_DEGREE_MAX || posts > SG_POSTS_MAX ||
        (posts > 0 && posts < SG_POSTS_MIN))
        return false;
    *out = (struct sg_algo_needs){
        .state_bytes = messages_at(setup),
        .slots = call_slots(setup),
        .parts = 1,
        .slot_bytes = chunk_of(setup),
    };
    if (posts > 0) {
        out->state_bytes += (uint32_t)sg_bcs_messages_bytes(posts);
        out->slots += sg_bcs_out_slots(posts) + sg_bcs_in_slots(posts);
    }
    return true;
}

static void count_strobes(struct sg_bcs *s)
{
    bool counted = sg_bcs_is_strobed(s);

    if (counted != s->counted)
        s->head.outstanding += counted ? 1 : UINT32_MAX;
    s->counted = counted;
}

/* Starts as if all instances up to `first` had been called, each scheduled by its own strobe. */
static void begin_numbers(struct sg_bcs *s, uint64_t first)
{
    s->head.seq = s->told = s->restarted = s->measure.seen = first;
    s->sender.scheduled = s->sender.exchange = s->want = s->told_want = first;
    s->strobe = (struct sg_bcs_strobe){
        .index = first, .first = first, .upto = first, .slice = SG_BCS_NO_SLICE, .over = true};
    for (int child = 0; child < SG_DEGREE_MAX; child++)
        s->below[child] = s->done[child] = first;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    const struct sg_algo_parameters *parameters = &setup->parameters;
    uint32_t timeout_ns =
        parameters->timeout_ns > 0 ? parameters->timeout_ns : 1000 * SG_TIMEOUT_DEFAULT_US;
    struct sg_bcs *s = memory;

    s->rank = setup->rank;
    begin_numbers(s, parameters->first);
    s->size = setup->size;
    s->credits = sg_credits(parameters);
    s->edges = sg_hypercube_edges(setup->size);
    s->fold = sg_tree_power(setup->size) < setup->size;
    s->slice_ns = parameters->slice_ns > 0 ? parameters->slice_ns : 1000 * SG_SLICE_DEFAULT_US;
    s->repeat_ns = timeout_ns > s->slice_ns ? timeout_ns : s->slice_ns;
    s->epoch_ns = parameters->epoch_ns;
    s->budget_bytes = budget_of(setup);
    s->always = parameters->strobe_always;
    s->separate = parameters->microphases_separate;
    s->restart_slice = parameters->restart_slice;
    s->degree = (uint8_t)degree_of(setup);
    s->place = sg_tree_find(setup->rank, setup->size, s->degree);
    s->children = (uint8_t)sg_tree_children(&s->place, s->degree);
    s->cube = sg_hypercube_find(setup->rank, setup->size);
    if (parameters->posts > 0) {
        s->messages_at = messages_at(setup);
        sg_bcs_init_messages(s, setup, call_slots(setup), chunk_of(setup));
    }
    count_strobes(s);
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers found = sg_peers_into(out, capacity);
    bool folds = operation == SG_OPERATION_REDUCE || operation == SG_OPERATION_ALLREDUCE;

    sg_peers_add_tree(&found, setup->rank, setup->size, degree_of(setup));
    if (folds)
        sg_peers_add_hypercube(&found, setup->rank, setup->size);
    return sg_peers_count(&found);
}

/* ---- the end of a call and of an instance ---- */

static bool may_return(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    return instance->has_run && (!s->restart_slice || instance->seq <= s->restarted);
}

/* True if the endpoints below have everything they need of the instance. */
static bool is_over(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    return may_return(s, instance) && (instance->seq < s->strobe.first || s->strobe.over);
}

static void finish(struct sg_bcs *s, uint64_t seq, struct sg_actions *actions)
{
    struct sg_bcs_instance *instance = sg_bcs_at(s, seq);

    if (seq == 0 || instance->seq != seq || !is_over(s, instance))
        return;
    if (seq != s->head.seq)
        sg_emit_mark(actions, SG_MARK_SPLIT_FINISHED);
    sg_emit_finish(actions, seq);
    instance->seq = 0;
    s->head.outstanding--;
}

/* The event loop assigns the next result's place with the next CALL, so that place must be free. */
static void end_call(struct sg_bcs *s, struct sg_actions *actions)
{
    struct sg_bcs_instance *current = sg_bcs_at(s, s->head.seq);
    bool split = current->flags & SG_CALL_SPLIT;

    if (!s->head.in_call || !(split || may_return(s, current)))
        return;
    if (sg_bcs_at(s, s->head.seq + 1)->seq != 0) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        return;
    }
    if (!current->has_run)
        sg_bcs_keep_operand(s, current, actions);
    s->head.in_call = 0;
    sg_emit_complete(actions, s->head.seq);
}

static void settle(struct sg_bcs *s, const struct sg_event *event, struct sg_actions *actions)
{
    sg_bcs_go_on(s, event->time_ns, actions);
    for (uint32_t back = s->credits - 1; back > 0; back--)
        finish(s, s->head.seq - back, actions);
    end_call(s, actions);
    if (!s->head.in_call)
        finish(s, s->head.seq, actions);
    count_strobes(s);
}

/* ---- events ---- */

static void take_call(struct sg_bcs *s, const struct sg_event *event)
{
    const struct sg_algo_call *call = &event->call;
    struct sg_bcs_instance *instance = sg_bcs_at(s, ++s->head.seq);
    bool contributes = call->operation != SG_OPERATION_BCAST || call->root == s->rank;

    s->head.in_call = 1;
    s->head.outstanding++;
    *instance = (struct sg_bcs_instance){
        .seq = s->head.seq,
        .bytes = call->bytes,
        .root = call->root,
        .value = contributes ? sg_data_operand() : (struct sg_data){0},
        .operation = (uint8_t)call->operation,
        .flags = (uint8_t)call->flags,
    };
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_bcs *s = memory;

    sg_bcs_measure_routine(SG_ROUTINE_DESCRIPTORS, actions);
    if (event->kind == SG_EVENT_POST)
        sg_bcs_post(s, &event->post, actions);
    else
        take_call(s, event);
    settle(s, event, actions);
}

/* Messages may overtake each other: the greatest number counts. */
static void take_called(struct sg_bcs *s, const struct sg_message *message,
                        struct sg_actions *actions)
{
    uint64_t *below = &s->below[sg_tree_toward(&s->place, s->degree, message->from)];

    uint64_t seq = sg_count_told(s->head.seq, message->header.seq);

    sg_bcs_measure_routine(SG_ROUTINE_DESCRIPTORS, actions);
    if (seq > *below)
        *below = seq;
    if (s->rank == 0 && !s->strobe.over)
        sg_emit_mark(actions, SG_MARK_CALLED_CROSSES_STROBE);
}

static void take_want(struct sg_bcs *s, uint64_t want)
{
    s->want = want > s->want ? want : s->want;
}

static void on_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_bcs *s = memory;
    const struct sg_message *message = &event->message;

    switch ((enum sg_bcs_kind)message->header.kind) {
    case SG_BCS_CALLED:
        take_called(s, message, actions);
        break;
    case SG_BCS_STROBE:
        sg_bcs_take_strobe(s, event, actions);
        break;
    case SG_BCS_PART:
        sg_bcs_take_part(s, message, actions);
        break;
    case SG_BCS_VALUE:
        sg_bcs_take_value(s, message, actions);
        break;
    case SG_BCS_DONE:
        sg_bcs_take_done(s, message);
        break;
    case SG_BCS_OFF:
        sg_bcs_end_strobes(s, actions);
        break;
    case SG_BCS_WANT:
        take_want(s, sg_count_told(s->strobe.index, message->header.seq));
        break;
    case SG_BCS_LEFT:
        sg_bcs_take_left(s, sg_tree_toward(&s->place, s->degree, message->from));
        break;
    case SG_BCS_DESCRIPTOR:
    case SG_BCS_ANSWER:
    case SG_BCS_REFUSED:
    case SG_BCS_NOTED:
        sg_bcs_measure_routine(SG_ROUTINE_DESCRIPTORS, actions);
        sg_bcs_take_matching(s, message->from, &message->header, actions);
        break;
    case SG_BCS_PULL:
    case SG_BCS_FILLED:
    case SG_BCS_TOOK:
        sg_bcs_measure_routine(SG_ROUTINE_TRANSFER, actions);
        sg_bcs_take_transfer(s, &message->header, actions);
        break;
    }
    settle(s, event, actions);
}

static void on_reply(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_bcs *s = memory;

    sg_bcs_measure_routine(SG_ROUTINE_TRANSFER, actions);
    sg_bcs_take_reply(s, event->reply.tag, actions);
    settle(s, event, actions);
}

static void on_timer(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_bcs *s = memory;

    sg_bcs_ring(s, event->timer.id, event->time_ns, actions);
    settle(s, event, actions);
}

static void on_drain(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct sg_bcs *s = memory;

    s->drained = true;
    settle(s, event, actions);
}

const struct sg_algo sg_algo_bcs = {
    .name = "bcs",
    .operations = 1u << SG_OPERATION_BARRIER | 1u << SG_OPERATION_REDUCE |
                  1u << SG_OPERATION_ALLREDUCE | 1u << SG_OPERATION_BCAST,
    .uses = SG_ALGO_MULTICAST | SG_ALGO_PIPELINED | SG_ALGO_SLICES | SG_ALGO_POSTS,
    .parameters = sg_parameters_bcs,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_reply = on_reply,
    .on_drain = on_drain,
    .peers = peers,
};
