#include "internode/host.h"

#include <sched.h>
#include <string.h>

static void *data_of(const struct sg_span_feeding *feeding, struct sg_data data)
{
    const struct sg_span *span = feeding->span;
    const struct sg_span_object *object = &span->objects[feeding->object];
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    size_t stride;

    switch ((enum sg_data_kind)data.kind) {
    case SG_DATA_OPERAND: /* of the CALL fed last, which has no COMPLETE yet */
        return sg_span_contribution(
            span, atomic_load_explicit(&endpoint->fed, memory_order_relaxed) - 1, 0);
    case SG_DATA_RESULT:
        return sg_span_result(span, feeding->object, data.index);
    case SG_DATA_SLOT:
        return sg_span_region(span, feeding->object, span->endpoint) + object->slots_at +
               (size_t)data.index * object->slot_bytes;
    case SG_DATA_PART:
        stride = (feeding->event->message.header.bytes + 15u) & ~(size_t)15;
        return (void *)(uintptr_t)(feeding->parts + (size_t)data.index * stride);
    case SG_DATA_NONE:
        break;
    }
    return NULL;
}

static void move(const struct sg_span_feeding *feeding, const struct sg_action *action)
{
    void *from = data_of(feeding, action->data.from);
    void *into = data_of(feeding, action->data.into);

    if (from != into)
        memcpy(into, from, action->data.bytes);
}

static void reduce(const struct sg_span_feeding *feeding, const struct sg_action *action)
{
    const struct sg_span_kind *kind =
        sg_span_kind_of(feeding->span, feeding->object, action->data.seq);
    enum sg_element element = (enum sg_element)kind->element;
    sg_kernel kernel = sg_kernel_find((enum sg_reduction)kind->reduction, element);

    kernel(data_of(feeding, action->data.left), data_of(feeding, action->data.right),
           data_of(feeding, action->data.into),
           action->data.bytes / sg_element_extent_bytes(element));
}

/* The transport's word for whom a message is: the object, the kind of what it carries, and from
 * bit 32 on a note for other machines. */
static uint64_t word_of(const struct sg_span_feeding *feeding, const struct sg_header *header)
{
    const struct sg_span_kind *kind = sg_span_kind_of(feeding->span, feeding->object, header->seq);
    uint64_t note = kind->seq == header->seq ? kind->note : 0;

    return feeding->object | (uint64_t)kind->reduction << 8 | (uint64_t)kind->element << 16 |
           note << 32;
}

/* Not every message is urgent where somebody is in a call for it; of posts each one is. */
static void ring(const struct sg_span *span, int to, bool urgent)
{
    struct sg_span_endpoint *target = sg_span_endpoint(span, to);

    if (!urgent && atomic_load_explicit(&target->bell.posted, memory_order_relaxed) == 0)
        return;
    if (atomic_load_explicit(&target->bell.inside, memory_order_acquire) == 0 &&
        atomic_load_explicit(&target->bell.outstanding, memory_order_relaxed) > 0)
        sg_progress_ring(&target->bell);
}

static void ring_for(const struct sg_span *span, const struct sg_action *action)
{
    bool urgent = action->kind == SG_ACTION_SEND && action->solicited;

    /* Relaxed: who sends for a post has posted it, too. */
    if (!urgent && !atomic_load_explicit(&span->header->has_posts, memory_order_relaxed))
        return;
    /* Sequentially consistent, as the receiver's way out of a call: either it sees the message or
     * we see that it is out, and what is outstanding there. */
    atomic_thread_fence(memory_order_seq_cst);
    if (action->kind == SG_ACTION_SEND) {
        ring(span, action->to, urgent);
        return;
    }
    for (int to = 0; to < span->endpoints; to++)
        ring(span, to, false);
}

/* Between machines it is the message that wakes its receiver, and posts are outstanding at both
 * ends or at none. */
static bool is_urgent(const struct sg_span *span, const struct sg_action *action)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    return (action->kind == SG_ACTION_SEND && action->solicited) ||
           (span->wire != NULL &&
            atomic_load_explicit(&endpoint->bell.posted, memory_order_relaxed) > 0);
}

static void send(const struct sg_span_feeding *feeding, const struct sg_actions *actions,
                 const struct sg_action *action)
{
    struct sg_span *span = feeding->span;
    const void *parts[SG_PARTS_MAX];
    struct sg_transport_send message = {.object = word_of(feeding, &action->send.header),
                                        .solicited = is_urgent(span, action),
                                        .header = action->send.header,
                                        .parts = parts};
    int to = action->kind == SG_ACTION_MULTICAST ? SG_TRANSPORT_ALL : action->to;

    for (unsigned i = 0; i < action->send.header.parts; i++)
        parts[i] = data_of(feeding, actions->parts[action->send.parts_at + i]);
    /* Within the limits of set-up there is room; a receiver that is slower than they say frees it
     * without us. */
    while (span->ops->send(span->transport, span->endpoint, to, &message) == SG_TRANSPORT_FULL)
        sched_yield();
    if (span->wire == NULL)
        ring_for(span, action);
}

