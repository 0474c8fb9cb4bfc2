/* Per-thread hash tables from a call's key to its entry in the log (entries.h). Only the owning
 * thread writes an entry; relaxed atomics are for the readers of the log.
 */
#include "profile/entries.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/thread_store.h"
#include "profile/counted_functions.h"
#include "runtime/settings.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u /* of a thread's table; a power of two */

/* Identifies an entry. */
struct key {
    uint64_t who;  /* the site's address, or the peer's rank */
    uint64_t what; /* communicator, function (of a peer's entry: its kind), size class */
};

static inline struct key key_of(uint64_t who, uint32_t comm, uint32_t function, uint8_t size_class)
{
    return (struct key){who, (uint64_t)comm << 32 | function << 8 | size_class};
}

/* Open addressing; at most half full. */
struct table {
    struct slot {
        struct key key;
        void *entry; /* NULL: free */
    } * slots;
    uint32_t capacity, used;
};

struct thread {
    struct sg_thread_kept kept;
    struct table calls, peers;
    struct sg_record_thread *present;
    void *scratch;
    size_t scratch_bytes;
};

static __thread struct thread *own;
static struct sg_thread_store store = SG_THREAD_STORE(struct thread, NULL);

/* ---- threads ---- */

static struct thread *own_thread(void)
{
    if (__builtin_expect(own == NULL, 0))
        own = sg_thread_store_take(&store);
    return own;
}

void *sg_profile_scratch(size_t bytes)
{
    struct thread *thread = own_thread();

    if (thread == NULL)
        return NULL;
    if (bytes > thread->scratch_bytes) {
        free(thread->scratch);
        thread->scratch_bytes = 2 * bytes;
        thread->scratch = malloc(thread->scratch_bytes);
        if (thread->scratch == NULL)
            thread->scratch_bytes = 0;
    }
    return thread->scratch;
}

void sg_profile_entries_start(void)
{
    own_thread();
}

__thread struct sg_record_thread *sg_present __attribute__((tls_model("initial-exec")));

void sg_present_make(void)
{
    static __thread struct sg_record_thread nowhere;
    struct thread *thread = own_thread();

    if (thread != NULL && thread->present == NULL) {
        thread->present = sg_log_entry(sg_process.log, 1);
        if (thread->present != NULL) {
            thread->present->thread = thread->kept.number;
            sg_log_publish(thread->present, SG_RECORD_THREAD);
        }
    }
    sg_present = thread != NULL && thread->present != NULL ? thread->present : &nowhere;
}

#define LASTS_NS UINT64_C(1000000000)

static void put_peer(FILE *out, const char *before, int32_t rank)
{
    if (rank == SG_THREAD_ANY)
        fprintf(out, " %s any rank", before);
    else if (rank >= 0)
        fprintf(out, " %s rank %d", before, rank);
}

static void put_present(FILE *out, const struct sg_log_present *call)
{
    uint64_t now_ns = sg_clock_ns();
    /* A loop of tests is one call: its thread is in it, or was a moment ago. */
    bool polls =
        call->mode == SG_MODE_TEST && (call->end_ns == 0 || now_ns < call->end_ns + LASTS_NS);
    bool is_open = call->end_ns == 0 || polls;
    uint64_t since_ns = is_open ? call->begin_ns : call->end_ns;
    char place[200], name[SG_EXCERPT_BYTES];

    fprintf(out, "%s%s %s", call->lives ? "" : "dead, ",
            polls     ? "polling with"
            : is_open ? "in"
                      : "outside MPI, after",
            call->function[0] != '\0' ? call->function : "an MPI call");
    if (is_open) {
        put_peer(out, "from", call->from);
        put_peer(out, "to", call->to);
    }
    if (call->has_place &&
        sg_site_locate(call->site, call->module, call->offset, place, sizeof place))
        fprintf(out, " at %s", place);
    else if (call->has_place)
        fprintf(out, " at %s+0x%" PRIx64, call->module, call->offset);
    if (is_open && call->comm[0] != '\0')
        fprintf(out, " on %s", sg_text_excerpt(call->comm, strlen(call->comm), name, sizeof name));
    fprintf(out, ", for %" PRIu64 " s", now_ns > since_ns ? (now_ns - since_ns) / LASTS_NS : 0);
}

