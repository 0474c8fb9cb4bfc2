/* The state of bcs: what bcs.c (calls and messages), slice.c (strobes and their ends), course.c (an
 * instance once it is scheduled), below.c (messages down the tree) and measure.c (what is told of
 * slices) share. Holds no pointer.
 */
#ifndef SG_BCS_STATE_H
#define SG_BCS_STATE_H

#include "algos/broadcast.h"
#include "algos/tree.h"

/* Instances that one strobe schedules at most, so that one event's actions have room. */
#define SG_BCS_TOGETHER 4
#define SG_BCS_ENDPOINTS_MAX (1 << 20)
/* Partners: one to fold with, and one across each dimension. */
#define SG_BCS_EDGES_MAX 21

/* The microphases that an instance may run in, by bit (paper: section 4.2). */
enum {
    SG_BCS_DESCRIPTORS = 1, /* what has been called is exchanged */
    SG_BCS_SCHEDULING = 2,  /* what all have called is chosen */
    SG_BCS_TRANSFER = 4,    /* messages' bytes move */
    SG_BCS_BROADCAST = 8,   /* barriers and broadcasts */
    SG_BCS_REDUCE = 16,     /* reduces and allreduces */
    SG_BCS_PHASES = 31,
    SG_BCS_MESSAGES = 32 /* none of them: the first two, and the third, are for messages, too */
};

enum { SG_BCS_TIMER_BOUNDARY, SG_BCS_TIMER_REPEAT, SG_BCS_TIMER_MORE };

/* Header.kind. */
enum sg_bcs_kind {
    SG_BCS_CALLED, /* seq: the sender and all below it have called it; to the parent */
    SG_BCS_STROBE, /* to all; a repeat goes down the tree */
    SG_BCS_PART,   /* a partial result, to a partner; or a reduce's result, to its root */
    SG_BCS_VALUE,  /* an allreduce's result or a broadcast's data, to all; a repeat goes down the
                      tree; a broadcast's go up to endpoint 0, too */
    SG_BCS_DONE,   /* the strobe is over for the sender and all below it; to the parent */
    SG_BCS_OFF,    /* no strobe will come; down the tree */
    /* Of messages. */
    SG_BCS_WANT,       /* seq: the strobe from which on one for messages is wanted; to the parent */
    SG_BCS_LEFT,       /* nothing is posted or will be, here and below; to the parent */
    SG_BCS_DESCRIPTOR, /* what is offered, to its receiver; seq: number of what the sender offered
                          to the same rank before, in the same exchange */
    SG_BCS_ANSWER,     /* to that */
    SG_BCS_REFUSED,    /* one that had been taken, to its sender */
    SG_BCS_NOTED,      /* the answer to that */
    SG_BCS_PULL,       /* bytes are wanted in a slot, by the receiver */
    SG_BCS_FILLED,     /* they are there */
    SG_BCS_TOOK        /* the receiver has what it may take in this slice, or all; seq: since which
                          strobe */
};

/* Header.number of a STROBE; of a PART, [EDGE] and [IS_RESULT]; of a DONE, [INDEX]. */
enum {
    SG_BCS_INDEX, /* the low half of which strobe; alike everywhere */
    SG_BCS_MASK,  /* the microphases that it begins; from bit SG_BCS_LATER on those that follow */
    SG_BCS_FIRST, /* instances from this one to seq are scheduled; likewise its low half */
    SG_BCS_SLICE_LOW,
    SG_BCS_SLICE_HIGH
};

enum { SG_BCS_EDGE, SG_BCS_IS_RESULT };

#define SG_BCS_LATER 16

/* Of a DESCRIPTOR. RANKS: the sender's, and in the upper 16 bits the receiver's. PLACE: the
 * sender's post, and in the upper 16 bits 1 + the slot that its first bytes are in, or 0. */
enum { SG_BCS_RANKS, SG_BCS_MESSAGE_TAG, SG_BCS_BYTES, SG_BCS_NUMBER, SG_BCS_PLACE };

/* Of an ANSWER, REFUSED, PULL, FILLED and TOOK: the post at the endpoint that it goes to. */
enum { SG_BCS_POST };

/* What else an ANSWER, a PULL or TOOK, and a FILLED have. */
enum { SG_BCS_IS_REFUSED = 1 };

enum { SG_BCS_ASKER = 1, SG_BCS_OFFSET, SG_BCS_IS_ALL };

enum { SG_BCS_SLOT = 1 };

struct sg_bcs_instance {
    uint64_t seq; /* 0: free */
    uint32_t bytes;
    int32_t root;
    uint32_t here;        /* parts in their slots, by edge */
    struct sg_data value; /* what has been folded so far, or was broadcast */
    uint8_t operation, flags;
    uint8_t edge; /* the next to fold, or where the partial result goes */
    bool sent;    /* the partial result has gone; what comes back, if anything, is the result */
    bool has_result, has_run;
    bool repeated; /* the value has gone down the tree */
};

#define SG_BCS_NO_SLICE UINT64_MAX

/* The strobe under way, or the last one. */
struct sg_bcs_strobe {
    uint64_t index; /* parameters.first: none yet */
    uint64_t first, upto;
    uint32_t mask;
    uint32_t later; /* microphases of this slice that are yet to begin */
    uint64_t slice; /* SG_BCS_NO_SLICE: none yet */
    bool repeated;  /* down the tree, as its results from then on */
    bool over;      /* here and below */
};

/* Of endpoint 0, which sends the strobes. */
struct sg_bcs_sender {
    uint64_t scheduled; /* up to this instance */
    bool alarm;         /* the timer is set for a boundary */
    bool restarts;      /* calls wait for the next boundary to return */
    uint64_t exchange;  /* the last strobe for messages */
};

