/* The state of bcs, shared by bcs.c (calls and messages), course.c (scheduled instances, strobes
 * and their ends) and bcs_measure.c (messages down the tree, measurements of slices). Holds no
 * pointer. */
#ifndef SG_BCS_STATE_H
#define SG_BCS_STATE_H

#include "algos/broadcast.h"
#include "algos/tree.h"

/* Most instances that one strobe schedules, so that one event's actions fit. */
#define SG_BCS_TOGETHER 4
#define SG_BCS_ENDPOINTS_MAX (1 << 20)
/* Partners: one to fold with, and one across each dimension. */
#define SG_BCS_EDGES_MAX 21

/* Microphases in which an instance may run, as bits (paper: section 4.2). */
enum {
    SG_BCS_DESCRIPTORS = 1, /* calls and posts are exchanged */
    SG_BCS_SCHEDULING = 2,  /* what all endpoints have called is chosen */
    SG_BCS_TRANSFER = 4,    /* message bytes move */
    SG_BCS_BROADCAST = 8,   /* barriers and broadcasts */
    SG_BCS_REDUCE = 16,     /* reduces and allreduces */
    SG_BCS_PHASES = 31,
    SG_BCS_MESSAGES = 32 /* no microphase: flag that the first three are also for messages */
};

enum { SG_BCS_TIMER_BOUNDARY, SG_BCS_TIMER_REPEAT, SG_BCS_TIMER_MORE };

/* Header.kind. */
enum sg_bcs_kind {
    SG_BCS_CALLED, /* seq: the sender and all below it have called it; to the parent */
    SG_BCS_STROBE, /* to all; a repeat goes down the tree */
    SG_BCS_PART,   /* a partial result, to a partner; or a reduce's result, to its root */
    SG_BCS_VALUE,  /* an allreduce's result or a broadcast's data, to all; a repeat goes down the
                    * tree; a broadcast's data also climb to endpoint 0 */
    SG_BCS_DONE,   /* the strobe is over for the sender and all below it; to the parent */
    SG_BCS_OFF,    /* no more strobes; down the tree */
    /* For messages. */
    SG_BCS_WANT,       /* seq: a strobe for messages is wanted from this one on; to the parent */
    SG_BCS_LEFT,       /* no post is outstanding or will come here and below; to the parent */
    SG_BCS_DESCRIPTOR, /* offers a message to its receiver; seq: distance to the sender's previous
                        * number to the same rank in this exchange, or 0 */
    SG_BCS_ANSWER,     /* answers a DESCRIPTOR */
    SG_BCS_REFUSED,    /* refuses an accepted DESCRIPTOR; to its sender */
    SG_BCS_NOTED,      /* answers a REFUSED */
    SG_BCS_PULL,       /* the receiver wants bytes in a slot */
    SG_BCS_FILLED,     /* the bytes are in the slot */
    SG_BCS_TOOK        /* the receiver has all bytes, or those that it may take in this slice; seq:
                        * strobe */
};

/* Indices of header.number of a STROBE; a PART has [EDGE] and [IS_RESULT], a DONE has [INDEX]. */
enum {
    SG_BCS_INDEX, /* low half of the strobe's number, the same everywhere */
    SG_BCS_MASK,  /* microphases that it begins; from bit SG_BCS_LATER on, those that follow */
    SG_BCS_FIRST, /* low half of the first scheduled instance; seq is the last one */
    SG_BCS_SLICE_LOW,
    SG_BCS_SLICE_HIGH
};

enum { SG_BCS_EDGE, SG_BCS_IS_RESULT };

#define SG_BCS_LATER 16

/* Indices for a DESCRIPTOR. RANKS: the sender's rank, and in the upper 16 bits the receiver's.
 * PLACE: the sender's post, and in the upper 16 bits 1 + the slot of its first bytes, or 0. */
enum { SG_BCS_RANKS, SG_BCS_MESSAGE_TAG, SG_BCS_BYTES, SG_BCS_NUMBER, SG_BCS_PLACE };

/* Index for an ANSWER, REFUSED, PULL, FILLED and TOOK: the post at the destination. */
enum { SG_BCS_POST };

/* Further indices for an ANSWER; for a PULL or TOOK; and for a FILLED. */
enum { SG_BCS_IS_REFUSED = 1 };

enum { SG_BCS_ASKER = 1, SG_BCS_OFFSET, SG_BCS_IS_ALL };

enum { SG_BCS_SLOT = 1 };

struct sg_bcs_instance {
    uint64_t seq; /* 0: free */
    uint32_t bytes;
    int32_t root;
    uint32_t here;        /* parts in their slots, as bits by edge */
    struct sg_data value; /* the value folded so far, or the broadcast's data */
    uint8_t operation, flags;
    uint8_t edge; /* the next edge to fold, or the edge to which the partial result goes */
    bool sent;    /* the partial result has been sent; a reply, if any, is the result */
    bool has_result, has_run;
    bool repeated; /* the value has been sent down the tree */
};

#define SG_BCS_NO_SLICE UINT64_MAX

/* The current strobe, or the last one. */
struct sg_bcs_strobe {
    uint64_t index; /* parameters.first: none yet */
    uint64_t first, upto;
    uint32_t mask;
    uint32_t later; /* microphases of this slice that have not begun */
    uint64_t slice; /* SG_BCS_NO_SLICE: none yet */
    bool repeated;  /* repeated down the tree; later results are repeated, too */
    bool over;      /* over here and below */
};

/* State of endpoint 0, which sends the strobes. */
struct sg_bcs_sender {
    uint64_t scheduled; /* last scheduled instance */
    bool alarm;         /* the timer is set for a boundary */
    bool restarts;      /* posts and calls wait for the next boundary to return */
    uint64_t exchange;  /* last strobe for messages */
};

