/* The messages of a bcs endpoint: state that match_posts.c (descriptors and their receives),
 * carried.c (bytes) and bcs_messages.c (posts, and the work of strobes for them) share. It follows
 * the instances of struct sg_bcs if parameters.posts is above 0, and holds no pointer.
 *
 * An exchange is the descriptor exchange of a slice, identified by its strobe. At an endpoint it
 * begins with that strobe, or with the first descriptor if that arrives earlier; later posts belong
 * to the next exchange. */
#ifndef SG_BCS_POSTS_H
#define SG_BCS_POSTS_H

#include "bcs/state.h"

#define SG_BCS_OUT_MAX 16 /* slots from which receivers read sends */
#define SG_BCS_IN_MAX 4   /* slots into which they read */
#define SG_BCS_NO_SLOT 0xff
/* A handler stops writing actions for messages at this number; a timer continues. */
#define SG_BCS_ACTIONS_ENOUGH 128

enum sg_bcs_send_state {
    SG_BCS_SEND_FREE,
    SG_BCS_SEND_QUEUED,  /* to be offered */
    SG_BCS_SEND_OFFERED, /* its receiver has the descriptor, or will answer */
    SG_BCS_SEND_ASKED,   /* its receiver wants the bytes at `offset` in a slot */
    SG_BCS_SEND_TAKEN    /* its receiver has all bytes */
};

struct sg_bcs_send {
    uint64_t number;
    uint32_t handle, bytes;
    int32_t to, tag;
    uint16_t local, to_local;
    uint64_t since;   /* first exchange that may offer it */
    uint64_t offered; /* last exchange that offered it */
    uint64_t taken;   /* strobe in which its receiver had taken all bytes */
    uint64_t asked;   /* last strobe in which its receiver asked for bytes */
    uint32_t offset;  /* ... from this offset */
    uint16_t asker;   /* index of the receive that asked */
    uint8_t state;    /* enum sg_bcs_send_state */
    uint8_t slot;     /* slot to be read from; SG_BCS_NO_SLOT: none */
};

enum sg_bcs_receive_state {
    SG_BCS_RECEIVE_FREE,
    SG_BCS_RECEIVE_WAITING, /* for a descriptor */
    SG_BCS_RECEIVE_MATCHED, /* may ask for bytes up to `granted` */
    SG_BCS_RECEIVE_ASKING,  /* waits for a slot at the sender */
    SG_BCS_RECEIVE_READY,   /* the next bytes are in the sender's slot */
    SG_BCS_RECEIVE_READING,
    SG_BCS_RECEIVE_OVER /* matched as a probe, or all bytes read */
};

struct sg_bcs_receive {
    uint32_t handle, bytes;
    int32_t from, tag; /* requested; or SG_ANY */
    uint16_t local, from_local;
    uint64_t since; /* first exchange that may match it */
    uint64_t over;  /* strobe in which it became OVER */
    uint64_t asked; /* strobe in which it last asked for bytes */
    uint8_t state;  /* enum sg_bcs_receive_state */
    bool is_probe;
    uint8_t draining; /* DRAINs into its buffer in progress */
    /* The matching message. */
    int32_t source, source_tag;
    uint16_t source_local, source_post, source_slot;
    uint32_t source_bytes, moved, granted;
};

/* A send that has been offered to this endpoint and has no receive yet. */
struct sg_bcs_descriptor {
    int32_t from, tag;
    uint16_t local, to_local;
    uint32_t bytes;
    uint32_t number;   /* low half of the send's number; compared by difference, within one
                        * sender */
    uint32_t back;     /* distance to the sender's previous number to this rank in this exchange; 0:
                        * none */
    uint64_t exchange; /* exchange in which it arrived */
    uint16_t post, slot;
    bool is_expected; /* a suitable receive existed on arrival */
    bool is_refused;  /* its sender has not been informed yet */
    bool is_probed;
};

struct sg_bcs_messages {
    uint32_t posts;
    uint32_t chunk_bytes;
    uint32_t first_out, first_in; /* first slots */
    uint32_t out_count, in_count;
    uint32_t out_free, in_free; /* bit i: slot i is free */
    uint16_t in_receive[SG_BCS_IN_MAX];
    uint32_t sends, receives, descriptors; /* number in use */

    uint64_t exchange;   /* last exchange that has begun here */
    bool exchanging;     /* it has not been matched yet */
    bool refused;        /* it refused something */
    bool transferring;   /* the current strobe allows transfers */
    uint32_t offers;     /* descriptors sent in it */
    uint32_t unanswered; /* ... and not answered yet */
    uint32_t unnoted;    /* refusals after acceptance whose NOTED is missing */
    uint32_t filling;    /* slots being filled for offers */
    uint64_t restarted;  /* posts over by this strobe may be delivered (restart=slice) */
    bool more;           /* a timer will continue */
    bool left;           /* no post will come here or below, and the parent knows it */
    bool off;            /* no post will come anywhere */
    uint32_t left_below; /* children that have left, as bits */
};

