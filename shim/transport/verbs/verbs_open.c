/* Opens a communicator's transport: registers memory, makes queues, exchanges addresses between the
 * processes, and joins a multicast group. A failure on one rank is a failure on all. Also
 * multicasts along a tree. */
#include "transport/verbs/verbs_open.h"

#include "transport/verbs/access.h"
#include "transport/verbs/verbs_channel.h"
#include "transport/verbs/verbs_multicast.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Limit of solicited messages that a process may leave unhandled before its senders have to wait.
 */
#define DOORBELLS_MAX 4096u

static const struct sg_verbs_completed completed = {
    .access = sg_verbs_access_done,
    .fetch = sg_verbs_channel_fetched,
    .datagram = sg_verbs_multicast_came,
};

size_t sg_verbs_shared_bytes(const struct sg_transport_setup *setup)
{
    struct sg_verbs_layout layout;

    return sg_verbs_lay_out(setup, &layout) ? layout.bytes : 0;
}

/* ---- agreement ------------------------------------------------------------------------------ */

enum sg_status sg_verbs_agree(const struct sg_exchange *exchange, bool ok, const char *reason)
{
    int first = -1;
    enum sg_status status = sg_exchange_agree(exchange, ok, &first);

    if (status != SG_OK)
        return status;
    if (first == exchange->rank && *reason != '\0')
        sg_log("rank %d: RDMA is not used: %s", exchange->rank, reason);
    return first < 0 ? SG_OK : SG_ERR_SYSTEM;
}

/* ---- this process's resources -----------------------------------------------------------------
 */

/* Detects processes of a machine that disagree on the set-up. */
static bool sign(const struct sg_transport *transport)
{
    struct sg_verbs_header *header = (struct sg_verbs_header *)transport->base;
    uint64_t found = 0, own = sg_verbs_signature(&transport->setup);

    /* Relaxed: publishes nothing else. */
    return atomic_compare_exchange_strong_explicit(&header->signature, &found, own,
                                                   memory_order_relaxed, memory_order_relaxed) ||
           found == own;
}

static bool map_own(struct sg_transport *transport, char *reason)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    transport->own_bytes =
        sg_transport_round(SG_VERBS_ACCESS_BYTES + sg_verbs_multicast_bytes(), page);
    transport->own = mmap(NULL, transport->own_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (transport->own == MAP_FAILED) {
        transport->own = NULL;
        snprintf(reason, SG_VERBS_REASON_BYTES, "cannot allocate %zu KiB: %m",
                 transport->own_bytes / 1024);
        return false;
    }
    transport->own_region = sg_verbs_register(transport->own, transport->own_bytes, reason);
    return transport->own_region != NULL;
}

static bool register_all(struct sg_transport *transport, char *reason)
{
    transport->memory =
        sg_verbs_register(transport->location.memory, transport->location.memory_bytes, reason);
    return transport->memory != NULL && map_own(transport, reason);
}

static bool make_doorbells(struct sg_transport *transport)
{
    struct sg_verbs_device *device = &sg_verbs_device;
    uint32_t wanted = transport->layout.channels * transport->setup.inflight;
    struct ibv_srq_init_attr create = {.attr = {.max_sge = 1}};
    struct ibv_recv_wr request = {.wr_id = (uint64_t)SG_VERBS_OF_DOORBELL << 56}, *bad;

    wanted = wanted < 64 ? 64 : wanted < DOORBELLS_MAX ? wanted : DOORBELLS_MAX;
    if (wanted > (uint32_t)device->attributes.max_srq_wr)
        wanted = (uint32_t)device->attributes.max_srq_wr;
    create.attr.max_wr = wanted;
    transport->doorbells = ibv_create_srq(device->domain, &create);
    if (transport->doorbells == NULL)
        return false;
    for (uint32_t i = 0; i < wanted; i++) {
        if (ibv_post_srq_recv(transport->doorbells, &request, &bad) != 0)
            return false;
    }
    /* Largest number of outstanding completions of all kinds, including datagrams. */
    wanted += transport->links_max * transport->link_depth + SG_VERBS_DATAGRAMS;
    if (wanted > (uint32_t)device->attributes.max_cqe)
        wanted = (uint32_t)device->attributes.max_cqe;
    transport->queue =
        ibv_create_cq(device->context, (int)wanted, NULL, transport->completion_channel, 0);
    return transport->queue != NULL;
}

