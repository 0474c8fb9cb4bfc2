/* Follows requests (requests.h). Writes the begin and end of a request's send and receive, or
 * counts them as left out, so that the messages of both ends match by their order. A table by the
 * bits of handles holds active and persistent requests. It is locked only if several threads may
 * call MPI. A completion updates statistics and writes the request's end.
 */
#include "profile/requests.h"

#include "core/tick.h"
#include "profile/mmds.h"
#include "profile/moved.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- records of begin and end ------------------------------------------------------------ */

struct sg_posted sg_posted_of(const struct sg_event_subject *subject,
                              const struct sg_event_content *content, const sg_word *words,
                              const struct sg_moved *moved)
{
    const struct sg_function_facts *facts = &sg_functions[subject->function];
    const struct sg_argument_places *places = &sg_places[subject->function];
    bool is_message = facts->class == SG_CLASS_MESSAGE && places->parts == SG_NO_WORD;
    bool gets = facts->flow == SG_FLOW_RECEIVE || facts->flow == SG_FLOW_EXCHANGE ||
                places->message != SG_NO_WORD;

    return (struct sg_posted){
        .subject = *subject,
        .sends = is_message && content->to >= 0 && facts->flow != SG_FLOW_RECEIVE,
        .receives = is_message && gets && content->from != MPI_PROC_NULL,
        .to = content->to,
        .to_tag = content->to_tag,
        .from = content->from,
        .from_tag = content->from_tag,
        .sent_bytes = moved->sent_bytes,
        .received_bytes = facts->class == SG_CLASS_MESSAGE && gets
                              ? sg_moved_asked(subject->function, words)
                              : moved->received_bytes,
    };
}

static bool is_collective(const struct sg_posted *posted)
{
    return sg_functions[posted->subject.function].class == SG_CLASS_COLLECTIVE;
}

/* For an operation that is no message: a collective's root and number, or a peer and tag. */
static void name_others(const struct sg_posted *posted, struct sg_event_change *change)
{
    change->peer = is_collective(posted) || posted->to >= 0 ? posted->to : posted->from;
    change->tag = !is_collective(posted) && posted->to >= 0 ? posted->to_tag : posted->from_tag;
}

static struct sg_gap_channel sent_by(const struct sg_posted *posted)
{
    return (struct sg_gap_channel){posted->subject.comm, true, posted->to, posted->to_tag};
}

static struct sg_gap_channel received_from(const struct sg_posted *posted, int from, int tag)
{
    return (struct sg_gap_channel){posted->subject.comm, false, from, tag};
}

static bool asks_for_one(const struct sg_posted *posted)
{
    return posted->from >= 0 && posted->from_tag >= 0;
}

static void begun(const struct sg_gap_channel *channel, uint64_t slot)
{
    if (slot != 0)
        sg_gaps_tell(channel, SG_GAP_BY_BEGIN, slot);
    else
        sg_gaps_add(channel, SG_GAP_BY_BEGIN, 1);
}

void sg_posted_begun(struct sg_posted *posted)
{
    struct sg_gap_channel channel;

    posted->is_skipped = false;
    if (posted->sends) {
        channel = sent_by(posted);
        begun(&channel, posted->slot);
    }
    if (posted->receives && asks_for_one(posted)) {
        channel = received_from(posted, posted->from, posted->from_tag);
        begun(&channel, posted->receive_slot);
        posted->is_skipped = posted->receive_slot == 0;
    }
}

void sg_posted_begin(struct sg_posted *posted, uint64_t time_ns)
{
    struct sg_event_change change = {.time_ns = time_ns};

    posted->slot = posted->receive_slot = 0;
    if (posted->sends) {
        change.what = SG_REQUEST_SEND;
        change.peer = posted->to;
        change.tag = posted->to_tag;
        change.bytes = posted->sent_bytes;
        posted->slot = sg_events_change(&posted->subject, &change);
    }
    if (posted->receives) {
        change.what = SG_REQUEST_RECEIVE;
        change.peer = posted->from;
        change.tag = posted->from_tag;
        change.bytes = posted->received_bytes;
        posted->receive_slot = sg_events_change(&posted->subject, &change);
    }
    if (posted->sends || posted->receives) {
        sg_posted_begun(posted);
        return;
    }
    change.what = SG_REQUEST_PREPARED;
    name_others(posted, &change);
    if (is_collective(posted)) {
        change.start = posted->starts;
        change.sources = posted->from >= 0 ? (uint32_t)posted->from + 1 : 0;
        change.received_bytes = posted->received_bytes;
    }
    change.bytes = posted->sent_bytes > 0 || is_collective(posted) ? posted->sent_bytes
                                                                   : posted->received_bytes;
    posted->slot = sg_events_change(&posted->subject, &change);
}

