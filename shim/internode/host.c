#include "internode/host.h"

#include "bcs/live/shared_posts.h"

#include <sched.h>
#include <string.h>

static void *data_of(const struct sg_delivery *delivery, struct sg_data data)
{
    const struct sg_internode *internode = delivery->internode;
    const struct sg_internode_protocol *protocol = &internode->protocols[delivery->protocol];
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    size_t stride;

    switch ((enum sg_data_kind)data.kind) {
    case SG_DATA_OPERAND: /* of the CALL delivered last, which has no COMPLETE yet */
        return sg_internode_contribution(
            internode, atomic_load_explicit(&endpoint->delivered, memory_order_relaxed) - 1, 0);
    case SG_DATA_RESULT:
        return sg_internode_result(internode, delivery->protocol, data.index);
    case SG_DATA_SLOT:
        return sg_internode_region(internode, delivery->protocol, internode->endpoint) +
               protocol->slots_at + (size_t)data.index * protocol->slot_stride;
    case SG_DATA_PART:
        stride = (delivery->event->message.header.bytes + 15u) & ~(size_t)15;
        return (void *)(uintptr_t)(delivery->parts + (size_t)data.index * stride);
    case SG_DATA_NONE:
        break;
    }
    return NULL;
}

static void move(const struct sg_delivery *delivery, const struct sg_action *action)
{
    void *from = data_of(delivery, action->data.from);
    void *into = data_of(delivery, action->data.into);

    if (from != into)
        memcpy(into, from, action->data.bytes);
}

static void reduce(const struct sg_delivery *delivery, const struct sg_action *action)
{
    const struct sg_operand_type *kind = sg_internode_operand_type(
        delivery->internode, delivery->protocol, (uint32_t)action->data.seq);
    enum sg_element element = (enum sg_element)kind->element;
    const void *left = data_of(delivery, action->data.left);
    const void *right = data_of(delivery, action->data.right);
    void *into = data_of(delivery, action->data.into);
    size_t count = action->data.bytes / sg_element_extent_bytes(element);

    if (kind->reduction == SG_INTERNODE_USERS)
        sg_user_fold(&delivery->internode->user, left, right, into, count);
    else
        sg_kernel_find((enum sg_reduction)kind->reduction, element)(left, right, into, count);
}

/* The transport's tag for a message: the protocol, the type of its operands, and from bit 32 on a
 * note for other machines. */
static uint64_t word_of(const struct sg_delivery *delivery, const struct sg_header *header)
{
    const struct sg_operand_type *kind =
        sg_internode_operand_type(delivery->internode, delivery->protocol, header->seq);
    uint64_t note = kind->seq == header->seq ? kind->note : 0;

    return delivery->protocol | (uint64_t)kind->reduction << 8 | (uint64_t)kind->element << 16 |
           note << 32;
}

/* In blocking calls not every message is urgent, because a rank is in the call; in nonblocking
 * calls each one is. */
static void ring(const struct sg_internode *internode, int to, bool urgent)
{
    struct sg_endpoint *target = sg_internode_endpoint(internode, to);

    if (!urgent && atomic_load_explicit(&target->doorbell.nonblocking, memory_order_relaxed) == 0)
        return;
    if (atomic_load_explicit(&target->doorbell.inside, memory_order_acquire) == 0 &&
        atomic_load_explicit(&target->doorbell.outstanding, memory_order_relaxed) > 0)
        sg_progress_ring(&target->doorbell);
}

static void ring_for(const struct sg_internode *internode, const struct sg_action *action)
{
    bool urgent = action->solicited;

    /* Relaxed: a thread that sends for a nonblocking call has also begun it. */
    if (!urgent && !atomic_load_explicit(&internode->header->has_nonblocking, memory_order_relaxed))
        return;
    /* Sequentially consistent, like sg_internode_leave: either the receiver sees the message, or
     * the sender sees that the receiver has left and has instances outstanding. */
    atomic_thread_fence(memory_order_seq_cst);
    if (action->kind == SG_ACTION_SEND) {
        ring(internode, action->to, urgent);
        return;
    }
    for (int to = 0; to < internode->endpoints; to++)
        ring(internode, to, urgent);
}

/* Between machines the message itself wakes its receiver, and nonblocking calls are outstanding at
 * both ends or at neither. */
static bool is_urgent(const struct sg_internode *internode, const struct sg_action *action)
{
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    return action->solicited ||
           (internode->remote != NULL &&
            atomic_load_explicit(&endpoint->doorbell.nonblocking, memory_order_relaxed) > 0);
}

/* Separate, because tests/progress/safety.sh excludes it from the code that a signal handler may
 * reach. */