static void access_remote(const struct sg_span_feeding *feeding, const struct sg_action *action)
{
    struct sg_span *span = feeding->span;
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    const struct sg_span_object *object = &span->objects[feeding->object];
    unsigned char *target = sg_span_region(span, feeding->object, action->to);
    bool waits = action->kind == SG_ACTION_READ_CELLS;
    struct sg_transport_region region = {
        .object = feeding->object | (waits ? SG_SPAN_WAITS : 0),
        .slots = target + object->slots_at,
        .cells = (_Atomic uint64_t *)(void *)(target + object->cells_at),
        .slot_bytes = object->slot_bytes,
        .slots_count = object->needs.slots + object->setup.parameters.credits,
        .cells_count = object->needs.cells};
    struct sg_action wanted = *action;
    struct sg_data local =
        action->kind == SG_ACTION_READ ? action->access.into : action->access.from;
    struct sg_span_reply reply = {
        .object = feeding->object, .tag = action->access.tag, .waits = waits};
    bool has_reply = waits || action->kind == SG_ACTION_FETCH_ADD || action->kind == SG_ACTION_READ;
    enum sg_transport_result result;

    /* Results lie behind the slots. */
    if (action->kind == SG_ACTION_WRITE_RESULT) {
        wanted.kind = SG_ACTION_WRITE;
        wanted.access.remote += object->needs.slots;
    }
    do
        result = span->ops->access(span->transport, span->endpoint, &wanted, &region,
                                   data_of(feeding, local), reply.value);
    while (result == SG_TRANSPORT_FULL && sched_yield() == 0);
    if (has_reply && result == SG_TRANSPORT_DONE)
        endpoint->replies[endpoint->reply_count++] = reply;
}

static void set_timer(const struct sg_span_feeding *feeding, const struct sg_action *action,
                      uint64_t time_ns)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(feeding->span, feeding->span->endpoint);

    uint64_t next_ns = atomic_load_explicit(&endpoint->bell.next_timer_ns, memory_order_relaxed);

    endpoint->timers[feeding->object][action->id] = time_ns;
    if (time_ns != 0 && (next_ns == 0 || time_ns < next_ns))
        atomic_store_explicit(&endpoint->bell.next_timer_ns, time_ns, memory_order_relaxed);
}

static void watch(const struct sg_span_feeding *feeding, const struct sg_action *action)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(feeding->span, feeding->span->endpoint);
    struct sg_span_watch wanted = {feeding->object, action->id, action->access.remote,
                                   action->access.value};
    /* Relaxed, here and where watches are polled: under the lock. */
    uint32_t count = atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed);
    uint32_t at = 0;

    while (at < count &&
           (endpoint->watches[at].object != wanted.object || endpoint->watches[at].id != wanted.id))
        at++;
    endpoint->watches[at] = wanted;
    if (at == count)
        atomic_store_explicit(&endpoint->watch_count, count + 1, memory_order_relaxed);
}

static void complete(const struct sg_span_feeding *feeding)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(feeding->span, feeding->span->endpoint);
    uint64_t fed = atomic_load_explicit(&endpoint->fed, memory_order_relaxed);

    sg_span_place(feeding->span, fed - 1)->left_ns = feeding->event->time_ns;
    /* Release: the result, if it is there, was written before. */
    atomic_fetch_add_explicit(&endpoint->completed, 1, memory_order_release);
}

static void finish(const struct sg_span_feeding *feeding, uint32_t seq)
{
    struct sg_span_instance *place = sg_span_find_instance(feeding->span, feeding->object, seq);

    if (place == NULL)
        return;
    if (place->flags & SG_CALL_SPLIT)
        atomic_fetch_sub_explicit(
            &sg_span_endpoint(feeding->span, feeding->span->endpoint)->bell.posted, 1,
            memory_order_relaxed);
    /* Release: the result was written before. */
    atomic_store_explicit(&place->finished, place->position + 1, memory_order_release);
}

void sg_span_carry_out(const struct sg_span_feeding *feeding, const struct sg_actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        const struct sg_action *action = &actions->list[i];

        switch ((enum sg_action_kind)action->kind) {
        case SG_ACTION_SEND:
        case SG_ACTION_MULTICAST:
            send(feeding, actions, action);
            break;
        case SG_ACTION_COPY:
            move(feeding, action);
            break;
        case SG_ACTION_REDUCE:
            reduce(feeding, action);
            break;
        case SG_ACTION_SET_TIMER:
            set_timer(feeding, action, action->timer.time_ns);
            break;
        case SG_ACTION_STOP_TIMER:
            set_timer(feeding, action, 0);
            break;
        case SG_ACTION_COMPLETE:
            complete(feeding);
            break;
        case SG_ACTION_FINISH:
            finish(feeding, action->instance.seq);
            break;
        case SG_ACTION_WATCH:
            watch(feeding, action);
            break;
        default:
            access_remote(feeding, action);
        }
    }
}

bool sg_span_take_reply(struct sg_span_endpoint *endpoint, bool waiting, struct sg_span_reply *out)
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