static enum sg_request_event what_of(enum sg_posted_end how, enum sg_request_event complete)
{
    return how == SG_POSTED_CANCELLED ? SG_REQUEST_CANCELLED
           : how == SG_POSTED_FREED   ? SG_REQUEST_FREED
                                      : complete;
}

static void end_send(const struct sg_posted *posted, enum sg_posted_end how, bool failed,
                     uint64_t time_ns)
{
    const struct sg_event_change change = {
        .what = what_of(how, failed ? SG_REQUEST_COMPLETE : SG_REQUEST_SENT),
        .request = posted->slot,
        .peer = posted->to,
        .tag = posted->to_tag,
        .bytes = posted->sent_bytes,
        .time_ns = time_ns};

    sg_events_change(&posted->subject, &change);
}

/* MPICH's MPI_Isendrecv does not report what it received: assumes what was requested. */
static bool find_received(const struct sg_posted *posted, const MPI_Status *status,
                          struct sg_event_change *change)
{
    if (sg_functions[posted->subject.function].flow == SG_FLOW_EXCHANGE) {
        change->bytes = posted->received_bytes;
        return asks_for_one(posted);
    }
    if (status->MPI_SOURCE < 0)
        return false;
    change->peer = status->MPI_SOURCE;
    change->tag = status->MPI_TAG;
    return true;
}

/* If a receive's completion is in the log, it reports the gap that its post did not; otherwise the
 * receive itself is left out. */
static void completed(const struct sg_posted *posted, const struct sg_event_change *received,
                      uint64_t slot)
{
    const struct sg_gap_channel channel = received_from(posted, received->peer, received->tag);
    unsigned told = SG_GAP_BY_COMPLETION | (asks_for_one(posted) ? 0 : SG_GAP_BY_BEGIN);

    if (slot != 0)
        sg_gaps_tell(&channel, told, slot);
    else if (!posted->is_skipped)
        sg_gaps_add(&channel, SG_GAP_BY_COMPLETION, 1);
}

static void end_receive(const struct sg_posted *posted, enum sg_posted_end how,
                        const MPI_Status *status, uint64_t received_bytes, uint64_t time_ns)
{
    struct sg_event_change change = {.request = posted->receive_slot,
                                     .peer = posted->from,
                                     .tag = posted->from_tag,
                                     .bytes = received_bytes,
                                     .time_ns = time_ns};
    bool is_known =
        how == SG_POSTED_COMPLETE && status != NULL && find_received(posted, status, &change);
    uint64_t slot;

    change.what = what_of(how, is_known ? SG_REQUEST_RECEIVED : SG_REQUEST_COMPLETE);
    slot = sg_events_change(&posted->subject, &change);
    if (is_known)
        completed(posted, &change, slot);
    else if (how == SG_POSTED_FREED && asks_for_one(posted))
        completed(posted, &change, 0);
}

void sg_posted_end(const struct sg_posted *posted, enum sg_posted_end how, const MPI_Status *status,
                   uint64_t received_bytes, uint64_t time_ns)
{
    struct sg_event_change change = {.what = what_of(how, SG_REQUEST_COMPLETE),
                                     .request = posted->slot,
                                     .bytes = received_bytes,
                                     .time_ns = time_ns};

    if (posted->slot == 0 && posted->receive_slot == 0)
        sg_posted_end_unseen(posted, how, status);
    if (posted->sends && posted->slot != 0)
        end_send(posted, how, status == NULL, time_ns);
    if (posted->receives && posted->receive_slot != 0)
        end_receive(posted, how, status, received_bytes, time_ns);
    if (posted->sends || posted->receives || posted->slot == 0)
        return;
    name_others(posted, &change);
    sg_events_change(&posted->subject, &change);
}

