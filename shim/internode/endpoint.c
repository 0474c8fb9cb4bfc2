/* An endpoint's events and lock: delivers events to protocols in order, polls the transport and the
 * timers under the lock, arms the doorbell as ranks leave their calls, and waits for other ranks.
 * See endpoint.h. Any process of the endpoint may hold the lock, also in a signal handler. */
#include "internode/endpoint.h"

#include "bcs/live/shared_posts.h"
#include "core/clock.h"
#include "core/cpu/cpu.h"
#include "internode/host.h"
#include "mpi/user_lines.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- notes: ranks of several machines are in the same call ----
 *
 * A message carries a note about its instance: the low bits of position + 1 (POSITION_MASK),
 * shifted above the call's signature. A machine that is in that instance compares the two; another
 * keeps the note until it enters the instance. Notes about older instances contain nothing new:
 * each was compared when its first message came, or when the last rank of the endpoint arrived.
 * After a difference an application thread aborts the job (sg_internode_check_health).
 */

#define POSITION_MASK 0xffffu
#define POSITION_SHIFT 16

uint32_t sg_endpoint_note(const struct sg_internode *internode,
                          const struct sg_internode_instance *instance)
{
    uint32_t position = (uint32_t)(instance->position + 1) & POSITION_MASK;

    /* One position in 65536 has no note, because 0 means none. */
    return internode->remote == NULL || position == 0
               ? 0
               : position << POSITION_SHIFT | instance->signature;
}

/* Under the lock. */
static void keep_foreign(struct sg_internode *internode,
                         const struct sg_internode_instance *instance, int32_t from)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    if (atomic_load_explicit(&endpoint->foreign, memory_order_relaxed) != 0)
        return;
    endpoint->foreign_from = from;
    /* Release: publishes the endpoint. */
    atomic_store_explicit(&endpoint->foreign, instance->position + 1, memory_order_release);
}

static bool is_of(uint32_t note, const struct sg_internode_instance *instance)
{
    return note >> POSITION_SHIFT == ((uint32_t)(instance->position + 1) & POSITION_MASK);
}

/* False: the message belongs to another call than this machine's ranks are in. Do not handle it;
 * the job will end. */
static bool check_note(struct sg_internode *internode, const struct sg_transport_message *message)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    uint32_t note = (uint32_t)(message->protocol >> 32);
    uint32_t position = (note >> POSITION_SHIFT) - 1;
    struct sg_internode_instance *instance;

    if (note == 0)
        return true;
    /* The depth need not divide the range of the position's bits: both rings are small. */
    for (uint32_t i = 0; i < internode->depth; i++) {
        instance = &endpoint->instances[i];
        if (instance->arrived == 0 || !is_of(note, instance))
            continue;
        if ((note & POSITION_MASK) == instance->signature)
            return true;
        keep_foreign(internode, instance, message->message.from);
        return false;
    }
    endpoint->remote_note[position % SG_INTERNODE_INSTANCES_MAX] =
        (struct sg_remote_note){note, message->message.from};
    return true;
}

void sg_endpoint_check_instance(struct sg_internode *internode,
                                const struct sg_internode_instance *instance)
{
    const struct sg_remote_note *remote_note =
        &sg_internode_endpoint(internode, internode->endpoint)
             ->remote_note[instance->position % SG_INTERNODE_INSTANCES_MAX];

    if (remote_note->note != 0 && is_of(remote_note->note, instance) &&
        (remote_note->note & POSITION_MASK) != instance->signature)
        keep_foreign(internode, instance, remote_note->from);
}

/* ---- events ---- */

typedef void (*sg_handler)(void *state, const struct sg_event *event, struct sg_actions *actions);

static sg_handler handler_of(const struct sg_algo *algo, enum sg_event_kind kind)
{
    switch (kind) {
    case SG_EVENT_CALL:
    case SG_EVENT_POST:
        return algo->on_call;
    case SG_EVENT_MESSAGE:
        return algo->on_message;
    case SG_EVENT_TIMER:
        return algo->on_timer;
    case SG_EVENT_REPLY:
        return algo->on_reply;
    }
    return NULL;
}

