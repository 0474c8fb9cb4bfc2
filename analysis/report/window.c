/* Each communicator has a hash table by sequence number and a free list of instances, all of one
 * size. An inconsistent instance is kept until all its members have arrived, so that their
 * calls do not open it again.
 */
#include "report/window.h"

#include "core/room.h"
#include "report/keyed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrivals -------------------------------------------------------------------------------- */

static int compare_arrivals(const void *left, const void *right)
{
    const struct sg_arrival *a = left, *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->member > b->member ? -1 : 1;
}

void sg_arrivals_sort(struct sg_arrival *arrivals, uint32_t count)
{
    qsort(arrivals, count, sizeof *arrivals, compare_arrivals);
}

uint32_t sg_arrivals_awaited(const struct sg_arrival *arrivals, uint32_t count, uint32_t member,
                             int64_t left_ns)
{
    uint32_t before = 0;

    while (count > 0) {
        uint32_t half = count / 2;

        if (arrivals[before + half].begin_ns < left_ns) {
            before += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return before > 0 ? arrivals[before - 1].member : member;
}

/* ---- instances ------------------------------------------------------------------------------- */

struct entry {
    UT_hash_handle hh;
    uint64_t key;       /* the sequence number */
    struct entry *next; /* in the free list */
    struct sg_instance instance;
    uint32_t arrived; /* members, and surplus calls */
    bool spoilt;
    struct sg_member_call calls[];
};

struct comm {
    uint32_t size;
    struct entry *live, *unused;
};

struct sg_instance_window {
    sg_instance_sink sink;
    void *context;
    struct comm *comms;
    uint32_t comm_count;
    struct sg_arrival *arrivals; /* of the instance that the sink receives */
    uint32_t arrival_count;      /* the most members of a communicator */
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

static void free_unused(struct comm *comm)
{
    while (comm->unused != NULL) {
        struct entry *entry = comm->unused;

        comm->unused = entry->next;
        free(entry);
    }
}

void sg_window_destroy(struct sg_instance_window *window)
{
    if (window == NULL)
        return;
    sg_window_finish(window);
    for (uint32_t i = 0; i < window->comm_count; i++)
        free_unused(&window->comms[i]);
    free(window->comms);
    free(window->arrivals);
    free(window);
}

enum sg_status sg_window_add_comm(struct sg_instance_window *window, uint32_t size)
{
    struct sg_arrival *arrivals = window->arrivals;

    assert(size > 0);
    if (size > window->arrival_count) {
        arrivals = realloc(arrivals, size * sizeof *arrivals);
        if (arrivals == NULL)
            return SG_ERR_MEMORY;
        window->arrivals = arrivals;
        window->arrival_count = size;
    }
    return SG_APPEND(window->comms, window->comm_count, ((struct comm){.size = size}))
               ? SG_OK
               : SG_ERR_MEMORY;
}

static enum sg_status open_entry(struct sg_instance_window *window, struct comm *comm, uint64_t seq,
                                 struct entry **out)
{
    struct entry *entry = comm->unused;

    if (entry != NULL)
        comm->unused = entry->next;
    else
        entry = malloc(sizeof *entry + comm->size * sizeof entry->calls[0]);
    if (entry == NULL)
        return SG_ERR_MEMORY;
    memset(entry, 0, sizeof *entry + comm->size * sizeof entry->calls[0]);
    entry->key = seq;
    entry->instance.seq = seq;
    entry->instance.comm = (uint32_t)(comm - window->comms);
    entry->instance.size = comm->size;
    entry->instance.calls = entry->calls;
    if (!SG_KEYED_ADD(comm->live, entry)) {
        free(entry);
        return SG_ERR_MEMORY;
    }
    if (++window->counts.live > window->counts.live_max)
        window->counts.live_max = window->counts.live;
    *out = entry;
    return SG_OK;
}

static void sort_arrivals(struct sg_instance_window *window, struct sg_instance *instance)
{
    for (uint32_t i = 0; i < instance->size; i++)
        window->arrivals[i] = (struct sg_arrival){instance->calls[i].begin_ns, i};
    sg_arrivals_sort(window->arrivals, instance->size);
    instance->arrivals = window->arrivals;
}

static enum sg_status close_entry(struct sg_instance_window *window, struct comm *comm,
                                  struct entry *entry)
{
    enum sg_status status = SG_OK;

    HASH_DEL(comm->live, entry);
    window->counts.live--;
    if (entry->spoilt) {
        window->counts.dropped_calls += entry->arrived;
    } else {
        window->counts.instances++;
        sort_arrivals(window, &entry->instance);
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
    struct entry *entry = SG_KEYED_FIND(comm->live, &seq);

    assert(comm_index < window->comm_count && member < comm->size);
    if (entry == NULL) {
        enum sg_status status = open_entry(window, comm, seq, &entry);

        if (status != SG_OK)
            return status;
        entry->instance.operation = operation;
        entry->instance.nonblocking = call->nonblocking;
        entry->instance.root = root;
    }
    if (entry->calls[member].present || entry->instance.operation != operation ||
        entry->instance.nonblocking != call->nonblocking ||
        (sg_operation_has_root(operation) && (entry->instance.root != root || root >= comm->size)))
        entry->spoilt = true;
    entry->calls[member] = *call;
    entry->calls[member].present = true;
    return ++entry->arrived >= comm->size ? close_entry(window, comm, entry) : SG_OK;
}

void sg_window_finish(struct sg_instance_window *window)
{
    for (uint32_t i = 0; i < window->comm_count; i++) {
        struct entry *entry, *next;

        HASH_ITER(hh, window->comms[i].live, entry, next)
        {
            window->counts.dropped_calls += entry->arrived;
            window->counts.live--;
            HASH_DEL(window->comms[i].live, entry);
            free(entry);
        }
    }
}

struct sg_window_counts sg_window_counts(const struct sg_instance_window *window)
{
    return window->counts;
}
