#include "weak/bell.h"

#include "internode/endpoint.h"
#include "internode/feed.h"
#include "internode/nonblocking.h"
#include "mpi/real.h"
#include "mpi/report.h"
#include "progress/adapter.h"
#include "progress/mode.h"
#include "progress/signal.h"

#include "algos/emit.h"

#include <stddef.h>
#include <string.h>

#define RANKS 3
#define ENDPOINTS 2
#define DEPTH 2
#define SLOT_BYTES 64
#define SEGMENT_BYTES 393216
#define VALUE UINT64_C(0x1122334455667788)

/* ---- the protocol ---- */

struct toy {
    struct sg_algo_head head;
    int32_t rank;
    uint32_t arrived, taken; /* messages; those whose instance has been entered */
};

static bool toy_needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    *needs = (struct sg_algo_needs){.state_bytes = sizeof(struct toy), .slots = 1, .parts = 1};
    return true;
}

static void toy_init(void *state, const struct sg_algo_setup *setup)
{
    ((struct toy *)state)->rank = setup->rank;
}

static void end_instance(struct toy *toy, struct sg_actions *actions)
{
    toy->taken++;
    sg_emit_finish(actions, toy->taken);
}

static void toy_on_call(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct toy *toy = state;
    struct sg_header header = {.seq = ++toy->head.seq, .parts = 1, .bytes = 8};

    if (toy->rank == 0) {
        sg_emit_part(actions, sg_data_operand());
        sg_emit_send(actions, 1, &header)->solicited = true;
        sg_emit_complete(actions, header.seq);
        sg_emit_finish(actions, header.seq);
        return;
    }
    sg_emit_complete(actions, toy->head.seq);
    if (toy->arrived > toy->taken)
        end_instance(toy, actions);
    else
        toy->head.outstanding++;
}

static void toy_on_message(void *state, const struct sg_event *event, struct sg_actions *actions)
{
    struct toy *toy = state;

    toy->arrived++;
    sg_emit_copy(actions, sg_data_part(0), sg_data_slot(0), 8);
    if (toy->head.outstanding == 0)
        return;
    toy->head.outstanding--;
    end_instance(toy, actions);
}

static const struct sg_algo toy = {.name = "toy",
                                   .operations = 1u << SG_OPERATION_REDUCE,
                                   .needs = toy_needs,
                                   .init = toy_init,
                                   .on_call = toy_on_call,
                                   .on_message = toy_on_message};

/* ---- what progress calls ---- */

static struct sg_span *span_of(struct sg_progress_client *client)
{
    return (struct sg_span *)(void *)((char *)client - offsetof(struct sg_span, client));
}

static bool look(struct sg_progress_client *client)
{
    return sg_span_look(span_of(client));
}

static void advance(struct sg_progress_client *client)
{
    sg_span_advance(span_of(client));
}

static void check(struct sg_progress_client *client)
{
}

static const struct sg_progress_ops ops = {look, advance, check};

/* ---- the machine ---- */

static _Alignas(64) unsigned char segment[SEGMENT_BYTES];
static _Alignas(64) unsigned char cells[4096];
static struct sg_span spans[RANKS];
static int endpoint_of[RANKS] = {0, 1, 1}, machine_of[RANKS], number_of[RANKS] = {0, 1, 2};
static int home_of[ENDPOINTS], index_of[ENDPOINTS] = {0, 1};
static struct sg_transport *transport;
static uint64_t operand;

static size_t place(size_t *end, size_t bytes)
{
    size_t at = *end;

    *end = (at + bytes + 63) & ~(size_t)63;
    return at;
}

static void lay_out(struct sg_span *span)
{
    struct sg_span_object *object = &span->objects[0];
    size_t end = 0;

    object->setup.parameters.credits = DEPTH;
    toy.needs(&object->setup, &object->needs);
    object->algo = &toy;
    object->progress = span->progress_low = span->progress_high = SG_PROGRESS_THREAD;
    object->slot_bytes = SLOT_BYTES;
    object->cells_at = 64;
    object->slots_at = 128;
    object->results_at = object->slots_at + SLOT_BYTES;
    object->stride = object->results_at + (size_t)DEPTH * SLOT_BYTES;
    place(&end, sizeof(struct sg_span_header));
    span->about_at = place(&end, RANKS * sizeof(struct sg_span_about));
    span->endpoints_at = place(&end, ENDPOINTS * sizeof(struct sg_span_endpoint));
    object->at = place(&end, ENDPOINTS * object->stride);
    span->contributions_at = place(&end, (size_t)ENDPOINTS * DEPTH * RANKS * SLOT_BYTES);
    span->transport_at = end;
}

static void make_span(struct sg_span *span, int rank, int ranks)
{
    span->header = (struct sg_span_header *)segment;
    span->bed = (struct sg_wait_bed){&span->header->sleepers, &span->header->wake};
    span->rank = rank;
    span->ranks = 1 + ranks;
    span->endpoints = span->here = ENDPOINTS;
    span->endpoint = endpoint_of[rank];
    span->local = rank > 1 ? rank - 1 : 0;
    span->locals = span->servers = rank > 0 ? ranks : 1;
    span->locals_max = RANKS;
    span->endpoint_of = endpoint_of;
    span->machine_of = machine_of;
    span->number_of = number_of;
    span->home_of = home_of;
    span->index_of = index_of;
    span->ranks_here = 1 + ranks;
    span->depth = DEPTH;
    span->slot_bytes = SLOT_BYTES;
    span->object_count = 1;
    span->rules = bell_rules();
    span->ops = &sg_transport_shm;
    lay_out(span);
    span->transport_setup = (struct sg_transport_setup){
        .endpoints = ENDPOINTS, .inflight = 2, .staged = 1, .eager_bytes = SLOT_BYTES};
}

