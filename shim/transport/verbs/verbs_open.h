/* Set-up of the transport `verbs`, and multicasts along a tree of channels. */
#ifndef SG_TRANSPORT_VERBS_VERBS_OPEN_H
#define SG_TRANSPORT_VERBS_VERBS_OPEN_H

#include "transport/verbs/verbs_state.h"

/* Returns the number of connected processes of an endpoint. */
int32_t sg_verbs_servers(const struct sg_transport *transport, int32_t endpoint);

/* Returns the number of the endpoint's neighbours; at most SG_VERBS_TREE_DEGREE + 1. */
int sg_verbs_tree(const struct sg_transport *transport, int32_t *out);
void sg_verbs_tree_send(struct sg_transport *transport, const struct sg_transport_send *send);
/* Forwards a multicast that came by a channel to the neighbours other than came_by. */
void sg_verbs_tree_forward(struct sg_transport *transport,
                           const struct sg_transport_message *message, int32_t came_by);

/* Opening, connecting and closing a communicator's transport: functions of struct sg_transport_ops
 * and struct sg_transport_remote_ops. */

size_t sg_verbs_shared_bytes(const struct sg_transport_setup *setup);
enum sg_status sg_verbs_open(const struct sg_transport_setup *setup, void *shared,
                             struct sg_transport **out);
void sg_verbs_close(struct sg_transport *transport);
enum sg_status sg_verbs_connect(struct sg_transport *transport, const int32_t *peers, int count);
/* Agrees on the success of all ranks; the first rank that failed logs the reason, unless it is "".
 * SG_OK on all ranks, or SG_ERR_SYSTEM on all. */
enum sg_status sg_verbs_agree(const struct sg_exchange *exchange, bool ok, const char *reason);

#endif
