/* Posts of an endpoint in the shared segment, and the slices of their protocol (shared_posts.h). A
 * process copies only from and to its own buffers; for another process's post it leaves work and
 * rings the owner. Everything is under the endpoint's lock.
 */
#include "bcs/live/shared_posts.h"

#include "core/clock.h"
#include "mpi/user_lines.h"
#include "progress/progress.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define POSTS_MOST 1024
#define POSTS_TOGETHER 4096 /* all endpoints together: channels have capacity for them, by pairs */

uint32_t sg_posts_count(int endpoints)
{
    uint32_t each = POSTS_TOGETHER / (uint32_t)endpoints;

    return each < POSTS_MOST ? each : POSTS_MOST;
}

/* A send has one message at a time on its way to the receiver. In the other direction go its answer
 * or refusal, or a request for bytes and the message that ends the last one. */
uint32_t sg_posts_inflight(int endpoints)
{
    return 3 * sg_posts_count(endpoints) + 16;
}

/* ---- layout ---- */

static size_t line(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t ranks_at(void)
{
    return line(sizeof(struct sg_posts));
}

static size_t entries_at(int locals_max)
{
    return ranks_at() + line(sizeof(struct sg_posts_rank)) * (size_t)locals_max;
}

size_t sg_posts_bytes(int endpoints, int locals_max)
{
    size_t entries = 2 * (size_t)sg_posts_count(endpoints) + (size_t)locals_max;

    return entries_at(locals_max) + line(entries * sizeof(struct sg_posts_entry));
}

struct sg_posts *sg_posts_of(const struct sg_internode *internode)
{
    size_t bytes = sg_posts_bytes(internode->endpoints, internode->locals_max);

    return sg_internode_at(internode, internode->posts_at + (size_t)internode->index * bytes);
}

struct sg_posts_rank *sg_posts_rank(const struct sg_internode *internode, int local)
{
    return (void *)((unsigned char *)sg_posts_of(internode) + ranks_at() +
                    (size_t)local * line(sizeof(struct sg_posts_rank)));
}

struct sg_posts_entry *sg_posts_entry(const struct sg_internode *internode, uint32_t handle)
{
    struct sg_posts_entry *entries =
        (void *)((unsigned char *)sg_posts_of(internode) + entries_at(internode->locals_max));

    return &entries[handle];
}

/* ---- owners ---- */

static int owner_of(const struct sg_internode *internode, uint32_t handle)
{
    return (int)(handle / sg_posts_places(internode->messages->quota));
}

static struct sg_carried_message **place_of(const struct sg_internode *internode, uint32_t handle)
{
    return &internode->messages->place[handle % sg_posts_places(internode->messages->quota)];
}

/* Sequentially consistent, as is a rank's way out of its wait: either the rank sees the news, or
 * this thread sees that it has to ring. */
static void tell(const struct sg_internode *internode, int local, bool rings)
{
    struct sg_posts_rank *rank = sg_posts_rank(internode, local);

    atomic_store(&rank->news, 1);
    if (rings && atomic_load(&rank->inside) == 0)
        sg_progress_ring_master(rank->helper);
}

/* ---- bytes ---- */

static void copy(struct sg_internode *internode, const struct sg_posts_work *work, void *slot)
{
    const struct sg_carried_message *message = *place_of(internode, work->handle);
    unsigned char *bytes = (unsigned char *)message->buffer + work->offset;

    internode->messages->steps++;
    if (work->fills)
        memcpy(slot, bytes, work->bytes);
    else
        memcpy(bytes, slot, work->bytes);
}

void sg_posts_access(const struct sg_delivery *delivery, const struct sg_action *action, void *data)
{
    struct sg_internode *internode = delivery->internode;
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_posts *posts = sg_posts_of(internode);
    const struct sg_posts_work work = {
        .handle = action->post.handle,
        .offset = action->post.offset,
        .bytes = action->post.bytes,
        .tag = action->post.tag,
        .slot = action->post.slot.index,
        .fills = action->kind == SG_ACTION_FILL,
    };

    if (owner_of(internode, work.handle) == internode->local) {
        copy(internode, &work, data);
        endpoint->replies[endpoint->reply_count++] =
            (struct sg_endpoint_reply){.protocol = delivery->protocol, .tag = work.tag};
        return;
    }
    assert(posts->work_count < SG_POSTS_WORK_MAX);
    posts->work[posts->work_count++] = work;
    tell(internode, owner_of(internode, work.handle), true);
}

/* ---- ends ---- */

static void end(struct sg_internode *internode, uint32_t handle)
{
    struct sg_messages *messages = internode->messages;
    struct sg_posts_entry *entry = sg_posts_entry(internode, handle);
    struct sg_carried_message *message = *place_of(internode, handle);

    *place_of(internode, handle) = NULL;
    messages->steps++;
    if (message->kind != SG_POST_IPROBE)
        messages->under_way[message->kind != SG_POST_SEND]--;
    entry->is_over = false;
    message->outcome = (enum sg_outcome)entry->outcome;
    if (message->kind != SG_POST_SEND && message->outcome != SG_OUTCOME_NOTHING) {
        message->source =
            sg_grouping_item(&internode->by_endpoint, entry->source, entry->source_local);
        message->source_tag = entry->tag;
        message->source_bytes = entry->bytes;
    }
    if (message->is_detached) {
        messages->detached_bytes -= message->bytes;
        message->next = messages->ended;
        messages->ended = message;
        return;
    }
    /* Release: the result is complete. The poster may free the message from here on. */
    atomic_store_explicit(&message->done, true, memory_order_release);
}

void sg_posts_deliver(const struct sg_delivery *delivery, const struct sg_action *action)
{
    struct sg_internode *internode = delivery->internode;
    uint32_t handle = action->delivery.handle;
    int owner = owner_of(internode, handle);

    *sg_posts_entry(internode, handle) = (struct sg_posts_entry){
        .is_over = true,
        .outcome = action->delivery.outcome,
        .source = action->delivery.source,
        .source_local = action->delivery.source_local,
        .tag = action->delivery.tag,
        .bytes = action->delivery.bytes,
    };
    if (owner == internode->local)
        end(internode, handle);
    else
        tell(internode, owner, atomic_load(&sg_posts_rank(internode, owner)->queues) > 0);
}

/* ---- the owner ---- */

bool sg_posts_do_work(struct sg_internode *internode, uint32_t *tag)
{
    const struct sg_messages *messages = internode->messages;
    const struct sg_internode_protocol *protocol = &internode->protocols[messages->protocol];
    struct sg_posts *posts = sg_posts_of(internode);
    struct sg_posts_work work;
    uint32_t i = 0;

    while (i < posts->work_count && owner_of(internode, posts->work[i].handle) != internode->local)
        i++;
    if (i == posts->work_count)
        return false;
    work = posts->work[i];
    posts->work[i] = posts->work[--posts->work_count];
    copy(internode, &work,
         sg_internode_region(internode, messages->protocol, internode->endpoint) +
             protocol->slots_at + (size_t)work.slot * protocol->slot_stride);
    *tag = work.tag;
    return true;
}

void sg_posts_end_over(struct sg_internode *internode)
{
    uint32_t places = sg_posts_places(internode->messages->quota);
    uint32_t first = (uint32_t)internode->local * places;

    for (uint32_t i = 0; i < places; i++) {
        if (internode->messages->place[i] != NULL && sg_posts_entry(internode, first + i)->is_over)
            end(internode, first + i);
    }
}

static bool are_told, are_timed;

void sg_slices_start(bool told, bool timed)
{
    are_told = told;
    are_timed = told && timed;
}

static struct sg_endpoint_slice *own(const struct sg_delivery *delivery)
{
    const struct sg_internode *internode = delivery->internode;

    return &sg_internode_endpoint(internode, internode->endpoint)->slices[delivery->protocol];
}

/* ---- processor time ---- */

static bool is_timed(const struct sg_delivery *delivery)
{
    return are_timed &&
           (delivery->internode->protocols[delivery->protocol].algo->uses & SG_ALGO_SLICES) != 0;
}

void sg_slices_begin_event(struct sg_delivery *delivery)
{
    if (is_timed(delivery))
        delivery->busy_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Adds the time spent on the event since the last call. */
static void add_time(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    uint64_t now_ns;

    if (!is_timed(delivery) || actions->routine == 0 || delivery->told)
        return;
    now_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
    own(delivery)->routine_ns[actions->routine - 1] += now_ns - delivery->busy_ns;
    delivery->busy_ns = now_ns;
}

void sg_slices_end_event(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    add_time(delivery, actions);
}

/* ---- slices ---- */

/* Notes the slice in the instances that it runs: ranks read it when they leave them. */
void sg_slices_begin(const struct sg_delivery *delivery, const struct sg_actions *actions)
{
    struct sg_internode *internode = delivery->internode;
    const struct sg_slice *slice = actions->slice;
    uint32_t count = slice->value[sg_slice_place(SG_SLICE_NCOLLMSM)];

    own(delivery)->first_seq = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct sg_internode_instance *instance =
            sg_endpoint_find_instance(internode, delivery->protocol, slice->first + i);

        if (instance == NULL)
            continue;
        /* Relaxed: FINISH and COMPLETE follow it. */
        atomic_store_explicit(&instance->slice, 1 + slice->number, memory_order_relaxed);
        if (i == 0 &&
            internode->names[instance->position % internode->depth].position == instance->position)
            own(delivery)->first_seq =
                internode->names[instance->position % internode->depth].call.seq;
    }
    own(delivery)->blocked = atomic_load_explicit(
        &sg_internode_endpoint(internode, internode->endpoint)->doorbell.inside,
        memory_order_relaxed);
}

void sg_slices_end(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    struct sg_internode *internode = delivery->internode;
    struct sg_endpoint_slice *here = own(delivery);
    struct sg_slice slice = *actions->slice;

    if (!are_told)
        return;
    sg_slice_put(&slice, SG_SLICE_BPTS, here->blocked);
    add_time(delivery, actions);
    for (unsigned routine = 0; routine < SG_ROUTINES; routine++) {
        if (here->routine_ns[routine] > 0)
            sg_slice_put(&slice, SG_SLICE_LTR1 + routine, here->routine_ns[routine]);
    }
    memset(here->routine_ns, 0, sizeof here->routine_ns);
    delivery->told = true;
    sg_trace_event_slice(&(struct sg_told_slice){
        .slice = &slice,
        .first_seq = here->first_seq,
        .log = &internode->log,
        .now_ns = delivery->event->time_ns,
        .kept = &sg_internode_endpoint(internode, internode->endpoint)->slices_kept,
    });
}
