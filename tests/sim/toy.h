/* The simplest protocol, and ways to get it wrong: endpoint 0 gathers every contribution, folds
 * them in order and sends the result to each. For tests of the explorer. */
#ifndef SG_TESTS_SIM_TOY_H
#define SG_TESTS_SIM_TOY_H

#include "algos/broadcast.h"

#include <string.h>

enum toy_bug {
    TOY_SOUND,
    TOY_LEAVES_EARLY, /* does not wait for the last */
    TOY_FOLDS_TWICE,
    TOY_FOLDS_TOO_FEW,
    TOY_SWAPS_SIDES,
    TOY_FINISHES_TWICE,
    TOY_FINISHES_NEVER,
    TOY_HANGS,
    TOY_FLOODS,
    TOY_WRITES_OUTSIDE,
    TOY_KEEPS_A_POINTER,
    TOY_CRASHES,
    TOY_FORGETS_SEQ, /* takes the second of two early contributions for the first */
    TOY_NAMES_A_STRANGER,
    TOY_REMEMBERS /* behaves by what happened in earlier runs */
};

static enum toy_bug toy_bug;
static uint64_t toy_memory;

enum { TOY_CONTRIBUTION = 1, TOY_RESULT, TOY_NOISE };

struct toy {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits, bytes;
    enum sg_operation operation;
    uint64_t got[2]; /* by instance modulo 2: nobody is further ahead of endpoint 0 */
    struct toy *self;
};

static bool toy_needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs)
{
    *needs = (struct sg_algo_needs){
        .state_bytes = sizeof(struct toy), .slots = 2 * (uint32_t)setup->size, .parts = 1};
    return true;
}

static void toy_init(void *memory, const struct sg_algo_setup *setup)
{
    struct toy *toy = memory;

    toy->head.seq = setup->parameters.first;
    toy->rank = setup->rank;
    toy->size = setup->size;
    toy->credits = setup->parameters.credits;
    toy->self = toy;
}

static struct sg_data toy_slot(const struct toy *toy, uint64_t seq, int32_t rank)
{
    return sg_data_slot((uint32_t)(seq % 2) * (uint32_t)toy->size + (uint32_t)rank);
}

static void toy_leave(struct toy *toy, struct sg_data result, struct sg_actions *actions)
{
    struct sg_data into = {SG_DATA_RESULT, (uint16_t)(toy->head.seq % toy->credits)};

    if (toy->bytes > 0)
        sg_emit_copy(actions, result, into, toy->bytes);
    toy->head.in_call = toy->head.outstanding = 0;
    sg_emit_complete(actions, toy->head.seq);
    if (toy_bug != TOY_FINISHES_NEVER)
        sg_emit_finish(actions, toy->head.seq);
    if (toy_bug == TOY_FINISHES_TWICE)
        sg_emit_finish(actions, toy->head.seq);
}

static void toy_fold(struct toy *toy, int32_t rank, struct sg_actions *actions)
{
    struct sg_data left = toy_slot(toy, toy->head.seq, 0);
    struct sg_data right = toy_slot(toy, toy->head.seq, rank);
    bool swap = toy_bug == TOY_SWAPS_SIDES;

    sg_emit_reduce(actions, swap ? right : left, swap ? left : right, left, toy->bytes)->data.seq =
        toy->head.seq;
}

static void toy_send(struct toy *toy, int32_t to, uint8_t kind, struct sg_data value,
                     struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)toy->head.seq, .kind = kind, .bytes = toy->bytes};

    header.parts = kind != TOY_NOISE && toy->bytes > 0;
    if (header.parts > 0)
        sg_emit_part(actions, value);
    sg_emit_send(actions, to, &header);
}