void sg_posted_end_unseen(const struct sg_posted *posted, enum sg_posted_end how,
                          const MPI_Status *status)
{
    struct sg_event_change change = {.peer = posted->from, .tag = posted->from_tag};
    struct sg_gap_channel channel;

    if (how == SG_POSTED_CANCELLED && posted->sends && posted->slot == 0) {
        channel = sent_by(posted);
        sg_gaps_add(&channel, SG_GAP_BY_BEGIN, -1);
    }
    if (how == SG_POSTED_CANCELLED && posted->is_skipped) {
        channel = received_from(posted, posted->from, posted->from_tag);
        sg_gaps_add(&channel, SG_GAP_BY_BEGIN, -1);
    }
    if (how == SG_POSTED_COMPLETE && posted->receives && status != NULL &&
        find_received(posted, status, &change))
        completed(posted, &change, 0);
}

/* ---- table of requests ------------------------------------------------------------------- */

#define PLACES 16384u
#define LOCKS 64u
#define BLOCK 64u /* requests allocated at a time */
/* More requests than a program has active with one handle: MPICH's handle for sends that complete
 * at once, which programs may drop. */
#define PLACE_MOST 65536u

struct request {
    MPI_Request handle;
    bool persistent, active, cancelled;
    uint8_t size_class;
    uint64_t begin_ns;
    struct sg_posted posted;
    /* A plain message has the entries of its call and of its peer; NULL: they are looked up. */
    struct sg_record_profile *entry;
    struct sg_record_peer *peer;
    struct request *next; /* in its place, younger; or in the free list */
};

/* The requests of the handles that share it, oldest first. Most handles have one of their own. */
static struct place {
    _Alignas(64) struct request first;
    struct request *last; /* if there is a first */
    uint32_t count;
} table[PLACES];

/* The lock of each LOCKS-th place, and requests for those that have several. */
static struct guard {
    _Alignas(64) pthread_mutex_t lock;
    struct request *unused;
} guards[LOCKS];
static bool locks;

/* MPICH's handles number objects from 0, in blocks of 4096, for each kind (the first two bits). */
static struct place *place_of(MPI_Request handle)
{
    uint32_t bits = (uint32_t)handle;

    return &table[(bits + (bits >> 12) * 1024 + (bits >> 30) * 5003) % PLACES];
}

static struct guard *guard_of(const struct place *place)
{
    return &guards[(size_t)(place - table) % LOCKS];
}

static struct place *lock(MPI_Request handle)
{
    struct place *place = place_of(handle);

    if (locks)
        pthread_mutex_lock(&guard_of(place)->lock);
    return place;
}

static void unlock(const struct place *place)
{
    if (locks)
        pthread_mutex_unlock(&guard_of(place)->lock);
}

/* MPI_REQUEST_NULL: this MPI has no such handle. */
static MPI_Request complete_handle = MPI_REQUEST_NULL;

/* Two sends to MPI_PROC_NULL complete at once: if they have the same handle, it is that one. */
static void learn_complete(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    for (int i = 0; i < 2; i++)
        sg_real.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[i]);
    complete_handle = requests[0] == requests[1] ? requests[0] : MPI_REQUEST_NULL;
    for (int i = 0; i < 2; i++)
        sg_real.Wait(&requests[i], MPI_STATUS_IGNORE);
}

bool sg_request_is_complete(MPI_Request handle)
{
    return handle == complete_handle && handle != MPI_REQUEST_NULL;
}

void sg_requests_start(bool threads)
{
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&guards[i].lock, NULL);
    locks = threads;
    learn_complete();
}

static struct request *take(struct guard *guard)
{
    struct request *request = guard->unused;

    if (request == NULL) {
        struct request *block = calloc(BLOCK, sizeof *block);

        if (block == NULL)
            return NULL;
        for (unsigned i = 0; i < BLOCK; i++) {
            block[i].next = guard->unused;
            guard->unused = &block[i];
        }
        request = guard->unused;
    }
    guard->unused = request->next;
    return request;
}

/* Returns a handle's oldest request, and the one before it; NULL: it is the place's first. */
static struct request *find(struct place *place, MPI_Request handle, struct request **before)
{
    struct request *request = place->count > 0 ? &place->first : NULL;

    *before = NULL;
    while (request != NULL && request->handle != handle) {
        *before = request;
        request = request->next;
    }
    return request;
}

