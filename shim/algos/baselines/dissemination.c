/* dissemination: a barrier in ceil(log2(size)) rounds (paper: adaptive, the baseline). In round i
 * every endpoint sends to rank + 2^i and continues when the message from rank - 2^i has arrived.
 *
 * Nobody leaves instance n before all have entered it, so messages belong to the current instance
 * or the next: two sets of rounds suffice, and no other flow control is needed. */
#include "algos/broadcast.h"
#include "algos/tree.h"

enum { DISSEMINATION_ROUND = 1 };

struct dissemination {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t round;       /* of the current instance: already sent, message awaited */
    uint32_t received[2]; /* rounds as bits, of instance n at n modulo 2 */
};

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX)
        return false;
    *needs = (struct sg_algo_needs){.state_bytes = sizeof(struct dissemination)};
    return true;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    struct dissemination *state = memory;

    state->head.seq = setup->parameters.first;
    state->rank = setup->rank;
    state->size = setup->size;
}

static void send_round(const struct dissemination *state, struct sg_actions *actions)
{
    struct sg_header header = {
        .seq = (uint32_t)state->head.seq,
        .kind = DISSEMINATION_ROUND,
        .operation = SG_OPERATION_BARRIER,
        .number = {state->round},
    };

    sg_emit_send(actions, sg_dissemination_to(state->rank, state->size, (int)state->round),
                 &header);
}

/* Goes on as far as the received messages allow. */
static void proceed(struct dissemination *state, struct sg_actions *actions)
{
    uint32_t rounds = (uint32_t)sg_tree_levels(state->size);
    uint32_t *received = &state->received[state->head.seq % 2];

    while (state->round < rounds && *received >> state->round & 1) {
        if (++state->round < rounds)
            send_round(state, actions);
    }
    if (state->round < rounds)
        return;
    *received = 0;
    state->head.in_call = 0;
    state->head.outstanding = 0;
    sg_emit_complete(actions, state->head.seq);
    sg_emit_finish(actions, state->head.seq);
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct dissemination *state = memory;

    state->head.seq++;
    state->head.in_call = 1;
    state->head.outstanding = 1;
    state->round = 0;
    if (state->size > 1)
        send_round(state, actions);
    proceed(state, actions);
}

static void on_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct dissemination *state = memory;
    const struct sg_header *header = &event->message.header;

    state->received[header->seq % 2] |= 1u << header->number[0];
    if (header->seq != (uint32_t)state->head.seq) {
        state->head.early++;
        sg_emit_mark(actions, SG_MARK_EARLY);
        return;
    }
    proceed(state, actions);
}

/* Nobody depends on an endpoint that has left. */
static void on_drain(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers found = sg_peers_into(out, capacity);

    sg_peers_add_powers(&found, setup->rank, setup->size);
    return sg_peers_count(&found);
}

const struct sg_algo sg_algo_dissemination = {
    .name = "dissemination",
    .operations = 1 << SG_OPERATION_BARRIER,
    .parameters = sg_parameters_dissemination,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_drain = on_drain,
    .peers = peers,
};
