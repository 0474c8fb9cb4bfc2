/* Connects channels: makes queue pairs, exchanges their numbers among all processes, connects them
 * to those that the peers made, and tests them.
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

/* Identifies a queue pair for the process at its other end. */
struct ticket {
    int32_t endpoint, server; /* of the other end */
    uint32_t channel, number;
    uint32_t trial; /* number of the queue pair for the link's test */
};

/* A process's first message to the others. */
struct summary {
    uint32_t ok, tickets;
    uint64_t peers; /* a hash: identical for all processes of an endpoint */
};

/* A process's new channels and links. */
struct offer {
    struct sg_transport *transport;
    uint32_t channels, links; /* numbers before */
    uint32_t channels_after, links_after;
    struct ticket *tickets; /* of the added links */
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
    struct ticket *ticket = &offer->tickets[offer->links_after - offer->links];

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
    *ticket = (struct ticket){link->peer, server, channel, link->pair->qp_num, 0};
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

static const struct sg_verbs_process *find_process(const struct sg_transport *transport,
                                                   int32_t endpoint, int32_t server, int *rank)
{
    for (int i = 0; i < transport->location.exchange->size; i++) {
        const struct sg_verbs_process *process = &transport->processes[i];

        if (process->endpoint == endpoint && process->server == server) {
            *rank = i;
            return process;
        }
    }
    return NULL;
}

static bool add_links(struct offer *offer, uint32_t channel)
{
    struct sg_transport *transport = offer->transport;
    struct sg_verbs_peer *peer = &transport->peers[channel];
    int rank;
    const struct sg_verbs_process *first = find_process(transport, peer->endpoint, 0, &rank);
    int32_t own = transport->location.server, servers = transport->location.servers, most;

    if (first == NULL) {
        snprintf(offer->reason, sizeof offer->reason, "no process serves endpoint %d",
                 peer->endpoint);
        return false;
    }
    peer->index = first->index;
    peer->servers = first->servers;
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

    offer->tickets = calloc(transport->links_max, sizeof *offer->tickets);
    if (offer->tickets == NULL || (!sg_verbs_is_idle(transport) &&
                                   !sg_verbs_trial_open(&offer->trial, transport->links_max))) {
        snprintf(offer->reason, sizeof offer->reason, "out of memory");
        return false;
    }
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

/* Finds the other end's ticket for this process; NULL: none. */
static const struct ticket *find_ticket(const struct sg_transport *transport,
                                        const struct ticket *tickets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (tickets[i].endpoint == transport->location.self &&
            tickets[i].server == transport->location.server)
            return &tickets[i];
    }
    return NULL;
}

/* all: `most` tickets for each rank; summaries have the number in use. */
static bool connect_links(struct offer *offer, const struct summary *summaries,
                          const struct ticket *all, uint32_t most, uint32_t index)
{
    struct sg_transport *transport = offer->transport;
    struct sg_verbs_link *link = &transport->links[index];
    const struct ticket *own = &offer->tickets[index - offer->links], *other = NULL;
    struct ibv_qp *trial = offer->trial.pairs[index - offer->links];
    int rank;
    const struct sg_verbs_process *process =
        find_process(transport, link->peer, own->server, &rank);

    if (process != NULL && rank == transport->location.exchange->rank)
        other = own;
    else if (process != NULL)
        other = find_ticket(transport, all + (size_t)rank * most, summaries[rank].tickets);
    if (other == NULL) {
        snprintf(offer->reason, sizeof offer->reason, "endpoint %d does not name endpoint %d",
                 link->peer, transport->location.self);
        return false;
    }
    if (process->is_ethernet != sg_verbs_device.is_ethernet) {
        snprintf(offer->reason, sizeof offer->reason,
                 "rank %d has a device of another kind of network", rank);
        return false;
    }
    link->rank = rank;
    link->memory = process->memory;
    link->key = process->key;
    transport->peers[link->channel].channel = other->channel;
    if (to_receive(link->pair, process, other->number) != 0 || to_send(link->pair, process) != 0 ||
        to_receive(trial, process, other->trial) != 0 || to_send(trial, process) != 0) {
        snprintf(offer->reason, sizeof offer->reason, "device %s cannot reach that of rank %d: %m",
                 sg_verbs_device.name, rank);
        return false;
    }
    return true;
}

/* ---- collective steps ----------------------------------------------------------------------- */

static uint64_t hash_peers(const struct offer *offer)
{
    uint64_t hash = SG_HASH_START;

    for (uint32_t i = offer->channels; i < offer->channels_after; i++)
        hash = sg_hash_bytes(hash, &offer->transport->peers[i].endpoint, sizeof(int32_t));
    return hash;
}

/* True if all ranks have succeeded so far, identically on all ranks; the first failed rank logs
 * why. *most: the largest number of tickets of a rank. */
static bool judge(struct offer *offer, const struct summary *summaries, uint32_t *most)
{
    const struct sg_transport *transport = offer->transport;
    int first = -1;

    *most = 1;
    for (int rank = transport->location.exchange->size - 1; rank >= 0; rank--) {
        int32_t endpoint = transport->processes[rank].endpoint;
        int master;

        if (!summaries[rank].ok)
            first = rank;
        else if (find_process(transport, endpoint, 0, &master) != NULL && summaries[master].ok &&
                 summaries[master].peers != summaries[rank].peers)
            first = rank;
        if (summaries[rank].tickets > *most)
            *most = summaries[rank].tickets;
    }
    if (first == transport->location.exchange->rank)
        sg_log("rank %d: RDMA is not used: %s", first,
               summaries[first].ok ? "processes of one endpoint name different peers"
                                   : offer->reason);
    return first < 0;
}

/* Collects every rank's tickets. */
static enum sg_status tell_tickets(struct offer *offer, uint32_t most, struct ticket **all)
{
    struct ticket *own = calloc(most, sizeof *own);
    enum sg_status status;

