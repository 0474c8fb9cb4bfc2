/* The stand-in's queues and regions, and the thread that acts as its adapter: it carries out other
 * processes' requests on this process's memory, and completes this process's own requests.
 *
 * With the fault `reorder`, written data of more than one word reach memory in two halves, one of
 * them later than operations requested after it, atomics included; the write's completion does not
 * wait for it. Only a read by the same queue pair is sure to find the data in place.
 */
#include "device.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS 2000000 /* the most */
#define IDLE_NS 50000000

/* ---- completions ----------------------------------------------------------------------------- */

static void notify(struct queue *queue, bool solicited)
{
    uint64_t one = 1;

    if (queue->armed == 0 || (queue->armed == 1 && !solicited) || queue->base.channel == NULL)
        return;
    queue->armed = 0;
    if (write(queue->base.channel->fd, &one, sizeof one) != sizeof one)
        abort();
}

static void complete(struct queue *queue, const struct ibv_wc *completion, bool solicited)
{
    if (queue->count == queue->room)
        abort(); /* an overrun */
    queue->completions[(queue->first + queue->count++) % queue->room] = *completion;
    notify(queue, solicited || completion->status != IBV_WC_SUCCESS);
}

/* In the order of the requests. */
static void retire(struct pair *pair)
{
    while (pair->retired != pair->posted) {
        struct request *request = &pair->requests[pair->retired % pair->depth];
        struct ibv_wc completion = {.wr_id = request->work.wr_id,
                                    .status = request->status,
                                    .opcode = request->work.opcode == IBV_WR_RDMA_READ
                                                  ? IBV_WC_RDMA_READ
                                                  : IBV_WC_RDMA_WRITE,
                                    .qp_num = pair->base.qp_num};

        if (!request->is_over)
            return;
        pair->retired++;
        if ((request->work.send_flags & IBV_SEND_SIGNALED) || request->status != IBV_WC_SUCCESS)
            complete((struct queue *)pair->base.send_cq, &completion, false);
    }
}

/* The pair does nothing more. */
static void fail(struct pair *pair, uint32_t number, enum ibv_wc_status status)
{
    pair->base.state = IBV_QPS_ERR;
    for (uint32_t i = pair->retired; i != pair->posted; i++) {
        struct request *request = &pair->requests[i % pair->depth];

        if (!request->is_over)
            request->status = i == number ? status : IBV_WC_WR_FLUSH_ERR;
        request->is_over = true;
    }
    retire(pair);
}

void engine_refuse(struct pair *pair, const struct ibv_send_wr *work, enum ibv_wc_status status)
{
    uint32_t number = pair->posted++;

    pair->requests[number % pair->depth] = (struct request){.work = *work};
    fail(pair, number, status);
}

/* ---- what others ask for --------------------------------------------------------------------- */

struct late {
    struct late *next;
    struct packet *packet;
    size_t from, to; /* of its data */
    int64_t due_ns;
};

static struct late *late; /* in no order */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void place(const struct packet *packet, size_t from, size_t to)
{
    unsigned char *at = (unsigned char *)(uintptr_t)packet->address;
    uint64_t word;

    if (packet->length == sizeof word && packet->address % sizeof word == 0 && from == 0 &&
        to == sizeof word) {
        memcpy(&word, packet->data, sizeof word);
        atomic_store_explicit((_Atomic uint64_t *)(void *)at, word, memory_order_release);
        return;
    }
    for (size_t i = from; i < to; i++) /* in the order of bytes, of which threads see any part */
        atomic_store_explicit((_Atomic unsigned char *)at + i, packet->data[i],
                              memory_order_release);
}

static void place_later(const struct packet *packet, size_t from, size_t to)
{
    struct late *item = malloc(sizeof *item);
    static uint64_t random = 88172645463325252u;

    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    if (item == NULL || (item->packet = malloc(packet->bytes)) == NULL)
        abort();
    memcpy(item->packet, packet, packet->bytes);
    item->from = from;
    item->to = to;
    item->due_ns = now_ns() + (int64_t)(random % LATE_NS);
    item->next = late;
    late = item;
}

/* Places late data that are due or were written by that queue pair (0: none). Returns the time
 * until the next is due, ns. */
static int64_t place_late(uint32_t pair, int64_t now)
{
    int64_t next_ns = IDLE_NS;

    for (struct late **at = &late; *at != NULL;) {
        struct late *item = *at;

        if (item->due_ns > now && (pair == 0 || item->packet->from != pair)) {
            next_ns = item->due_ns - now < next_ns ? item->due_ns - now : next_ns;
            at = &item->next;
            continue;
        }
        place(item->packet, item->from, item->to);
        *at = item->next;
        free(item->packet);
        free(item);
    }
    return next_ns;
}

