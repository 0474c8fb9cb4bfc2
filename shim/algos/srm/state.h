/* The state of srm: what srm.c (calls and their course) and edges.c (what goes to and comes
 * from a partner) share. Holds no pointer.
 */
#ifndef SG_ALGOS_SRM_STATE_H
#define SG_ALGOS_SRM_STATE_H

#include "algos/emit.h"

/* Of 2^16 endpoints: a partner across each dimension, and one to fold with. With more, an event
 * could cause more actions than there is room for. */
#define SG_SRM_ENDPOINTS_MAX (1 << 16)
#define SG_SRM_EDGES_MAX 17
/* Values that a partner has room for, and told of at half of them. */
#define SG_SRM_ROOM 4u
#define SG_SRM_TELL (SG_SRM_ROOM / 2)

/* What an instance does next, with which partner: kind and edge in one byte. */
enum sg_srm_step {
    SG_SRM_OFFER,       /* the result's place, to the partner: it has nothing to carry */
    SG_SRM_SEND,        /* the value so far, to a slot of the partner's */
    SG_SRM_SEND_RESULT, /* the result, to the partner's */
    SG_SRM_FOLD,        /* the partner's value, when it is there */
    SG_SRM_AWAIT,       /* the partner puts the result here */
    SG_SRM_TAKE,        /* the partner's value, when it is there, is the result */
    SG_SRM_HEAR         /* the partner's offer */
};
#define SG_SRM_EDGE_BITS 5
#define SG_SRM_STEPS_MAX (2 * SG_SRM_EDGES_MAX + 2)

/* Numbers from 1: all up to `whole`, and of those after it the ones in the mask. */
struct sg_srm_numbers {
    uint64_t whole;
    uint32_t beyond; /* bit i: whole + 1 + i */
};

/* What goes to a partner is numbered in the order of the calls that cause it, and so is what comes
 * from it. */
struct sg_srm_edge {
    uint64_t next_out, next_in;  /* numbers given to instances so far */
    struct sg_srm_numbers out;   /* written to the partner */
    struct sg_srm_numbers in;    /* written by it, as its cell here says */
    struct sg_srm_numbers taken; /* ... and no longer needed */
    uint64_t acked, told;        /* of out, those the partner has taken; of taken, as it knows */
    uint64_t seen;               /* the cell here, as last seen */
    bool watching, wanted;
};

struct sg_srm_instance {
    uint64_t seq; /* 0: free */
    uint32_t bytes;
    struct sg_data value; /* what has been folded so far; or the result */
    uint8_t flags;        /* SG_CALL_* */
    bool gets_result;
    uint8_t at, count; /* of the steps */
    uint8_t steps[SG_SRM_STEPS_MAX];
    uint64_t out[SG_SRM_EDGES_MAX], in[SG_SRM_EDGES_MAX]; /* its numbers */
};

struct sg_srm {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits, chunk_bytes;
    uint32_t edges, fold; /* fold: 1 where edge 0 is to fold with */
    struct sg_srm_edge edge[SG_SRM_EDGES_MAX];
    struct sg_srm_instance ring[]; /* credits of them: instance n at n modulo credits */
};

/* Values on each edge are numbered from `first` + 1. */
void sg_srm_begin_edges(struct sg_srm *state, uint64_t first);
/* Gives the instance its numbers for a step. */
void sg_srm_number(struct sg_srm *state, struct sg_srm_instance *instance, uint8_t step);
/* kind: one of those that put something. False: the partner has no room yet. */
bool sg_srm_put(struct sg_srm *state, const struct sg_srm_instance *instance, uint32_t edge,
                enum sg_srm_step kind, struct sg_actions *actions);
/* Whether the partner's value for this instance is there. */
bool sg_srm_is_there(struct sg_srm *state, const struct sg_srm_instance *instance, uint32_t edge);
/* The slot that it is in. */
struct sg_data sg_srm_slot(const struct sg_srm_instance *instance, uint32_t edge);
/* It has been used. */
void sg_srm_taken(struct sg_srm *state, const struct sg_srm_instance *instance, uint32_t edge);

/* The partner's cell here holds this. */
void sg_srm_saw(struct sg_srm *state, uint32_t edge, uint64_t value);
/* At the end of an event: tells partners of room, and watches what is waited for. */
void sg_srm_rest(struct sg_srm *state, struct sg_actions *actions);

#endif