    if (own == NULL)
        abort(); /* the others wait for this rank */
    memcpy(own, offer->tickets, (offer->links_after - offer->links) * sizeof *own);
    status = sg_exchange_collect(offer->transport->location.exchange, own, most * sizeof *own,
                                 (void **)all);
    free(own);
    return status;
}

static enum sg_status connect_all(struct offer *offer, bool offered)
{
    const struct sg_exchange *exchange = offer->transport->location.exchange;
    struct summary own = {offered, offered ? offer->links_after - offer->links : 0,
                          hash_peers(offer)};
    struct summary *summaries = NULL;
    struct ticket *all = NULL;
    uint32_t most;
    enum sg_status status = sg_exchange_collect(exchange, &own, sizeof own, (void **)&summaries);
    bool ok = true;

    if (status == SG_OK && !judge(offer, summaries, &most))
        status = SG_ERR_SYSTEM;
    if (status == SG_OK)
        status = tell_tickets(offer, most, &all);
    if (status == SG_OK) {
        for (uint32_t i = offer->links; i < offer->links_after && ok; i++)
            ok = connect_links(offer, summaries, all, most, i);
        status = sg_verbs_agree(exchange, ok, offer->reason);
    }
    if (status == SG_OK) {
        for (uint32_t i = offer->links; i < offer->links_after && ok; i++)
            ok = sg_verbs_try(offer->transport, &offer->trial, i - offer->links,
                              &offer->transport->links[i], offer->reason);
        status = sg_verbs_agree(exchange, ok, offer->reason);
        sg_verbs_device.has_bad_links = sg_verbs_device.has_bad_links || status == SG_ERR_SYSTEM;
    }
    free(all);
    free(summaries);
    return status;
}

static void publish(const struct offer *offer)
{
    struct sg_transport *transport = offer->transport;

    for (uint32_t i = offer->channels; i < offer->channels_after; i++)
        transport->channel_of[transport->peers[i].endpoint] = (int32_t)i + 1;
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
    return status;
}
