/* Channels: the order of messages of a communicator, from one rank to another and with one tag, and
 * their ends that are not matched yet.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_CHANNELS_H
#define SG_REPORT_WAITSTATES_CHANNELS_H

#include "core/status.h"
#include "report/waitstates/calls.h"
#include "report/waitstates/table.h"

struct sg_message_key {
    uint32_t comm, from, to, tag;
};

/* One end of a message. */
struct sg_waitstate_message_end {
    struct sg_table_link link; /* of requests, where has_request */
    uint64_t request;
    struct sg_waitstate_message_end *previous, *following; /* of all */
    struct sg_waitstate_message_end *next;                 /* in its channel */
    uint32_t gap; /* messages of its channel before it that nothing is told of here */
    struct sg_message_key key;
    struct sg_waitstate_end who; /* of the call that began it, as is begin_ns */
    int64_t begin_ns;
    struct sg_waitstate_call *completing; /* the call that completed it; NULL: it is pending */
    bool is_send, has_request;
    bool is_matched;
};

/* Sends that wait for receives, or receives that wait for sends (whose clocks contradict). */
struct sg_channel {
    struct sg_table_link link;
    struct sg_message_key key;
    struct sg_waitstate_message_end *first, *last;
};

/* NULL: nothing waits in it. */
struct sg_channel *sg_channels_find(const struct sg_link_table *channels,
                                    const struct sg_message_key *key);
/* Adds an end to its channel; NULL: that is a new one. */
enum sg_status sg_channels_append(struct sg_link_table *channels, struct sg_channel *channel,
                                  struct sg_waitstate_message_end *end);
/* Takes an end out; its gap becomes the next one's. A channel with nothing in it is given up. */
void sg_channels_remove(struct sg_link_table *channels, struct sg_channel *channel,
                        struct sg_waitstate_message_end *end);
/* What waits at the other side for an end's message, or for one before it; NULL: nothing. */
struct sg_waitstate_message_end *sg_channel_opposite(const struct sg_channel *channel,
                                                     const struct sg_waitstate_message_end *end);
/* Frees the channels, not what is in them. */
void sg_channels_clear(struct sg_link_table *channels);

#endif