/* At the end, outstanding messages are abandoned. */
static bool has_stopped(const struct sg_internode *internode, uint32_t protocol)
{
    return internode->messages != NULL && internode->messages->protocol == protocol &&
           sg_posts_of(internode)->has_stopped;
}

/* Returns false if the event only caused cells to be read again. */
static bool deliver_one(struct sg_internode *internode, uint32_t protocol, sg_handler handler,
                        const struct sg_event *event, const void *parts)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_algo_head *head =
        (void *)sg_internode_region(internode, protocol, internode->endpoint);
    struct sg_algo_head before = *head;
    struct sg_actions actions = {
        .list = endpoint->actions, .capacity = SG_ACTIONS_MAX, .parts = endpoint->parts};
    struct sg_delivery delivery = {
        .internode = internode, .protocol = protocol, .event = event, .parts = parts};
    struct sg_late late;
    bool is_late;

    if (handler == NULL || has_stopped(internode, protocol))
        return false;
    sg_slices_begin_event(&delivery);
    handler(head, event, &actions);
    sg_decisions_record(internode, protocol, event,
                        handler == internode->protocols[protocol].algo->on_drain, &actions);
    is_late =
        head->late != before.late && sg_endpoint_begin_late(internode, protocol, event, &late);
    sg_internode_carry_out(&delivery, &actions);
    sg_slices_end_event(&delivery, &actions);
    if (is_late)
        sg_endpoint_end_late(internode, &late);
    sg_endpoint_count(endpoint, &before, head, actions.marks);
    for (uint32_t i = 0; i < actions.count; i++) {
        if (actions.list[i].kind != SG_ACTION_READ_CELLS)
            return true;
    }
    return false;
}

static bool deliver_reply(struct sg_internode *internode, const struct sg_endpoint_reply *reply,
                          uint64_t time_ns)
{
    struct sg_event event = {.kind = SG_EVENT_REPLY, .time_ns = time_ns, .reply.tag = reply->tag};

    memcpy(event.reply.value, reply->value, sizeof reply->value);
    return deliver_one(internode, reply->protocol,
                       internode->protocols[reply->protocol].algo->on_reply, &event, NULL);
}

static void deliver_replies(struct sg_internode *internode, uint64_t time_ns)
{
    struct sg_endpoint_reply reply;

    while (sg_endpoint_take_reply(sg_internode_endpoint(internode, internode->endpoint), false,
                                  &reply))
        deliver_reply(internode, &reply, time_ns);
}

/* Delivers the event, and the REPLYs to its accesses that were completed at once. */
static void deliver_all(struct sg_internode *internode, uint32_t protocol, sg_handler handler,
                        struct sg_event *event, const void *parts)
{
    event->time_ns = sg_clock_ns();
    deliver_one(internode, protocol, handler, event, parts);
    deliver_replies(internode, event->time_ns);
}

/* ---- calls, messages and timers ---- */

static void deliver_call(struct sg_internode *internode, struct sg_internode_instance *place)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    const struct sg_algo_head *head =
        (const void *)sg_internode_region(internode, place->protocol, internode->endpoint);
    struct sg_event event = {.kind = SG_EVENT_CALL,
                             .call = {.operation = (enum sg_operation)place->operation,
                                      .flags = place->flags,
                                      .bytes = place->bytes,
                                      .root = place->root,
                                      .site = 0}};

    place->protocol_seq = head->seq + 1;
    if (place->bytes > 0 || internode->remote != NULL)
        *sg_internode_operand_type(internode, place->protocol, (uint32_t)place->protocol_seq) =
            (struct sg_operand_type){(uint32_t)place->protocol_seq, place->reduction,
                                     place->element, sg_endpoint_note(internode, place)};
    if (place->flags & SG_CALL_SPLIT)
        atomic_fetch_add_explicit(&endpoint->doorbell.nonblocking, 1, memory_order_relaxed);
    atomic_store_explicit(&endpoint->delivered, place->position + 1, memory_order_relaxed);
    deliver_all(internode, place->protocol, internode->protocols[place->protocol].algo->on_call,
                &event, NULL);
}