void engine_settle(void)
{
    place_late(0, INT64_MAX);
}

static void write_data(const struct packet *packet)
{
    size_t half = packet->length / 16 * 8;

    if (packet->length <= sizeof(uint64_t) || !standin_has_fault("reorder")) {
        place(packet, 0, packet->length);
    } else if (packet->request % 2 == 0) {
        place(packet, half, packet->length);
        place_later(packet, 0, half);
    } else {
        place(packet, 0, half);
        place_later(packet, half, packet->length);
    }
}

static bool is_registered(const struct adapter *adapter, const struct packet *packet)
{
    const struct ibv_mr *region = packet->key < REGIONS_MAX ? adapter->regions[packet->key] : NULL;
    uint64_t begin = region != NULL ? (uintptr_t)region->addr : 0;

    return region != NULL && packet->address >= begin &&
           packet->address + packet->length <= begin + region->length;
}

/* False: there is no receive request for its immediate data. */
static bool announce(const struct adapter *adapter, const struct packet *packet)
{
    struct pair *pair = adapter->pairs[packet->to & (PAIRS_MAX - 1)];
    struct receives *receives = pair != NULL ? (struct receives *)pair->base.srq : NULL;
    struct ibv_wc completion = {.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .qp_num = packet->to};

    if (!packet->notifies || receives == NULL)
        return true;
    if (receives->count == 0)
        return false;
    completion.wr_id = receives->ids[receives->first++ % receives->room];
    receives->count--;
    complete((struct queue *)pair->base.recv_cq, &completion, packet->solicited);
    return true;
}

/* False: not now. */
static bool answer(struct adapter *adapter, const struct packet *packet)
{
    struct packet reply = {.kind = PACKET_ANSWER,
                           .to = packet->from,
                           .request = packet->request,
                           .length = packet->length};
    const void *data = NULL;
    uint64_t before;

    if (!is_registered(adapter, packet) && packet->length > 0) {
        reply.status = IBV_WC_REM_ACCESS_ERR;
    } else if (packet->kind == PACKET_ADD && !adapter->device->has_atomics) {
        reply.status = IBV_WC_REM_INV_REQ_ERR;
    } else if (packet->kind == PACKET_ADD) {
        before = atomic_fetch_add((_Atomic uint64_t *)(uintptr_t)packet->address, packet->value);
        data = &before;
    } else if (packet->kind == PACKET_READ) {
        place_late(packet->from, now_ns());
        atomic_thread_fence(memory_order_seq_cst);
        data = (const void *)(uintptr_t)packet->address;
    } else {
        if (!announce(adapter, packet))
            return false;
        write_data(packet);
    }
    wire_send(packet->from >> PAIR_BITS, &reply, data);
    return true;
}

static void take_answer(struct adapter *adapter, const struct packet *packet)
{
    struct pair *pair = adapter->pairs[packet->to & (PAIRS_MAX - 1)];
    struct request *request;

    if (pair == NULL || pair->base.qp_num != packet->to || pair->base.state != IBV_QPS_RTS)
        return;
    request = &pair->requests[packet->request % pair->depth];
    if (packet->status != IBV_WC_SUCCESS) {
        fail(pair, packet->request, (enum ibv_wc_status)packet->status);
        return;
    }
    if (packet->bytes > sizeof *packet)
        memcpy((void *)(uintptr_t)request->piece.addr, packet->data, packet->length);
    request->is_over = true;
    retire(pair);
}

static void *run(void *argument)
{
    struct adapter *adapter = argument;
    struct packet *waiting = NULL; /* for a receive request; what comes after it waits, too */
    int64_t wait_ns = IDLE_NS;
    bool ends = false;

    while (!ends) {
        struct packet *packet = waiting != NULL ? waiting : wire_receive(adapter->inbox, wait_ns);

        pthread_mutex_lock(&adapter->lock);
        wait_ns = place_late(0, now_ns());
        waiting = NULL;
        if (packet != NULL && packet->kind == PACKET_ANSWER)
            take_answer(adapter, packet);
        else if (packet != NULL && !answer(adapter, packet))
            waiting = packet;
        ends = adapter->ends;
        pthread_mutex_unlock(&adapter->lock);
        if (waiting == NULL)
            free(packet);
        else
            sched_yield();
    }
    return NULL;
}

void engine_start(struct adapter *adapter)
{
    if (pthread_create(&adapter->thread, NULL, run, adapter) != 0)
        abort();
}

void engine_stop(struct adapter *adapter)
{
    pthread_mutex_lock(&adapter->lock);
    adapter->ends = true;
    pthread_mutex_unlock(&adapter->lock);
    wire_wake(adapter->inbox);
    pthread_join(adapter->thread, NULL);
}