static void toy_proceed(struct toy *toy, struct sg_actions *actions)
{
    uint64_t all = ~UINT64_C(0) >> (64 - toy->size);
    uint64_t missing = all & ~toy->got[toy->head.seq % 2];
    struct sg_data value = toy_slot(toy, toy->head.seq, 0);
    int32_t last = toy->size - (toy_bug == TOY_FOLDS_TOO_FEW);

    if (!toy->head.in_call || toy_bug == TOY_HANGS)
        return;
    if (toy_bug == TOY_LEAVES_EARLY ? (missing & (missing - 1)) != 0 : missing != 0)
        return;
    for (int32_t rank = 1; rank < last && toy->bytes > 0; rank++)
        toy_fold(toy, rank, actions);
    if (toy_bug == TOY_FOLDS_TWICE && toy->size > 1 && toy->bytes > 0)
        toy_fold(toy, 1, actions);
    for (int32_t rank = 1; rank < toy->size; rank++)
        toy_send(toy, rank, TOY_RESULT, value, actions);
    toy->got[toy->head.seq % 2] = 0;
    toy_leave(toy, value, actions);
}

static void toy_call(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct toy *toy = memory;

    if (toy_bug == TOY_KEEPS_A_POINTER)
        toy->self->head.seq++;
    else
        toy->head.seq++;
    toy->head.in_call = toy->head.outstanding = 1;
    toy->bytes = event->call.bytes;
    if (toy_bug == TOY_WRITES_OUTSIDE)
        memset(toy + 1, 0, 1);
    if (toy_bug == TOY_CRASHES)
        __builtin_trap();
    for (int i = 0; toy_bug == TOY_FLOODS && toy->rank > 0 && i < 60; i++)
        toy_send(toy, 0, TOY_NOISE, sg_data_operand(), actions);
    if (toy_bug == TOY_NAMES_A_STRANGER && toy->rank > 1)
        toy_send(toy, 1, TOY_NOISE, sg_data_operand(), actions);
    if (toy->rank > 0) {
        toy_send(toy, 0, TOY_CONTRIBUTION, sg_data_operand(), actions);
        return;
    }
    if (toy->bytes > 0)
        sg_emit_copy(actions, sg_data_operand(), toy_slot(toy, toy->head.seq, 0), toy->bytes);
    toy->got[toy->head.seq % 2] |= 1;
    toy_proceed(toy, actions);
}

static void toy_message(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
    struct toy *toy = memory;
    const struct sg_header *header = &event->message.header;
    uint32_t seq = toy_bug == TOY_FORGETS_SEQ ? (uint32_t)toy->head.seq : header->seq;

    if (toy_bug == TOY_REMEMBERS && toy_memory++ % 2 != 0 && header->kind == TOY_RESULT)
        sg_emit_set_timer(actions, 0, event->time_ns);
    if (header->kind == TOY_RESULT) {
        toy_leave(toy, sg_data_part(0), actions);
    } else if (header->kind == TOY_CONTRIBUTION) {
        if (header->parts > 0)
            sg_emit_copy(actions, sg_data_part(0), toy_slot(toy, seq, event->message.from),
                         header->bytes);
        toy->got[seq % 2] |= UINT64_C(1) << event->message.from;
        toy_proceed(toy, actions);
    }
}

static void toy_timer(void *memory, const struct sg_event *event, struct sg_actions *actions)
{
}

/* Every endpoint's only peer is endpoint 0. */
static int toy_peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                     int32_t *out, int capacity)
{
    if (setup->rank > 0 && capacity > 0)
        out[0] = 0;
    for (int32_t rank = 1; setup->rank == 0 && rank < setup->size && rank <= capacity; rank++)
        out[rank - 1] = rank;
    return setup->rank > 0 ? 1 : setup->size - 1;
}

static const struct sg_algo toy_algo = {
    .name = "toy",
    .operations = 1 << SG_OPERATION_BARRIER | 1 << SG_OPERATION_ALLREDUCE,
    .needs = toy_needs,
    .init = toy_init,
    .on_call = toy_call,
    .on_message = toy_message,
    .on_timer = toy_timer,
    .peers = toy_peers,
};

#endif
