/* New links are tried before they are trusted: a write, a read and, where such are needed, an
 * atomic operation go to the other end. They go by a queue pair that is there for the trial alone,
 * along the way of the link's own: so a failure leaves the link's, and what others send, alone.
 */
#ifndef SG_TRANSPORT_VERBS_TRIAL_H
#define SG_TRANSPORT_VERBS_TRIAL_H

#include "transport/verbs/state.h"

struct sg_verbs_trial {
    struct ibv_cq *queue;
    struct ibv_qp **pairs; /* by number among the new links */
    uint32_t count;
};

/* For so many links at most. False: no; close it all the same. */
bool sg_verbs_trial_open(struct sg_verbs_trial *trial, uint32_t links);
/* For the next link. */
bool sg_verbs_trial_add(struct sg_verbs_trial *trial);
void sg_verbs_trial_close(struct sg_verbs_trial *trial);

/* Both ends are connected. False: reason, of SG_VERBS_REASON_BYTES, says what failed. */
bool sg_verbs_try(struct sg_transport *transport, const struct sg_verbs_trial *trial,
                  uint32_t index, const struct sg_verbs_link *link, char *reason);

#endif
