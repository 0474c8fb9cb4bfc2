/* The state of adaptive: what adaptive.c (events and acknowledgements), token.c (tokens and the
 * release) and instance.c (instances and the history of a site) share.
 */
#ifndef SG_ALGOS_ADAPTIVE_STATE_H
#define SG_ALGOS_ADAPTIVE_STATE_H

#include "algos/algo.h"
#include "algos/partial_results.h"
#include "algos/release.h"
#include "algos/tree.h"

/* Levels of the deepest tree: of degree 2 at SG_ENDPOINTS_MAX, or of degree 1 with as many
 * endpoints as a token has parts. */
#define SG_ADAPTIVE_DEPTH_MAX SG_PARTS_MAX

/* In header.flags beside SG_CALL_*: the instance's top is a prediction. */
#define SG_ADAPTIVE_PREDICTED 0x80

enum { SG_ADAPTIVE_ACK = 1, SG_ADAPTIVE_TOKEN };

/* Header.number of an ACK: [TOP]; of a TOKEN all. Number TOP, SPLITTER and MASK are where a PIECE
 * has them, too. */
enum {
    SG_TOKEN_TOP = SG_RELEASE_TOP,           /* where the instance's token begins */
    SG_TOKEN_FOLDABLE,                       /* parts that the holder folds; the rest are extras */
    SG_TOKEN_WHICH = SG_RELEASE_WHICH,       /* piece | pieces << 8 | tokens left << 16 */
    SG_TOKEN_SPLITTER = SG_RELEASE_SPLITTER, /* of several: the endpoint, relative to top */
    SG_TOKEN_MASK = SG_RELEASE_MASK          /* ... and its children that have them */
};

/* Of instance n, at index n modulo 2: an endpoint is never two ahead of another. */
struct sg_adaptive_instance {
    uint64_t seq;
    struct sg_partial_results partial_results;
    struct sg_tree_place place; /* relative */
    int32_t top;                /* rank to which the tree is relative */
    int32_t splitter;           /* of the token, as its mask */
    uint32_t mask;
    uint8_t degree;
    uint8_t children;
    uint8_t operation, flags; /* of the call, and SG_ADAPTIVE_PREDICTED */
    uint8_t called;           /* the CALL has come */
    uint8_t sent;             /* ack, token or piece has gone */
    uint8_t token;            /* holds, or has held, the token */
    /* Of the token. */
    uint8_t piece, pieces, tokens;
    uint8_t parts, foldable; /* in the token's slots, or of the message being handled */
};

struct sg_adaptive {
    struct sg_algo_head head;
    uint8_t degree, tokens, predict, arrival_order;
    uint8_t site;        /* of the call under way */
    uint16_t item_slots; /* of one instance */
    struct sg_release release;
    struct sg_adaptive_instance at[2];
    /* By site: the endpoint that was last (24 bits), and how often in a row, less misses (8). */
    uint32_t history[SG_SITES];
};

/* A running value will do: the operation is exact, or may be combined as it comes. */
static inline bool sg_adaptive_running(const struct sg_adaptive *state, uint32_t flags)
{
    return (flags & SG_CALL_COMMUTATIVE) && !(flags & SG_CALL_USER) &&
           (state->arrival_order || (flags & SG_CALL_EXACT));
}

static inline uint32_t sg_adaptive_items(const struct sg_adaptive *state, uint64_t seq)
{
    return (uint32_t)(seq % 2) * state->item_slots;
}

/* Slots of a token's parts follow those of the items. */
static inline uint32_t sg_adaptive_token_slots(const struct sg_adaptive *state)
{
    return 2u * state->item_slots;
}

/* Absolute rank of one that is relative to the instance's top. */
static inline int32_t sg_adaptive_rank(const struct sg_adaptive *state,
                                       const struct sg_adaptive_instance *instance,
                                       int32_t relative)
{
    return sg_tree_absolute(relative, instance->top, state->release.size);
}

/* ---- instances and history: instance.c ------------------------------------------------------- */

/* The endpoint that usually comes last at the site; -1: none is known. */
int32_t sg_adaptive_usually_last(const struct sg_adaptive *state, uint32_t site);

/* The record of instance seq, begun on first sight: by the CALL, or by a message that comes before
 * it and says the same. */
struct sg_adaptive_instance *sg_adaptive_open(struct sg_adaptive *state, uint64_t seq, int32_t top,
                                              enum sg_operation operation, uint32_t flags,
                                              uint32_t bytes);

/* A header of the instance. */
struct sg_header sg_adaptive_header(const struct sg_adaptive_instance *instance, uint8_t kind);

/* The result is data: ends the call. */
void sg_adaptive_complete(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                          struct sg_data data, struct sg_actions *actions);

/* ---- tokens and the release: token.c --------------------------------------------------------- */

/* Most parts of a token, and most extras of a piece, of a setup's allreduce. */
uint32_t sg_adaptive_token_parts(int32_t size, int degree);
uint32_t sg_adaptive_extras(int32_t size, int degree, uint32_t tokens);

/* The instance has been called and holds the token: passes it on, splits it, releases, or waits.
 * arrived: the token's parts are those of the message being handled. */
void sg_adaptive_hold(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                      const struct sg_event *event, bool arrived, struct sg_actions *actions);

/* A TOKEN came. */
void sg_adaptive_token(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                       const struct sg_event *event, struct sg_actions *actions);

/* All pieces of the release are there. */
void sg_adaptive_released(struct sg_adaptive *state, struct sg_adaptive_instance *instance,
                          struct sg_actions *actions);

#endif
