/* Endpoints of one machine on the real engine with a protocol of one message (doorbell.h). */
#include "weak/doorbell.h"

#include "internode/disagree.h"
#include "internode/endpoint.h"
#include "internode/nonblocking.h"
#include "mpi/real.h"
#include "progress/adapter.h"
#include "progress/mode.h"
#include "progress/signal.h"
#include "wait/turn.h"

#include "algos/broadcast.h"

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

static struct sg_internode *internode_of(struct sg_progress_client *client)
{
    return (struct sg_internode *)(void *)((char *)client - offsetof(struct sg_internode, client));
}

static bool look(struct sg_progress_client *client)
{
    return sg_endpoint_poll(internode_of(client));
}

static void advance(struct sg_progress_client *client)
{
    sg_nonblocking_advance(internode_of(client));
}

static void check(struct sg_progress_client *client)
{
}

static const struct sg_progress_ops ops = {look, advance, check};

/* ---- the machine ---- */

static _Alignas(64) unsigned char segment[SEGMENT_BYTES];
static _Alignas(64) unsigned char cells[4096];
static struct sg_internode internodes[RANKS];
/* Rank 0 is endpoint 0, the others are endpoint 1. */
static const struct sg_group_run ranks_run[] = {{0, 0, 0, 1, 0}, {2, 1, 1, INT32_MAX, 2}};
static const struct sg_group_run endpoints_run = {0, 0, 0, INT32_MAX, 0};
static struct sg_transport *transport;
static uint64_t operand;

static size_t place(size_t *end, size_t bytes)
{
    size_t at = *end;

    *end = (at + bytes + 63) & ~(size_t)63;
    return at;
}

static void lay_out(struct sg_internode *internode)
{
    struct sg_internode_protocol *protocol = &internode->protocols[0];
    size_t end = 0;

    protocol->setup.parameters.credits = DEPTH;
    toy.needs(&protocol->setup, &protocol->needs);
    protocol->algo = &toy;
    protocol->progress = internode->progress_low = internode->progress_high = SG_PROGRESS_THREAD;
    protocol->slot_bytes = SLOT_BYTES;
    protocol->cells_at = 64;
    protocol->slots_at = 128;
    protocol->results_at = protocol->slots_at + SLOT_BYTES;
    protocol->stride = protocol->results_at + (size_t)DEPTH * SLOT_BYTES;
    place(&end, sizeof(struct sg_internode_header));
    internode->rank_states_at = place(&end, ENDPOINTS * RANKS * sizeof(struct sg_rank_state));
    internode->endpoints_at = place(&end, ENDPOINTS * sizeof(struct sg_endpoint));
    protocol->at = place(&end, ENDPOINTS * protocol->stride);
    internode->contributions_at = place(&end, (size_t)ENDPOINTS * DEPTH * RANKS * SLOT_BYTES);
    internode->transport_at = end;
}

static void make_internode(struct sg_internode *internode, int rank, int ranks)
{
    internode->header = (struct sg_internode_header *)segment;
    internode->wait_queue =
        (struct sg_wait_queue){&internode->header->sleepers, &internode->header->wake, NULL, false};
    internode->rank = rank;
    internode->ranks = 1 + ranks;
    internode->endpoints = internode->here = ENDPOINTS;
    internode->endpoint = internode->index = rank > 0;
    internode->local = rank > 1 ? rank - 1 : 0;
    internode->locals = internode->servers = rank > 0 ? ranks : 1;
    internode->locals_max = RANKS;
    internode->by_endpoint = (struct sg_grouping){
        .items = 1 + ranks, .groups = ENDPOINTS, .run_count = ranks, .runs = ranks_run};
    internode->by_machine = (struct sg_grouping){
        .items = ENDPOINTS, .groups = 1, .run_count = 1, .runs = &endpoints_run};
    internode->depth = DEPTH;
    internode->slot_bytes = SLOT_BYTES;
    internode->protocol_count = 1;
    internode->rules = doorbell_rules();
    internode->ops = &sg_transport_shm;
    lay_out(internode);
    internode->transport_setup = (struct sg_transport_setup){
        .endpoints = ENDPOINTS, .inflight = 2, .staged = 1, .eager_bytes = SLOT_BYTES};
}

static void add(struct sg_internode *internode)
{
    internode->client = (struct sg_progress_client){
        .ops = &ops,
        .doorbell = &sg_internode_endpoint(internode, internode->endpoint)->doorbell,
        .serves = true,
        .has_companions = internode->locals > 1};
    sg_progress_add(&internode->client);
}

