/* The reliable release of barriers and allreduces by an unreliable multicast (paper: adaptive,
 * section 4.3.3), shared by the protocols that gather on a tree: adaptive and tree.
 *
 * A release has a dense number, alike everywhere, and comes in one piece or, from several tokens,
 * in several. Who misses one asks the neighbour to which it gave what it had: toward wherever the
 * release comes from. That one answers with what it keeps, or asks further and answers then. A
 * question is asked when a message of the next instance shows that the release has been made (a
 * gap), and when the timer fires, with growing periods.
 *
 * Acknowledgement costs no message: an endpoint's contribution to release n says that it has n - 1,
 * and release n, that all have. So no endpoint ever keeps more than the last release and the one
 * under way, and no call ever waits for others to have a release. The last release has no
 * successor: on_drain collects DONE up a tree and sends OVER down, and until then endpoints keep
 * answering.
 *
 * The release's pieces and results live in slots of the endpoint. Part of a protocol's state.
 */
#ifndef SG_ALGOS_RELEASE_H
#define SG_ALGOS_RELEASE_H

#include "algos/algo.h"
#include "algos/broadcast.h"

#define SG_RELEASE_PIECES_MAX SG_TOKENS_MAX
#define SG_RELEASE_ASKERS_MAX 4
#define SG_RELEASE_TIMER 0

/* Header.kind of the messages handled here; a protocol's own are below. */
enum sg_release_kind {
    SG_RELEASE_PIECE = 16, /* one piece: a multicast, or an answer */
    SG_RELEASE_RESULT,     /* an answer: the whole */
    SG_RELEASE_ASK,
    SG_RELEASE_DONE,
    SG_RELEASE_OVER
};

/* Header.number of a PIECE; [SPLITTER] and [MASK] are the protocol's. Of a RESULT, [LAST]. Of an
 * ASK, [WHICH]: the pieces asked for, by bit. */
enum { SG_RELEASE_TOP, SG_RELEASE_LAST, SG_RELEASE_WHICH, SG_RELEASE_SPLITTER, SG_RELEASE_MASK };

/* Of release n, at index n modulo 2. */
struct sg_release_instance {
    uint64_t number;
    int32_t top;                           /* where its token began */
    int32_t last;                          /* who released it: of several, top or piece 0's */
    int32_t toward[SG_RELEASE_PIECES_MAX]; /* whom to ask for each piece */
    int32_t askers[SG_RELEASE_ASKERS_MAX]; /* to answer as soon as it is complete */
    int32_t splitter;                      /* of a release in pieces */
    uint32_t mask;
    uint32_t bytes;
    uint8_t operation, flags; /* of its headers */
    uint8_t pieces, have;     /* how many, 0 while unknown; which, by bit */
    uint8_t extras;           /* parts of piece 0 beyond the first */
    uint8_t asker_count;
    uint8_t state;   /* enum sg_release_state */
    uint8_t unicast; /* a piece of it came as an answer */
};

enum sg_release_state {
    SG_RELEASE_OPEN,    /* the protocol is gathering */
    SG_RELEASE_WAITING, /* contributed: to be released */
    SG_RELEASE_COMPLETE,
    SG_RELEASE_KEPT /* complete, and the result is kept for others */
};

struct sg_release {
    int32_t rank, size;
    uint32_t timeout_ns;
    uint32_t base;       /* first of its slots */
    uint8_t tokens;      /* most pieces of a release */
    uint8_t piece_slots; /* for the pieces of one release; 0 with one token */
    uint8_t credits;     /* of the set-up: where results go */
    uint8_t backoff;     /* the timer's period is timeout << backoff */
    uint8_t asked;       /* 1: in this period */
    uint8_t kept;        /* 1: counts as outstanding */
    uint8_t drain;       /* enum in release.c */
    uint8_t done;        /* children that are done */
    bool used;           /* some release has been opened */
    struct sg_release_instance at[2];
};

/* Slots that it takes from `base` on; extras: the most parts of piece 0 beyond the first. */
uint32_t sg_release_slots(uint32_t tokens, uint32_t extras);
void sg_release_init(struct sg_release *release, const struct sg_algo_setup *setup, uint32_t base,
                     uint32_t extras);
/* The record of a number that is under way or next, begun on first sight; NULL: it is over. */
struct sg_release_instance *sg_release_open(struct sg_release *release, uint64_t number,
                                            int32_t top);