struct sg_bcs_measure {
    struct sg_slice slice; /* current slice, or the last one */
    uint64_t strobe_ns;    /* time at which the last strobe was sent, or arrived */
    uint64_t seen;         /* calls at the beginning of the slice */
    uint32_t busy;         /* boundaries that the last slice overran */
    bool has_run;          /* everything that the strobe asks for has run here */
};

struct sg_bcs {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits, edges, fold;              /* fold: 1 if edge 0 is for folding */
    uint32_t slice_ns, repeat_ns, budget_bytes; /* repeat_ns: delay before a strobe is repeated */
    uint64_t epoch_ns;
    bool always, separate, restart_slice;
    uint8_t degree, children;
    bool strobed; /* a strobe has arrived, and no OFF */
    bool drained; /* no call and no post will come */
    bool counted; /* counts as outstanding: strobes may come without own calls */
    struct sg_tree_place place;
    struct sg_hypercube cube;
    uint64_t below[SG_DEGREE_MAX]; /* by child: last instance that it and all below it have
                                    * called */
    uint64_t done[SG_DEGREE_MAX];  /* by child: last strobe that is over for it and all below it */
    uint64_t told;                 /* ... last instance reported to the parent */
    uint64_t restarted;            /* calls up to this one may return (restart=slice) */
    uint32_t messages_at;          /* offset of struct sg_bcs_messages; 0: none */
    uint64_t want, told_want;      /* first strobe at which one for messages is wanted; as known
                                    * here and as reported to the parent */
    struct sg_bcs_strobe strobe;
    struct sg_bcs_sender sender;
    struct sg_bcs_measure measure;
    struct sg_bcs_instance ring[]; /* credits entries: instance n at n modulo credits */
};

static inline struct sg_bcs_instance *sg_bcs_at(struct sg_bcs *s, uint64_t seq)
{
    return &s->ring[sg_count_place(seq, s->credits)];
}

static inline int32_t sg_bcs_child(const struct sg_bcs *s, int child)
{
    return sg_tree_child(&s->place, s->degree, child).lo;
}

/* ---- bcs_measure.c: messages down the tree, and the instances that a strobe runs ---- */

/* Returns the microphase in which an instance runs. */
uint32_t sg_bcs_phase_of(const struct sg_bcs_instance *instance);
/* True if the current strobe runs this instance now. */
bool sg_bcs_is_due(const struct sg_bcs *s, const struct sg_bcs_instance *instance);
/* True if the current strobe is over for a child and all below it. */
bool sg_bcs_is_done(const struct sg_bcs *s, int child);
/* Sends to the children that are not done; part: for a header with one part. */
void sg_bcs_send_below(const struct sg_bcs *s, const struct sg_header *header, struct sg_data part,
                       struct sg_actions *actions);
/* Header of a PART or a VALUE. */
struct sg_header sg_bcs_header(const struct sg_bcs_instance *instance, enum sg_bcs_kind kind);
/* Sends an allreduce's result or a broadcast's data: to all, or to those below that may have missed
 * it. */
void sg_bcs_send_value(struct sg_bcs *s, struct sg_bcs_instance *instance,
                       struct sg_actions *actions);
/* Sends it down the tree if the strobe was repeated there and the value is here. */
void sg_bcs_repeat_value(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions);
/* Sends a broadcast's data to the parent, so that endpoint 0 can repeat them. */
void sg_bcs_send_value_up(const struct sg_bcs *s, const struct sg_bcs_instance *instance,
                          struct sg_actions *actions);

/* ---- course.c: the course of a scheduled instance ---- */

/* Runs the instance as far as the received parts allow. */
void sg_bcs_run(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions);
/* Handle a PART and a VALUE. */
void sg_bcs_take_part(struct sg_bcs *s, const struct sg_message *message,
                      struct sg_actions *actions);
void sg_bcs_take_value(struct sg_bcs *s, const struct sg_message *message,
                       struct sg_actions *actions);
/* Copies the operand, which is valid only until the COMPLETE. */
void sg_bcs_keep_operand(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions);
struct sg_data sg_bcs_result(const struct sg_bcs *s, uint64_t seq);

/* ---- course.c: strobes, from their boundary to their end ---- */

void sg_bcs_take_strobe(struct sg_bcs *s, const struct sg_event *event, struct sg_actions *actions);
/* No strobe will come, here or below. */
void sg_bcs_end_strobes(struct sg_bcs *s, struct sg_actions *actions);
void sg_bcs_take_done(struct sg_bcs *s, const struct sg_message *message);
/* Call after an event: reports calls, ends a strobe that is over here and below, and begins the
 * next one or sets the timer for it. */
void sg_bcs_go_on(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions);
void sg_bcs_ring(struct sg_bcs *s, uint32_t timer, uint64_t now_ns, struct sg_actions *actions);

/* ---- bcs_measure.c: measurements of slices ---- */

/* A strobe begins another slice. */
void sg_bcs_measure_slice(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                          struct sg_actions *actions);
/* A strobe begins; s still has the previous one. */
void sg_bcs_measure_strobe(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                           struct sg_actions *actions);

/* Names the work of the current event. */
static inline void sg_bcs_measure_routine(enum sg_slice_routine routine, struct sg_actions *actions)
{
    actions->routine = (uint8_t)(1 + routine);
}

/* Everything that the strobe asks for has run here; further calls do nothing. */
void sg_bcs_measure_run(struct sg_bcs *s, uint64_t now_ns);
/* Endpoint 0: a DONE has arrived, and is not the last one. */
void sg_bcs_measure_retry(struct sg_bcs *s);
/* The strobe is over here and below, and so is the slice if it was its last. */
void sg_bcs_measure_end(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions);

#endif
