/* The instances of adaptive: their records and headers, where an endpoint is in an instance's tree,
 * how an instance ends, and the history of a call site, which predicts who comes last.
 */
#include "algos/adaptive/state.h"
#include "algos/emit.h"

#include <string.h>

#define HISTORY_RANK ((1u << 24) - 1)
/* Hits before a prediction is made, and the most that are remembered. */
#define HISTORY_SURE 2
#define HISTORY_MOST 4

/* ---- history --------------------------------------------------------------------------------- */

static void remember(struct sg_adaptive *state, int32_t last)
{
    uint32_t *history = &state->history[state->site];
    uint32_t hits = *history >> 24;

    if ((*history & HISTORY_RANK) == (uint32_t)last)
        hits += hits < HISTORY_MOST;
    else if (hits > 0)
        hits--;
    if (hits == 0) {
        *history = (uint32_t)last;
        hits = 1;
    }
    *history = (*history & HISTORY_RANK) | hits << 24;
}

int32_t sg_adaptive_usually_last(const struct sg_adaptive *state, uint32_t site)
{
    uint32_t history = state->history[site];

    return state->predict && history >> 24 >= HISTORY_SURE ? (int32_t)(history & HISTORY_RANK) : -1;
}

/* ---- instances ------------------------------------------------------------------------------- */

struct sg_header sg_adaptive_header(const struct sg_adaptive_instance *instance, uint8_t kind)
{
    return (struct sg_header){
        .seq = (uint32_t)instance->seq,
        .kind = kind,
        .operation = instance->operation,
        .flags = instance->flags,
        .bytes = instance->partial_results.bytes,
        .number = {(uint32_t)instance->top},
    };
}

/* Where this endpoint is in the instance's tree. */
static void find_place(const struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                       int degree)
{
    int32_t size = state->release.size;
    int32_t relative = sg_tree_relative(state->release.rank, instance->top, size);
    struct sg_tree_place *place = &instance->place;

    if ((instance->flags & SG_ADAPTIVE_PREDICTED) && relative == 0) {
        *place = sg_tree_top(size);
        degree = 1;
    } else if (instance->flags & SG_ADAPTIVE_PREDICTED) {
        *place = sg_tree_find(relative - 1, size - 1, degree);
        place->lo++;
        place->hi++;
        place->index = place->parent < 0 ? 0 : place->index;
        place->parent++;
        place->depth++;
    } else {
        *place = sg_tree_find(relative, size, degree);
    }
    instance->degree = (uint8_t)degree;
    instance->children = (uint8_t)sg_tree_children(place, degree);
    instance->token = relative == 0;
}

struct sg_adaptive_instance *sg_adaptive_open(struct sg_adaptive *state, uint64_t seq, int32_t top,
                                              enum sg_operation operation, uint32_t flags,
                                              uint32_t bytes)
{
    struct sg_adaptive_instance *instance = &state->at[seq % 2];
    int degree = operation == SG_OPERATION_BARRIER ? SG_DEGREE_BARRIER : SG_DEGREE_DATA;

    if (instance->seq == seq)
        return instance;
    memset(instance, 0, sizeof *instance);
    instance->seq = seq;
    instance->top = top;
    instance->operation = (uint8_t)operation;
    instance->flags = (uint8_t)flags;
    find_place(state, instance, state->degree ? state->degree : degree);
    instance->pieces = 1;
    instance->tokens = state->tokens;
    sg_partial_begin(&instance->partial_results, seq, instance->children + 1,
                     sg_adaptive_running(state, flags) ? SG_PARTIAL_ANY
                     : flags & SG_CALL_USER            ? SG_PARTIAL_HELD
                                                       : SG_PARTIAL_BALANCED,
                     bytes);
    sg_release_open(&state->release, seq, top);
    return instance;
}

void sg_adaptive_complete(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                          struct sg_data data, struct sg_actions *actions)
{
    int32_t last = state->release.at[instance->seq % 2].last;
    /* Those who ask here: children, and who gave this endpoint the token. */
    bool keep = state->release.size > 1 && (instance->children > 0 || instance->token);

    remember(state, last);
    if ((instance->flags & SG_ADAPTIVE_PREDICTED) && last == state->release.rank)
        sg_emit_mark(actions, last == instance->top ? SG_MARK_PREDICTED : SG_MARK_PREDICT_WRONG);
    sg_release_complete(&state->release, &state->head, instance->seq, data, keep, actions);
}
