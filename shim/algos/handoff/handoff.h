/* The state of handoff, its slots and its cells. Holds no pointer. handoff.c has the climb, the
 * ring of places, and the results that a root awaits. */
#ifndef SG_ALGOS_HANDOFF_HANDOFF_H
#define SG_ALGOS_HANDOFF_HANDOFF_H

#include "algos/broadcast.h"
#include "algos/tree.h"

/* Tags: the kind of access and, above it, the instance, the ring index, or the first of the
 * cells. */
enum sg_handoff_tag { SG_HANDOFF_ADD, SG_HANDOFF_READ, SG_HANDOFF_CELLS };

#define SG_HANDOFF_TAG_BITS 2
#define SG_HANDOFF_CELLS_PER_READ 8 /* limit of READ_CELLS */

enum phase {
    OUTSIDE,  /* no call, or no climb */
    STALLED,  /* the ring entry is not known to be free */
    ADDING,   /* waits for a counter */
    READING,  /* waits for the other operand */
    AWAITING, /* the climb is over: waits for the result or the release */
    LEAVING   /* waits until the next ring entry has no awaited result of this endpoint */
};

struct place {
    uint64_t done;    /* last instance of this entry known to be over everywhere */
    uint64_t seen;    /* last known content of the result cell */
    uint64_t awaited; /* as root: the instance whose result is awaited; 0: none */
    uint32_t bytes;   /* size of that result */
    bool reading;     /* a READ of the other operand is in progress */
};

struct handoff {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits;
    uint32_t asking; /* reads of done cells in progress */
    uint32_t eager_bytes;
    bool watching;
    bool read_ahead; /* the READ was sent with the FETCH_ADD */
    uint8_t phase;   /* enum phase */
    bool right;      /* true if the climber comes from the right */
    int32_t node;    /* node that it has reached */
    struct sg_climb climb;
    struct sg_data value; /* the value that it carries */
    struct sg_algo_call call;
    struct place places[];
};

/* ---- slots and cells, the same at every endpoint ---- */

static inline uint32_t sg_handoff_place_of(const struct handoff *s, uint64_t seq)
{
    return sg_count_place(seq, s->credits);
}

static inline uint32_t sg_handoff_operand_slot(const struct handoff *s, bool right, uint64_t seq)
{
    return (right ? s->credits : 0) + sg_handoff_place_of(s, seq);
}

/* Slot of the climber's folded value, one for each ring entry: the last write from it has no reply
 * that would show when it has been read. */
static inline uint32_t sg_handoff_value_slot(const struct handoff *s, uint64_t seq)
{
    return 2 * s->credits + sg_handoff_place_of(s, seq);
}

static inline uint32_t sg_handoff_result_slot(const struct handoff *s, uint64_t seq)
{
    return 3 * s->credits + sg_handoff_place_of(s, seq);
}

/* Slot into which a climber reads the other operand. */
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

/* Emits an access of cell or slot `remote` of endpoint `to`; the caller fills in the rest. */
static inline struct sg_action *
sg_handoff_access(struct sg_actions *actions, enum sg_action_kind kind, int32_t to, uint32_t remote)
{
    struct sg_action *action = sg_emit(actions, kind);

    action->to = to;
    action->access.remote = remote;
    return action;
}

#endif
