/* Multicasts along a tree of channels. */
#ifndef SG_TRANSPORT_VERBS_TREE_H
#define SG_TRANSPORT_VERBS_TREE_H

#include "transport/verbs/state.h"

#define SG_VERBS_TREE_DEGREE 4

/* The endpoint's neighbours; at most SG_VERBS_TREE_DEGREE + 1. */
int sg_verbs_tree(const struct sg_transport *transport, int32_t *out);
void sg_verbs_tree_send(struct sg_transport *transport, const struct sg_transport_send *send);
/* A multicast that came by a channel goes on to the neighbours other than came_by. */
void sg_verbs_tree_forward(struct sg_transport *transport,
                           const struct sg_transport_message *message, int32_t came_by);

#endif
