/* The messages of an endpoint of bcs: what match.c (descriptors and their receives), transfer.c
 * (bytes) and messages.c (posts, and what strobes do for them) share. It lies behind the instances
 * of struct sg_bcs, where parameters.posts is above 0, and holds no pointer.
 *
 * An exchange is the descriptor exchange of a slice, named by its strobe. At an endpoint it begins
 * with that strobe, or with the first descriptor if that is faster; from then on posts are for the
 * next one.
 */
#ifndef SG_BCS_POSTS_H
#define SG_BCS_POSTS_H

#include "bcs/state.h"

#define SG_BCS_OUT_MAX 16 /* slots that sends are read from */
#define SG_BCS_IN_MAX 4   /* slots that they are read into */
#define SG_BCS_NO_SLOT 0xff
/* A handler writes no more actions for messages once it has so many: a timer goes on. */
#define SG_BCS_ACTIONS_ENOUGH 128

enum sg_bcs_send_state {
    SG_BCS_SEND_FREE,
    SG_BCS_SEND_QUEUED,  /* to be offered */
    SG_BCS_SEND_OFFERED, /* its receiver has the descriptor, or will answer */
    SG_BCS_SEND_ASKED,   /* ... wants the bytes at `offset` in a slot */
    SG_BCS_SEND_TAKEN    /* ... has all bytes */
};

struct sg_bcs_send {
    uint64_t number;
    uint32_t handle, bytes;
    int32_t to, tag;
    uint16_t local, to_local;
    uint64_t since;   /* the first exchange that may offer it */
    uint64_t offered; /* the last exchange that did */
    uint64_t taken;   /* the strobe in which its receiver had all of it */
    uint64_t asked;   /* the last strobe in which its receiver asked for bytes, */
    uint32_t offset;  /* from here on */
    uint16_t asker;   /* the receive */
    uint8_t state;    /* enum sg_bcs_send_state */
    uint8_t slot;     /* of those to be read from; SG_BCS_NO_SLOT */
};

enum sg_bcs_receive_state {
    SG_BCS_RECEIVE_FREE,
    SG_BCS_RECEIVE_WAITING, /* for a descriptor */
    SG_BCS_RECEIVE_MATCHED, /* as far as `granted` it may ask for bytes */
    SG_BCS_RECEIVE_ASKING,  /* for a slot at the sender */
    SG_BCS_RECEIVE_READY,   /* the next bytes are in the sender's slot */
    SG_BCS_RECEIVE_READING,
    SG_BCS_RECEIVE_OVER /* matched as a probe, or all bytes read */
};

struct sg_bcs_receive {
    uint32_t handle, bytes;
    int32_t from, tag; /* asked for; SG_ANY */
    uint16_t local, from_local;
    uint64_t since; /* the first exchange that may match it */
    uint64_t over;  /* the strobe in which it got that state */
    uint64_t asked; /* the strobe in which it last asked for bytes */
    uint8_t state;  /* enum sg_bcs_receive_state */
    bool is_probe;
    uint8_t draining; /* reads that are on their way into its buffer */
    /* What it was matched with. */
    int32_t source, source_tag;
    uint16_t source_local, source_post, source_slot;
    uint32_t source_bytes, moved, granted;
};

/* A send that this endpoint has been offered and that has no receive yet. */
struct sg_bcs_descriptor {
    int32_t from, tag;
    uint16_t local, to_local;
    uint32_t bytes;
    uint32_t number;   /* its low half: of the same sender, compared by difference */
    uint32_t back;     /* to its sender's previous one to this rank in this exchange; 0: none */
    uint64_t exchange; /* that it came in */
    uint16_t post, slot;
    bool is_expected; /* by a receive that was there when it came */
    bool is_refused;  /* but its sender has not been told */
    bool is_probed;
};

struct sg_bcs_messages {
    uint32_t posts;
    uint32_t chunk_bytes;
    uint32_t first_out, first_in; /* slots */
    uint32_t out_count, in_count;
    uint32_t out_free, in_free; /* bit i: of them */
    uint16_t in_receive[SG_BCS_IN_MAX];
    uint32_t sends, receives, descriptors; /* in use */

    uint64_t exchange;   /* the last one that has begun here */
    bool exchanging;     /* it has not been matched */
    bool refused;        /* something, in it */
    bool transferring;   /* the strobe under way lets bytes move */
    uint32_t offers;     /* in it */
    uint32_t unanswered; /* ... yet */
    uint32_t unnoted;    /* refusals of what was taken before */
    uint32_t filling;    /* slots, for offers */
    uint64_t restarted;  /* what was over in this strobe or before may be delivered (restart=slice)
                          */
    bool more;           /* a timer is set to go on */
    bool left;           /* no post will come here or below, which the parent has been told */
    bool off;            /* ... nowhere */
    uint32_t left_below; /* bit: child */
};

/* Behind struct sg_bcs_messages: sends, receives, descriptors by (exchange, endpoint, rank,
 * number), and the order of sends' and receives' posting; of each as many as there may be posts.
 */
static inline size_t sg_bcs_messages_bytes(uint32_t posts)
{
    return sizeof(struct sg_bcs_messages) +
           posts * (sizeof(struct sg_bcs_send) + sizeof(struct sg_bcs_receive) +
                    sizeof(struct sg_bcs_descriptor) + 2 * sizeof(uint16_t));
}

/* NULL: it carries no messages. */
static inline struct sg_bcs_messages *sg_bcs_messages(struct sg_bcs *s)
{
    return s->messages_at > 0 ? (void *)((unsigned char *)s + s->messages_at) : NULL;
}

