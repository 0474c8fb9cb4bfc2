/* Sets up multicasts by datagrams: all processes join a group whose address rank 0 draws, or none
 * does.
 */
#include "transport/verbs/multicast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool make_pair(struct sg_transport *transport, char *reason)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    struct ibv_qp_init_attr create = {
        .send_cq = transport->queue,
        .recv_cq = transport->queue,
        .cap = {.max_send_wr = SG_VERBS_SENDS,
                .max_recv_wr = SG_VERBS_RECEIVES,
                .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .pkey_index = sg_verbs_device.partition_index,
                               .port_num = sg_verbs_device.port,
                               .qkey = multicast->group.key};

    multicast->pair = ibv_create_qp(sg_verbs_device.domain, &create);
    multicast->link.pair = multicast->pair;
    multicast->link.peer = SG_TRANSPORT_ALL;
    multicast->link.depth = SG_VERBS_SENDS;
    if (multicast->pair == NULL ||
        ibv_modify_qp(multicast->pair, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0)
        goto err_reason;
    attr.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(multicast->pair, &attr, IBV_QP_STATE) != 0)
        goto err_reason;
    attr.qp_state = IBV_QPS_RTS;
    if (ibv_modify_qp(multicast->pair, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) != 0)
        goto err_reason;
    for (uint32_t i = 0; i < SG_VERBS_RECEIVES; i++) {
        if (!sg_verbs_multicast_post_receive(transport, i))
            goto err_reason;
    }
    multicast->address = ibv_create_ah(sg_verbs_device.domain, &multicast->group.way);
    if (multicast->address == NULL ||
        ibv_attach_mcast(multicast->pair, &multicast->group.way.grh.dgid,
                         multicast->group.way.dlid) != 0)
        goto err_reason;
    return true;

err_reason:
    snprintf(reason, SG_VERBS_REASON_BYTES, "device %s: %m", sg_verbs_device.name);
    return false;
}

static bool allocate(struct sg_transport *transport)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    enum ibv_mtu mtu = IBV_MTU_4096;
    size_t pieces;

    for (int rank = 0; rank < transport->location.exchange->size; rank++) {
        if (transport->processes[rank].mtu < mtu)
            mtu = (enum ibv_mtu)transport->processes[rank].mtu;
    }
    multicast->piece_bytes =
        (uint32_t)(sg_verbs_mtu_bytes(mtu) - sizeof(struct sg_verbs_piece)) & ~15u;
    pieces = transport->layout.payload_bytes / multicast->piece_bytes + 1;
    multicast->came_words = (pieces + 63) / 64;
    multicast->sends = transport->own + SG_VERBS_ACCESS_BYTES;
    multicast->receives = multicast->sends + SG_VERBS_SENDS * (size_t)SG_VERBS_DATAGRAM_BYTES;
    for (int i = 0; i < SG_VERBS_ASSEMBLIES; i++) {
        struct sg_verbs_assembly *assembly = &multicast->assemblies[i];

        assembly->came = calloc(multicast->came_words, sizeof *assembly->came);
        assembly->payload = aligned_alloc(SG_TRANSPORT_LINE_BYTES, transport->layout.payload_bytes +
                                                                       SG_TRANSPORT_LINE_BYTES);
        if (assembly->came == NULL || assembly->payload == NULL)
            return false;
    }
    return true;
}

/* What rank 0 draws for all. */
struct draw {
    uint64_t communicator;
    uint32_t address;
    uint32_t reserved;
};

static struct draw draw_group(void)
{
    struct draw draw;
    unsigned char bytes[4] = {239};

    while (getrandom(&draw, sizeof draw, 0) != sizeof draw)
        ;
    draw.communicator |= 1;
    memcpy(bytes + 1, &draw.address, 3);
    /* Neither the first nor the last of a network, nor one that bridges keep to themselves. */
    bytes[1] |= 1;
    bytes[3] = (unsigned char)(1 + bytes[3] % 254);
    memcpy(&draw.address, bytes, sizeof draw.address);
    return draw;
}

static bool become_member(struct sg_transport *transport, const struct draw *draw, char *reason)
{
    transport->multicast = calloc(1, sizeof *transport->multicast);
    if (transport->multicast == NULL)
        return false;
    transport->multicast_link = &transport->multicast->link;
    transport->multicast->communicator = draw->communicator;
    return allocate(transport) &&
           sg_verbs_group_join(&transport->multicast->group, draw->address, reason) &&
           make_pair(transport, reason);
}

enum sg_status sg_verbs_multicast_open(struct sg_transport *transport)
{
    const struct sg_exchange *exchange = transport->location.exchange;
    char reason[SG_VERBS_REASON_BYTES] = "out of memory";
    struct draw draw = {0};
    int first = -1;
    bool ok = false;
    enum sg_status status = sg_exchange_agree(exchange, sg_verbs_device.settings.multicast, &first);

    if (status != SG_OK || first >= 0 || transport->setup.endpoints == 1)
        return status;
    if (exchange->rank == 0)
        draw = draw_group();
    status = exchange->broadcast(exchange->context, &draw, sizeof draw);
    if (status != SG_OK)
        return status;
    ok = sg_verbs_is_idle(transport) || become_member(transport, &draw, reason);
    status = sg_exchange_agree(exchange, ok, &first);
    transport->usage.has_multicast = status == SG_OK && first < 0;
    if (!transport->usage.has_multicast)
        sg_verbs_multicast_close(transport);
    if (first == exchange->rank)
        sg_log("rank %d: RDMA multicast is not used: %s", first, reason);
    return status;
}

void sg_verbs_multicast_close(struct sg_transport *transport)
{
    struct sg_verbs_multicast *multicast = transport->multicast;

    if (multicast == NULL)
        return;
    if (multicast->address != NULL)
        ibv_destroy_ah(multicast->address);
    if (multicast->pair != NULL) {
        ibv_detach_mcast(multicast->pair, &multicast->group.way.grh.dgid,
                         multicast->group.way.dlid);
        ibv_destroy_qp(multicast->pair);
    }
    sg_verbs_group_leave(&multicast->group);
    for (int i = 0; i < SG_VERBS_ASSEMBLIES; i++) {
        free(multicast->assemblies[i].came);
        free(multicast->assemblies[i].payload);
    }
    free(multicast);
    transport->multicast = NULL;
    transport->multicast_link = NULL;
}
