/* Connects channels: makes queue pairs, trades their numbers with the peers' processes, connects
 * them to those that the peers made, and tests them. A process knows its links' other ends only.
 *
 * Process i of an endpoint and process j of another are connected if i and j are the same number
 * modulo the smaller number of processes. Each process has a queue pair to each peer; if both
 * endpoints have the same number of processes, exactly one.
 */
#include "core/hash.h"
#include "transport/verbs/verbs_device.h"
#include "transport/verbs/verbs_open.h"
#include "transport/verbs/verbs_state.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* New links are tested before use: a write, a read and, if needed, an atomic operation go to the
 * other end. They use a separate queue pair, which exists only for the test, along the link's own
 * path: a failure does not affect the link's queue pair, or the traffic of others. */

struct sg_verbs_trial {
    struct ibv_cq *queue;
    struct ibv_qp **pairs; /* by number among the new links */
    uint32_t count;
};

/* Longer than all retries of a queue pair. */
#define WAIT_SECONDS 30
#define ADDEND 3

/* Opens a test of at most `links` links. False: failed; close it all the same. */
static bool sg_verbs_trial_open(struct sg_verbs_trial *trial, uint32_t links)
{
    trial->pairs = calloc(links, sizeof(struct ibv_qp *));
    trial->queue = ibv_create_cq(sg_verbs_device.context, 16, NULL, NULL, 0);
    return trial->pairs != NULL && trial->queue != NULL;
}

/* Adds a queue pair for the next link. */
static bool sg_verbs_trial_add(struct sg_verbs_trial *trial)
{
    struct ibv_qp_init_attr wanted = {
        .send_cq = trial->queue,
        .recv_cq = trial->queue,
        .cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };

    trial->pairs[trial->count] = ibv_create_qp(sg_verbs_device.domain, &wanted);
    trial->count += trial->pairs[trial->count] != NULL;
    return trial->count > 0 && trial->pairs[trial->count - 1] != NULL;
}

static void sg_verbs_trial_close(struct sg_verbs_trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++)
        ibv_destroy_qp(trial->pairs[i]);
    if (trial->queue != NULL)
        ibv_destroy_cq(trial->queue);
    free(trial->pairs);
}

/* Posts the request and waits for its completion. */
static enum ibv_wc_status carry_out(const struct sg_verbs_trial *trial, struct ibv_qp *pair,
                                    struct ibv_send_wr *request)
{
    time_t end = time(NULL) + WAIT_SECONDS;
    struct ibv_send_wr *bad;
    struct ibv_wc completion = {.status = IBV_WC_RESP_TIMEOUT_ERR};
    int count;

    if (ibv_post_send(pair, request, &bad) != 0)
        return IBV_WC_LOC_QP_OP_ERR;
    while ((count = ibv_poll_cq(trial->queue, 1, &completion)) == 0 && time(NULL) <= end)
        sched_yield();
    return count < 0 ? IBV_WC_GENERAL_ERR : completion.status;
}

/* Tests a link after both ends are connected. False: reason, of SG_VERBS_REASON_BYTES, has the
 * failure. The words are used by this process alone, at either end. */

