/* pairwise: allreduce and barrier by recursive doubling (paper: adaptive, the baseline).
 *
 * If size is no power of two, the first 2*(size - p) ranks fold in pairs first: the even one sends
 * to the odd one and waits for the result. The p positions then exchange their values with the
 * partner across each dimension; both fold the lower position's value left of the other's.
 *
 * Association: SG_SHAPE_DOUBLING, the same at every endpoint.
 *
 * Nobody leaves instance n before all have entered it, so messages belong to the current instance
 * or the next: two sets of slots suffice, and no other flow control is needed. */
#include "algos/broadcast.h"
#include "algos/tree.h"

/* Steps that wait for a message; that of dimension d is STEP_DIMENSION + d. */
enum { STEP_FOLD, STEP_DIMENSION };
enum { PAIRWISE_VALUE = 1, PAIRWISE_RESULT };

/* Location of the partial result. */
enum { VALUE_OPERAND, VALUE_SLOT };

struct pairwise {
    struct sg_algo_head head;
    int32_t rank, size;
    struct sg_hypercube cube;
    uint32_t step;  /* of the current instance */
    uint32_t bytes; /* ... with its operation and flags */
    uint8_t operation, flags;
    uint8_t value; /* VALUE_*: location of the partial result */
    uint8_t credits;
    uint32_t received[2]; /* steps as bits, of instance n at n modulo 2 */
};

/* Slot 0 holds the partial result; then each of two instances has one slot per step. */
static uint32_t steps(const struct sg_hypercube *cube)
{
    return (uint32_t)cube->dimensions + STEP_DIMENSION;
}

static bool needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    struct sg_hypercube cube;

    if (setup->size < 1 || setup->size > SG_ENDPOINTS_MAX)
        return false;
    cube = sg_hypercube_find(setup->rank, setup->size);
    *needs = (struct sg_algo_needs){
        .state_bytes = sizeof(struct pairwise),
        .slots = 1 + 2 * steps(&cube),
        .parts = 1,
    };
    return true;
}

static void init(void *memory, const struct sg_algo_setup *setup)
{
    struct pairwise *state = memory;

    state->head.seq = setup->parameters.first;
    state->rank = setup->rank;
    state->size = setup->size;
    state->cube = sg_hypercube_find(setup->rank, setup->size);
    state->credits = (uint8_t)sg_credits(&setup->parameters);
}

static struct sg_data value_of(const struct pairwise *state)
{
    return state->value == VALUE_OPERAND ? sg_data_operand() : sg_data_slot(0);
}

static struct sg_data step_slot(const struct pairwise *state, uint64_t seq, uint32_t step)
{
    return sg_data_slot(1 + (uint32_t)(seq % 2) * steps(&state->cube) + step);
}

static void send_value(const struct pairwise *state, int32_t to, uint8_t kind, uint32_t step,
                       struct sg_actions *actions)
{
    struct sg_header header = {
        .seq = (uint32_t)state->head.seq,
        .kind = kind,
        .operation = state->operation,
        .flags = state->flags,
        .bytes = state->bytes,
        .number = {step},
    };

    if (state->bytes > 0) {
        header.parts = 1;
        sg_emit_part(actions, value_of(state));
    }
    sg_emit_send(actions, to, &header);
}

/* The partner across dimension d. */
static int32_t partner(const struct pairwise *state, int dimension)
{
    return sg_hypercube_rank(state->cube.position ^ (1 << dimension), state->size);
}

static void leave(struct pairwise *state, struct sg_data result, struct sg_actions *actions)
{
    struct sg_data into = {SG_DATA_RESULT,
                           (uint16_t)sg_count_place(state->head.seq, state->credits)};

    if (state->bytes > 0)
        sg_emit_copy(actions, result, into, state->bytes);
    state->received[state->head.seq % 2] = 0;
    state->head.in_call = 0;
    state->head.outstanding = 0;
    sg_emit_complete(actions, state->head.seq);
    sg_emit_finish(actions, state->head.seq);
}

/* Folds the data of the current step's message. */
static void take_step(struct pairwise *state, struct sg_data data, struct sg_actions *actions)
{
    bool left = state->step == STEP_FOLD ||
                (state->cube.position >> (state->step - STEP_DIMENSION) & 1) != 0;

    if (state->bytes > 0) {
        struct sg_data value = value_of(state);

        sg_emit_reduce(actions, left ? data : value, left ? value : data, sg_data_slot(0),
                       state->bytes)
            ->data.seq = state->head.seq;
        state->value = VALUE_SLOT;
    }
    state->step++;
    if (state->step < steps(&state->cube))
        send_value(state, partner(state, (int)(state->step - STEP_DIMENSION)), PAIRWISE_VALUE,
                   state->step, actions);
}

/* Goes on as far as the received messages allow. */
static void proceed(struct pairwise *state, struct sg_actions *actions)
{
    while (state->step < steps(&state->cube) &&
           state->received[state->head.seq % 2] >> state->step & 1)
        take_step(state, step_slot(state, state->head.seq, state->step), actions);
    if (state->step < steps(&state->cube))
        return;
    if (state->cube.partner >= 0)
        send_value(state, state->cube.partner, PAIRWISE_RESULT, 0, actions);
    leave(state, value_of(state), actions);
}

static void on_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct pairwise *state = memory;

    state->head.seq++;
    state->head.in_call = 1;
    state->head.outstanding = 1;
    state->operation = (uint8_t)event->call.operation;
    state->flags = (uint8_t)event->call.flags;
    state->bytes = event->call.bytes;
    state->value = VALUE_OPERAND;
    state->step = state->cube.partner >= 0 ? STEP_FOLD : STEP_DIMENSION;
    if (state->cube.position < 0) {
        send_value(state, state->cube.partner, PAIRWISE_VALUE, STEP_FOLD, actions);
        return;
    }
    if (state->step == STEP_DIMENSION && state->cube.dimensions > 0)
        send_value(state, partner(state, 0), PAIRWISE_VALUE, STEP_DIMENSION, actions);
    proceed(state, actions);
}

static void on_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct pairwise *state = memory;
    const struct sg_header *header = &event->message.header;
    uint32_t step = header->number[0];
    bool current = header->seq == (uint32_t)state->head.seq;

    if (header->kind == PAIRWISE_RESULT) {
        leave(state, sg_data_part(0), actions);
        return;
    }
    if (!current) {
        state->head.early++;
        sg_emit_mark(actions, SG_MARK_EARLY);
    }
    if (current && step == state->step) {
        take_step(state, sg_data_part(0), actions);
        proceed(state, actions);
        return;
    }
    state->received[header->seq % 2] |= 1u << step;
    if (header->bytes > 0)
        sg_emit_copy(actions, sg_data_part(0), step_slot(state, header->seq, step), header->bytes);
}

/* Nobody depends on an endpoint that has left. */
static void on_drain(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
}

static int peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                 int32_t *out, int capacity)
{
    struct sg_peers found = sg_peers_into(out, capacity);

    sg_peers_add_hypercube(&found, setup->rank, setup->size);
    return sg_peers_count(&found);
}

const struct sg_algo sg_algo_pairwise = {
    .name = "pairwise",
    .operations = 1 << SG_OPERATION_ALLREDUCE | 1 << SG_OPERATION_BARRIER,
    .uses = SG_ALGO_USER,
    .parameters = sg_parameters_pairwise,
    .needs = needs,
    .init = init,
    .on_call = on_call,
    .on_message = on_message,
    .on_drain = on_drain,
    .peers = peers,
};