static void remove_after(struct place *place, struct request *before)
{
    struct request *gone = before != NULL ? before->next : place->first.next;

    place->count--;
    if (before != NULL)
        before->next = gone->next;
    else if (gone != NULL)
        place->first = *gone;
    if (place->last == gone)
        place->last = before != NULL ? before : &place->first;
    if (gone != NULL) {
        gone->next = guard_of(place)->unused;
        guard_of(place)->unused = gone;
    }
}

/* Drops the handle's oldest request: the program will not ask for it. */
static void make_room(struct place *place, MPI_Request handle)
{
    struct request *before, *request = find(place, handle, &before);

    if (request == NULL || request->persistent)
        return;
    sg_posted_end_unseen(&request->posted, SG_POSTED_FREED, NULL);
    remove_after(place, before);
}

static struct request *look_up(struct place *place, MPI_Request handle)
{
    struct request *before;

    return find(place, handle, &before);
}

/* Returns room for the youngest request of a place. NULL: no memory. */
static struct request *append(struct place *place)
{
    struct request *request = place->count == 0 ? &place->first : take(guard_of(place));

    if (request == NULL)
        return NULL;
    if (place->count > 0)
        place->last->next = request;
    place->last = request;
    place->count++;
    return request;
}

void sg_requests_add(MPI_Request handle, const struct sg_profile_sample *sample,
                     const struct sg_posted *posted, uint64_t begin_ns)
{
    bool persistent = sg_functions[sample->function].mode == SG_MODE_PREPARE;
    struct request *request;
    struct place *place;

    if (handle == MPI_REQUEST_NULL)
        return;
    place = lock(handle);
    if (place->count >= PLACE_MOST)
        make_room(place, handle);
    request = append(place);
    if (request != NULL) {
        request->handle = handle;
        request->persistent = persistent;
        request->active = !persistent;
        request->cancelled = false;
        /* The class of the call's entry: making a persistent request moves nothing. */
        request->size_class = persistent ? 0 : sg_profile_size_class(&sample->moved);
        request->begin_ns = begin_ns;
        request->posted = *posted;
        request->entry = NULL;
        request->next = NULL;
    }
    unlock(place);
}

struct sg_posted *sg_requests_add_plain(MPI_Request handle, uint64_t begin_ns, uint8_t size_class,
                                        struct sg_record_profile *entry,
                                        struct sg_record_peer *peer)
{
    struct place *place = place_of(handle);
    struct request *request;

    if (handle == MPI_REQUEST_NULL)
        return NULL;
    if (__builtin_expect(place->count >= PLACE_MOST, 0))
        make_room(place, handle);
    request = append(place);
    if (request == NULL)
        return NULL;
    request->handle = handle;
    request->persistent = request->cancelled = false;
    request->active = true;
    request->size_class = size_class;
    request->begin_ns = begin_ns;
    request->entry = entry;
    request->peer = peer;
    request->next = NULL;
    return &request->posted;
}

/* Call with the lock: no thread may complete it before its begin is in the log. */
static void begin(struct request *request, uint64_t begin_ns, bool is_recorded)
{
    struct sg_posted *posted = &request->posted;

    request->active = true;
    request->cancelled = false;
    request->begin_ns = begin_ns;
    posted->starts++;
    posted->slot = posted->receive_slot = 0;
    if (is_recorded)
        sg_posted_begin(posted, begin_ns);
    else
        sg_posted_begun(posted);
}

/* Returns what its operation moves each time, as far as its begin tells. */
static struct sg_moved moved_of(const struct sg_posted *posted)
{
    const struct sg_function_facts *facts = &sg_functions[posted->subject.function];
    bool is_message = facts->class == SG_CLASS_MESSAGE;
    struct sg_moved moved = SG_MOVED_NOTHING;

    moved.sent_bytes = posted->sent_bytes;
    moved.received_bytes = is_message ? 0 : posted->received_bytes;
    if (is_message && facts->flow != SG_FLOW_RECEIVE && posted->to >= 0)
        moved.to = posted->to;
    return moved;
}

bool sg_requests_activate(MPI_Request handle, uint64_t begin_ns, bool is_recorded, uint32_t *comm,
                          struct sg_moved *moved)
{
    struct place *place = lock(handle);
    struct request *request = look_up(place, handle);