static __attribute__((noinline)) void serve_mpich(struct sg_wait *wait)
{
    sg_wait_brief(wait);
}

/* A receiver frees its channel by itself, but may wait in MPICH for this rank first. Only a thread
 * in its call may call MPICH. */
static void wait_for_room(struct sg_wait *wait)
{
    if (sg_progress_by() == SG_PROGRESS_BY_CALL)
        serve_mpich(wait);
    else
        sched_yield();
}

static void send(const struct sg_delivery *delivery, const struct sg_actions *actions,
                 const struct sg_action *action)
{
    struct sg_internode *internode = delivery->internode;
    const void *parts[SG_PARTS_MAX];
    struct sg_transport_send message = {.protocol = word_of(delivery, &action->send.header),
                                        .solicited = is_urgent(internode, action),
                                        .header = action->send.header,
                                        .parts = parts};
    int to = action->kind == SG_ACTION_MULTICAST ? SG_TRANSPORT_ALL : action->to;
    struct sg_wait wait = {0};

    for (unsigned i = 0; i < action->send.header.parts; i++)
        parts[i] = data_of(delivery, actions->parts[action->send.parts_at + i]);
    /* Within the limits of set-up, the channel has capacity. */
    while (internode->ops->send(internode->transport, internode->endpoint, to, &message) ==
           SG_TRANSPORT_FULL)
        wait_for_room(&wait);
    if (internode->remote == NULL)
        ring_for(internode, action);
}

static struct sg_transport_region region_of(const struct sg_delivery *delivery, int32_t endpoint)
{
    const struct sg_internode_protocol *protocol =
        &delivery->internode->protocols[delivery->protocol];
    unsigned char *target = sg_internode_region(delivery->internode, delivery->protocol, endpoint);

    return (struct sg_transport_region){
        .protocol = delivery->protocol,
        .slots = target + protocol->slots_at,
        .cells = (_Atomic uint64_t *)(void *)(target + protocol->cells_at),
        .slot_bytes = protocol->slot_stride,
        .slots_count = protocol->needs.slots + protocol->setup.parameters.credits,
        .cells_count = protocol->needs.cells};
}

/* Waits for data before the action uses it: a cell has announced the data, which may still be in
 * flight. */
static void await_data(const struct sg_delivery *delivery, const struct sg_action *action)
{
    struct sg_internode *internode = delivery->internode;
    struct sg_action wanted = {.kind = SG_ACTION_AWAIT, .to = action->to};
    struct sg_transport_region region;

    if (action->data.stamp == 0 || internode->remote == NULL)
        return;
    region = region_of(delivery, action->to >= 0 ? action->to : internode->endpoint);
    wanted.access.bytes = action->data.bytes;
    wanted.access.remote = action->data.remote;
    wanted.access.value = action->data.stamp;
    while (internode->ops->access(internode->transport, internode->endpoint, &wanted, &region,
                                  data_of(delivery, action->data.from), NULL) == SG_TRANSPORT_FULL)
        sched_yield();
}

static void access_remote(const struct sg_delivery *delivery, const struct sg_action *action)
{
    struct sg_internode *internode = delivery->internode;
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    const struct sg_internode_protocol *protocol = &internode->protocols[delivery->protocol];
    bool waits = action->kind == SG_ACTION_READ_CELLS;
    struct sg_transport_region region = region_of(delivery, action->to);
    struct sg_action wanted = *action;
    struct sg_data local =
        action->kind == SG_ACTION_READ ? action->access.into : action->access.from;
    struct sg_endpoint_reply reply = {
        .protocol = delivery->protocol, .tag = action->access.tag, .waits = waits};
    bool has_reply = waits || action->kind == SG_ACTION_FETCH_ADD || action->kind == SG_ACTION_READ;
    enum sg_transport_result result;
    struct sg_wait wait = {0};

    region.protocol |= waits ? SG_INTERNODE_WAITS : 0;
    /* Results follow the slots. */
    if (action->kind == SG_ACTION_WRITE_RESULT) {
        wanted.kind = SG_ACTION_WRITE;
        wanted.access.remote += protocol->needs.slots;
    }
    while ((result = internode->ops->access(internode->transport, internode->endpoint, &wanted,
                                            &region, data_of(delivery, local), reply.value)) ==
           SG_TRANSPORT_FULL)
        wait_for_room(&wait);
    if (has_reply && result == SG_TRANSPORT_DONE)
        endpoint->replies[endpoint->reply_count++] = reply;
}

