/* Each communicator has a chained hash table by sequence number and a free list of instances, all
 * of one size. An inconsistent instance is kept until all its members have arrived, so that their
 * calls do not open it again.
 */
#include "report/window.h"

#include "core/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 16

struct entry {
    struct entry *next; /* in its bucket, or in the free list */
    struct sg_instance instance;
    uint32_t arrived; /* members, and surplus calls */
    bool spoilt;
    struct sg_member_call calls[];
};

struct comm {
    uint32_t size;
    struct entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t live;
    struct entry *unused;
};

struct sg_instance_window {
    sg_instance_sink sink;
    void *context;
    struct comm *comms;
    uint32_t comm_count;
    struct sg_window_counts counts;
};

enum sg_status sg_window_create(sg_instance_sink sink, void *context,
                                struct sg_instance_window **out)
{
    struct sg_instance_window *window = calloc(1, sizeof *window);

    if (window == NULL)
        return SG_ERR_MEMORY;
    window->sink = sink;
    window->context = context;
    *out = window;
    return SG_OK;
}

static void free_list(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;

        free(entry);
        entry = next;
    }
}

void sg_window_destroy(struct sg_instance_window *window)
{
    if (window == NULL)
        return;
    for (uint32_t i = 0; i < window->comm_count; i++) {
        struct comm *comm = &window->comms[i];

        for (size_t bucket = 0; bucket < comm->bucket_count; bucket++)
            free_list(comm->buckets[bucket]);
        free_list(comm->unused);
        free(comm->buckets);
    }
    free(window->comms);
    free(window);
}

enum sg_status sg_window_add_comm(struct sg_instance_window *window, uint32_t size)
{
    struct comm *comms = realloc(window->comms, (window->comm_count + 1) * sizeof *comms);
    struct comm comm = {.size = size, .bucket_count = FIRST_BUCKETS};

    assert(size > 0);
    if (comms == NULL)
        return SG_ERR_MEMORY;
    window->comms = comms;
    comm.buckets = calloc(comm.bucket_count, sizeof *comm.buckets);
    if (comm.buckets == NULL)
        return SG_ERR_MEMORY;
    window->comms[window->comm_count++] = comm;
    return SG_OK;
}

static struct entry **place(struct comm *comm, uint64_t seq)
{
    struct entry **at = &comm->buckets[sg_hash_mix(seq) & (comm->bucket_count - 1)];

    while (*at != NULL && (*at)->instance.seq != seq)
        at = &(*at)->next;
    return at;
}

static enum sg_status grow(struct comm *comm)
{
    struct comm larger = *comm;

    larger.bucket_count = comm->bucket_count * 2;
    larger.buckets = calloc(larger.bucket_count, sizeof *larger.buckets);
    if (larger.buckets == NULL)
        return SG_ERR_MEMORY;
    for (size_t bucket = 0; bucket < comm->bucket_count; bucket++) {
        struct entry *next;

        for (struct entry *entry = comm->buckets[bucket]; entry != NULL; entry = next) {
            struct entry **at = place(&larger, entry->instance.seq);

            next = entry->next;
            entry->next = NULL;
            *at = entry;
        }
    }
    free(comm->buckets);
    *comm = larger;
    return SG_OK;
}

static enum sg_status open_entry(struct sg_instance_window *window, struct comm *comm, uint64_t seq,
                                 struct entry ***out)
{
    struct entry *entry = comm->unused;
    struct entry **at;

    if (comm->live > comm->bucket_count * 2) {
        enum sg_status status = grow(comm);

        if (status != SG_OK)
            return status;
    }
    if (entry != NULL)
        comm->unused = entry->next;
    else
        entry = malloc(sizeof *entry + comm->size * sizeof entry->calls[0]);
    if (entry == NULL)
        return SG_ERR_MEMORY;
    memset(entry, 0, sizeof *entry + comm->size * sizeof entry->calls[0]);
    entry->instance.seq = seq;
    entry->instance.comm = (uint32_t)(comm - window->comms);
    entry->instance.size = comm->size;
    entry->instance.calls = entry->calls;
    at = place(comm, seq);
    *at = entry;
    comm->live++;
    if (++window->counts.live > window->counts.live_max)
        window->counts.live_max = window->counts.live;
    *out = at;
    return SG_OK;
}

static enum sg_status close_entry(struct sg_instance_window *window, struct comm *comm,
                                  struct entry **at)
{
    struct entry *entry = *at;
    enum sg_status status = SG_OK;

    *at = entry->next;
    comm->live--;
    window->counts.live--;
    if (entry->spoilt) {
        window->counts.dropped_calls += entry->arrived;
    } else {
        window->counts.instances++;
        status = window->sink(window->context, &entry->instance);
    }
    entry->next = comm->unused;
    comm->unused = entry;
    return status;
}

enum sg_status sg_window_add(struct sg_instance_window *window, uint32_t comm_index, uint64_t seq,
                             uint32_t member, enum sg_operation operation, uint32_t root,
                             const struct sg_member_call *call)
{
    struct comm *comm = &window->comms[comm_index];
    struct entry **at = place(comm, seq);
    struct entry *entry;

    assert(comm_index < window->comm_count && member < comm->size);
    if (*at == NULL) {
        enum sg_status status = open_entry(window, comm, seq, &at);

        if (status != SG_OK)
            return status;
        (*at)->instance.operation = operation;
        (*at)->instance.nonblocking = call->nonblocking;
        (*at)->instance.root = root;
    }
    entry = *at;
    if (entry->calls[member].present || entry->instance.operation != operation ||
        entry->instance.nonblocking != call->nonblocking ||
        (sg_operation_has_root(operation) && (entry->instance.root != root || root >= comm->size)))
        entry->spoilt = true;
    entry->calls[member] = *call;
    entry->calls[member].present = true;
    return ++entry->arrived >= comm->size ? close_entry(window, comm, at) : SG_OK;
}

void sg_window_finish(struct sg_instance_window *window)
{
    for (uint32_t i = 0; i < window->comm_count; i++) {
        struct comm *comm = &window->comms[i];

        for (size_t bucket = 0; bucket < comm->bucket_count; bucket++) {
            for (struct entry *entry = comm->buckets[bucket]; entry != NULL; entry = entry->next)
                window->counts.dropped_calls += entry->arrived;
            free_list(comm->buckets[bucket]);
            comm->buckets[bucket] = NULL;
        }
        window->counts.live -= comm->live;
        comm->live = 0;
    }
}

struct sg_window_counts sg_window_counts(const struct sg_instance_window *window)
{
    return window->counts;
}