static bool make_queues(struct sg_transport *transport, char *reason)
{
    int flags;

    transport->completion_channel = ibv_create_comp_channel(sg_verbs_device.context);
    if (transport->completion_channel == NULL ||
        (flags = fcntl(transport->completion_channel->fd, F_GETFL)) < 0 ||
        fcntl(transport->completion_channel->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        !make_doorbells(transport)) {
        snprintf(reason, SG_VERBS_REASON_BYTES, "device %s provides no queues: %m",
                 sg_verbs_device.name);
        return false;
    }
    return true;
}

/* ---- all processes --------------------------------------------------------------------------- */

static void describe(struct sg_transport *transport)
{
    const struct sg_verbs_device *device = &sg_verbs_device;
    int reads = device->attributes.max_qp_rd_atom;

    transport->process =
        (struct sg_verbs_process){.memory = (uintptr_t)transport->location.memory,
                                  .gid = device->gid,
                                  .key = transport->memory != NULL ? transport->memory->rkey : 0,
                                  .lid = device->port_attributes.lid,
                                  .mtu = (uint8_t)device->mtu,
                                  .reads = (uint8_t)(reads < 1    ? 1
                                                     : reads < 16 ? reads
                                                                  : 16),
                                  .is_ethernet = device->is_ethernet};
}

/* The number of connected processes of an endpoint. */
int32_t sg_verbs_servers(const struct sg_transport *transport, int32_t endpoint)
{
    int32_t size = sg_grouping_size(transport->location.ranks, endpoint);

    return size < transport->location.servers_max ? size : transport->location.servers_max;
}

/* Sets the limit of this process's queue pairs: each channel's, to the endpoint with most
 * processes. */
static enum sg_status size_links(struct sg_transport *transport)
{
    int32_t most = transport->location.ranks->most, servers = transport->location.servers;

    if (most > transport->location.servers_max)
        most = transport->location.servers_max;
    transport->links_max = transport->layout.channels * (uint32_t)((most + servers - 1) / servers);
    transport->link_depth = transport->layout.places + SG_VERBS_SIGNAL_EVERY + SG_VERBS_QUEUE_SPARE;
    if (transport->link_depth > (uint32_t)sg_verbs_device.attributes.max_qp_wr)
        transport->link_depth = (uint32_t)sg_verbs_device.attributes.max_qp_wr;
    for (transport->known_room = 1; transport->known_room <= 2 * transport->layout.channels;)
        transport->known_room *= 2;
    transport->links = calloc(transport->links_max, sizeof *transport->links);
    transport->peers = calloc(transport->layout.channels, sizeof *transport->peers);
    transport->known = calloc(transport->known_room, sizeof *transport->known);
    return transport->links != NULL && transport->peers != NULL && transport->known != NULL
               ? SG_OK
               : SG_ERR_MEMORY;
}

static bool is_usable(const struct sg_transport_setup *setup, const void *shared,
                      struct sg_verbs_layout *layout)
{
    const struct sg_transport_location *location = setup->location;
    uintptr_t memory, at = (uintptr_t)shared;

    if (location == NULL || !sg_verbs_lay_out(setup, layout))
        return false;
    memory = (uintptr_t)location->memory;
    return at % SG_TRANSPORT_LINE_BYTES == 0 && at >= memory &&
           at - memory + layout->bytes <= location->memory_bytes && location->ranks != NULL &&
           location->machines != NULL && location->servers >= 1 &&
           location->servers <= location->servers_max &&
           location->servers <= SG_VERBS_SERVERS_MAX && location->server >= 0 &&
           location->index >= 0 &&
           location->index < (setup->here > 0 ? setup->here : setup->endpoints) &&
           location->self >= 0 && location->self < setup->endpoints;
}

void sg_verbs_close(struct sg_transport *transport)
{
    sg_verbs_multicast_close(transport);
    for (uint32_t i = 0; i < transport->link_count; i++)
        ibv_destroy_qp(transport->links[i].pair);
    if (transport->doorbells != NULL)
        ibv_destroy_srq(transport->doorbells);
    if (transport->queue != NULL) {
        ibv_ack_cq_events(transport->queue, atomic_load(&transport->events));
        ibv_destroy_cq(transport->queue);
    }
    if (transport->completion_channel != NULL)
        ibv_destroy_comp_channel(transport->completion_channel);
    if (transport->own_region != NULL)
        sg_verbs_unregister(transport->own_region);
    if (transport->memory != NULL)
        sg_verbs_unregister(transport->memory);
    if (transport->own != NULL)
        munmap(transport->own, transport->own_bytes);
    free(transport->known);
    free(transport->peers);
    free(transport->links);
    free(transport);
}

static enum sg_status open_all(struct sg_transport *transport)
{
    const struct sg_exchange *exchange = transport->location.exchange;
    char reason[SG_VERBS_REASON_BYTES] = "no RDMA device is open";
    bool idle = sg_verbs_is_idle(transport);
    bool ok = sg_verbs_device.context != NULL && !sg_verbs_device.has_bad_links &&
              (idle || register_all(transport, reason));
    uint64_t mtu = (uint64_t)sg_verbs_device.mtu;
    enum sg_status status;

    if (sg_verbs_device.has_bad_links)
        *reason = '\0';
    describe(transport);
    if (ok) {
        snprintf(reason, sizeof reason, "out of memory");
        ok = size_links(transport) == SG_OK && (idle || make_queues(transport, reason));
    }
    if (ok && !sign(transport)) {
        snprintf(reason, sizeof reason, "processes of one machine disagree on the set-up");
        ok = false;
    }
    status = sg_verbs_agree(exchange, ok, reason);
    if (status == SG_OK)
        status = sg_exchange_combine(exchange, SG_COMBINE_LEAST, &mtu, 1);
    transport->mtu = (enum ibv_mtu)mtu;
    if (status == SG_OK)
        status = sg_verbs_multicast_open(transport);
    return status;
}

enum sg_status sg_verbs_open(const struct sg_transport_setup *setup, void *shared,
                             struct sg_transport **out)
{
    struct sg_verbs_layout layout;
    struct sg_transport *transport;
    enum sg_status status;

    if (!is_usable(setup, shared, &layout)) {
        errno = EINVAL;
        return SG_ERR_ARGUMENT;
    }
    transport = calloc(1, sizeof *transport);
    if (transport == NULL)
        abort(); /* the others wait for this rank */
    transport->setup = *setup;
    transport->location = *setup->location;
    transport->setup.location = &transport->location;
    transport->layout = layout;
    transport->completed = &completed;
    transport->base = shared;
    transport->base_at =
        (size_t)((unsigned char *)shared - (unsigned char *)setup->location->memory);
    status = open_all(transport);
    if (status != SG_OK) {
        sg_verbs_close(transport);
        errno = EIO;
        return status;
    }
    if (!sg_verbs_is_idle(transport))
        transport->usage.registered_bytes = transport->memory->length + transport->own_bytes;
    *out = transport;
    return SG_OK;
}

/* Multicasts along a tree, if the network has no multicast: over the endpoints, rooted at 0, from
 * neighbour to neighbour by channels. A receiver forwards a multicast before it returns it. If a
 * channel is full, the multicast is lost for all endpoints beyond it, as a multicast may be. */

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

/* Sends to all neighbours except one. */
static void spread(struct sg_transport *transport, int32_t but,
                   const struct sg_verbs_content *content)
{
    int32_t neighbours[SG_VERBS_TREE_DEGREE + 1];
    int count = sg_verbs_tree(transport, neighbours);

    for (int i = 0; i < count; i++) {
        uint32_t channel = sg_verbs_channel_of(transport, neighbours[i]);

        if (neighbours[i] != but && channel != 0)
            sg_verbs_put(transport, channel - 1, content);
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