    if (request != NULL) {
        begin(request, begin_ns, is_recorded);
        *comm = request->posted.subject.comm;
        *moved = moved_of(&request->posted);
    }
    unlock(place);
    return request != NULL;
}

void sg_requests_cancel(MPI_Request handle)
{
    struct place *place = lock(handle);
    struct request *request = look_up(place, handle);

    if (request != NULL)
        request->cancelled = true;
    unlock(place);
}

static bool sg_requests_persists(MPI_Request handle)
{
    struct place *place = lock(handle);
    struct request *request = look_up(place, handle);
    bool persists = request != NULL && request->persistent;

    unlock(place);
    return persists;
}

/* Removes the handle's oldest request, unless it is persistent; out is a copy. */
static bool take_out(MPI_Request handle, bool even_persistent, struct request *out)
{
    struct place *place = lock(handle);
    struct request *before, *request = find(place, handle, &before);

    if (request != NULL) {
        *out = *request;
        request->active = false;
        if (!request->persistent || even_persistent)
            remove_after(place, before);
    }
    unlock(place);
    return request != NULL;
}

static uint64_t greatest(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t most = a > b ? a : b;

    return most > c ? most : c;
}

/* Counts the completion. Returns the bytes received. */
static uint64_t count(const struct request *request, const MPI_Status *status, uint64_t end_ns)
{
    const struct sg_event_subject *subject = &request->posted.subject;
    struct sg_profile_completion completion = {.function = subject->function,
                                               .comm = subject->comm,
                                               .size_class = request->size_class,
                                               .latency_ns =
                                                   sg_tick_between(request->begin_ns, end_ns),
                                               .from = SG_NOBODY};

    if (status != NULL)
        sg_moved_received(subject->function, status, &completion.received_bytes, &completion.from);
    sg_profile_add_completion(subject->site, &completion);
    if (sg_mmds_counts()) {
        const struct sg_moved moved = moved_of(&request->posted);

        sg_mmds_add_completion(
            subject->function, completion.latency_ns,
            greatest(moved.sent_bytes, moved.received_bytes, completion.received_bytes));
    }
    return completion.received_bytes;
}

/* Completes a request at end_ns; 0: not counted. status: NULL if its call failed. is_recorded: the
 * call that found it complete is in the log. */
static void sg_requests_complete(MPI_Request handle, const MPI_Status *status, uint64_t end_ns,
                                 bool is_recorded)
{
    struct request request;
    int was_cancelled = 0;
    uint64_t received_bytes = 0;

    if (handle == MPI_REQUEST_NULL || !take_out(handle, false, &request) || !request.active)
        return;
    if (request.cancelled && status != NULL)
        sg_real.Test_cancelled(status, &was_cancelled);
    if (!was_cancelled && request.begin_ns != 0 && end_ns != 0)
        received_bytes = count(&request, status, end_ns);
    if (is_recorded)
        sg_posted_end(&request.posted, was_cancelled ? SG_POSTED_CANCELLED : SG_POSTED_COMPLETE,
                      status, received_bytes, end_ns);
    else
        sg_posted_end_unseen(&request.posted,
                             was_cancelled ? SG_POSTED_CANCELLED : SG_POSTED_COMPLETE, status);
}

/* True if the message is known from its post: the receive asked for just this one. */
static bool is_as_posted(const struct sg_posted *posted, const MPI_Status *status,
                         uint64_t received_bytes)
{
    return posted->sends ||
           (status->MPI_SOURCE == posted->from && status->MPI_TAG == posted->from_tag &&
            received_bytes == posted->received_bytes);
}

/* Writes the completion. completions: of the call's event; NULL: it is not in the log. */
static void end_plain(const struct sg_posted *posted, const MPI_Status *status,
                      uint64_t received_bytes, uint64_t end_ns,
                      struct sg_event_completions *completions)
{
    if (completions == NULL || posted->slot == 0) {
        sg_posted_end_unseen(posted, SG_POSTED_COMPLETE, status);
        return;
    }
    if (is_as_posted(posted, status, received_bytes) &&
        atomic_load_explicit(&sg_gaps_open, memory_order_relaxed) == 0 &&
        sg_events_complete(completions, posted->slot))
        return;
    sg_events_completions_close(completions);
    if (posted->sends)
        end_send(posted, SG_POSTED_COMPLETE, false, end_ns);
    else
        end_receive(posted, SG_POSTED_COMPLETE, status, received_bytes, end_ns);
}