static bool sg_verbs_try(struct sg_transport *transport, const struct sg_verbs_trial *trial,
                         uint32_t index, const struct sg_verbs_link *link, char *reason)
{
    static const struct {
        enum ibv_wr_opcode opcode;
        const char *what;
    } steps[] = {{IBV_WR_RDMA_WRITE, "write"},
                 {IBV_WR_RDMA_READ, "read"},
                 {IBV_WR_ATOMIC_FETCH_AND_ADD, "fetch-and-add"}};
    const struct sg_verbs_peer *peer = &transport->peers[link->channel];
    size_t server = (size_t)transport->location.server;
    volatile uint64_t *word = &sg_verbs_told(transport, link->channel)->trying[server];
    size_t at = transport->layout.told_at + peer->channel * sizeof(struct sg_verbs_told) +
                offsetof(struct sg_verbs_told, tried) + server * sizeof *word;
    uint64_t remote = link->memory + sg_verbs_endpoint_at(transport, peer->index) + at;
    uint64_t written = sg_hash_mix((uint64_t)time(NULL) << 32 | (uint64_t)link->rank << 16 | index);
    struct ibv_sge piece = {(uintptr_t)word, sizeof *word, transport->memory->lkey};

    for (int i = 0; i < (transport->location.adds ? 3 : 2); i++) {
        struct ibv_send_wr request = {.sg_list = &piece,
                                      .num_sge = 1,
                                      .opcode = steps[i].opcode,
                                      .send_flags = IBV_SEND_SIGNALED};
        enum ibv_wc_status status;

        *word = i == 0 ? written : 0;
        if (steps[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            request.wr.atomic.remote_addr = remote;
            request.wr.atomic.compare_add = ADDEND;
            request.wr.atomic.rkey = link->key;
        } else {
            request.wr.rdma.remote_addr = remote;
            request.wr.rdma.rkey = link->key;
        }
        status = carry_out(trial, trial->pairs[index], &request);
        if (status == IBV_WC_SUCCESS && *word == written)
            continue;
        snprintf(reason, SG_VERBS_REASON_BYTES, "a test %s at rank %d by device %s failed: %s",
                 steps[i].what, link->rank, sg_verbs_device.name,
                 status == IBV_WC_SUCCESS ? "its value is wrong" : ibv_wc_status_str(status));
        return false;
    }
    return true;
}

/* Retries of a request: about half a second each, seven times in all. On soft-RoCE a retry count of
 * 7 means for ever. */
#define TIMEOUT 17
#define RETRIES 6
#define MAX_INLINE 256

/* A process's new channels and links. */
struct offer {
    struct sg_transport *transport;
    uint32_t channels, links; /* numbers before */
    uint32_t channels_after, links_after;
    struct sg_verbs_ticket *tickets, *theirs; /* of the added links, and of their other ends */
    int *with;                                /* the other ends' ranks */
    struct sg_verbs_trial trial;
    char reason[SG_VERBS_REASON_BYTES];
};

static void close_links(struct offer *offer)
{
    struct sg_transport *transport = offer->transport;

    for (uint32_t i = offer->links; i < offer->links_after; i++) {
        if (transport->links[i].pair != NULL)
            ibv_destroy_qp(transport->links[i].pair);
        memset(&transport->links[i], 0, sizeof transport->links[i]);
    }
}

/* ---- peers ---------------------------------------------------------------------------------- */

/* False: too many, or no such endpoint. */
static bool add_peer(struct offer *offer, int32_t endpoint)
{
    struct sg_transport *transport = offer->transport;

    if (endpoint < 0 || endpoint >= transport->setup.endpoints) {
        snprintf(offer->reason, sizeof offer->reason, "there is no endpoint %d", endpoint);
        return false;
    }
    for (uint32_t i = 0; i < offer->channels_after; i++) {
        if (transport->peers[i].endpoint == endpoint)
            return true;
    }
    if (offer->channels_after == transport->layout.channels) {
        snprintf(offer->reason, sizeof offer->reason, "endpoint %d has more than %u neighbours",
                 transport->location.self, transport->layout.channels);
        return false;
    }
    transport->peers[offer->channels_after++] = (struct sg_verbs_peer){.endpoint = endpoint};
    return true;
}

static bool add_peers(struct offer *offer, const int32_t *peers, int count)
{
    int32_t tree[SG_VERBS_TREE_DEGREE + 1];
    int tree_count =
        offer->transport->usage.has_multicast ? 0 : sg_verbs_tree(offer->transport, tree);

    for (int i = 0; i < count; i++) {
        if (!add_peer(offer, peers[i]))
            return false;
    }
    for (int i = 0; i < tree_count; i++) {
        if (!add_peer(offer, tree[i]))
            return false;
    }
    return true;
}

/* ---- queue pairs ----------------------------------------------------------------------------- */

static struct ibv_qp *create(const struct sg_transport *transport, uint32_t *inline_bytes)
{
    static const uint32_t inlines[] = {MAX_INLINE, 64, 0};
    struct ibv_qp_init_attr wanted;
    struct ibv_qp *pair = NULL;

    for (int i = 0; i < 3 && pair == NULL; i++) {
        wanted = (struct ibv_qp_init_attr){
            .send_cq = transport->queue,
            .recv_cq = transport->queue,
            .srq = transport->doorbells,
            .cap = {.max_send_wr = transport->link_depth,
                    .max_send_sge = 1,
                    .max_inline_data = inlines[i]},
            .qp_type = IBV_QPT_RC,
        };
        pair = ibv_create_qp(sg_verbs_device.domain, &wanted);
    }
    *inline_bytes = pair != NULL ? wanted.cap.max_inline_data : 0;
    return pair;
}

static int initialise(struct ibv_qp *pair)
{
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT,
        .pkey_index = sg_verbs_device.partition_index,
        .port_num = sg_verbs_device.port,
        .qp_access_flags =
            IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    };

    return ibv_modify_qp(pair, &init,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static bool add_link(struct offer *offer, uint32_t channel, int32_t server)
{
    struct sg_transport *transport = offer->transport;
    struct sg_verbs_link *link = &transport->links[offer->links_after];
    struct sg_verbs_ticket *ticket = &offer->tickets[offer->links_after - offer->links];

    link->pair = create(transport, &link->inline_bytes);
    if (link->pair == NULL || initialise(link->pair) != 0) {
        snprintf(offer->reason, sizeof offer->reason, "device %s provides no queue pair: %m",
                 sg_verbs_device.name);
        offer->links_after += link->pair != NULL;
        return false;
    }
    link->depth = transport->link_depth;
    link->channel = channel;
    link->peer = transport->peers[channel].endpoint;
    link->rank = sg_grouping_item(transport->location.ranks, link->peer, server);
    *ticket = (struct sg_verbs_ticket){transport->process, channel, link->pair->qp_num, 0};
    offer->links_after++;
    if (!sg_verbs_trial_add(&offer->trial) ||
        initialise(offer->trial.pairs[offer->trial.count - 1]) != 0) {
        snprintf(offer->reason, sizeof offer->reason, "device %s provides no queue pair: %m",
                 sg_verbs_device.name);
        return false;
    }
    ticket->trial = offer->trial.pairs[offer->trial.count - 1]->qp_num;
    return true;
}

static bool add_links(struct offer *offer, uint32_t channel)
{
    struct sg_transport *transport = offer->transport;
    struct sg_verbs_peer *peer = &transport->peers[channel];
    int32_t own = transport->location.server, servers = transport->location.servers, most;

    peer->index = sg_grouping_place(transport->location.machines, peer->endpoint).number;
    peer->servers = sg_verbs_servers(transport, peer->endpoint);
    peer->link = offer->links_after;
    if (sg_verbs_is_idle(transport))
        return true;
    if (peer->endpoint == transport->location.self)
        return add_link(offer, channel, own);
    most = servers > peer->servers ? servers : peer->servers;
    for (int32_t i = own; i < most; i += servers) {
        if (!add_link(offer, channel, i % peer->servers))
            return false;
    }
    return true;
}

static bool make_offer(struct offer *offer, const int32_t *peers, int count)
{
    struct sg_transport *transport = offer->transport;

    offer->tickets = calloc(2 * (size_t)transport->links_max, sizeof *offer->tickets);
    offer->with = calloc(transport->links_max, sizeof *offer->with);
    if (offer->tickets == NULL || offer->with == NULL ||
        (!sg_verbs_is_idle(transport) &&
         !sg_verbs_trial_open(&offer->trial, transport->links_max))) {
        snprintf(offer->reason, sizeof offer->reason, "out of memory");
        return false;
    }
    offer->theirs = offer->tickets + transport->links_max;
    if (!add_peers(offer, peers, count))
        return false;
    for (uint32_t channel = offer->channels; channel < offer->channels_after; channel++) {
        if (!add_links(offer, channel))
            return false;
    }
    return true;
}

/* ---- connecting ----------------------------------------------------------------------------- */

static int to_receive(struct ibv_qp *pair, const struct sg_verbs_process *peer, uint32_t number)
{
    const struct sg_verbs_device *device = &sg_verbs_device;
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = peer->mtu < device->mtu ? (enum ibv_mtu)peer->mtu : device->mtu,
        .dest_qp_num = number,
        .max_dest_rd_atomic =
            (uint8_t)(device->attributes.max_qp_rd_atom < 16 ? device->attributes.max_qp_rd_atom
                                                             : 16),
        .min_rnr_timer = 12,
        .ah_attr = {.port_num = device->port,
                    .dlid = peer->lid,
                    .sl = (uint8_t)device->settings.service_level},
    };

    if (device->is_ethernet || device->settings.gid_index >= 0) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh =
            (struct ibv_global_route){.dgid = peer->gid,
                                      .sgid_index = (uint8_t)device->gid_index,
                                      .hop_limit = 64,
                                      .traffic_class = (uint8_t)device->settings.traffic_class};
    }
    return ibv_modify_qp(pair, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_send(struct ibv_qp *pair, const struct sg_verbs_process *peer)
{
    int reads = sg_verbs_device.attributes.max_qp_init_rd_atom;
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS,
        .timeout = TIMEOUT,
        .retry_cnt = RETRIES,
        .rnr_retry = 7, /* for ever: a receiver that computes is no fault */
        .max_rd_atomic = (uint8_t)(reads < peer->reads ? reads : peer->reads),
    };

    return ibv_modify_qp(pair, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool connect_link(struct offer *offer, uint32_t index)
{
    struct sg_transport *transport = offer->transport;
    struct sg_verbs_link *link = &transport->links[index];
    struct ibv_qp *trial = offer->trial.pairs[index - offer->links];
    const struct sg_verbs_ticket *other = &offer->theirs[index - offer->links];
    const struct sg_verbs_process *process = &other->process;

    if (process->is_ethernet != sg_verbs_device.is_ethernet) {
        snprintf(offer->reason, sizeof offer->reason,
                 "rank %d has a device of another kind of network", link->rank);
        return false;
    }
    link->memory = process->memory;
    link->key = process->key;
    transport->peers[link->channel].channel = other->channel;
    if (to_receive(link->pair, process, other->number) != 0 || to_send(link->pair, process) != 0 ||
        to_receive(trial, process, other->trial) != 0 || to_send(trial, process) != 0) {
        snprintf(offer->reason, sizeof offer->reason, "device %s cannot reach that of rank %d: %m",
                 sg_verbs_device.name, link->rank);
        return false;
    }
    return true;
}

/* ---- collective steps ----------------------------------------------------------------------- */

/* Trades the tickets of links to other processes; a link to this one is its own other end. */
static enum sg_status trade_tickets(struct offer *offer)
{
    const struct sg_transport_location *location = &offer->transport->location;
    int count = (int)(offer->links_after - offer->links), own = -1;
    struct sg_verbs_ticket itself;
    enum sg_status status;

    for (int i = 0; i < count; i++) {
        offer->with[i] = offer->transport->links[offer->links + (uint32_t)i].rank;
        own = offer->with[i] == location->exchange->rank ? i : own;
    }
    if (own >= 0) {
        count--;
        itself = offer->tickets[own];
        offer->tickets[own] = offer->tickets[count];
        offer->with[own] = offer->with[count];
    }
    status = sg_exchange_trade(location->exchange, offer->with, count, offer->tickets,
                               offer->theirs, sizeof *offer->tickets);
    if (own >= 0) {
        offer->theirs[count] = offer->theirs[own];
        offer->theirs[own] = itself;
    }
    if (status == SG_ERR_ARGUMENT)
        snprintf(offer->reason, sizeof offer->reason,
                 "a process names a peer that does not name it");
    return status;
}

static enum sg_status connect_all(struct offer *offer, bool offered)
{
    const struct sg_exchange *exchange = offer->transport->location.exchange;
    enum sg_status status = sg_verbs_agree(exchange, offered, offer->reason);
    bool ok = true;

    if (status == SG_OK)
        status = trade_tickets(offer);
    /* The same on all ranks. */
    if (status == SG_ERR_ARGUMENT)
        return sg_verbs_agree(exchange, false, offer->reason);
    if (status == SG_OK) {
        for (uint32_t i = offer->links; i < offer->links_after && ok; i++)
            ok = connect_link(offer, i);
        status = sg_verbs_agree(exchange, ok, offer->reason);
    }
    if (status == SG_OK) {
        for (uint32_t i = offer->links; i < offer->links_after && ok; i++)
            ok = sg_verbs_try(offer->transport, &offer->trial, i - offer->links,
                              &offer->transport->links[i], offer->reason);
        status = sg_verbs_agree(exchange, ok, offer->reason);
        sg_verbs_device.has_bad_links = sg_verbs_device.has_bad_links || status == SG_ERR_SYSTEM;
    }
    return status;
}

/* A thread that looks for another channel passes by an entry without its endpoint. */
static void add_known(struct sg_transport *transport, int32_t endpoint, uint32_t channel)
{
    uint32_t at = (uint32_t)sg_hash_mix((uint32_t)endpoint);

    while (transport->known[at & (transport->known_room - 1)].channel != 0)
        at++;
    transport->known[at & (transport->known_room - 1)] =
        (struct sg_verbs_known){endpoint, channel + 1};
}

static void publish(const struct offer *offer)
{
    struct sg_transport *transport = offer->transport;

    for (uint32_t i = offer->channels; i < offer->channels_after; i++)
        add_known(transport, transport->peers[i].endpoint, i);
    transport->usage.connections = offer->links_after;
    /* Release, both: a thread that sees the counts sees complete links and channels. */
    atomic_store_explicit(&transport->link_count, offer->links_after, memory_order_release);
    atomic_store_explicit(&transport->channel_count, offer->channels_after, memory_order_release);
}

enum sg_status sg_verbs_connect(struct sg_transport *transport, const int32_t *peers, int count)
{
    struct offer offer = {.transport = transport,
                          .channels = atomic_load(&transport->channel_count),
                          .links = transport->link_count};
    enum sg_status status;

    offer.channels_after = offer.channels;
    offer.links_after = offer.links;
    status = connect_all(&offer, make_offer(&offer, peers, count));
    if (status == SG_OK)
        publish(&offer);
    else
        close_links(&offer);
    sg_verbs_trial_close(&offer.trial);
    free(offer.tickets);
    free(offer.with);
    return status;
}
