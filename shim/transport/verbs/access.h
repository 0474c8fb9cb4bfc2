/* One-sided access (struct sg_transport_ops). */
#ifndef SG_TRANSPORT_VERBS_ACCESS_H
#define SG_TRANSPORT_VERBS_ACCESS_H

#include "transport/verbs/verbs_state.h"

/* The function `access` of struct sg_transport_ops. */
enum sg_transport_result sg_verbs_access(struct sg_transport *transport, int self,
                                         const struct sg_action *action,
                                         const struct sg_transport_region *region, void *local,
                                         uint64_t value[8]);
/* Handles the completion of the access with that index. */
void sg_verbs_access_done(struct sg_transport *transport, uint32_t index);
/* Returns the next reply; false: none. */
bool sg_verbs_access_reply(struct sg_transport *transport, struct sg_transport_message *out);

#endif