static void set_timer(const struct sg_delivery *delivery, const struct sg_action *action,
                      uint64_t time_ns)
{
    struct sg_endpoint *endpoint =
        sg_internode_endpoint(delivery->internode, delivery->internode->endpoint);

    uint64_t next_ns =
        atomic_load_explicit(&endpoint->doorbell.next_timer_ns, memory_order_relaxed);

    endpoint->timers[delivery->protocol][action->id] = time_ns;
    if (time_ns != 0 && (next_ns == 0 || time_ns < next_ns))
        atomic_store_explicit(&endpoint->doorbell.next_timer_ns, time_ns, memory_order_relaxed);
}

static void watch(const struct sg_delivery *delivery, const struct sg_action *action)
{
    struct sg_endpoint *endpoint =
        sg_internode_endpoint(delivery->internode, delivery->internode->endpoint);
    struct sg_internode_watch wanted = {delivery->protocol, action->id, action->access.remote,
                                        action->access.value};
    /* Relaxed, here and where watches are polled: under the lock. */
    uint32_t count = atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed);
    uint32_t at = 0;

    while (at < count && (endpoint->watches[at].protocol != wanted.protocol ||
                          endpoint->watches[at].id != wanted.id))
        at++;
    endpoint->watches[at] = wanted;
    if (at == count)
        atomic_store_explicit(&endpoint->watch_count, count + 1, memory_order_relaxed);
}

static void complete(const struct sg_delivery *delivery)
{
    struct sg_endpoint *endpoint =
        sg_internode_endpoint(delivery->internode, delivery->internode->endpoint);
    uint64_t delivered = atomic_load_explicit(&endpoint->delivered, memory_order_relaxed);

    sg_internode_instance_at(delivery->internode, delivered - 1)->left_ns =
        delivery->event->time_ns;
    /* Release: the result, if there is one, was written before. */
    atomic_fetch_add_explicit(&endpoint->completed, 1, memory_order_release);
}

static void finish(const struct sg_delivery *delivery, uint64_t seq)
{
    struct sg_internode_instance *instance =
        sg_endpoint_find_instance(delivery->internode, delivery->protocol, seq);

    if (instance == NULL)
        return;
    if (instance->flags & SG_CALL_SPLIT)
        atomic_fetch_sub_explicit(
            &sg_internode_endpoint(delivery->internode, delivery->internode->endpoint)
                 ->doorbell.nonblocking,
            1, memory_order_relaxed);
    if (instance->flags & SG_CALL_USER)
        atomic_fetch_sub_explicit(
            &sg_internode_endpoint(delivery->internode, delivery->internode->endpoint)->users, 1,
            memory_order_relaxed);
    /* Release: the result was written before. */
    atomic_store_explicit(&instance->finished, instance->position + 1, memory_order_release);
}

void sg_internode_carry_out(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        const struct sg_action *action = &actions->list[i];

        switch ((enum sg_action_kind)action->kind) {
        case SG_ACTION_SEND:
        case SG_ACTION_MULTICAST:
            send(delivery, actions, action);
            break;
        case SG_ACTION_COPY:
            await_data(delivery, action);
            move(delivery, action);
            break;
        case SG_ACTION_REDUCE:
            await_data(delivery, action);
            reduce(delivery, action);
            break;
        case SG_ACTION_AWAIT:
            await_data(delivery, action);
            break;
        case SG_ACTION_SET_TIMER:
            set_timer(delivery, action, action->timer.time_ns);
            break;
        case SG_ACTION_STOP_TIMER:
            set_timer(delivery, action, 0);
            break;
        case SG_ACTION_COMPLETE:
            complete(delivery);
            break;
        case SG_ACTION_FINISH:
            finish(delivery, action->instance.seq);
            break;
        case SG_ACTION_BEGIN_SLICE:
            sg_slices_begin(delivery, actions);
            break;
        case SG_ACTION_END_SLICE:
            sg_slices_end(delivery, actions);
            break;
        case SG_ACTION_WATCH:
            watch(delivery, action);
            break;
        case SG_ACTION_FILL:
        case SG_ACTION_DRAIN:
            sg_posts_access(delivery, action, data_of(delivery, action->post.slot));
            break;
        case SG_ACTION_DELIVER:
            sg_posts_deliver(delivery, action);
            break;
        default:
            access_remote(delivery, action);
        }
    }
}

bool sg_endpoint_take_reply(struct sg_endpoint *endpoint, bool waiting,
                            struct sg_endpoint_reply *out)
{
    uint32_t at = 0;

    while (at < endpoint->reply_count && endpoint->replies[at].waits != waiting)
        at++;
    if (at == endpoint->reply_count)
        return false;
    *out = endpoint->replies[at];
    endpoint->reply_count--;
    memmove(&endpoint->replies[at], &endpoint->replies[at + 1],
            (endpoint->reply_count - at) * sizeof *out);
    return true;
}
