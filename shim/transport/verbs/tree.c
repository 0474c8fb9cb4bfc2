/* Multicasts where the network has none: along a tree over the endpoints, rooted at 0, from
 * neighbour to neighbour by channels. A receiver passes a multicast on before it hands it out. If
 * there is no room, it is lost for all endpoints beyond, as a multicast may be.
 */
#include "transport/verbs/tree.h"

#include "transport/verbs/channel.h"

int sg_verbs_tree(const struct sg_transport *transport, int32_t *out)
{
    int64_t self = transport->location.self;
    int count = 0;

    if (self > 0)
        out[count++] = (int32_t)((self - 1) / SG_VERBS_TREE_DEGREE);
    for (int64_t child = self * SG_VERBS_TREE_DEGREE + 1;
         child <= self * SG_VERBS_TREE_DEGREE + SG_VERBS_TREE_DEGREE &&
         child < transport->setup.endpoints;
         child++)
        out[count++] = (int32_t)child;
    return count;
}

/* To all neighbours but one. */
static void spread(struct sg_transport *transport, int32_t but,
                   const struct sg_verbs_content *content)
{
    int32_t neighbours[SG_VERBS_TREE_DEGREE + 1];
    int count = sg_verbs_tree(transport, neighbours);

    for (int i = 0; i < count; i++) {
        int32_t channel = transport->channel_of[neighbours[i]];

        if (neighbours[i] != but && channel != 0)
            sg_verbs_put(transport, (uint32_t)channel - 1, content);
    }
}

void sg_verbs_tree_send(struct sg_transport *transport, const struct sg_transport_send *send)
{
    struct sg_verbs_content content = {
        .kind = SG_VERBS_FORWARD, .send = send, .from = transport->location.self};

    spread(transport, -1, &content);
}

void sg_verbs_tree_forward(struct sg_transport *transport,
                           const struct sg_transport_message *message, int32_t came_by)
{
    struct sg_transport_send send = {.protocol = message->protocol,
                                     .solicited = message->solicited,
                                     .header = message->message.header};
    struct sg_verbs_content content = {.kind = SG_VERBS_FORWARD,
                                       .send = &send,
                                       .payload = message->parts,
                                       .from = message->message.from};

    spread(transport, came_by, &content);
}