bool sg_present_of(int world_rank, char *text, size_t text_bytes)
{
    struct sg_log_present call;
    char *path = NULL;
    FILE *out = NULL;

    if (sg_process.log == NULL ||
        asprintf(&path, "%s/" SG_LOG_NAME_FORMAT, sg_process.directory, world_rank) < 0)
        return false;
    if (sg_log_present(sg_log_header(sg_process.log)->unique, path, &call))
        out = fmemopen(text, text_bytes, "w");
    free(path);
    if (out == NULL)
        return false;
    put_present(out, &call);
    return fclose(out) == 0;
}

uint16_t sg_profile_thread(void)
{
    const struct thread *thread = own_thread();

    return thread != NULL ? thread->kept.number : UINT16_MAX;
}

/* ---- tables ---- */

/* Sites' addresses differ in their middle bits. */
static inline uint64_t hash_of(const struct key *key)
{
    return (key->who * UINT64_C(0x9e3779b97f4a7c15) ^ key->what * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
           40;
}

static inline bool is_same(const struct key *a, const struct key *b)
{
    return a->who == b->who && a->what == b->what;
}

static inline struct slot *slot_of(const struct table *table, const struct key *key)
{
    uint64_t at = hash_of(key);
    struct slot *slot;

    do
        slot = &table->slots[at++ & (table->capacity - 1)];
    while (slot->entry != NULL && !is_same(&slot->key, key));
    return slot;
}

static bool grow(struct table *table)
{
    struct table larger = {.capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY,
                           .used = table->used};

    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return false;
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].entry != NULL)
            *slot_of(&larger, &table->slots[i].key) = table->slots[i];
    }
    free(table->slots);
    *table = larger;
    return true;
}

/* Returns the entry of a key, making it if necessary; NULL: no capacity. */
static inline void *entry_of(struct thread *thread, struct table *table, const struct key *key,
                             void *(*make)(const struct thread *, const struct key *))
{
    struct slot *slot;

    if (table->capacity > 0) {
        slot = slot_of(table, key);
        if (__builtin_expect(slot->entry != NULL, 1))
            return slot->entry;
    }
    if (2 * (table->used + 1) > table->capacity && !grow(table))
        return NULL;
    slot = slot_of(table, key);
    slot->key = *key;
    slot->entry = make(thread, key);
    table->used += slot->entry != NULL;
    return slot->entry;
}

/* ---- entries ---- */

static void *make_profile(const struct thread *thread, const struct key *key)
{
    uint32_t function = sg_function_number((enum sg_function)(key->what >> 8 & UINT16_MAX));
    struct sg_record_profile *entry;

    if (function == 0)
        return NULL;
    entry = sg_log_entry(sg_process.log, SG_PROFILE_SLOTS);
    if (entry == NULL)
        return NULL;
    entry->size_class = (uint8_t)key->what;
    entry->thread = thread->kept.number;
    entry->site = ((const struct sg_site *)(uintptr_t)key->who)->index;
    entry->comm = (uint32_t)(key->what >> 32);
    entry->function = function - 1;
    sg_log_publish(entry, SG_RECORD_PROFILE);
    return entry;
}

static void *make_peer(const struct thread *thread, const struct key *key)
{
    struct sg_record_peer *entry = sg_log_entry(sg_process.log, 1);

    if (entry == NULL)
        return NULL;
    entry->comm = (uint32_t)(key->what >> 32);
    entry->peer = (int32_t)key->who;
    entry->thread = thread->kept.number;
    entry->world = sg_profile_comm_world(entry->comm, entry->peer);
    sg_log_publish(entry, (enum sg_record_kind)(key->what >> 8 & UINT16_MAX));
    return entry;
}

/* NULL: no peer, or no capacity. */
static struct sg_record_peer *peer_entry(struct thread *thread, enum sg_record_kind kind,
                                         uint32_t comm, int peer)
{
    const struct key key = key_of((uint32_t)peer, comm, kind, 0);

    return comm != 0 && peer != SG_NOBODY ? entry_of(thread, &thread->peers, &key, make_peer)
                                          : NULL;
}

static void add_moved(struct thread *thread, const struct sg_profile_sample *sample)
{
    const struct sg_moved *moved = &sample->moved;
    uint32_t comm = sample->comm;

    if (moved->target != SG_NOBODY) {
        enum sg_function_flow flow = sg_functions[sample->function].flow;
        struct sg_record_peer *target = peer_entry(thread, SG_RECORD_TARGET, comm, moved->target);

        if (flow != SG_FLOW_RECEIVE)
            sg_peer_add_sent(target, moved->sent_bytes);
        if (flow != SG_FLOW_SEND)
            sg_peer_add_received(target, moved->received_bytes);
        return;
    }
    if (moved->to != SG_NOBODY)
        sg_peer_add_sent(peer_entry(thread, SG_RECORD_PEER, comm, moved->to), moved->sent_bytes);
    if (moved->from != SG_NOBODY)
        sg_peer_add_received(peer_entry(thread, SG_RECORD_PEER, comm, moved->from),
                             moved->received_bytes);
}

