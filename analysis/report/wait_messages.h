/* Matches sends with receives, and gives the calls at both ends the causes of their waits.
 *
 * Rules as in report/wait_tracker.h, which keeps track of locations. Functions that return a status
 * return SG_OK, SG_ERR_MEMORY, not logged, or the listener's status.
 */
#ifndef SG_REPORT_WAIT_MESSAGES_H
#define SG_REPORT_WAIT_MESSAGES_H

#include "core/status.h"
#include "report/wait_skews.h"

struct sg_channel;
struct sg_waitstate_message_end;

struct sg_waitstate_receives; /* of a rank, in the order of their posts */

struct sg_waitstate_messages {
    struct sg_waitstate_settling *settling;
    sg_waitstate_listener listener; /* NULL: none */
    void *listener_context;
    struct sg_channel *channels;
    struct sg_waitstate_message_end *requests;
    struct sg_waitstate_receives *receives; /* by rank */
    struct sg_waitstate_message_end *ends;  /* all ends that are held */
    uint32_t rank_count;
    uint64_t matched, unmatched_sends, unmatched_receives;
    uint64_t violations, largest_violation_ns;
};

enum sg_status sg_waitstate_messages_start(struct sg_waitstate_messages *messages,
                                           struct sg_waitstate_settling *settling, uint32_t ranks);
/* Drops the ends that are not matched. */
enum sg_status sg_waitstate_messages_finish(struct sg_waitstate_messages *messages);
void sg_waitstate_messages_clear(struct sg_waitstate_messages *messages);
/* A send begun by a call. Without a request the same call completes it. */
enum sg_status sg_waitstate_messages_send(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_message *message,
                                          const uint64_t *request);
enum sg_status sg_waitstate_messages_sent(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call, uint64_t request);
/* A receive posted by a call. probe: the call that waited for the message before, or NULL. */
enum sg_status sg_waitstate_messages_post(struct sg_waitstate_messages *messages,
                                          struct sg_waitstate_call *call,
                                          struct sg_waitstate_call *probe, uint64_t request);
enum sg_status sg_waitstate_messages_received(struct sg_waitstate_messages *messages,
                                              struct sg_waitstate_call *call,
                                              const struct sg_waitstate_message *message,
                                              uint64_t request, int64_t time_ns);
/* A receive posted and completed by one call. */
enum sg_status sg_waitstate_messages_receive(struct sg_waitstate_messages *messages,
                                             struct sg_waitstate_call *call,
                                             struct sg_waitstate_call *probe,
                                             const struct sg_waitstate_message *message,
                                             int64_t time_ns);
enum sg_status sg_waitstate_messages_cancelled(struct sg_waitstate_messages *messages,
                                               uint32_t rank, uint64_t request);

#endif
