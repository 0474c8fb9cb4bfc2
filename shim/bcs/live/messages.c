/* Queues a process's posts until the protocol has capacity for them: sends in one queue, receives
 * and probes in another. Each rank of an endpoint has its own share of that capacity, so that no
 * rank waits for another's.
 *
 * All state here is under the endpoint's lock, which threads of this process take as other
 * processes do.
 */
#include "bcs/live/messages.h"

#include "internode/connect.h"
#include "internode/endpoint.h"

#include <stdlib.h>

bool sg_messages_are_carried(const struct sg_internode *internode)
{
    return internode->messages != NULL;
}

bool sg_carried_is_done(const struct sg_carried_message *message)
{
    /* Acquire: the received data are there. */
    return atomic_load_explicit(&message->done, memory_order_acquire);
}

/* ---- posting ---- */

static unsigned queue_of(const struct sg_carried_message *message)
{
    return message->kind != SG_POST_SEND;
}

static uint32_t take_place(struct sg_messages *messages)
{
    uint32_t places = 2 * messages->quota;

    while (messages->place[messages->next_place % places] != NULL)
        messages->next_place++;
    return messages->next_place++ % places;
}

static void deliver_post(struct sg_internode *internode, struct sg_carried_message *message,
                         uint32_t place)
{
    struct sg_messages *messages = internode->messages;
    struct sg_group_place peer = {SG_ANY, 0};
    struct sg_event event;

    if (message->peer != SG_ANY)
        peer = sg_grouping_place(&internode->by_endpoint, message->peer);
    event = (struct sg_event){
        .kind = SG_EVENT_POST,
        .post = {.kind = message->kind,
                 .handle = (uint32_t)internode->local * sg_posts_places(messages->quota) + place,
                 .number = ++messages->number,
                 .peer = peer.group,
                 .local = (uint16_t)internode->local,
                 .peer_local = (uint16_t)peer.number,
                 .tag = message->tag,
                 .bytes = message->bytes}};

    messages->place[place] = message;
    sg_endpoint_deliver_event(internode, messages->protocol, &event, NULL);
}

/* Delivers queued posts while there is capacity. */
static void feed(struct sg_internode *internode)
{
    struct sg_messages *messages = internode->messages;
    bool waits = false;

    for (unsigned queue = 0; queue < 2; queue++) {
        struct sg_carried_message *message;

        while ((message = messages->first[queue]) != NULL &&
               messages->under_way[queue] < messages->quota) {
            messages->first[queue] = message->next;
            messages->under_way[queue]++;
            deliver_post(internode, message, take_place(messages));
        }
        waits = waits || messages->first[queue] != NULL;
    }
    atomic_store(&sg_posts_rank(internode, internode->local)->queues, waits);
    atomic_store(&internode->client.posts_wait, waits);
}

static struct sg_carried_message *take_ended(struct sg_messages *messages)
{
    struct sg_carried_message *ended = messages->ended;

    messages->ended = NULL;
    return ended;
}

static void free_all(struct sg_carried_message *message)
{
    struct sg_carried_message *next;

    for (; message != NULL; message = next) {
        next = message->next;
        free(message->buffer);
        free(message);
    }
}

void sg_messages_post(struct sg_internode *internode, struct sg_carried_message *message)
{
    struct sg_messages *messages = internode->messages;
    unsigned queue = queue_of(message);
    struct sg_carried_message *ended;

    message->next = NULL;
    atomic_init(&message->done, false);
    atomic_init(&message->is_lost, false);
    sg_internode_enter(internode);
    sg_endpoint_lock(internode);
    if (messages->first[queue] == NULL)
        messages->first[queue] = message;
    else
        messages->last[queue]->next = message;
    messages->last[queue] = message;
    if (message->is_detached)
        messages->detached_bytes += message->bytes;
    feed(internode);
    ended = take_ended(messages);
    sg_endpoint_unlock(internode);
    sg_wait_wake(&internode->wait_queue);
    sg_internode_leave(internode);
    sg_progress_look_after(&internode->client);
    free_all(ended);
}

/* If receives are queued it finds nothing: the message may match one of them. */
void sg_messages_look(struct sg_internode *internode, struct sg_carried_message *message)
{
    atomic_init(&message->done, false);
    message->outcome = SG_OUTCOME_NOTHING;
    sg_internode_enter(internode);
    sg_endpoint_poll(internode);
    sg_messages_advance(internode);
    sg_endpoint_lock(internode);
    if (internode->messages->first[1] == NULL)
        deliver_post(internode, message, 2 * internode->messages->quota);
    sg_endpoint_unlock(internode);
    sg_internode_leave(internode);
    sg_internode_check_health(internode);
}

/* ---- progress ---- */

static void do_own(struct sg_internode *internode)
{
    uint32_t tag;

    atomic_store(&sg_posts_rank(internode, internode->local)->news, 0);
    while (sg_posts_do_work(internode, &tag))
        sg_endpoint_deliver_answer(
            internode,
            &(struct sg_transport_message){.protocol = internode->messages->protocol, .tag = tag});
    sg_posts_end_over(internode);
}

/* This process may have set a timer while it handled events outside a call. The process that is
 * rung for the endpoint does not know of it. */
static void mind_timer(struct sg_internode *internode)
{
    sg_progress_left(&internode->client);
}