void sg_endpoint_deliver_calls(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    for (;;) {
        /* Relaxed, both: under the lock. */
        uint64_t delivered = atomic_load_explicit(&endpoint->delivered, memory_order_relaxed);
        struct sg_internode_instance *place = sg_internode_instance_at(internode, delivered);

        if (atomic_load_explicit(&endpoint->completed, memory_order_relaxed) != delivered ||
            place->ready != delivered + 1)
            return;
        deliver_call(internode, place);
    }
}

void sg_endpoint_deliver_event(struct sg_internode *internode, uint32_t protocol,
                               struct sg_event *event, const void *parts)
{
    deliver_all(internode, protocol, handler_of(internode->protocols[protocol].algo, event->kind),
                event, parts);
    sg_endpoint_deliver_calls(internode);
}

void sg_endpoint_deliver_drain(struct sg_internode *internode)
{
    struct sg_event event = {.kind = SG_EVENT_CALL};

    for (uint32_t i = 0; i < (uint32_t)internode->protocol_count; i++) {
        if (internode->protocols[i].algo != NULL)
            deliver_all(internode, i, internode->protocols[i].algo->on_drain, &event, NULL);
    }
}

/* ---- replies and watched cells ---- */

void sg_endpoint_deliver_answer(struct sg_internode *internode,
                                const struct sg_transport_message *message)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_endpoint_reply reply = {.protocol = (uint32_t)(message->protocol & 0xff),
                                      .tag = message->tag,
                                      .waits = (message->protocol & SG_INTERNODE_WAITS) != 0};

    memcpy(reply.value, message->value, sizeof reply.value);
    endpoint->replies[endpoint->reply_count++] = reply;
    if (reply.waits)
        return;
    deliver_replies(internode, sg_clock_ns());
    sg_endpoint_deliver_calls(internode);
}

/* Delivers replies that waited for this poll, and watches whose cells have changed. Both return the
 * number of events that other ranks may wait for. */
/* Counts only the replies present now: repeated accesses wait for the next poll. */
static int sg_endpoint_deliver_waiting(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_endpoint_reply reply;
    uint32_t waiting = 0;
    int delivered = 0;

    for (uint32_t i = 0; i < endpoint->reply_count; i++)
        waiting += endpoint->replies[i].waits;
    for (; waiting > 0 && sg_endpoint_take_reply(endpoint, true, &reply); waiting--) {
        delivered += deliver_reply(internode, &reply, sg_clock_ns());
        deliver_replies(internode, sg_clock_ns());
    }
    if (delivered > 0)
        sg_endpoint_deliver_calls(internode);
    return delivered;
}

static bool has_changed(const struct sg_internode *internode,
                        const struct sg_internode_watch *watch, uint64_t *value)
{
    const struct sg_internode_protocol *protocol = &internode->protocols[watch->protocol];
    const _Atomic uint64_t *cells =
        (const void *)(sg_internode_region(internode, watch->protocol, internode->endpoint) +
                       protocol->cells_at);

    /* Acquire: writes before the cell's are visible. */
    *value = atomic_load_explicit(&cells[watch->cell], memory_order_acquire);
    return *value != watch->value;
}

static int sg_endpoint_deliver_watches(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    int delivered = 0;

    /* A handler may watch the next cell, which this loop then checks, too. */
    for (uint32_t at = 0;
         at < atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed);) {
        struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {.id = endpoint->watches[at].id}};
        uint32_t protocol = endpoint->watches[at].protocol;
        uint32_t last;

        if (!has_changed(internode, &endpoint->watches[at], &event.timer.value)) {
            at++;
            continue;
        }
        last = atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed) - 1;
        endpoint->watches[at] = endpoint->watches[last];
        atomic_store_explicit(&endpoint->watch_count, last, memory_order_relaxed);
        sg_endpoint_deliver_event(internode, protocol, &event, NULL);
        delivered++;
    }
    return delivered;
}

/* Messages received before the lock's state is checked again. */
#define MESSAGES_AT_ONCE 64
/* Some microseconds: enough for a holder that has a processor. */
#define SPINS_TO_YIELD 100u

