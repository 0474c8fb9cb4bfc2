/* The stand-in's part of libibverbs that creates queues, queue pairs and regions, and accepts
 * requests.
 */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct adapter *adapter_of(struct ibv_context *context)
{
    return (struct adapter *)context;
}

static void *make(size_t bytes)
{
    void *made = calloc(1, bytes);

    if (made == NULL)
        abort();
    return made;
}

/* ---- regions --------------------------------------------------------------------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *domain = make(sizeof *domain);

    domain->context = context;
    return domain;
}

int ibv_dealloc_pd(struct ibv_pd *domain)
{
    free(domain);
    return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *domain, void *memory, size_t bytes, uint64_t iova,
                                unsigned int access)
{
    struct adapter *adapter = adapter_of(domain->context);
    struct ibv_mr *region = make(sizeof *region);
    uint32_t key = 1;

    *region =
        (struct ibv_mr){.context = domain->context, .pd = domain, .addr = memory, .length = bytes};
    pthread_mutex_lock(&adapter->lock);
    while (key < REGIONS_MAX && adapter->regions[key] != NULL)
        key++;
    if (key == REGIONS_MAX)
        abort();
    region->lkey = region->rkey = key;
    adapter->regions[key] = region;
    pthread_mutex_unlock(&adapter->lock);
    return region;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain, void *memory, size_t bytes, int access)
{
    return ibv_reg_mr_iova2(domain, memory, bytes, (uintptr_t)memory, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *region)
{
    struct adapter *adapter = adapter_of(region->context);

    pthread_mutex_lock(&adapter->lock);
    engine_settle();
    adapter->regions[region->rkey] = NULL;
    pthread_mutex_unlock(&adapter->lock);
    free(region);
    return 0;
}

/* ---- queues ---------------------------------------------------------------------------------- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = make(sizeof *channel);

    channel->context = context;
    channel->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    free(channel);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **queue, void **context)
{
    uint64_t count;

    return read(channel->fd, &count, sizeof count) == sizeof count ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *queue, unsigned int events)
{
}

static int poll_cq(struct ibv_cq *base, int most, struct ibv_wc *out)
{
    struct adapter *adapter = adapter_of(base->context);
    struct queue *queue = (struct queue *)base;
    int count = 0;

    pthread_mutex_lock(&adapter->lock);
    for (; count < most && queue->count > 0; queue->count--) {
        out[count++] = queue->completions[queue->first];
        queue->first = (queue->first + 1) % queue->room;
    }
    pthread_mutex_unlock(&adapter->lock);
    return count;
}

static int req_notify_cq(struct ibv_cq *base, int solicited_only)
{
    struct adapter *adapter = adapter_of(base->context);
    struct queue *queue = (struct queue *)base;

    pthread_mutex_lock(&adapter->lock);
    queue->armed = solicited_only && queue->armed != 2 ? 1 : 2;
    pthread_mutex_unlock(&adapter->lock);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int room, void *about,
                             struct ibv_comp_channel *channel, int vector)
{
    struct queue *queue = make(sizeof *queue);

    queue->base.context = context;
    queue->base.channel = channel;
    queue->room = room;
    queue->completions = make((size_t)room * sizeof *queue->completions);
    return &queue->base;
}

int ibv_destroy_cq(struct ibv_cq *base)
{
    free(((struct queue *)base)->completions);
    free(base);
    return 0;
}

static int post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *request,
                         struct ibv_recv_wr **bad)
{
    struct adapter *adapter = adapter_of(base->context);
    struct receives *receives = (struct receives *)base;

    pthread_mutex_lock(&adapter->lock);
    for (; request != NULL && receives->count < receives->room; request = request->next)
        receives->ids[(receives->first + receives->count++) % receives->room] = request->wr_id;
    pthread_mutex_unlock(&adapter->lock);
    *bad = request;
    return request != NULL ? ENOMEM : 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *domain, struct ibv_srq_init_attr *attr)
{
    struct receives *receives = make(sizeof *receives);

    receives->base.context = domain->context;
    receives->room = attr->attr.max_wr;
    receives->ids = make(receives->room * sizeof *receives->ids);
    return &receives->base;
}

int ibv_destroy_srq(struct ibv_srq *base)
{
    free(((struct receives *)base)->ids);
    free(base);
    return 0;
}

/* ---- queue pairs ----------------------------------------------------------------------------- */

/* Whether the other end is on this network and takes what the pair sends. */
static bool reaches(const struct adapter *adapter, const struct pair *pair)
{
    uint32_t other = pair->attr.dest_qp_num >> PAIR_BITS;
    const struct wire_port *here = wire_port(adapter->inbox), *there = wire_port(other);
    const struct ibv_global_route *route = &pair->attr.ah_attr.grh;
    union ibv_gid gid;
    uint32_t from, to;
    bool found = !here->is_ethernet;

    gid_of(here, adapter->inbox, route->sgid_index, &gid, &from);
    for (int index = 0; index < GIDS && !found; index++) {
        gid_of(there, other, index, &gid, &to);
        found = from == to && memcmp(&gid, &route->dgid, sizeof gid) == 0;
    }
    return found && here->is_ethernet == there->is_ethernet && here->network == there->network &&
           (here->partition & 0x7fff) == (there->partition & 0x7fff);
}