void sg_messages_advance(struct sg_internode *internode)
{
    struct sg_posts_rank *own;

    if (internode->messages == NULL)
        return;
    own = sg_posts_rank(internode, internode->local);
    if (atomic_load(&own->news) == 0 && atomic_load(&own->queues) == 0)
        return;
    if (!sg_endpoint_lock_to_deliver(internode))
        return;
    if (!sg_posts_of(internode)->has_stopped) {
        do_own(internode);
        feed(internode);
    }
    sg_endpoint_unlock(internode);
    sg_wait_wake(&internode->wait_queue);
    mind_timer(internode);
}

bool sg_messages_poll(struct sg_internode *internode, const struct sg_carried_message *message)
{
    if (sg_carried_is_done(message))
        return true;
    if (atomic_load(&message->is_lost))
        return false;
    sg_internode_progress(internode);
    sg_messages_advance(internode);
    mind_timer(internode);
    /* Programs test in a loop, perhaps for a message from a machine that is gone. */
    sg_internode_check_health(internode);
    return sg_carried_is_done(message);
}

struct awaited {
    struct sg_internode *internode;
    const struct sg_carried_message *message;
};

static bool is_done(void *context)
{
    const struct awaited *awaited = context;

    return sg_messages_poll(awaited->internode, awaited->message);
}

static void wait_for_ever(void)
{
    struct sg_wait wait = {0};

    for (;;) {
        sg_progress_poll();
        sg_wait_brief(&wait);
    }
}

void sg_messages_wait(struct sg_internode *internode, const struct sg_carried_message *message)
{
    struct awaited awaited = {internode, message};
    struct sg_posts_rank *own;

    if (sg_carried_is_done(message))
        return;
    if (atomic_load(&message->is_lost))
        wait_for_ever();
    own = sg_posts_rank(internode, internode->local);
    sg_internode_enter(internode);
    atomic_store(&own->inside, 1);
    sg_internode_wait(internode, &(struct sg_internode_waiting){.message = message}, is_done,
                      &awaited);
    /* Sequentially consistent: a process that has not rung for news has its news seen here. */
    atomic_store(&own->inside, 0);
    sg_messages_advance(internode);
    sg_internode_leave(internode);
}

size_t sg_messages_detached_bytes(struct sg_internode *internode)
{
    size_t bytes;

    sg_endpoint_lock(internode);
    bytes = internode->messages->detached_bytes;
    sg_endpoint_unlock(internode);
    return bytes;
}

bool sg_messages_are_over(struct sg_internode *internode, uint64_t *steps)
{
    const struct sg_messages *messages = internode->messages;
    bool are_over;

    sg_endpoint_lock(internode);
    are_over = messages->under_way[0] + messages->under_way[1] == 0 && messages->first[0] == NULL &&
               messages->first[1] == NULL;
    *steps = messages->steps;
    sg_endpoint_unlock(internode);
    return are_over;
}

/* ---- begin and end ---- */

void sg_messages_open(struct sg_internode *internode)
{
    uint32_t quota = sg_posts_count(internode->endpoints) / (uint32_t)internode->locals;
    struct sg_messages *messages;

    if (internode->messages_protocol < 0)
        return;
    messages =
        calloc(1, sizeof *messages + sg_posts_places(quota) * sizeof(struct sg_carried_message *));
    if (messages == NULL)
        return;
    messages->protocol = (uint32_t)internode->messages_protocol;
    messages->quota = quota;
    messages->number = internode->protocols[messages->protocol].setup.parameters.first;
    sg_posts_rank(internode, internode->local)->helper = sg_progress_serve();
    internode->messages = messages;
}

/* The endpoint is armed from here on, for messages from other ranks. */
void sg_messages_begin(struct sg_internode *internode)
{
    sg_internode_enter(internode);
    sg_internode_leave(internode);
}

void sg_messages_stop(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_messages *messages = internode->messages;
    struct sg_algo_head *head;

    if (messages == NULL)
        return;
    head = (void *)sg_internode_region(internode, messages->protocol, internode->endpoint);
    sg_endpoint_lock(internode);
    if (!sg_posts_of(internode)->has_stopped) {
        sg_posts_of(internode)->has_stopped = true;
        atomic_fetch_sub_explicit(&endpoint->doorbell.outstanding, head->outstanding,
                                  memory_order_relaxed);
        head->outstanding = 0;
    }
    sg_endpoint_unlock(internode);
}

static void lose(struct sg_messages *messages, struct sg_carried_message *message)
{
    if (message->is_detached) {
        message->next = messages->ended;
        messages->ended = message;
    } else {
        atomic_store(&message->is_lost, true);
    }
}

void sg_messages_close(struct sg_internode *internode)
{
    struct sg_messages *messages = internode->messages;

    if (messages == NULL)
        return;
    for (uint32_t i = 0; i < sg_posts_places(messages->quota); i++) {
        if (messages->place[i] != NULL)
            lose(messages, messages->place[i]);
    }
    for (unsigned queue = 0; queue < 2; queue++) {
        for (struct sg_carried_message *message = messages->first[queue], *next; message != NULL;
             message = next) {
            next = message->next;
            lose(messages, message);
        }
    }
    free_all(messages->ended);
    free(messages);
    internode->messages = NULL;
}