static bool try_lock(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    uint32_t free = 0;

    /* Acquire: the last holder's changes to the endpoint come before. */
    return atomic_compare_exchange_strong_explicit(&endpoint->lock, &free, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void release_lock(struct sg_endpoint *endpoint)
{
    /* Release: pairs with try_lock. */
    atomic_store_explicit(&endpoint->lock, 0, memory_order_release);
}

/* Holders are other ranks of the endpoint, the helper threads of their processes and of this one,
 * and signal handlers in other threads. All can proceed without this thread, though perhaps on its
 * processor. A handler in this thread never waits: either it interrupts this loop, and has released
 * the lock before the loop continues; or it interrupts the holder below, and fails to get the lock.
 */
void sg_endpoint_lock(struct sg_internode *internode)
{
    for (uint32_t tries = 1; !try_lock(internode); tries++) {
        if (tries % SPINS_TO_YIELD == 0)
            sched_yield();
        else
            sg_cpu_pause();
    }
}

/* ---- permission to deliver ---- */

/* The communicator in whose call with a user's operation this thread is. */
static __thread const struct sg_internode *user_call;

void sg_endpoint_runs_users(const struct sg_internode *internode)
{
    user_call = internode;
}

/* Exact with the lock; a hint without it. */
static bool may_deliver(const struct sg_internode *internode)
{
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    /* Relaxed: counted under the lock. */
    return atomic_load_explicit(&endpoint->users, memory_order_relaxed) == 0 ||
           (user_call == internode && sg_progress_by() == SG_PROGRESS_BY_CALL);
}

bool sg_endpoint_lock_to_deliver(struct sg_internode *internode)
{
    sg_endpoint_lock(internode);
    if (may_deliver(internode))
        return true;
    release_lock(sg_internode_endpoint(internode, internode->endpoint));
    sg_wait_wake(&internode->wait_queue);
    return false;
}

static void learn_operand_type(struct sg_internode *internode, uint64_t word,
                               const struct sg_header *header)
{
    struct sg_operand_type *kind = sg_internode_operand_type(internode, word & 0xff, header->seq);

    /* Each protocol numbers its releases separately. Such a number is at most the instance's, so a
     * later instance is not overwritten. */
    if (header->parts == 0 || (int32_t)(header->seq - kind->seq) < 0)
        return;
    kind->seq = header->seq;
    kind->reduction = (uint8_t)(word >> 8);
    kind->element = (uint8_t)(word >> 16);
}

/* Returns the number of timers that were due. */
static int deliver_timers(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    /* Relaxed, here and where timers are set: under the lock; other readers only take a hint. */
    uint64_t next_ns =
        atomic_load_explicit(&endpoint->doorbell.next_timer_ns, memory_order_relaxed);
    uint64_t now_ns;
    int delivered = 0;

    if (next_ns == 0)
        return 0;
    now_ns = sg_clock_ns();
    if (now_ns < next_ns)
        return 0;
    atomic_store_explicit(&endpoint->doorbell.next_timer_ns, 0, memory_order_relaxed);
    for (int protocol = 0; protocol < internode->protocol_count; protocol++) {
        for (uint32_t id = 0; id < SG_TIMERS; id++) {
            uint64_t *time_ns = &endpoint->timers[protocol][id];
            struct sg_event event = {.kind = SG_EVENT_TIMER};

            if (*time_ns != 0 && *time_ns <= now_ns) {
                *time_ns = 0;
                event.timer.id = id;
                sg_endpoint_deliver_event(internode, (uint32_t)protocol, &event, NULL);
                delivered++;
            }
            next_ns = atomic_load_explicit(&endpoint->doorbell.next_timer_ns, memory_order_relaxed);
            if (*time_ns != 0 && (next_ns == 0 || *time_ns < next_ns))
                atomic_store_explicit(&endpoint->doorbell.next_timer_ns, *time_ns,
                                      memory_order_relaxed);
        }
    }
    return delivered;
}

/* Receives messages, replies and watched cells. */
static int take_arrived(struct sg_internode *internode)
{
    struct sg_transport_message message;
    int taken = 0;

    for (; taken < MESSAGES_AT_ONCE; taken++) {
        struct sg_event event = {.kind = SG_EVENT_MESSAGE};

        message.is_reply = false; /* transports without replies do not set it */
        if (!internode->ops->receive(internode->transport, internode->endpoint, &message))
            break;
        if (message.is_reply && (message.protocol & 0xff) == SG_INTERNODE_COORDINATOR_ONLY) {
            sg_internode_keep_answer(&internode->asking, message.value[0]);
        } else if (message.is_reply) {
            sg_endpoint_deliver_answer(internode, &message);
        } else if (internode->remote == NULL ||
                   (check_note(internode, &message) &&
                    (message.protocol & 0xff) != SG_INTERNODE_NOTE_ONLY)) {
            event.message = message.message;
            learn_operand_type(internode, message.protocol, &message.message.header);
            sg_endpoint_deliver_event(internode, message.protocol & 0xff, &event, message.parts);
        }
        internode->ops->release(internode->transport, internode->endpoint, &message);
    }
    return internode->is_polled ? taken + sg_endpoint_deliver_watches(internode) : taken;
}

int sg_endpoint_receive(struct sg_internode *internode)
{
    int taken = internode->is_polled ? sg_endpoint_deliver_waiting(internode) : 0;

    taken += take_arrived(internode);
    /* CALLs of ranks that do not serve the endpoint. */
    if (internode->servers < internode->locals)
        sg_endpoint_deliver_calls(internode);
    return taken + deliver_timers(internode);
}

static void settle(struct sg_internode *internode)
{
    bool delivered = false;

    while (!internode->remote->settled(internode->transport)) {
        if (take_arrived(internode) > 0)
            delivered = true;
        else
            sched_yield();
    }
    if (delivered)
        sg_wait_wake(&internode->wait_queue);
}

/* A process that left accesses of its own outstanding would block another one, which could only
 * wait for them while it holds the lock that the first needs to see them complete. Also, a
 * message's bytes are read for computing ranks: no process learns of the end of a read that was
 * left behind. */
static bool is_to_settle(const struct sg_internode *internode)
{
    return internode->remote != NULL && internode->is_one_sided &&
           (internode->servers > 1 || internode->messages_protocol >= 0) &&
           sg_internode_serves(internode);
}

void sg_endpoint_unlock(struct sg_internode *internode)
{
    if (is_to_settle(internode))
        settle(internode);
    release_lock(sg_internode_endpoint(internode, internode->endpoint));
}

bool sg_endpoint_poll(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    bool has_delivered = false;

    if (!sg_internode_serves(internode) || !may_deliver(internode))
        return false;
    for (;;) {
        int delivered;

        if (!try_lock(internode)) {
            /* The holder polls again: by the fences, either it sees this flag after its unlock, or
             * this thread sees the unlock. Release: the holder also sees what this thread has seen.
             * An exchange: a store by a third thread would hide this one, and what this thread has
             * seen, from the holder. */
            atomic_exchange_explicit(&endpoint->doorbell.pending, 1, memory_order_release);
            atomic_thread_fence(memory_order_seq_cst);
            if (!try_lock(internode))
                return has_delivered;
        }
        if (!may_deliver(internode)) {
            /* Nothing was accessed, so nothing needs to settle. The thread that may deliver has
             * perhaps failed to get the lock, and sleeps. */
            release_lock(endpoint);
            sg_wait_wake(&internode->wait_queue);
            return has_delivered;
        }
        /* An exchange, to acquire the value that it overwrites. */
        atomic_exchange_explicit(&endpoint->doorbell.pending, 0, memory_order_acquire);
        delivered = sg_endpoint_receive(internode);
        sg_endpoint_unlock(internode);
        if (delivered > 0) {
            has_delivered = true;
            /* Other ranks may sleep until the effects of these events, here or at other endpoints.
             */
            sg_wait_wake(&internode->wait_queue);
        }
        atomic_thread_fence(memory_order_seq_cst);
        if (delivered < MESSAGES_AT_ONCE &&
            atomic_load_explicit(&endpoint->doorbell.pending, memory_order_relaxed) == 0)
            return has_delivered;
    }
}

bool sg_internode_progress(struct sg_internode *internode)
{
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    sg_endpoint_poll(internode);
    return atomic_load_explicit(&endpoint->doorbell.outstanding, memory_order_relaxed) > 0;
}

/* ---- ranks inside a call ---- */

void sg_internode_enter(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    if (!sg_internode_serves(internode))
        return;
    atomic_fetch_add(&endpoint->doorbell.inside, 1);
    sg_progress_disarm(&internode->client);
}

/* Returns the highest mode that the rules of outstanding instances ask for, including those of
 * CALLs in the queue, which the process that is rung will deliver. Arrivals while the endpoint's
 * lock is held are handled as the rank leaves its call. */
static enum sg_progress_mode mode_asked(struct sg_internode *internode)
{
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    enum sg_progress_mode highest = internode->progress_low;
    uint64_t next;

    if (internode->progress_low == internode->progress_high)
        return highest;
    sg_endpoint_lock(internode);
    /* Relaxed: under the lock. */
    next = atomic_load_explicit(&endpoint->delivered, memory_order_relaxed);
    for (; sg_internode_instance_at(internode, next)->ready == next + 1; next++) {
        const struct sg_internode_protocol *protocol =
            &internode->protocols[sg_internode_instance_at(internode, next)->protocol];

        if (protocol->progress > highest)
            highest = protocol->progress;
    }
    for (uint32_t i = 0; i < (uint32_t)internode->protocol_count; i++) {
        const struct sg_internode_protocol *protocol = &internode->protocols[i];
        const struct sg_algo_head *head =
            (void *)sg_internode_region(internode, i, internode->endpoint);

        if (protocol->algo != NULL && head->outstanding > 0 && protocol->progress > highest)
            highest = protocol->progress;
    }
    sg_endpoint_unlock(internode);
    return highest;
}

/* Between machines, the adapter notifies one process of the receiver, which the sender cannot
 * choose. So each process that has left its call is armed until the instance is finished here. */
static bool leaves_before_others(const struct sg_internode *internode)
{
    if (internode->remote == NULL || internode->locals == 1 || internode->position == 0)
        return false;
    return atomic_load_explicit(
               &sg_internode_instance_at(internode, internode->position - 1)->finished,
               memory_order_relaxed) < internode->position;
}

static bool is_left_something(const struct sg_internode *internode)
{
    const struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    if (internode->servers < internode->locals && atomic_load(&endpoint->doorbell.pending) > 0)
        return true;
    return atomic_load_explicit(&endpoint->doorbell.outstanding, memory_order_relaxed) > 0 &&
           (internode->ops->pending(internode->transport, internode->endpoint) ||
            atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed) > 0);
}

/* Sequentially consistent: if a sender still saw this rank inside, this rank sees its message
 * below. */
void sg_internode_leave(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    bool is_armed = false;

    if (!sg_internode_serves(internode))
        return;
    /* An adapter notifies only the process that asked it. */
    if (internode->remote != NULL) {
        sg_endpoint_lock(internode);
        settle(internode);
        sg_endpoint_unlock(internode);
    }
    if (atomic_load_explicit(&endpoint->doorbell.outstanding, memory_order_relaxed) > 0 ||
        leaves_before_others(internode))
        is_armed = sg_progress_arm(&internode->client, mode_asked(internode));
    atomic_fetch_sub(&endpoint->doorbell.inside, 1);
    if (is_armed)
        sg_progress_listen(&internode->client);
    if (is_left_something(internode))
        sg_internode_progress(internode);
    sg_progress_left(&internode->client);
}

/* ---- a rank's wait ---- */

#define RANKS_NAMED 16
#define TEXT_BYTES 4096
#define TAG_BYTES 24
#define PEER_BYTES 24
#define MESSAGE_REPORTED UINT64_MAX /* no instance has this number */

static uint64_t stall_ns;

void sg_internode_stall_after(uint64_t ns)
{
    stall_ns = ns;
}

/* Appends a rank's state; leaves the text unchanged if it does not fit. */
static void append(char *text, int *used, const struct sg_call *waiting,
                   const struct sg_rank_state *info)
{
    int rank = sg_internode_rank_of(info);
    char call[SG_REPORT_CALL_BYTES];
    /* Relaxed: the value is only displayed. */
    bool came_once = atomic_load_explicit(&info->position, memory_order_relaxed) > 0;
    bool is_known = sg_report_present(waiting, rank, call);
    int length = snprintf(text + *used, (size_t)(TEXT_BYTES - *used), "; rank %d %s%s", rank,
                          is_known    ? "is "
                          : came_once ? "was last in "
                                      : "has entered none",
                          is_known    ? call
                          : came_once ? sg_report_call(&info->call, call)
                                      : "");

    if (length > 0 && *used + length < TEXT_BYTES)
        *used += length;
    else
        text[*used] = '\0';
}

static __attribute__((noinline)) void report_stall(const struct sg_internode *internode,
                                                   const struct sg_call *call, uint64_t position)
{
    char *text, instance[SG_REPORT_CALL_BYTES];
    uint64_t tag = position + 1;
    int used = 0, missing = 0, here = 0;

    if (atomic_exchange(&internode->header->stall_reported, tag) == tag ||
        (text = calloc(1, TEXT_BYTES)) == NULL)
        return;
    for (int number = 0; number < sg_internode_states(internode); number++) {
        const struct sg_rank_state *info = sg_internode_state(internode, number);

        if (sg_internode_rank_of(info) < 0)
            continue;
        here++;
        if (atomic_load_explicit(&info->position, memory_order_relaxed) > position)
            continue;
        if (missing++ < RANKS_NAMED)
            append(text, &used, call, info);
    }
    sg_report_line(
        SG_TRACE_LINE_STALL,
        "rank %d has waited in %s for more than %d s, %s: %d of %d ranks%s have not arrived%s",
        internode->rank, sg_report_function(call), (int)(stall_ns / UINT64_C(1000000000)),
        sg_report_instance(call, position, internode->ranks, instance), missing, here,
        here < internode->ranks ? " of this machine" : "", text);
    free(text);
}

/* "tag 5" */
static const char *name_tag(int tag, char text[TAG_BYTES])
{
    if (tag == SG_ANY)
        return "any tag";
    snprintf(text, TAG_BYTES, "tag %d", tag);
    return text;
}

/* Reports one line for each communicator: when a message is missing, other ranks often wait for its
 * receiver's next step. */
static __attribute__((noinline)) void report_message(const struct sg_internode *internode,
                                                     const struct sg_carried_message *message)
{
    char tag[TAG_BYTES], peer[PEER_BYTES] = "any rank";

    if (atomic_exchange(&internode->header->stall_reported, MESSAGE_REPORTED) == MESSAGE_REPORTED)
        return;
    if (message->peer != SG_ANY)
        snprintf(peer, sizeof peer, "rank %d", message->peer);
    sg_report_line(SG_TRACE_LINE_STALL,
                   message->kind == SG_POST_SEND
                       ? "rank %d has waited for more than %d s: %s has not received its message "
                         "(%s, %u bytes) on a communicator of %d ranks"
                       : "rank %d has waited for more than %d s: %s has not sent it a message (%s, "
                         "%u bytes at most) on a communicator of %d ranks",
                   internode->rank, (int)(stall_ns / UINT64_C(1000000000)), peer,
                   name_tag(message->tag, tag), message->bytes, internode->ranks);
}

void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context)
{
    bool reported = (waiting->call == NULL && waiting->message == NULL) || stall_ns == 0;

    while (!is_over(context)) {
        if (!sg_wait_step(&waiting->wait, &internode->wait_queue, is_over, context))
            continue;
        sg_progress_poll();
        if (!reported && sg_wait_elapsed_ns(&waiting->wait) > stall_ns) {
            reported = true;
            if (waiting->call != NULL)
                report_stall(internode, waiting->call, waiting->position);
            else
                report_message(internode, waiting->message);
        }
    }
}