static void add(struct sg_span *span)
{
    span->client =
        (struct sg_progress_client){.ops = &ops,
                                    .bell = &sg_span_endpoint(span, span->endpoint)->bell,
                                    .serves = true,
                                    .has_companions = span->locals > 1};
    sg_progress_add(&span->client);
}

void bell_set_up(int ranks)
{
    for (int rank = 0; rank <= ranks; rank++)
        make_span(&spans[rank], rank, ranks);
    spans[0].ops->open(&spans[0].transport_setup, sg_span_at(&spans[0], spans[0].transport_at),
                       &transport);
    for (int rank = 0; rank <= ranks; rank++)
        spans[rank].transport = transport;
    for (int endpoint = 0; endpoint < ENDPOINTS; endpoint++) {
        struct sg_algo_setup setup = {.rank = endpoint, .size = ENDPOINTS};

        toy.init(sg_span_region(&spans[0], 0, endpoint), &setup);
    }
    operand = VALUE;
    sg_progress_start(NULL, bell_rules(), false, SG_PROGRESS_THREAD, 0);
    for (int rank = 1; rank <= ranks; rank++)
        add(&spans[rank]);
}

/* ---- what threads do ---- */

static void feed_call(struct sg_span *span)
{
    struct sg_span_instance *instance = sg_span_place(span, 0);

    sg_span_lock(span);
    instance->arrived = 1;
    instance->bytes = 8;
    instance->root = 0;
    instance->operation = SG_OPERATION_REDUCE;
    instance->ready = 1;
    memcpy(sg_span_contribution(span, 0, 0), &operand, sizeof operand);
    sg_span_feed_calls(span);
    sg_span_unlock(span);
}

void bell_send(void)
{
    feed_call(&spans[0]);
}

void bell_call(int rank)
{
    sg_span_enter(&spans[rank]);
    feed_call(&spans[rank]);
    sg_span_leave(&spans[rank]);
}

void bell_send_quietly(void)
{
    const void *part = &operand;
    struct sg_transport_send message = {.header = {.seq = 1, .parts = 1, .bytes = 8},
                                        .parts = &part};

    spans[0].ops->send(transport, 0, 1, &message);
}

void bell_expect(void)
{
    feed_call(&spans[1]);
}

void bell_start_helper(void)
{
    sg_progress_mode_thread();
}

void bell_look(int rank)
{
    sg_span_look(&spans[rank]);
}

void bell_check(int messages)
{
    const struct sg_span *span = &spans[1];
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, 1);
    const struct toy *state = (const void *)sg_span_region(span, 0, 1);
    uint64_t value;

    WEAK_CHECK(state->arrived == (uint32_t)messages);
    WEAK_CHECK(state->head.outstanding == 0 && state->taken == state->head.seq);
    WEAK_CHECK(endpoint->bell.outstanding == 0 && endpoint->lock == 0);
    memcpy(&value, sg_span_region(span, 0, 1) + span->objects[0].slots_at, sizeof value);
    WEAK_CHECK(value == VALUE);
    spans[0].ops->close(transport);
}

/* ---- what the engine has beside ---- */

struct sg_real sg_real;

enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool wired,
                                       struct sg_progress_table **out, uint32_t *own)
{
    *out = (struct sg_progress_table *)cells;
    *own = 1;
    return SG_OK;
}

void sg_progress_signal_start(struct sg_progress_cell *own, int number, void (*when_sent)(void))
{
}

bool sg_call_is_in_place(const struct sg_call *call)
{
    return false;
}

/* Not called: one machine, mode thread, one rank to fold, and calls that agree. */
#define NOT_CALLED(type, name, ...)                                                                \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        __builtin_trap();                                                                          \
    }

NOT_CALLED(bool, sg_progress_adapter_start, void (*when_told)(void))
NOT_CALLED(void, sg_progress_adapter_arm, struct sg_progress_client *client)
NOT_CALLED(void, sg_progress_adapter_remove, struct sg_progress_client *client)
NOT_CALLED(bool, sg_progress_signal_install, void)
NOT_CALLED(bool, sg_progress_signal_is_ours, void)
NOT_CALLED(bool, sg_progress_signal_expect, void)
NOT_CALLED(bool, sg_progress_signal_is_unheard, uint64_t now_ns)
NOT_CALLED(bool, sg_progress_signal_send, const struct sg_progress_cell *to)
NOT_CALLED(void, sg_operands_fold, void *kernel, const void *left, const void *right, void *out,
           size_t count)
NOT_CALLED(void *, sg_operands_fold_context, const struct sg_operands *operands)

void sg_observed_late(const struct sg_late *late)
{
}

void sg_report_mismatch(const struct sg_call *call, int rank, const struct sg_node_about *own,
                        int other_rank, const struct sg_node_about *other)
{
    __builtin_trap();
}