static enum ibv_wc_status status_of(const struct adapter *adapter, const struct pair *pair,
                                    enum ibv_wr_opcode opcode)
{
    const char *fault = opcode == IBV_WR_RDMA_READ              ? "fail-read"
                        : opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? "fail-add"
                                                                : "fail-write";

    return standin_has_fault(fault) || !reaches(adapter, pair) ? IBV_WC_RETRY_EXC_ERR
                                                               : IBV_WC_SUCCESS;
}

static void send(struct adapter *adapter, struct pair *pair, const struct ibv_send_wr *work)
{
    uint32_t number = pair->posted++;
    struct request *request = &pair->requests[number % pair->depth];
    bool adds = work->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    bool reads = work->opcode == IBV_WR_RDMA_READ;
    struct packet packet = {.kind = adds    ? PACKET_ADD
                                    : reads ? PACKET_READ
                                            : PACKET_WRITE,
                            .notifies = work->opcode == IBV_WR_RDMA_WRITE_WITH_IMM,
                            .solicited = (work->send_flags & IBV_SEND_SOLICITED) != 0,
                            .to = pair->attr.dest_qp_num,
                            .from = pair->base.qp_num,
                            .request = number,
                            .key = adds ? work->wr.atomic.rkey : work->wr.rdma.rkey,
                            .address =
                                adds ? work->wr.atomic.remote_addr : work->wr.rdma.remote_addr,
                            .value = adds ? work->wr.atomic.compare_add : 0};

    *request = (struct request){.work = *work};
    if (work->num_sge > 0)
        request->piece = work->sg_list[0];
    packet.length = request->piece.length;
    wire_send(packet.to >> PAIR_BITS, &packet,
              adds || reads || packet.length == 0 ? NULL : (void *)(uintptr_t)request->piece.addr);
}

static int post_send(struct ibv_qp *base, struct ibv_send_wr *work, struct ibv_send_wr **bad)
{
    struct adapter *adapter = adapter_of(base->context);
    struct pair *pair = (struct pair *)base;
    enum ibv_wc_status status;
    int error = 0;

    pthread_mutex_lock(&adapter->lock);
    for (; work != NULL && error == 0; work = work->next) {
        status = base->state == IBV_QPS_RTS ? status_of(adapter, pair, work->opcode)
                                            : IBV_WC_WR_FLUSH_ERR;
        if (base->state != IBV_QPS_RTS && base->state != IBV_QPS_ERR)
            error = EINVAL;
        else if (pair->posted - pair->retired == pair->depth)
            error = ENOMEM;
        else if (status == IBV_WC_SUCCESS)
            send(adapter, pair, work);
        else
            engine_refuse(pair, work, status);
        if (error != 0)
            *bad = work;
    }
    pthread_mutex_unlock(&adapter->lock);
    return error;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *domain, struct ibv_qp_init_attr *attr)
{
    struct adapter *adapter = adapter_of(domain->context);
    struct pair *pair;
    uint32_t at = 1;

    if (attr->qp_type != IBV_QPT_RC || attr->cap.max_inline_data > 64) {
        errno = EINVAL;
        return NULL;
    }
    pair = make(sizeof *pair);
    pair->depth = attr->cap.max_send_wr;
    pair->requests = make(pair->depth * sizeof *pair->requests);
    pair->base.context = domain->context;
    pair->base.send_cq = attr->send_cq;
    pair->base.recv_cq = attr->recv_cq;
    pair->base.srq = attr->srq;
    pthread_mutex_lock(&adapter->lock);
    while (at < PAIRS_MAX && adapter->pairs[at] != NULL)
        at++;
    if (at == PAIRS_MAX)
        abort();
    pair->base.qp_num = adapter->inbox << PAIR_BITS | at;
    adapter->pairs[at] = pair;
    pthread_mutex_unlock(&adapter->lock);
    return &pair->base;
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
    struct adapter *adapter = adapter_of(base->context);
    struct pair *pair = (struct pair *)base;
    struct wire_port port;
    __be16 key;

    pthread_mutex_lock(&adapter->lock);
    if (attr->qp_state == IBV_QPS_INIT) {
        port = adapter->device->port[attr->port_num - 1].wire;
        ibv_query_pkey(base->context, attr->port_num, attr->pkey_index, &key);
        port.partition = be16toh(key);
        *wire_port(adapter->inbox) = port;
    }
    if (mask & IBV_QP_DEST_QPN)
        pair->attr = *attr;
    base->state = attr->qp_state;
    pthread_mutex_unlock(&adapter->lock);
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *base)
{
    struct adapter *adapter = adapter_of(base->context);

    pthread_mutex_lock(&adapter->lock);
    adapter->pairs[base->qp_num & (PAIRS_MAX - 1)] = NULL;
    pthread_mutex_unlock(&adapter->lock);
    free(((struct pair *)base)->requests);
    free(base);
    return 0;
}

void verbs_start(struct ibv_context *context)
{
    context->ops.poll_cq = poll_cq;
    context->ops.req_notify_cq = req_notify_cq;
    context->ops.post_srq_recv = post_srq_recv;
    context->ops.post_send = post_send;
}