struct sg_record_profile *sg_entry_of(const struct sg_site *site, uint32_t comm,
                                      enum sg_function function, uint8_t size_class)
{
    const struct key key = key_of((uintptr_t)site, comm, function, size_class);
    struct thread *thread = own_thread();

    return thread != NULL ? entry_of(thread, &thread->calls, &key, make_profile) : NULL;
}

struct sg_record_peer *sg_peer_of(uint32_t comm, int peer)
{
    struct thread *thread = own_thread();

    return thread != NULL ? peer_entry(thread, SG_RECORD_PEER, comm, peer) : NULL;
}

static void count_left_out(void)
{
    atomic_fetch_add_explicit(&sg_log_header(sg_process.log)->unmanaged_calls, 1,
                              memory_order_relaxed);
}

struct sg_record_profile *sg_profile_add(const struct sg_site *site,
                                         const struct sg_profile_sample *sample)
{
    struct sg_record_profile *entry =
        sg_entry_of(site, sample->comm, sample->function, sg_profile_size_class(&sample->moved));

    if (entry == NULL) {
        count_left_out();
        return NULL;
    }
    sg_entry_add_call(entry, sample->time_ns, sample->moved.sent_bytes,
                      sample->moved.received_bytes);
    if (sample->failed)
        sg_entry_add(&entry->failed, 1);
    add_moved(own, sample);
    return entry;
}

void sg_profile_add_repeats(struct sg_record_profile *entry, uint64_t calls, uint64_t time_ns,
                            uint64_t more_ns)
{
    sg_entry_add(&entry->time_ns, calls * time_ns + more_ns);
    sg_entry_add_square(entry, (double)calls * (double)time_ns * (double)time_ns);
}

void sg_profile_add_message(uint32_t comm, const struct sg_moved *moved)
{
    struct thread *thread = own_thread();

    if (thread != NULL)
        sg_peer_add_sent(peer_entry(thread, SG_RECORD_PEER, comm, moved->to), moved->sent_bytes);
}

void sg_profile_add_completion(const struct sg_site *site,
                               const struct sg_profile_completion *completion)
{
    struct sg_record_profile *entry =
        sg_entry_of(site, completion->comm, completion->function, completion->size_class);

    if (entry == NULL)
        return;
    sg_entry_add_completion(entry, completion->latency_ns, completion->received_bytes);
    sg_peer_add_received(peer_entry(own, SG_RECORD_PEER, completion->comm, completion->from),
                         completion->received_bytes);
}

/* ---- all threads ---- */

static void clear(const struct table *table, size_t from, size_t entry_bytes)
{
    for (uint32_t i = 0; i < table->capacity; i++) {
        unsigned char *entry = table->slots[i].entry;

        for (size_t at = from; entry != NULL && at < entry_bytes; at += sizeof(uint64_t)) {
            /* The first word of a slot holds its kind. */
            if (at % SG_SLOT_BYTES != 0)
                atomic_store_explicit((_Atomic uint64_t *)(void *)(entry + at), 0,
                                      memory_order_relaxed);
        }
    }
}

static void clear_thread(void *kept)
{
    const struct thread *thread = kept;

    clear(&thread->calls, offsetof(struct sg_record_profile, calls),
          sizeof(struct sg_record_profile));
    clear(&thread->peers, offsetof(struct sg_record_peer, sent_messages),
          sizeof(struct sg_record_peer));
}

void sg_profile_entries_reset(void)
{
    sg_thread_store_each(&store, clear_thread);
}

static bool *seen_functions;

static void mark_thread(void *kept)
{
    const struct table *calls = &((const struct thread *)kept)->calls;

    for (uint32_t i = 0; i < calls->capacity; i++) {
        if (calls->slots[i].entry != NULL)
            seen_functions[calls->slots[i].key.what >> 8 & UINT16_MAX] = true;
    }
}

void sg_profile_entries_seen(bool seen[SG_FUNCTION_COUNT])
{
    seen_functions = seen;
    sg_thread_store_each(&store, mark_thread);
}
