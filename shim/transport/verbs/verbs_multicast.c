/* Multicasts by datagrams: each process has one queue pair for the communicator, a member of a
 * group whose address rank 0 draws and that librdmacm joins. A message is split into numbered
 * pieces of the network's datagram size, and reassembled in this process's memory.
 *
 * Each process of an endpoint gets each datagram. The first process that has a complete message
 * returns it; the table of received multicasts, in the endpoint's shared memory, keeps the others
 * from doing so. Datagrams are lost if no receive is posted, and whole messages with them:
 * protocols repair that.
 */
#include "transport/verbs/verbs_multicast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

size_t sg_verbs_multicast_bytes(void)
{
    return SG_VERBS_SENDS * (size_t)SG_VERBS_DATAGRAM_BYTES +
           SG_VERBS_RECEIVES * (size_t)SG_VERBS_RECEIVE_BYTES;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static unsigned char *receive_of(const struct sg_verbs_multicast *multicast, uint32_t buffer)
{
    return multicast->receives + (size_t)buffer * SG_VERBS_RECEIVE_BYTES;
}

static struct sg_verbs_piece *piece_of(const struct sg_verbs_multicast *multicast, uint32_t buffer)
{
    return (struct sg_verbs_piece *)(void *)(receive_of(multicast, buffer) + SG_VERBS_GRH_BYTES);
}

/* Receive buffers are used in order, cyclically. False: refused. */
static bool sg_verbs_multicast_post_receive(struct sg_transport *transport, uint32_t buffer)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    struct ibv_sge piece = {(uintptr_t)receive_of(multicast, buffer), SG_VERBS_RECEIVE_BYTES,
                            transport->own_region->lkey};
    struct ibv_recv_wr request = {.wr_id = (uint64_t)SG_VERBS_OF_RECEIVED << 56 |
                                           (uint64_t)transport->links_max << 40 |
                                           (uint64_t)buffer << 24,
                                  .sg_list = &piece,
                                  .num_sge = 1};
    struct ibv_recv_wr *bad;

    piece_of(multicast, buffer)->communicator = 0; /* hides an old datagram from pending() */
    return ibv_post_recv(multicast->pair, &request, &bad) == 0;
}

/* True if a process of the endpoint has returned this message, or it is too old to know. */
static bool is_repeat(const struct sg_transport *transport, int32_t from, uint64_t number)
{
    const struct sg_verbs_seen *seen =
        (const struct sg_verbs_seen *)sg_verbs_own(transport, transport->layout.seen_at) + from;

    if (number > seen->highest)
        return false;
    return number == seen->highest || seen->highest - number > 64 ||
           (seen->before >> (seen->highest - number - 1) & 1) != 0;
}

static void note_seen(struct sg_transport *transport, int32_t from, uint64_t number)
{
    struct sg_verbs_seen *seen =
        (struct sg_verbs_seen *)sg_verbs_own(transport, transport->layout.seen_at) + from;
    uint64_t ahead;

    if (number < seen->highest) {
        seen->before |= UINT64_C(1) << (seen->highest - number - 1);
        return;
    }
    ahead = number - seen->highest;
    seen->before = ahead >= 64 ? 0 : seen->before << ahead;
    if (ahead <= 64 && seen->highest > 0)
        seen->before |= UINT64_C(1) << (ahead - 1);
    seen->highest = number;
}

/* Finds the assembly of a piece. If there is none, replaces the oldest that is not held, complete
 * ones last. */
static struct sg_verbs_assembly *find_assembly(struct sg_verbs_multicast *multicast,
                                               const struct sg_verbs_piece *piece)
{
    struct sg_verbs_assembly *best = NULL;

    for (int i = 0; i < SG_VERBS_ASSEMBLIES; i++) {
        struct sg_verbs_assembly *each = &multicast->assemblies[i];

        if (each->state != SG_VERBS_FREE && each->from == piece->from &&
            each->number == piece->number)
            return each;
        if (each->state != SG_VERBS_HELD &&
            (best == NULL || each->state < best->state ||
             (each->state == best->state && each->order < best->order)))
            best = each;
    }
    multicast->whole -= best->state == SG_VERBS_WHOLE;
    best->state = SG_VERBS_PARTIAL;
    best->order = multicast->orders++;
    best->number = piece->number;
    best->protocol = piece->protocol;
    best->from = piece->from;
    best->missing = piece->bytes;
    best->solicited = piece->solicited != 0;
    best->header = piece->header;
    memset(best->came, 0, multicast->came_words * sizeof *best->came);
    return best;
}

