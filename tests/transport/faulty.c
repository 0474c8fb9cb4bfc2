/* The transports that misbehave (faulty.h): delays, losses, repeats and late answers, on the
 * receiving side. */
#include "transport/faulty.h"

#include "transport/loop.h"

#include <stdlib.h>
#include <string.h>

struct item {
    struct sg_transport_message message;
    uint64_t due, number;
    int to_deliver, held; /* deliveries to come; delivered and not yet released */
    /* For a READ that is answered later. */
    void *local, *data;
    uint32_t bytes;
};

#define ANSWERS 64 /* that an endpoint may wait for */

struct endpoint {
    struct item *items;
    uint64_t tick, numbers, random;
    struct faulty_counts counts;
};

struct sg_transport {
    const struct sg_transport_ops *below;
    struct sg_transport *inner;
    struct faulty_faults faults;
    int endpoints;
    uint32_t items; /* per endpoint: all that the one below may give out at once */
    struct endpoint *endpoint;
};

static struct faulty_faults next_faults;

void faulty_set(const struct faulty_faults *faults)
{
    next_faults = *faults;
}

static uint32_t draw(struct endpoint *endpoint, uint32_t limit)
{
    endpoint->random =
        endpoint->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(endpoint->random >> 33) % limit;
}

static bool chance(struct endpoint *endpoint, uint32_t percent)
{
    return draw(endpoint, 100) < percent;
}

static enum sg_status open_over(const struct sg_transport_ops *below,
                                const struct sg_transport_setup *setup, void *shared,
                                struct sg_transport **out)
{
    struct sg_transport *faulty = calloc(1, sizeof *faulty);
    enum sg_status status = SG_ERR_MEMORY;

    if (faulty == NULL)
        return SG_ERR_MEMORY;
    status = below->open(setup, shared, &faulty->inner);
    if (status != SG_OK)
        goto err_free;
    faulty->below = below;
    faulty->faults = next_faults;
    faulty->endpoints = setup->endpoints;
    faulty->items = (uint32_t)setup->endpoints * setup->inflight + SG_TRANSPORT_HELD + ANSWERS;
    faulty->endpoint = calloc((size_t)setup->endpoints, sizeof *faulty->endpoint);
    if (faulty->endpoint == NULL)
        abort();
    for (int i = 0; i < setup->endpoints; i++) {
        faulty->endpoint[i].random = next_faults.seed * 1000003 + (uint64_t)i;
        faulty->endpoint[i].items = calloc(faulty->items, sizeof *faulty->endpoint[i].items);
        if (faulty->endpoint[i].items == NULL)
            abort();
    }
    *out = faulty;
    return SG_OK;

err_free:
    free(faulty);
    return status;
}

static void faulty_close(struct sg_transport *faulty)
{
    faulty->below->close(faulty->inner);
    for (int i = 0; i < faulty->endpoints; i++) {
        for (uint32_t j = 0; j < faulty->items; j++)
            free(faulty->endpoint[i].items[j].data);
        free(faulty->endpoint[i].items);
    }
    free(faulty->endpoint);
    free(faulty);
}

static enum sg_transport_result faulty_send(struct sg_transport *faulty, int self, int to,
                                            const struct sg_transport_send *send)
{
    return faulty->below->send(faulty->inner, self, to, send);
}

static void decide_delay(struct sg_transport *faulty, struct endpoint *endpoint, struct item *item)
{
    if (chance(endpoint, faulty->faults.delay_percent)) {
        endpoint->counts.delayed++;
        item->due += 1 + draw(endpoint, faulty->faults.delay_ticks);
    }
}

static void decide(struct sg_transport *faulty, int self, struct item *item)
{
    struct endpoint *endpoint = &faulty->endpoint[self];
    const struct faulty_faults *faults = &faulty->faults;

    item->held = 0;
    item->to_deliver = 1;
    item->number = endpoint->numbers++;
    item->due = endpoint->tick;
    if (item->message.message.multicast && chance(endpoint, faults->loss_percent)) {
        endpoint->counts.lost++;
        item->to_deliver = 0;
        faulty->below->release(faulty->inner, self, &item->message);
        return;
    }
    if (item->message.message.multicast && chance(endpoint, faults->repeat_percent)) {
        endpoint->counts.repeated++;
        item->to_deliver = 2;
    }
    decide_delay(faulty, endpoint, item);
}

static void drain_inner(struct sg_transport *faulty, int self)
{
    struct endpoint *endpoint = &faulty->endpoint[self];

    for (uint32_t i = 0; i < faulty->items; i++) {
        struct item *item = &endpoint->items[i];

        if (item->to_deliver > 0 || item->held > 0)
            continue;
        item->message.is_reply = false;
        if (!faulty->below->receive(faulty->inner, self, &item->message))
            return;
        decide(faulty, self, item);
    }
}