/* Strobes come in any case, or for others' messages: they have to be answered. */
static inline bool sg_bcs_is_strobed(struct sg_bcs *s)
{
    const struct sg_bcs_messages *m = sg_bcs_messages(s);

    return (s->always && s->strobed) || (m != NULL && !m->off);
}

static inline struct sg_bcs_send *sg_bcs_sends(struct sg_bcs_messages *m)
{
    return (void *)(m + 1);
}

static inline struct sg_bcs_receive *sg_bcs_receives(struct sg_bcs_messages *m)
{
    return (void *)(sg_bcs_sends(m) + m->posts);
}

static inline struct sg_bcs_descriptor *sg_bcs_descriptors(struct sg_bcs_messages *m)
{
    return (void *)(sg_bcs_receives(m) + m->posts);
}

static inline uint16_t *sg_bcs_send_order(struct sg_bcs_messages *m)
{
    return (void *)(sg_bcs_descriptors(m) + m->posts);
}

static inline uint16_t *sg_bcs_receive_order(struct sg_bcs_messages *m)
{
    return sg_bcs_send_order(m) + m->posts;
}

static inline bool sg_bcs_has_room(const struct sg_actions *actions)
{
    return actions->count < SG_BCS_ACTIONS_ENOUGH;
}

/* The least of a set of slots that is not empty is taken from it. */
static inline uint8_t sg_bcs_take_slot(uint32_t *free)
{
    uint8_t slot = (uint8_t)__builtin_ctz(*free);

    *free &= *free - 1;
    return slot;
}

/* A slice is to exchange what is not for the last exchange any more. */
static inline void sg_bcs_want(struct sg_bcs *s, const struct sg_bcs_messages *m)
{
    if (m->exchange + 1 > s->want)
        s->want = m->exchange + 1;
}

/* The REPLY's tag: what it is of, and which. */
enum { SG_BCS_TAG_FILL, SG_BCS_TAG_READ, SG_BCS_TAG_DRAIN };

static inline uint32_t sg_bcs_tag(uint32_t of, uint32_t index)
{
    return of << 16 | index;
}

/* ---- match.c: the descriptor exchange, and which message is which receive's */

/* An exchange begins here, if it has not. */
void sg_bcs_begin_exchange(struct sg_bcs *s, uint64_t exchange, struct sg_actions *actions);
/* Offers what it may, as far as there is room. */
void sg_bcs_offer(struct sg_bcs *s, struct sg_actions *actions);
/* Everything that was offered has been answered. */
bool sg_bcs_has_exchanged(struct sg_bcs *s);
/* The exchange is over everywhere: matches what came, and decides what may stay. */
void sg_bcs_match(struct sg_bcs *s, struct sg_actions *actions);
/* Tells senders what may not, as far as there is room. */
void sg_bcs_refuse(struct sg_bcs *s, struct sg_actions *actions);
/* They all know. */
bool sg_bcs_has_matched(struct sg_bcs *s);
/* A DESCRIPTOR, ANSWER, REFUSED or NOTED. */
void sg_bcs_take_matching(struct sg_bcs *s, int32_t from, const struct sg_header *header,
                          struct sg_actions *actions);
/* The first of the descriptors that may wait that the receive or probe could have; NULL. */
struct sg_bcs_descriptor *sg_bcs_find_unexpected(struct sg_bcs_messages *m,
                                                 const struct sg_bcs_receive *receive);

/* ---- transfer.c: the bytes of what has been matched */

/* After a match: what this slice moves. */
void sg_bcs_grant(struct sg_bcs *s, struct sg_actions *actions);
/* Goes on with it, as far as there is room. */
void sg_bcs_transfer(struct sg_bcs *s, struct sg_actions *actions);
/* Nothing is to move or moving here. */
bool sg_bcs_has_transferred(struct sg_bcs *s);
/* A PULL, FILLED or TOOK. */
void sg_bcs_take_transfer(struct sg_bcs *s, const struct sg_header *header,
                          struct sg_actions *actions);
void sg_bcs_take_reply(struct sg_bcs *s, uint32_t tag, struct sg_actions *actions);
/* Offset and bytes of a send into its slot. */
void sg_bcs_fill(struct sg_bcs_messages *m, uint32_t post, uint32_t offset,
                 struct sg_actions *actions);

/* ---- messages.c: posts, and what strobes do for them */

void sg_bcs_init_messages(struct sg_bcs *s, const struct sg_algo_setup *setup, uint32_t first_slot,
                          uint32_t chunk_bytes);
void sg_bcs_post(struct sg_bcs *s, const struct sg_algo_post *post, struct sg_actions *actions);
/* The strobe under way has just begun. restarted: the last one of an earlier slice; or 0. */
void sg_bcs_begin_messages(struct sg_bcs *s, uint64_t restarted, struct sg_actions *actions);
/* Does what there is to do, or sets a timer for the rest. */
void sg_bcs_go_on_messages(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions);
/* What the strobe under way does for messages has been done here. */
bool sg_bcs_are_messages_done(struct sg_bcs *s);
/* No post will come here or below, and all have been delivered. */
bool sg_bcs_is_left(struct sg_bcs *s);
void sg_bcs_take_left(struct sg_bcs *s, int child);
/* How many slots there are. */
uint32_t sg_bcs_out_slots(uint32_t posts);
uint32_t sg_bcs_in_slots(uint32_t posts);

#endif