void doorbell_set_up(int ranks)
{
    for (int rank = 0; rank <= ranks; rank++)
        make_internode(&internodes[rank], rank, ranks);
    internodes[0].ops->open(&internodes[0].transport_setup,
                            sg_internode_at(&internodes[0], internodes[0].transport_at),
                            &transport);
    for (int rank = 0; rank <= ranks; rank++)
        internodes[rank].transport = transport;
    for (int endpoint = 0; endpoint < ENDPOINTS; endpoint++) {
        struct sg_algo_setup setup = {.rank = endpoint, .size = ENDPOINTS};

        toy.init(sg_internode_region(&internodes[0], 0, endpoint), &setup);
    }
    operand = VALUE;
    sg_progress_start(NULL, doorbell_rules(), false, SG_PROGRESS_THREAD, 0);
    for (int rank = 1; rank <= ranks; rank++)
        add(&internodes[rank]);
}

/* ---- what threads do ---- */

static void deliver_call(struct sg_internode *internode)
{
    struct sg_internode_instance *instance = sg_internode_instance_at(internode, 0);

    sg_endpoint_lock(internode);
    instance->arrived = 1;
    instance->bytes = 8;
    instance->root = 0;
    instance->operation = SG_OPERATION_REDUCE;
    instance->ready = 1;
    memcpy(sg_internode_contribution(internode, 0, 0), &operand, sizeof operand);
    sg_endpoint_deliver_calls(internode);
    sg_endpoint_unlock(internode);
}

void doorbell_send(void)
{
    deliver_call(&internodes[0]);
}

void doorbell_call(int rank)
{
    sg_internode_enter(&internodes[rank]);
    deliver_call(&internodes[rank]);
    sg_internode_leave(&internodes[rank]);
}

void doorbell_send_quietly(void)
{
    const void *part = &operand;
    struct sg_transport_send message = {.header = {.seq = 1, .parts = 1, .bytes = 8},
                                        .parts = &part};

    internodes[0].ops->send(transport, 0, 1, &message);
}

void doorbell_expect(void)
{
    deliver_call(&internodes[1]);
}

void doorbell_start_helper(void)
{
    sg_progress_mode_thread();
}

void doorbell_look(int rank)
{
    sg_endpoint_poll(&internodes[rank]);
}

void doorbell_check(int messages)
{
    const struct sg_internode *internode = &internodes[1];
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, 1);
    const struct toy *state = (const void *)sg_internode_region(internode, 0, 1);
    uint64_t value;

    WEAK_CHECK(state->arrived == (uint32_t)messages);
    WEAK_CHECK(state->head.outstanding == 0 && state->taken == state->head.seq);
    WEAK_CHECK(endpoint->doorbell.outstanding == 0 && endpoint->lock == 0);
    memcpy(&value, sg_internode_region(internode, 0, 1) + internode->protocols[0].slots_at,
           sizeof value);
    WEAK_CHECK(value == VALUE);
    internodes[0].ops->close(transport);
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

void sg_progress_signal_start(struct sg_process_slot *own, int number, void (*when_sent)(void))
{
}

bool sg_call_is_in_place(const struct sg_call *call)
{
    return false;
}

/* Not called: one machine, mode thread, one rank to fold, calls that agree, and room for all
 * messages. */
#define NOT_CALLED(type, name, ...)                                                                \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        __builtin_trap();                                                                          \
    }

NOT_CALLED(void, sg_user_fold, void *user, const void *left, const void *right, void *out,
           size_t count)
NOT_CALLED(bool, sg_progress_adapter_start, void (*when_told)(void))
NOT_CALLED(void, sg_progress_adapter_arm, struct sg_progress_client *client)
NOT_CALLED(void, sg_progress_adapter_remove, struct sg_progress_client *client)
NOT_CALLED(bool, sg_progress_signal_install, void)
NOT_CALLED(bool, sg_progress_signal_is_ours, void)
NOT_CALLED(bool, sg_progress_signal_expect, void)
NOT_CALLED(bool, sg_progress_signal_is_unheard, uint64_t now_ns)
NOT_CALLED(bool, sg_progress_signal_send, const struct sg_process_slot *to)
NOT_CALLED(void, sg_operands_fold, void *kernel, const void *left, const void *right, void *out,
           size_t count)
NOT_CALLED(void *, sg_operands_fold_context, const struct sg_operands *operands)
NOT_CALLED(enum sg_wait_mode, sg_turn_mode, void)
NOT_CALLED(bool, sg_turn_is_contested, void)
NOT_CALLED(void, sg_turn_look, void)
NOT_CALLED(bool, sg_turn_yield, void)

void sg_trace_event_late(const struct sg_late *late)
{
}

void sg_trace_event_slice(const struct sg_told_slice *told)
{
}

NOT_CALLED(void, sg_internode_end_different, const struct sg_internode *internode,
           const struct sg_chunk_window *window)
NOT_CALLED(void, sg_internode_conform, struct sg_internode *internode,
           const struct sg_chunk_window *window, struct sg_others_call *out)
NOT_CALLED(void, sg_internode_conformed, const struct sg_internode_plan *own,
           struct sg_others_call *others)
NOT_CALLED(int, sg_internode_dissent_error, uint64_t dissent)
