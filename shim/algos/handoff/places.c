/* The places of handoff: layout, which of them are free again, and the results that a root awaits
 * (see handoff.c).
 */
#include "algos/handoff/state.h"
#include "algos/peers.h"

#define RESULT_WATCH 0

bool sg_handoff_needs(const struct sg_algo_setup *setup, struct sg_algo_needs *out)
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

void sg_handoff_init(void *state, const struct sg_algo_setup *setup)
{
    struct handoff *s = state;

    s->rank = setup->rank;
    s->size = setup->size;
    s->credits = sg_credits(&setup->parameters);
    s->eager_bytes = sg_eager_bytes(&setup->parameters);
    s->head.seq = setup->parameters.first;
    for (uint64_t back = 0; back < s->credits && back < s->head.seq; back++)
        sg_handoff_note_done(s, s->head.seq - back);
}

/* ---- who is named ---- */

/* The homes on the way up; and whoever is below the node that is at home here, which is the first
 * on that way to which this endpoint comes from the right. */
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
        for (int32_t below = first; below < end; below++)
            sg_peers_add(peers, below);
    }
}

int sg_handoff_peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                     int32_t *out, int capacity)
{
    struct sg_peers peers = sg_peers_into(out, capacity);

    add_climbers(setup, &peers);
    if (operation != SG_OPERATION_REDUCE) {
        sg_peers_add_powers(&peers, setup->rank, setup->size);
        return sg_peers_count(&peers);
    }
    /* Whoever is last writes the result to the root; who is done is told at endpoint 0. */
    sg_peers_add(&peers, root);
    sg_peers_add(&peers, 0);
    for (int32_t other = 0; other < setup->size && (setup->rank == root || setup->rank == 0);
         other++)
        sg_peers_add(&peers, other);
    return sg_peers_count(&peers);
}

/* ---- places ---- */

bool sg_handoff_is_free(const struct handoff *s, uint64_t seq)
{
    return seq <= s->credits || s->places[sg_handoff_place_of(s, seq)].done >= seq - s->credits;
}

uint32_t sg_handoff_free_ahead(const struct handoff *s)
{
    uint32_t count = 0;

    while (count < s->credits && sg_handoff_is_free(s, s->head.seq + 1 + count))
        count++;
    return count;
}

void sg_handoff_ask_for_done(struct handoff *s, struct sg_actions *actions)
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

void sg_handoff_note_done(struct handoff *s, uint64_t seq)
{
    struct place *place = &s->places[sg_handoff_place_of(s, seq)];

    if (place->done < seq)
        place->done = seq;
}

uint64_t sg_handoff_oldest_awaited(const struct handoff *s)
{
    uint64_t oldest = 0;

    for (uint32_t i = 0; i < s->credits; i++) {
        uint64_t seq = s->places[i].awaited;

        if (seq != 0 && (oldest == 0 || seq < oldest))
            oldest = seq;
    }
    return oldest;
}

/* Results come in order, except for races in the network: one watch, on the oldest, is enough. */
void sg_handoff_watch(struct handoff *s, struct sg_actions *actions)
{
    uint64_t seq = sg_handoff_oldest_awaited(s);
    struct sg_action *action;

    if (s->watching || seq == 0)
        return;
    s->watching = true;
    action = sg_handoff_access(actions, SG_ACTION_WATCH, s->rank, sg_handoff_result_cell(s, seq));
    action->id = RESULT_WATCH;
    action->access.value = s->places[sg_handoff_place_of(s, seq)].seen;
}

void sg_handoff_consumed(struct handoff *s, uint64_t seq, struct sg_actions *actions)
{
    sg_handoff_access(actions, SG_ACTION_WRITE_CELL, 0, sg_handoff_done_cell(s, seq))
        ->access.value = seq;
    sg_handoff_note_done(s, seq);
}