/* This endpoint's contribution to the release has gone to `toward`, for `operation` and bytes of
 * the call: awaits the release. */
void sg_release_await(struct sg_release *release, uint64_t number, int32_t toward,
                      const struct sg_header *header, const struct sg_event *event,
                      struct sg_actions *actions);
/* A piece is made here. header: of the PIECE to multicast, its parts emitted; keeps what is needed
 * for answers. Parts are slots. */
void sg_release_make(struct sg_release *release, const struct sg_header *header,
                     const struct sg_data *parts, struct sg_actions *actions);
/* A PIECE came. True: it was the last that the release lacked. Pieces of more than one are in slots
 * then, that of a single one is part 0. */
bool sg_release_take(struct sg_release *release, const struct sg_message *message, uint64_t called,
                     struct sg_actions *actions);
/* Slot of part `part` of a piece. */
struct sg_data sg_release_piece(const struct sg_release *release, uint64_t number, int piece,
                                int part);
/* The release is complete and data (a part, a slot, the operand where size is 1) its result: ends
 * the call `seq`. keep: others may ask for it here. */
void sg_release_complete(struct sg_release *release, struct sg_algo_head *head, uint64_t number,
                         struct sg_data data, bool keep, struct sg_actions *actions);
/* A contribution to release number has come: if this endpoint still waits for number - 1, that is
 * lost. */
void sg_release_gap(struct sg_release *release, uint64_t number, struct sg_actions *actions);
/* Handlers for what is the release's own: ASK, DONE, OVER; its timer; on_drain. */
void sg_release_message(struct sg_release *release, struct sg_algo_head *head,
                        const struct sg_message *message, struct sg_actions *actions);
void sg_release_timer(struct sg_release *release, const struct sg_event *event,
                      struct sg_actions *actions);
void sg_release_drain(struct sg_release *release, struct sg_algo_head *head,
                      struct sg_actions *actions);
/* Adds those with whom the end of a drain is agreed on. */
void sg_release_peers(const struct sg_algo_setup *setup, struct sg_peers *peers);
/* Brings head->outstanding up to date and goes on with a drain: after head->in_call has changed. */
void sg_release_settle(struct sg_release *release, struct sg_algo_head *head,
                       struct sg_actions *actions);

/* Flow control of a protocol in which nothing else bounds how far an endpoint runs ahead: a bound,
 * the instance that all endpoints are known to have finished. An endpoint that enters instances
 * only up to `credits` above the bound never sends to an endpoint that has no room in its ring of
 * `credits` instances.
 *
 * A collective that synchronises raises the bound without messages. Otherwise, every credits/2
 * instances, reports climb the tree of rank 0, and rank 0 sends the new bound down. Part of a
 * protocol's state.
 */

#define SG_FLOW_REPORTS_MAX 4

/* Header.kind. For the second kind who passes a message on is interrupted. */
enum sg_flow_kind {
    SG_FLOW_REPORT = 32,
    SG_FLOW_RAISED,
    SG_FLOW_SOLICITED_REPORT,
    SG_FLOW_SOLICITED_RAISED
};

struct sg_flow {
    int32_t rank, size;
    uint64_t floor; /* all endpoints have finished up to here */
    uint64_t moot;  /* reports up to here are not needed: a synchronising instance came after */
    uint64_t run;   /* instances since the last that synchronised */
    uint8_t degree; /* of the tree; 1: binomial */
    uint8_t credits;
    uint8_t kind; /* of its reports; that of what is raised follows it */
    struct {
        uint64_t seq;
        uint32_t count; /* children's and the own */
    } reports[SG_FLOW_REPORTS_MAX];
};

void sg_flow_init(struct sg_flow *flow, const struct sg_algo_setup *setup, int degree,
                  uint32_t credits, enum sg_flow_kind kind);
/* May instance seq take part here yet? */
bool sg_flow_allows(const struct sg_flow *flow, uint64_t seq);
/* Instance seq takes part. Not before it may: while it waits, reports still count. */
void sg_flow_enter(struct sg_flow *flow, uint64_t seq, bool synchronises);
/* Instance seq, which does not synchronise, is finished here. */
void sg_flow_finished(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions);
/* All have entered instance seq. */
void sg_flow_synchronised(struct sg_flow *flow, uint64_t seq);
/* A REPORT or RAISED came. */
void sg_flow_message(struct sg_flow *flow, const struct sg_header *header,
                     struct sg_actions *actions);

#endif
