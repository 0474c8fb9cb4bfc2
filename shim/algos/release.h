/* Reliable release, and flow control, of the protocols between nodes.
 *
 * The release of barriers and allreduces uses an unreliable multicast (paper: adaptive, section
 * 4.3.3); adaptive and tree, which gather on a tree, share it. A release has a dense number, the
 * same everywhere, and consists of one piece or, with several tokens, of several.
 *
 * An endpoint that misses a piece asks the neighbour to which it sent its contribution, in the
 * direction from which the release comes. That neighbour answers from what it keeps, or asks
 * further and answers then. A question is sent if a message of the next instance shows that the
 * release has been made (a gap), and when the timer fires, with growing periods.
 *
 * Acknowledgement costs no message: an endpoint's contribution to release n says that it has n - 1,
 * and release n that all endpoints have it. So an endpoint keeps only the last release and the
 * current one, and no call waits for others to receive a release. The last release has no
 * successor: on_drain collects DONE up a tree and sends OVER down, and until then endpoints keep
 * answering.
 *
 * A release's pieces and results are in slots of the endpoint. Part of a protocol's state: no
 * pointers. */
#ifndef SG_ALGOS_RELEASE_H
#define SG_ALGOS_RELEASE_H

#include "algos/algo.h"
#include "algos/broadcast.h"

#define SG_RELEASE_PIECES_MAX SG_TOKENS_MAX
#define SG_RELEASE_ASKERS_MAX 4
#define SG_RELEASE_TIMER 0

/* Header.kind of the messages handled here; a protocol's own kinds are lower. */
enum sg_release_kind {
    SG_RELEASE_PIECE = 16, /* one piece: a multicast, or an answer */
    SG_RELEASE_RESULT,     /* an answer: the whole result */
    SG_RELEASE_ASK,
    SG_RELEASE_DONE,
    SG_RELEASE_OVER
};

/* Indices of header.number of a PIECE; [SPLITTER] and [MASK] belong to the protocol. A RESULT has
 * [LAST]; an ASK has [WHICH]: the pieces asked for, as bits. */
enum { SG_RELEASE_TOP, SG_RELEASE_LAST, SG_RELEASE_WHICH, SG_RELEASE_SPLITTER, SG_RELEASE_MASK };

/* Record of release n, at index n modulo 2. */
struct sg_release_instance {
    uint64_t number;
    int32_t top;                           /* endpoint at which its token began */
    int32_t last;                          /* releaser; of several, top or piece 0's */
    int32_t toward[SG_RELEASE_PIECES_MAX]; /* whom to ask for each piece */
    int32_t askers[SG_RELEASE_ASKERS_MAX]; /* to answer once it is complete */
    int32_t splitter;                      /* of a release in pieces */
    uint32_t mask;
    uint32_t bytes;
    uint8_t operation, flags; /* for its headers */
    uint8_t pieces, have;     /* number of pieces, 0 while unknown; those received, as bits */
    uint8_t extras;           /* parts of piece 0 beyond the first */
    uint8_t asker_count;
    uint8_t state;   /* enum sg_release_state */
    uint8_t unicast; /* some piece came as an answer */
};

enum sg_release_state {
    SG_RELEASE_OPEN,    /* the protocol is gathering */
    SG_RELEASE_WAITING, /* contributed, waiting for the release */
    SG_RELEASE_COMPLETE,
    SG_RELEASE_KEPT /* complete, and the result is kept for others */
};

struct sg_release {
    int32_t rank, size;
    uint32_t timeout_ns;
    uint32_t base;       /* first of its slots */
    uint8_t tokens;      /* most pieces of a release */
    uint8_t piece_slots; /* slots of the pieces of one release; 0 with one token */
    uint8_t credits;     /* of the setup: determines the result's place */
    uint8_t backoff;     /* the timer's period is timeout << backoff */
    uint8_t asked;       /* 1: already asked in this period */
    uint8_t kept;        /* 1: counts as outstanding */
    uint8_t drain;       /* enum in release.c */
    uint8_t done;        /* children that are done */
    bool used;           /* true once a release has been opened */
    struct sg_release_instance at[2];
};

/* Number of slots used from `base` on; extras: most parts of piece 0 beyond the first. */
uint32_t sg_release_slots(uint32_t tokens, uint32_t extras);
void sg_release_init(struct sg_release *release, const struct sg_algo_setup *setup, uint32_t base,
                     uint32_t extras);
/* Returns the record of the current or next number, initialised on first use; NULL: it is over. */
struct sg_release_instance *sg_release_open(struct sg_release *release, uint64_t number,
                                            int32_t top);