/* Completes the oldest request of its place, if that is a plain message's with the handle. */
static inline bool complete_plain(MPI_Request handle, const MPI_Status *status, uint64_t end_ns,
                                  struct sg_event_completions *completions)
{
    struct place *place = place_of(handle);
    struct request *request = &place->first;
    const struct sg_posted *posted = &request->posted;
    uint64_t received_bytes = 0;

    if (place->count == 0 || request->handle != handle || request->entry == NULL ||
        request->cancelled || (posted->receives && status->MPI_SOURCE < 0))
        return false;
    if (posted->receives) {
        int source = status->MPI_SOURCE;

        received_bytes = sg_moved_received_bytes(status);
        sg_peer_add_received(source == posted->from ? request->peer
                                                    : sg_peer_of(posted->subject.comm, source),
                             received_bytes);
    }
    sg_entry_add_completion(request->entry, sg_tick_between(request->begin_ns, end_ns),
                            received_bytes);
    end_plain(posted, status, received_bytes, end_ns, completions);
    if (place->count == 1)
        place->count = 0;
    else
        remove_after(place, NULL);
    return true;
}

void sg_requests_complete_all(const MPI_Request *handles, const MPI_Status *statuses, int count,
                              uint64_t end_ns, struct sg_record_event *event)
{
    struct sg_event_completions room, *completions = event != NULL ? &room : NULL;

    if (completions != NULL)
        sg_events_completions_begin(completions, event, end_ns);
    for (int i = 0; i < count; i++) {
        if (complete_plain(handles[i], &statuses[i], end_ns, completions))
            continue;
        if (completions != NULL)
            sg_events_completions_close(completions);
        sg_requests_complete(handles[i], &statuses[i], end_ns, event != NULL);
    }
    if (completions != NULL)
        sg_events_completions_close(completions);
}

bool sg_requests_forget(MPI_Request handle, struct sg_posted *posted)
{
    struct request request;

    if (handle == MPI_REQUEST_NULL || !take_out(handle, true, &request))
        return false;
    *posted = request.posted;
    if (!request.active)
        posted->slot = posted->receive_slot = 0;
    return true;
}

void sg_requests_forget_all(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &table[i];

        if (locks)
            pthread_mutex_lock(&guard_of(place)->lock);
        while (place->count > 0)
            remove_after(place, NULL);
        unlock(place);
    }
}

/* Keeps the handle of a call with one request. */
static void begin_one(struct sg_awaited *awaited, const struct sg_argument_places *places,
                      sg_word *words)
{
    const MPI_Request *handle = (const MPI_Request *)words[places->request];

    if (handle == NULL)
        return;
    awaited->one = *handle;
    awaited->handles = &awaited->one;
    awaited->count = 1;
}

static void begin_several(struct sg_awaited *awaited, const struct sg_argument_places *places,
                          sg_word *words)
{
    const MPI_Request *handles = (const MPI_Request *)words[places->requests];
    int count = (int)words[places->number];
    size_t handle_bytes, status_bytes = 0;
    char *scratch;

    if (count <= 0 || handles == NULL)
        return;
    handle_bytes = (size_t)count * sizeof *handles;
    if (places->statuses != SG_NO_WORD && words[places->statuses] == (sg_word)MPI_STATUSES_IGNORE)
        status_bytes = (size_t)count * sizeof(MPI_Status);
    scratch = sg_profile_scratch(status_bytes + handle_bytes);
    if (scratch == NULL)
        return;
    if (status_bytes > 0)
        words[places->statuses] = (sg_word)scratch;
    memcpy(scratch + status_bytes, handles, handle_bytes);
    awaited->handles = (const MPI_Request *)(void *)(scratch + status_bytes);
    awaited->count = count;
}

void sg_awaited_begin(struct sg_awaited *awaited, enum sg_function function, sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];

    awaited->handles = NULL;
    if (places->request != SG_NO_WORD)
        begin_one(awaited, places, words);
    else if (places->requests != SG_NO_WORD)
        begin_several(awaited, places, words);
    if (awaited->handles != NULL && places->status != SG_NO_WORD &&
        words[places->status] == (sg_word)MPI_STATUS_IGNORE)
        words[places->status] = (sg_word)&awaited->status;
}