static bool is_sound(const struct sg_transport *transport, const struct sg_verbs_piece *piece,
                     uint32_t bytes)
{
    const struct sg_verbs_multicast *multicast = transport->multicast;

    return bytes >= sizeof *piece && piece->communicator == multicast->communicator &&
           piece->from >= 0 && piece->from < transport->setup.endpoints &&
           piece->from != transport->location.self &&
           piece->bytes <= transport->layout.payload_bytes &&
           piece->bytes == sg_transport_payload_bytes(&piece->header) &&
           piece->at % multicast->piece_bytes == 0 && piece->at <= piece->bytes &&
           bytes - sizeof *piece <= piece->bytes - piece->at &&
           bytes - sizeof *piece <= multicast->piece_bytes;
}

static void take_piece(struct sg_transport *transport, const struct sg_verbs_piece *piece,
                       uint32_t bytes)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    struct sg_verbs_assembly *assembly;
    uint32_t index = piece->at / multicast->piece_bytes;

    if (is_repeat(transport, piece->from, piece->number)) {
        transport->usage.repeats += piece->at == 0;
        return;
    }
    assembly = find_assembly(multicast, piece);
    /* Pieces of one message have the same header. */
    if (memcmp(&assembly->header, &piece->header, sizeof piece->header) != 0)
        return;
    if (assembly->state != SG_VERBS_PARTIAL || (assembly->came[index / 64] >> index % 64 & 1) != 0)
        return;
    assembly->came[index / 64] |= UINT64_C(1) << index % 64;
    memcpy(assembly->payload + piece->at, piece->payload, bytes);
    assembly->missing -= bytes;
    if (assembly->missing == 0) {
        assembly->state = SG_VERBS_WHOLE;
        multicast->whole++;
    }
}

void sg_verbs_multicast_came(struct sg_transport *transport, uint32_t buffer, uint32_t bytes)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    const struct sg_verbs_piece *piece = piece_of(multicast, buffer);

    if (bytes >= SG_VERBS_GRH_BYTES && is_sound(transport, piece, bytes - SG_VERBS_GRH_BYTES))
        take_piece(transport, piece, bytes - SG_VERBS_GRH_BYTES - (uint32_t)sizeof *piece);
    multicast->next_receive = (buffer + 1) % SG_VERBS_RECEIVES;
    if (!sg_verbs_multicast_post_receive(transport, buffer))
        sg_verbs_fail(transport, (struct sg_transport_fault){SG_TRANSPORT_NOBODY, true,
                                                             "receive requests are refused"});
}

/* Returns the oldest complete message; NULL: none. */
static struct sg_verbs_assembly *oldest_whole(struct sg_verbs_multicast *multicast)
{
    struct sg_verbs_assembly *oldest = NULL;

    for (int i = 0; i < SG_VERBS_ASSEMBLIES; i++) {
        struct sg_verbs_assembly *each = &multicast->assemblies[i];

        if (each->state == SG_VERBS_WHOLE && (oldest == NULL || each->order < oldest->order))
            oldest = each;
    }
    return oldest;
}

bool sg_verbs_multicast_receive(struct sg_transport *transport, struct sg_transport_message *out)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    struct sg_verbs_assembly *oldest;

    while (multicast->whole > 0 && transport->multicasts_held < SG_TRANSPORT_HELD &&
           (oldest = oldest_whole(multicast)) != NULL) {
        multicast->whole--;
        if (is_repeat(transport, oldest->from, oldest->number)) {
            transport->usage.repeats++;
            oldest->state = SG_VERBS_FREE;
            continue;
        }
        note_seen(transport, oldest->from, oldest->number);
        oldest->state = SG_VERBS_HELD;
        transport->multicasts_held++;
        out->protocol = oldest->protocol;
        out->solicited = oldest->solicited;
        out->message.from = oldest->from;
        out->message.multicast = true;
        out->message.header = oldest->header;
        out->parts = oldest->payload;
        out->handle = (uint64_t)(oldest - multicast->assemblies);
        return true;
    }
    return false;
}