struct sg_bcs_measure {
    struct sg_slice slice; /* under way, or the last one */
    uint64_t strobe_ns;    /* the last strobe was sent, or came */
    uint64_t seen;         /* calls when the slice began */
    uint32_t busy;         /* boundaries that the last slice outlasted */
    bool has_run;          /* what the strobe asks for, here */
};

struct sg_bcs {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t credits, edges, fold;              /* fold: 1 where edge 0 is to fold with */
    uint32_t slice_ns, repeat_ns, budget_bytes; /* repeat_ns: before a strobe is repeated */
    uint64_t epoch_ns;
    bool always, separate, restart_slice;
    uint8_t degree, children;
    bool strobed; /* a strobe has come, and no OFF */
    bool drained; /* no call and no post will come */
    bool counted; /* strobes may come that are not of own calls, which counts as outstanding */
    struct sg_tree_place place;
    struct sg_hypercube cube;
    uint64_t below[SG_DEGREE_MAX]; /* instances that all below a child have called */
    uint64_t done[SG_DEGREE_MAX];  /* strobes that are over for a child and all below it */
    uint64_t told;                 /* ... as the parent knows of this endpoint */
    uint64_t restarted;            /* calls up to this may return (restart=slice) */
    uint32_t messages_at;          /* from here on: struct sg_bcs_messages; 0: none */
    uint64_t want, told_want;      /* the strobe from which on one for messages is wanted */
    struct sg_bcs_strobe strobe;
    struct sg_bcs_sender sender;
    struct sg_bcs_measure measure;
    struct sg_bcs_instance ring[]; /* credits of them: instance n at n modulo credits */
};

static inline struct sg_bcs_instance *sg_bcs_at(struct sg_bcs *s, uint64_t seq)
{
    return &s->ring[sg_count_place(seq, s->credits)];
}

static inline int32_t sg_bcs_child(const struct sg_bcs *s, int child)
{
    return sg_tree_child(&s->place, s->degree, child).lo;
}

/* ---- below.c: what goes to those below, and what a strobe is about */

/* The microphase that an instance runs in. */
uint32_t sg_bcs_phase_of(const struct sg_bcs_instance *instance);
/* Whether the strobe under way runs this instance now. */
bool sg_bcs_is_due(const struct sg_bcs *s, const struct sg_bcs_instance *instance);
/* Whether the strobe under way is over for a child and all below it. */
bool sg_bcs_is_done(const struct sg_bcs *s, int child);
/* To the children that are not done; part: of a message that has one. */
void sg_bcs_send_below(const struct sg_bcs *s, const struct sg_header *header, struct sg_data part,
                       struct sg_actions *actions);
/* Of a PART or a VALUE. */
struct sg_header sg_bcs_header(const struct sg_bcs_instance *instance, enum sg_bcs_kind kind);
/* An allreduce's result or a broadcast's data: to all, or to those below who may have missed it. */
void sg_bcs_send_value(struct sg_bcs *s, struct sg_bcs_instance *instance,
                       struct sg_actions *actions);
/* ... down the tree, if the strobe was repeated there and the value is here. */
void sg_bcs_repeat_value(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions);
/* A broadcast's data to the parent, so that endpoint 0 can repeat them. */
void sg_bcs_send_value_up(const struct sg_bcs *s, const struct sg_bcs_instance *instance,
                          struct sg_actions *actions);

/* ---- course.c: what an instance does once it is scheduled */

/* As far as the parts that are there allow. */
void sg_bcs_run(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions);
/* A PART or VALUE. */
void sg_bcs_take_part(struct sg_bcs *s, const struct sg_message *message,
                      struct sg_actions *actions);
void sg_bcs_take_value(struct sg_bcs *s, const struct sg_message *message,
                       struct sg_actions *actions);
/* The operand is there until the COMPLETE only. */
void sg_bcs_keep_operand(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions);
struct sg_data sg_bcs_result(const struct sg_bcs *s, uint64_t seq);

/* ---- slice.c: strobes, from their boundary to their end */

void sg_bcs_take_strobe(struct sg_bcs *s, const struct sg_event *event, struct sg_actions *actions);
/* No strobe will come: here and below. */
void sg_bcs_end_strobes(struct sg_bcs *s, struct sg_actions *actions);
void sg_bcs_take_done(struct sg_bcs *s, const struct sg_message *message);
/* After an event: tells what has been called, ends a strobe that is over here and below, begins the
 * next one or sets the timer for it. */
void sg_bcs_go_on(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions);
void sg_bcs_ring(struct sg_bcs *s, uint32_t timer, uint64_t now_ns, struct sg_actions *actions);

/* ---- measure.c: what is told of slices */

/* A strobe begins another slice. */
void sg_bcs_measure_slice(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                          struct sg_actions *actions);
/* A strobe begins; s has the one before. */
void sg_bcs_measure_strobe(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                           struct sg_actions *actions);

/* What the event at hand is for. */
static inline void sg_bcs_measure_routine(enum sg_slice_routine routine, struct sg_actions *actions)
{
    actions->routine = (uint8_t)(1 + routine);
}

/* What the strobe asks for has run here; again does not matter. */
void sg_bcs_measure_run(struct sg_bcs *s, uint64_t now_ns);
/* At endpoint 0: a DONE has come, and is not the last. */
void sg_bcs_measure_retry(struct sg_bcs *s);
/* The strobe is over here and below, and the slice, if it was its last. */
void sg_bcs_measure_end(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions);

#endif