/* Arrays after struct sg_bcs_messages: sends, receives, descriptors by (exchange, endpoint, rank,
 * number), and the posting order of sends and of receives; each has `posts` entries. */
static inline size_t sg_bcs_messages_bytes(uint32_t posts)
{
    return sizeof(struct sg_bcs_messages) +
           posts * (sizeof(struct sg_bcs_send) + sizeof(struct sg_bcs_receive) +
                    sizeof(struct sg_bcs_descriptor) + 2 * sizeof(uint16_t));
}

/* NULL: this endpoint carries no messages. */
static inline struct sg_bcs_messages *sg_bcs_messages(struct sg_bcs *s)
{
    return s->messages_at > 0 ? (void *)((unsigned char *)s + s->messages_at) : NULL;
}

/* True if strobes come without own calls, always or for others' messages: the endpoint must answer
 * them. */
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

/* Takes the lowest slot of a nonempty set. */
static inline uint8_t sg_bcs_take_slot(uint32_t *free)
{
    uint8_t slot = (uint8_t)__builtin_ctz(*free);

    *free &= *free - 1;
    return slot;
}

/* Requests a slice for posts that came after the last exchange. */
static inline void sg_bcs_want(struct sg_bcs *s, const struct sg_bcs_messages *m)
{
    if (m->exchange + 1 > s->want)
        s->want = m->exchange + 1;
}

/* Tag of a REPLY: kind of action, and index. */
enum { SG_BCS_TAG_FILL, SG_BCS_TAG_READ, SG_BCS_TAG_DRAIN };

static inline uint32_t sg_bcs_tag(uint32_t of, uint32_t index)
{
    return of << 16 | index;
}

/* ---- match_posts.c: the descriptor exchange, and the matching of messages and receives ---- */

/* Begins an exchange here, if it has not begun. */
void sg_bcs_begin_exchange(struct sg_bcs *s, uint64_t exchange, struct sg_actions *actions);
/* Offers sends, as far as the actions allow. */
void sg_bcs_offer(struct sg_bcs *s, struct sg_actions *actions);
/* True if everything has been offered and answered. */
bool sg_bcs_has_exchanged(struct sg_bcs *s);
/* Call when the exchange is over everywhere: matches its descriptors, and decides which of the rest
 * stay. */
void sg_bcs_match(struct sg_bcs *s, struct sg_actions *actions);
/* Informs the senders of refused descriptors, as far as the actions allow. */
void sg_bcs_refuse(struct sg_bcs *s, struct sg_actions *actions);
/* True if all these senders know. */
bool sg_bcs_has_matched(struct sg_bcs *s);
/* Handles a DESCRIPTOR, ANSWER, REFUSED or NOTED. */
void sg_bcs_take_matching(struct sg_bcs *s, int32_t from, const struct sg_header *header,
                          struct sg_actions *actions);
/* Returns the first waiting descriptor that the receive or probe matches, or NULL. */
struct sg_bcs_descriptor *sg_bcs_find_unexpected(struct sg_bcs_messages *m,
                                                 const struct sg_bcs_receive *receive);

/* ---- carried.c: the bytes of matched messages ---- */

/* Call after a match: decides what this slice moves. */
void sg_bcs_grant(struct sg_bcs *s, struct sg_actions *actions);
/* Continues the transfers, as far as the actions allow. */
void sg_bcs_transfer(struct sg_bcs *s, struct sg_actions *actions);
/* True if no transfer is due or in progress here. */
bool sg_bcs_has_transferred(struct sg_bcs *s);
/* Handles a PULL, FILLED or TOOK. */
void sg_bcs_take_transfer(struct sg_bcs *s, const struct sg_header *header,
                          struct sg_actions *actions);
void sg_bcs_take_reply(struct sg_bcs *s, uint32_t tag, struct sg_actions *actions);
/* Fills the send's slot with the chunk at offset. */
void sg_bcs_fill(struct sg_bcs_messages *m, uint32_t post, uint32_t offset,
                 struct sg_actions *actions);

/* ---- bcs_messages.c: posts, and the work of strobes for them ---- */

void sg_bcs_init_messages(struct sg_bcs *s, const struct sg_algo_setup *setup, uint32_t first_slot,
                          uint32_t chunk_bytes);
void sg_bcs_post(struct sg_bcs *s, const struct sg_algo_post *post, struct sg_actions *actions);
/* The current strobe has just begun. restarted: last strobe of an earlier slice; or 0. */
void sg_bcs_begin_messages(struct sg_bcs *s, uint64_t restarted, struct sg_actions *actions);
/* Does the pending work, or sets a timer for the rest. */
void sg_bcs_go_on_messages(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions);
/* True if the current strobe's work for messages is done here. */
bool sg_bcs_are_messages_done(struct sg_bcs *s);
/* True if no post will come here or below, and all have been delivered. */
bool sg_bcs_is_left(struct sg_bcs *s);
void sg_bcs_take_left(struct sg_bcs *s, int child);
/* Numbers of slots. */
uint32_t sg_bcs_out_slots(uint32_t posts);
uint32_t sg_bcs_in_slots(uint32_t posts);

#endif