void sg_verbs_multicast_release(struct sg_transport *transport,
                                const struct sg_transport_message *message)
{
    transport->multicast->assemblies[message->handle].state = SG_VERBS_FREE;
    transport->multicasts_held--;
}

bool sg_verbs_multicast_pending(const struct sg_transport *transport)
{
    const struct sg_verbs_multicast *multicast = transport->multicast;
    const struct sg_verbs_piece *piece = piece_of(multicast, multicast->next_receive);

    if (transport->multicasts_held == SG_TRANSPORT_HELD)
        return false;
    /* Volatile: the adapter writes it. A hint: the receiver waits for the completion. */
    return multicast->whole > 0 ||
           *(const volatile uint64_t *)&piece->communicator == multicast->communicator;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The send queue drains as fast as the network takes datagrams. False: it did not, within a bounded
 * number of polls, or the transport has failed. */
static bool await_room(struct sg_transport *transport)
{
    for (int i = 0; i < 1 << 16; i++) {
        if (sg_verbs_has_room(transport, &transport->multicast->link))
            return true;
        if (sg_verbs_has_failed(transport))
            return false;
    }
    return false;
}

static void send_piece(struct sg_transport *transport, const struct sg_verbs_piece *piece,
                       uint32_t payload_bytes)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    struct ibv_sge memory = {(uintptr_t)piece, (uint32_t)sizeof *piece + payload_bytes,
                             transport->own_region->lkey};
    struct ibv_send_wr request = {
        .sg_list = &memory,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = piece->solicited ? IBV_SEND_SOLICITED : 0,
        .wr.ud = {multicast->address, multicast->group.queue_pair, multicast->group.key},
    };

    transport->usage.multicasts++;
    sg_verbs_post_request(transport, &multicast->link, &request, SG_VERBS_OF_DATAGRAM, 0);
}

/* Copies the bytes of the laid-out payload from `at` on: parts at their strides. */
static void copy_payload(const struct sg_transport_send *send, size_t at, unsigned char *out,
                         size_t bytes)
{
    size_t stride = sg_transport_stride(&send->header);

    while (bytes > 0) {
        size_t part = at / stride, within = at % stride, step = stride - within;
        size_t data = within < send->header.bytes ? send->header.bytes - within : 0;

        step = step < bytes ? step : bytes;
        data = data < step ? data : step;
        memcpy(out, (const unsigned char *)send->parts[part] + within, data);
        memset(out + data, 0, step - data);
        out += step;
        at += step;
        bytes -= step;
    }
}

void sg_verbs_multicast_send(struct sg_transport *transport, const struct sg_transport_send *send)
{
    struct sg_verbs_multicast *multicast = transport->multicast;
    uint32_t bytes = (uint32_t)sg_transport_payload_bytes(&send->header), at = 0;
    uint64_t number = ++sg_verbs_endpoint(transport)->multicasts_sent;

    do {
        uint32_t step = bytes - at < multicast->piece_bytes ? bytes - at : multicast->piece_bytes;
        struct sg_verbs_piece *piece;

        if (!await_room(transport))
            return; /* the message is lost */
        piece = (struct sg_verbs_piece *)(void *)(multicast->sends +
                                                  multicast->link.posted % SG_VERBS_SENDS *
                                                      (size_t)SG_VERBS_DATAGRAM_BYTES);
        piece->communicator = multicast->communicator;
        piece->number = number;
        piece->protocol = send->protocol;
        piece->from = transport->location.self;
        piece->at = at;
        piece->bytes = bytes;
        piece->solicited = send->solicited;
        piece->header = send->header;
        copy_payload(send, at, piece->payload, step);
        send_piece(transport, piece, step);
        at += step;
    } while (at < bytes);
}

/* ---- set-up: all processes join a group whose address rank 0 draws, or none does ---- */

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
    size_t pieces;

    multicast->piece_bytes =
        (uint32_t)(sg_verbs_mtu_bytes(transport->mtu) - sizeof(struct sg_verbs_piece)) & ~15u;
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

/* Rank 0's random values for all ranks. */
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
    /* Avoids the first and last address of a network, and addresses reserved for bridges. */
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