/* ---- completed requests ---- */

static int value_at(const sg_word *words, int word)
{
    return *(const int *)words[word];
}

static void complete(const struct sg_awaited *awaited, const struct sg_awaited_call *call,
                     int index, const MPI_Status *status)
{
    if (index >= 0 && index < awaited->count)
        sg_requests_complete(awaited->handles[index], status, call->end_ns, call->is_recorded);
}

static void complete_all(const struct sg_awaited *awaited, const struct sg_awaited_call *call,
                         const MPI_Status *statuses)
{
    bool some = call->error == MPI_ERR_IN_STATUS;

    for (int i = 0; i < awaited->count; i++) {
        const MPI_Status *status = &statuses[i];

        if (!some)
            complete(awaited, call, i, status);
        else if (status->MPI_ERROR != MPI_ERR_PENDING)
            complete(awaited, call, i, status->MPI_ERROR == MPI_SUCCESS ? status : NULL);
    }
}

/* Returns the first index in MPICH's Fortran 2008: 1, as in the standard, but 0 in MPICH 4.0. A
 * completed request becomes MPI_REQUEST_NULL unless it is persistent. */
static int first_index(const struct sg_awaited *awaited, const MPI_Request *after,
                       const int *indices, int count)
{
    for (int i = 0; i < count; i++) {
        int index = indices[i] - 1;

        if (index < 0 || awaited->handles[index] == MPI_REQUEST_NULL ||
            (after[index] != MPI_REQUEST_NULL && !sg_requests_persists(awaited->handles[index])))
            return 0;
    }
    return 1;
}

/* A call that failed has completed the request whose handle MPICH has cleared; it may not have set
 * the index. */
static void complete_cleared(const struct sg_awaited *awaited, const struct sg_awaited_call *call)
{
    const MPI_Request *after = (const MPI_Request *)call->words[sg_places[call->function].requests];

    for (int i = 0; i < awaited->count; i++) {
        if (awaited->handles[i] != MPI_REQUEST_NULL && after[i] == MPI_REQUEST_NULL)
            complete(awaited, call, i, NULL);
    }
}

static void complete_some(const struct sg_awaited *awaited, const struct sg_awaited_call *call)
{
    const struct sg_argument_places *places = &sg_places[call->function];
    const sg_word *words = call->words;
    bool are_several = places->indices != SG_NO_WORD;
    const int *indices = (const int *)words[are_several ? places->indices : places->index];
    const MPI_Status *statuses =
        (const MPI_Status *)words[are_several ? places->statuses : places->status];
    int done = are_several ? value_at(words, places->done) : indices[0] != MPI_UNDEFINED;
    int first;

    if (done == MPI_UNDEFINED || done <= 0)
        return;
    first = call->is_f08
                ? first_index(awaited, (const MPI_Request *)words[places->requests], indices, done)
                : 0;
    for (int i = 0; i < done; i++) {
        bool failed =
            call->error != MPI_SUCCESS && (!are_several || statuses[i].MPI_ERROR != MPI_SUCCESS);

        complete(awaited, call, indices[i] - first, failed ? NULL : &statuses[i]);
    }
}

void sg_awaited_end(const struct sg_awaited *awaited, const struct sg_awaited_call *call)
{
    const struct sg_argument_places *places = &sg_places[call->function];
    const sg_word *words = call->words;
    bool is_one = places->request != SG_NO_WORD;
    bool is_any = places->index != SG_NO_WORD;
    int error = call->error;

    if (awaited->handles == NULL ||
        (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS && !is_one && !is_any))
        return;
    if (places->flag != SG_NO_WORD && error == MPI_SUCCESS && value_at(words, places->flag) == 0)
        return;
    if (is_one)
        complete(awaited, call, 0,
                 error == MPI_SUCCESS ? (const MPI_Status *)words[places->status] : NULL);
    else if (is_any && error != MPI_SUCCESS)
        complete_cleared(awaited, call);
    else if (places->indices != SG_NO_WORD || is_any)
        complete_some(awaited, call);
    else
        complete_all(awaited, call, (const MPI_Status *)words[places->statuses]);
}