/* Starts to await the release: this endpoint's contribution has been sent to `toward`, with the
 * operation and bytes of header. */
void sg_release_await(struct sg_release *release, uint64_t number, int32_t toward,
                      const struct sg_header *header, const struct sg_event *event,
                      struct sg_actions *actions);
/* Makes a piece here. header: of the PIECE to multicast; parts are in slots. Emits the parts, and
 * keeps what answers need. */
void sg_release_make(struct sg_release *release, const struct sg_header *header,
                     const struct sg_data *parts, struct sg_actions *actions);
/* Takes a PIECE or RESULT. True: it was the last one missing. Several pieces are then in slots; a
 * single one is part 0. */
bool sg_release_take(struct sg_release *release, const struct sg_message *message, uint64_t called,
                     struct sg_actions *actions);
/* Slot of part `part` of a piece. */
struct sg_data sg_release_piece(const struct sg_release *release, uint64_t number, int piece,
                                int part);
/* The release is complete and its result is data (a part, a slot, or the operand if size is 1):
 * ends the call. keep: others may ask for the result here. */
void sg_release_complete(struct sg_release *release, struct sg_algo_head *head, uint64_t number,
                         struct sg_data data, bool keep, struct sg_actions *actions);
/* A contribution to release `number` has arrived: if this endpoint still waits for number - 1, that
 * release is lost. */
void sg_release_gap(struct sg_release *release, uint64_t number, struct sg_actions *actions);
/* Handlers for the release's own events: ASK, DONE, OVER; its timer; on_drain. */
void sg_release_message(struct sg_release *release, struct sg_algo_head *head,
                        const struct sg_message *message, struct sg_actions *actions);
void sg_release_timer(struct sg_release *release, const struct sg_event *event,
                      struct sg_actions *actions);
void sg_release_drain(struct sg_release *release, struct sg_algo_head *head,
                      struct sg_actions *actions);
/* Adds the peers with which the end of a drain is agreed. */
void sg_release_peers(const struct sg_algo_setup *setup, struct sg_peers *peers);
/* Call after head->in_call has changed: updates head->outstanding and continues a drain. */
void sg_release_settle(struct sg_release *release, struct sg_algo_head *head,
                       struct sg_actions *actions);

/* ---- flow control ----
 *
 * For protocols in which nothing else limits how far an endpoint runs ahead. The bound is the
 * instance that all endpoints are known to have finished. An endpoint enters only instances up to
 * `credits` above the bound, so it never sends to an endpoint without a free entry in its ring of
 * `credits` instances.
 *
 * A synchronising collective raises the bound without messages. Otherwise, every credits/2
 * instances, reports climb the tree of rank 0, and rank 0 sends the new bound down. Part of a
 * protocol's state: no pointers. */

#define SG_FLOW_REPORTS_MAX 4

/* Header.kind. The SOLICITED kinds interrupt endpoints that pass the message on. */
enum sg_flow_kind {
    SG_FLOW_REPORT = 32,
    SG_FLOW_RAISED,
    SG_FLOW_SOLICITED_REPORT,
    SG_FLOW_SOLICITED_RAISED
};

struct sg_flow {
    int32_t rank, size;
    uint64_t floor; /* all endpoints have finished instances up to here */
    uint64_t moot;  /* reports up to here are not needed: a synchronising instance followed */
    uint64_t run;   /* instances since the last synchronising one */
    uint8_t degree; /* of the tree; 1: binomial */
    uint8_t credits;
    uint8_t kind; /* of its reports; the kind of RAISED messages follows it */
    struct {
        uint64_t seq;
        uint32_t count; /* reports of children and of this endpoint */
    } reports[SG_FLOW_REPORTS_MAX];
};

void sg_flow_init(struct sg_flow *flow, const struct sg_algo_setup *setup, int degree,
                  uint32_t credits, enum sg_flow_kind kind);
/* True if instance seq may take part here. */
bool sg_flow_allows(const struct sg_flow *flow, uint64_t seq);
/* Instance seq takes part. Call only when it may: while it waits, reports still count. */
void sg_flow_enter(struct sg_flow *flow, uint64_t seq, bool synchronises);
/* Instance seq, which does not synchronise, is finished here. */
void sg_flow_finished(struct sg_flow *flow, uint64_t seq, struct sg_actions *actions);
/* All endpoints have entered instance seq. */
void sg_flow_synchronised(struct sg_flow *flow, uint64_t seq);
/* Handles a REPORT or RAISED. */
void sg_flow_message(struct sg_flow *flow, const struct sg_header *header,
                     struct sg_actions *actions);

#endif