static bool faulty_receive(struct sg_transport *faulty, int self, struct sg_transport_message *out)
{
    struct endpoint *endpoint = &faulty->endpoint[self];
    struct item *chosen = NULL;
    uint64_t first = UINT64_MAX;
    uint32_t due = 0;

    drain_inner(faulty, self);
    endpoint->tick++;
    for (uint32_t i = 0; i < faulty->items; i++) {
        struct item *item = &endpoint->items[i];

        if (item->to_deliver == 0)
            continue;
        first = item->number < first ? item->number : first;
        /* Each of those due with the same chance. */
        if (item->due < endpoint->tick && draw(endpoint, ++due) == 0)
            chosen = item;
    }
    if (chosen == NULL)
        return false;
    endpoint->counts.reordered += chosen->number != first;
    chosen->to_deliver--;
    chosen->held++;
    chosen->due = endpoint->tick + 1 + draw(endpoint, faulty->faults.delay_ticks);
    if (chosen->data != NULL) {
        memcpy(chosen->local, chosen->data, chosen->bytes);
        free(chosen->data);
        chosen->data = NULL;
    }
    *out = chosen->message;
    out->handle = (uint64_t)(chosen - endpoint->items);
    return true;
}

static void faulty_release(struct sg_transport *faulty, int self,
                           const struct sg_transport_message *message)
{
    struct item *item = &faulty->endpoint[self].items[message->handle];

    item->held--;
    if (item->held == 0 && item->to_deliver == 0 && !item->message.is_reply)
        faulty->below->release(faulty->inner, self, &item->message);
}

static struct item *find_free(struct sg_transport *faulty, int self)
{
    for (uint32_t i = 0; i < faulty->items; i++) {
        struct item *item = &faulty->endpoint[self].items[i];

        if (item->to_deliver == 0 && item->held == 0)
            return item;
    }
    abort();
}

/* It takes effect now, as accesses do in their order; what it gives comes by receive. */
static enum sg_transport_result access_later(struct sg_transport *faulty, int self,
                                             const struct sg_action *action,
                                             const struct sg_transport_region *region, void *local)
{
    struct endpoint *endpoint = &faulty->endpoint[self];
    struct item *item = find_free(faulty, self);
    void *into = NULL;

    if (action->kind == SG_ACTION_READ && action->access.bytes > 0) {
        into = malloc(action->access.bytes);
        if (into == NULL)
            abort();
    }
    memset(&item->message, 0, sizeof item->message);
    item->message.protocol = region->protocol;
    item->message.is_reply = true;
    item->message.tag = action->access.tag;
    if (faulty->below->access(faulty->inner, self, action, region, into, item->message.value) !=
        SG_TRANSPORT_DONE)
        abort();
    item->local = local;
    item->data = into;
    item->bytes = action->access.bytes;
    item->to_deliver = 1;
    item->number = endpoint->numbers++;
    item->due = endpoint->tick;
    decide_delay(faulty, endpoint, item);
    endpoint->counts.later++;
    return SG_TRANSPORT_LATER;
}

static enum sg_transport_result faulty_access(struct sg_transport *faulty, int self,
                                              const struct sg_action *action,
                                              const struct sg_transport_region *region, void *local,
                                              uint64_t value[8])
{
    struct endpoint *endpoint = &faulty->endpoint[self];
    bool has_answer = action->kind != SG_ACTION_WRITE && action->kind != SG_ACTION_WRITE_CELL;

    if (chance(endpoint, faulty->faults.full_percent)) {
        endpoint->counts.full++;
        return SG_TRANSPORT_FULL;
    }
    if (has_answer && chance(endpoint, faulty->faults.later_percent))
        return access_later(faulty, self, action, region, local);
    return faulty->below->access(faulty->inner, self, action, region, local, value);
}

static bool faulty_pending(const struct sg_transport *faulty, int self)
{
    for (uint32_t i = 0; i < faulty->items; i++) {
        if (faulty->endpoint[self].items[i].to_deliver > 0)
            return true;
    }
    return faulty->below->pending(faulty->inner, self);
}

struct faulty_counts faulty_counts(const struct sg_transport *faulty)
{
    struct faulty_counts sum = {0};

    for (int i = 0; i < faulty->endpoints; i++) {
        const struct faulty_counts *counts = &faulty->endpoint[i].counts;

        sum.delayed += counts->delayed;
        sum.reordered += counts->reordered;
        sum.lost += counts->lost;
        sum.repeated += counts->repeated;
        sum.later += counts->later;
        sum.full += counts->full;
    }
    return sum;
}

static size_t loop_bytes(const struct sg_transport_setup *setup)
{
    return loop.shared_bytes(setup);
}

static enum sg_status loop_open(const struct sg_transport_setup *setup, void *shared,
                                struct sg_transport **out)
{
    return open_over(&loop, setup, shared, out);
}

static size_t shm_bytes(const struct sg_transport_setup *setup)
{
    return sg_transport_shm.shared_bytes(setup);
}

static enum sg_status shm_open_below(const struct sg_transport_setup *setup, void *shared,
                                     struct sg_transport **out)
{
    return open_over(&sg_transport_shm, setup, shared, out);
}

const struct sg_transport_ops faulty_loop = {
    .name = "faulty loop",
    .capabilities = SG_TRANSPORT_ONE_SIDED,
    .shared_bytes = loop_bytes,
    .open = loop_open,
    .close = faulty_close,
    .send = faulty_send,
    .receive = faulty_receive,
    .release = faulty_release,
    .access = faulty_access,
    .pending = faulty_pending,
};

const struct sg_transport_ops faulty_shm = {
    .name = "faulty shm",
    .capabilities = SG_TRANSPORT_ONE_SIDED,
    .shared_bytes = shm_bytes,
    .open = shm_open_below,
    .close = faulty_close,
    .send = faulty_send,
    .receive = faulty_receive,
    .release = faulty_release,
    .access = faulty_access,
    .pending = faulty_pending,
};
