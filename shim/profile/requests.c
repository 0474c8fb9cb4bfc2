/* A sharded hash table of active and persistent requests (requests.h). Shards are locked only if
 * several threads may call MPI. A completion updates statistics and writes the request's end.
 */
#include "profile/requests.h"

#include "core/hash.h"
#include "core/tick.h"
#include "profile/mmds.h"
#include "profile/moved.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 64u
#define BUCKETS 256u /* in a shard */
#define BLOCK 64u    /* requests allocated at a time */
/* More requests than a program has active with one handle: MPICH's handle for sends that complete
 * at once, which programs may drop. */
#define BUCKET_MOST 65536u

struct request {
    MPI_Request handle;
    bool persistent, active, cancelled;
    uint8_t size_class;
    struct sg_posted posted;
    struct sg_moved moved;
    uint64_t begin_ns;
    struct request *next; /* in its bucket, younger; or in the free list */
};

/* Handles with the same hash. */
static struct shard {
    pthread_mutex_t lock;
    struct bucket {
        struct request *oldest, *youngest;
        uint32_t count;
    } buckets[BUCKETS];
    struct request *unused;
} shards[SHARDS];
static bool locks;

static struct shard *lock(MPI_Request handle, struct bucket **bucket)
{
    uint64_t hash = sg_hash_mix((uint32_t)handle);
    struct shard *shard = &shards[hash % SHARDS];

    *bucket = &shard->buckets[hash / SHARDS % BUCKETS];
    if (locks)
        pthread_mutex_lock(&shard->lock);
    return shard;
}

static void unlock(struct shard *shard)
{
    if (locks)
        pthread_mutex_unlock(&shard->lock);
}

void sg_requests_start(bool threads)
{
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&shards[i].lock, NULL);
    locks = threads;
}

static struct request *take(struct shard *shard)
{
    struct request *request = shard->unused;

    if (request == NULL) {
        struct request *block = calloc(BLOCK, sizeof *block);

        if (block == NULL)
            return NULL;
        for (unsigned i = 0; i < BLOCK; i++) {
            block[i].next = shard->unused;
            shard->unused = &block[i];
        }
        request = shard->unused;
    }
    shard->unused = request->next;
    return request;
}

/* Returns a handle's oldest request, and the link to it. */
static struct request *find(struct bucket *bucket, MPI_Request handle, struct request ***link,
                            struct request **before)
{
    *before = NULL;
    for (*link = &bucket->oldest; **link != NULL; *link = &(**link)->next) {
        if ((**link)->handle == handle)
            return **link;
        *before = **link;
    }
    return NULL;
}

static void remove_at(struct shard *shard, struct bucket *bucket, struct request **link,
                      struct request *before)
{
    struct request *request = *link;

    *link = request->next;
    if (bucket->youngest == request)
        bucket->youngest = before;
    bucket->count--;
    request->next = shard->unused;
    shard->unused = request;
}

/* Drops the handle's oldest request: the program will not ask for it. */
static void make_room(struct shard *shard, struct bucket *bucket, MPI_Request handle)
{
    struct request **link, *before, *request = find(bucket, handle, &link, &before);

    if (request == NULL || request->persistent)
        return;
    sg_posted_end_unseen(&request->posted, SG_POSTED_FREED, NULL);
    remove_at(shard, bucket, link, before);
}

static struct request *look_up(struct bucket *bucket, MPI_Request handle)
{
    struct request **link, *before;

    return find(bucket, handle, &link, &before);
}

void sg_requests_add(MPI_Request handle, const struct sg_profile_sample *sample,
                     const struct sg_posted *posted, uint64_t begin_ns)
{
    bool persistent = sg_functions[sample->function].mode == SG_MODE_PREPARE;
    /* Size class of the call's entry: a call that makes a persistent request moves nothing yet. */
    uint8_t size_class = persistent ? 0 : sg_profile_size_class(&sample->moved);
    struct bucket *bucket;
    struct shard *shard;
    struct request *request;

    if (handle == MPI_REQUEST_NULL)
        return;
    shard = lock(handle, &bucket);
    if (bucket->count >= BUCKET_MOST)
        make_room(shard, bucket, handle);
    request = take(shard);
    if (request != NULL) {
        *request = (struct request){.handle = handle,
                                    .persistent = persistent,
                                    .active = !persistent,
                                    .size_class = size_class,
                                    .posted = *posted,
                                    .moved = sample->moved,
                                    .begin_ns = begin_ns};
        if (bucket->oldest == NULL)
            bucket->oldest = request;
        else
            bucket->youngest->next = request;
        bucket->youngest = request;
        bucket->count++;
    }
    unlock(shard);
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

bool sg_requests_activate(MPI_Request handle, uint64_t begin_ns, bool is_recorded, uint32_t *comm,
                          struct sg_moved *moved)
{
    struct bucket *bucket;
    struct shard *shard = lock(handle, &bucket);
    struct request *request = look_up(bucket, handle);

    if (request != NULL) {
        begin(request, begin_ns, is_recorded);
        *comm = request->posted.subject.comm;
        *moved = request->moved;
    }
    unlock(shard);
    return request != NULL;
}

void sg_requests_cancel(MPI_Request handle)
{
    struct bucket *bucket;
    struct shard *shard = lock(handle, &bucket);
    struct request *request = look_up(bucket, handle);

    if (request != NULL)
        request->cancelled = true;
    unlock(shard);
}

static bool sg_requests_persists(MPI_Request handle)
{
    struct bucket *bucket;
    struct shard *shard = lock(handle, &bucket);
    struct request *request = look_up(bucket, handle);
    bool persists = request != NULL && request->persistent;

    unlock(shard);
    return persists;
}

/* Removes the handle's oldest request, unless it is persistent; out is a copy. */
static bool take_out(MPI_Request handle, bool even_persistent, struct request *out)
{
    struct request **link, *before, *request;
    struct bucket *bucket;
    struct shard *shard = lock(handle, &bucket);

    request = find(bucket, handle, &link, &before);
    if (request != NULL) {
        *out = *request;
        request->active = false;
        if (!request->persistent || even_persistent) {
            remove_at(shard, bucket, link, before);
        }
    }
    unlock(shard);
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
    if (sg_mmds_counts())
        sg_mmds_add_completion(subject->function, completion.latency_ns,
                               greatest(request->moved.sent_bytes, request->moved.received_bytes,
                                        completion.received_bytes));
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
    for (unsigned i = 0; i < SHARDS * BUCKETS; i++) {
        struct shard *shard = &shards[i % SHARDS];
        struct bucket *bucket = &shard->buckets[i / SHARDS];

        if (locks)
            pthread_mutex_lock(&shard->lock);
        if (bucket->oldest != NULL) {
            bucket->youngest->next = shard->unused;
            shard->unused = bucket->oldest;
            *bucket = (struct bucket){NULL, NULL, 0};
        }
        unlock(shard);
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
    int error = call->error;

    if (awaited->handles == NULL || (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS && !is_one))
        return;
    if (places->flag != SG_NO_WORD && error == MPI_SUCCESS && value_at(words, places->flag) == 0)
        return;
    if (is_one)
        complete(awaited, call, 0,
                 error == MPI_SUCCESS ? (const MPI_Status *)words[places->status] : NULL);
    else if (places->indices != SG_NO_WORD || places->index != SG_NO_WORD)
        complete_some(awaited, call);
    else
        complete_all(awaited, call, (const MPI_Status *)words[places->statuses]);
}
