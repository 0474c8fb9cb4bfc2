/* The state of handoff: what handoff.c (the climb) and places.c (layout, the ring of places,
 * results that a root awaits) share. Holds no pointer.
 */
#ifndef SG_ALGOS_HANDOFF_HANDOFF_H
#define SG_ALGOS_HANDOFF_HANDOFF_H

#include "algos/broadcast.h"
#include "algos/tree.h"

/* Tags: what was asked for and above that the instance, the place, or the first of the cells. */
enum sg_handoff_tag { SG_HANDOFF_ADD, SG_HANDOFF_READ, SG_HANDOFF_CELLS };

#define SG_HANDOFF_TAG_BITS 2
#define SG_HANDOFF_CELLS_PER_READ 8 /* as READ_CELLS allows */

enum phase {
    OUTSIDE,  /* of a call, or of a climb */
    STALLED,  /* the place is not known to be free */
    ADDING,   /* waits for a counter */
    READING,  /* waits for the other operand */
    AWAITING, /* the climb is over: waits for the result or the release */
    LEAVING   /* ... or, split, until the next place has no result of this endpoint's */
};

struct place {
    uint64_t done;    /* last instance here that is known to be over everywhere */
    uint64_t seen;    /* what the result cell held last */
    uint64_t awaited; /* as a root, the result of this instance; 0: none */
    uint32_t bytes;   /* ... its size */
    bool reading;     /* the other operand */
};

struct handoff {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits;
    uint32_t asking; /* reads of done cells under way */
    uint32_t eager_bytes;
    bool watching;
    bool read_ahead; /* the READ went out with the FETCH_ADD */
    uint8_t phase;   /* enum phase */
    bool right;      /* the side from which the climber comes */
    int32_t node;    /* where it stands */
    struct sg_climb climb;
    struct sg_data value; /* what it carries */
    struct sg_algo_call call;
    struct place places[];
};

/* ---- slots and cells, alike at every endpoint ---- */

static inline uint32_t sg_handoff_place_of(const struct handoff *s, uint64_t seq)
{
    return sg_count_place(seq, s->credits);
}

static inline uint32_t sg_handoff_operand_slot(const struct handoff *s, bool right, uint64_t seq)
{
    return (right ? s->credits : 0) + sg_handoff_place_of(s, seq);
}

/* The climber's folded value: of its own for each place, as the last write from there has no reply
 * that would tell when it has been read. */
static inline uint32_t sg_handoff_value_slot(const struct handoff *s, uint64_t seq)
{
    return 2 * s->credits + sg_handoff_place_of(s, seq);
}

static inline uint32_t sg_handoff_result_slot(const struct handoff *s, uint64_t seq)
{
    return 3 * s->credits + sg_handoff_place_of(s, seq);
}

/* Where a climber reads the other operand to. */
static inline uint32_t sg_handoff_other_slot(const struct handoff *s, uint64_t seq)
{
    return 4 * s->credits + sg_handoff_place_of(s, seq);
}

static inline uint32_t sg_handoff_counter_cell(const struct handoff *s, uint64_t seq)
{
    return sg_handoff_place_of(s, seq);
}

static inline uint32_t sg_handoff_result_cell(const struct handoff *s, uint64_t seq)
{
    return s->credits + sg_handoff_place_of(s, seq);
}

static inline uint32_t sg_handoff_done_cell(const struct handoff *s, uint64_t seq)
{
    return 2 * s->credits + sg_handoff_place_of(s, seq);
}

/* An access of cell or slot `remote` of endpoint `to`; the caller fills in the rest. */
static inline struct sg_action *
sg_handoff_access(struct sg_actions *actions, enum sg_action_kind kind, int32_t to, uint32_t remote)
{
    struct sg_action *action = sg_emit(actions, kind);

    action->to = to;
    action->access.remote = remote;
    return action;
}

/* ---- places.c ---- */

#endif
