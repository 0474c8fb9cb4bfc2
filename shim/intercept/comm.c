#include "intercept/comm.h"

#include "core/clock.h"
#include "core/hash.h"
#include "intercept/join.h"
#include "intercept/process.h"
#include "intercept/wire.h"
#include "internode/internode.h"
#include "mpi/real.h"
#include "wait/yielding.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u

static struct sg_comm world;
static struct sg_comm self;
static _Atomic(struct sg_comm *) buckets[BUCKETS];
/* States of freed communicators, for reuse: never given back to malloc, because a look-up of
 * another handle may be passing through one. It then misses, and looks again under the lock. */
static struct sg_comm *spare;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static atomic_uint next_index;   /* in the log */
static atomic_uint next_counter; /* of the communicators this rank is rank 0 of */

/* What the members agree on: rank 0's. */
struct identity {
    bool managed;
    struct sg_join_offer offer;
    int error; /* errno where it could not be made */
    uint32_t root_world_rank;
    uint32_t root_counter;
    char name[MPI_MAX_OBJECT_NAME];
};

static _Atomic(struct sg_comm *) *bucket_of(MPI_Comm handle)
{
    return &buckets[sg_hash_mix((uint32_t)handle) % BUCKETS];
}

/* Relaxed: a walk that strays into the spare states ends there, and is repeated under the lock. */
static struct sg_comm *walk(struct sg_comm *comm, MPI_Comm handle)
{
    while (comm != NULL && atomic_load_explicit(&comm->handle, memory_order_relaxed) != handle)
        comm = atomic_load_explicit(&comm->next, memory_order_relaxed);
    return comm;
}

struct sg_comm *sg_comm_find(MPI_Comm handle)
{
    struct sg_comm *found;

    if (handle == MPI_COMM_WORLD)
        return &world;
    if (handle == MPI_COMM_SELF)
        return &self;
    /* Acquire: pairs with the insertion, the state behind the pointer is whole. */
    found = walk(atomic_load_explicit(bucket_of(handle), memory_order_acquire), handle);
    if (found == NULL) {
        pthread_mutex_lock(&lock);
        found = walk(atomic_load_explicit(bucket_of(handle), memory_order_relaxed), handle);
        pthread_mutex_unlock(&lock);
    }
    return found;
}

static struct sg_comm *take_spare(void)
{
    struct sg_comm *comm;

    pthread_mutex_lock(&lock);
    comm = spare;
    if (comm != NULL)
        spare = atomic_load_explicit(&comm->next, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return comm != NULL ? comm : calloc(1, sizeof *comm);
}

static void insert(struct sg_comm *comm, MPI_Comm handle)
{
    _Atomic(struct sg_comm *) *bucket = bucket_of(handle);

    pthread_mutex_lock(&lock);
    atomic_store_explicit(&comm->handle, handle, memory_order_relaxed);
    atomic_store_explicit(&comm->next, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_relaxed);
    /* Release: see sg_comm_find. */
    atomic_store_explicit(bucket, comm, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static void take_out(struct sg_comm *comm)
{
    _Atomic(struct sg_comm *) *link;

    pthread_mutex_lock(&lock);
    link = bucket_of(atomic_load_explicit(&comm->handle, memory_order_relaxed));
    while (atomic_load_explicit(link, memory_order_relaxed) != comm)
        link = &atomic_load_explicit(link, memory_order_relaxed)->next;
    /* Release: what follows was published by its own insertion; keep that order for readers. */
    atomic_store_explicit(link, atomic_load_explicit(&comm->next, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&comm->handle, MPI_COMM_NULL, memory_order_relaxed);
    atomic_store_explicit(&comm->next, spare, memory_order_relaxed);
    spare = comm;
    pthread_mutex_unlock(&lock);
}

static int on_delete(MPI_Comm handle, int key, void *value, void *extra)
{
    struct sg_comm *comm = value;

    if (comm->moves)
        return MPI_SUCCESS;
    if (comm->span != NULL)
        sg_span_drain(comm->span);
    sg_join_free(comm);
    take_out(comm);
    return MPI_SUCCESS;
}

/* Writes the communicator's definition. members: world ranks, or NULL when not rank 0. */
static void record(struct sg_comm *comm, const struct identity *identity, const int *members)
{
    size_t name_bytes = (strlen(comm->name) + 1 + 3) & ~(size_t)3;
    size_t text_bytes = name_bytes + (members ? (size_t)comm->size * sizeof(uint32_t) : 0);
    struct sg_record_comm *entry = NULL;
    char *text;

    comm->index = SG_COMM_UNRECORDED;
    if (sg_process.log == NULL)
        return;
    text = calloc(1, text_bytes);
    if (text != NULL) {
        memcpy(text, comm->name, strlen(comm->name));
        for (int i = 0; members != NULL && i < comm->size; i++) {
            uint32_t member = (uint32_t)members[i];

            memcpy(text + name_bytes + (size_t)i * sizeof member, &member, sizeof member);
        }
        entry = sg_log_definition(sg_process.log, text, text_bytes);
        free(text);
    }
    if (entry == NULL)
        return;
    comm->index = atomic_fetch_add(&next_index, 1);
    entry->has_members = members != NULL;
    entry->index = comm->index;
    entry->root_world_rank = identity->root_world_rank;
    entry->root_counter = identity->root_counter;
    entry->size = (uint32_t)comm->size;
    entry->rank = (uint32_t)comm->rank;
    entry->parent = UINT32_MAX;
    entry->text_bytes = (uint32_t)text_bytes;
    entry->created_ns = sg_clock_ns();
    sg_log_publish(entry, SG_RECORD_COMM);
}

/* Rank 0: who the communicator is, and its members' world ranks (malloc'ed). */
static int *name_identity(const struct sg_comm *comm, MPI_Comm handle, struct identity *identity)
{
    int *members = malloc((size_t)comm->size * sizeof *members);
    enum sg_join_place place;
    int length;

    if (members == NULL)
        return NULL;
    sg_join_world_ranks(handle, comm->size, members, &place);
    identity->managed = true;
    identity->root_world_rank = (uint32_t)members[0];
    identity->root_counter = atomic_fetch_add(&next_counter, 1);
    if (sg_real.Comm_get_name(handle, identity->name, &length) != MPI_SUCCESS)
        identity->name[0] = '\0';
    return members;
}

/* MPICH deletes the attribute last that was set first, and what the last one's callback returns is
 * all that it returns: ours would hide the error of a callback of the application's. */
static void put_attribute_first(struct sg_comm *comm, MPI_Comm handle)
{
    comm->moves = true;
    sg_real.Comm_delete_attr(handle, keyval);
    comm->moves = false;
    sg_real.Comm_set_attr(handle, keyval, comm);
}

void sg_comm_part(MPI_Comm handle)
{
    struct sg_comm *comm = sg_process_running() ? sg_comm_find(handle) : NULL;

    if (comm == NULL || comm == &world || comm == &self)
        return;
    put_attribute_first(comm, handle);
    if (comm->span == NULL)
        return;
    sg_span_drain(comm->span);
    if (sg_span_is_linked(comm->span))
        sg_patient_barrier(comm->talk);
}

/* Agrees on the identity by one broadcast and writes the definition. talk is a communicator of the
 * same group for our messages. */
static void identify(struct sg_comm *comm, MPI_Comm handle, MPI_Comm talk, enum sg_join_place place)
{
    struct identity identity = {.managed = false};
    int *members = NULL;

    if (comm->rank == 0) {
        members = name_identity(comm, handle, &identity);
        memcpy(comm->name, identity.name, sizeof comm->name);
        if (members != NULL && comm->size > 1)
            sg_join_offer(comm, handle, place, &identity.offer);
    }
    if (comm->size > 1 &&
        sg_patient_bcast(&identity, (int)sizeof identity, MPI_BYTE, 0, talk) != MPI_SUCCESS)
        identity.managed = false;
    comm->managed = identity.managed;
    memcpy(comm->name, identity.name, sizeof comm->name);
    if (comm->managed && comm->size > 1)
        sg_join(comm, handle, talk, place, &identity.offer);
    if (comm->managed)
        record(comm, &identity, members);
    free(members);
}

struct sg_comm *sg_comm_set_up(MPI_Comm handle)
{
    struct sg_comm *comm = take_spare();
    enum sg_join_place place;
    int is_inter = 0;

    if (comm == NULL)
        return NULL;
    comm->managed = false;
    comm->devices = false;
    comm->index = SG_COMM_UNRECORDED;
    comm->name[0] = '\0';
    comm->local = NULL;
    comm->span = NULL;
    memset(comm->last, 0, sizeof comm->last);
    memset(comm->trial, 0, sizeof comm->trial);
    atomic_store(&comm->seq, 0);
    sg_real.Comm_test_inter(handle, &is_inter);
    sg_real.Comm_rank(handle, &comm->rank);
    sg_real.Comm_size(handle, &comm->size);
    if (!is_inter && sg_join_world_ranks(handle, comm->size, NULL, &place))
        identify(comm, handle, handle, place);
    insert(comm, handle);
    sg_real.Comm_set_attr(handle, keyval, comm);
    return comm;
}

static void set_up_predefined(struct sg_comm *comm, MPI_Comm handle, MPI_Comm talk)
{
    enum sg_join_place place;

    atomic_store(&comm->handle, handle);
    sg_real.Comm_rank(handle, &comm->rank);
    sg_real.Comm_size(handle, &comm->size);
    sg_join_world_ranks(handle, comm->size, NULL, &place);
    identify(comm, handle, talk, place);
}

enum sg_status sg_comm_start(void)
{
    if (sg_real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL) != MPI_SUCCESS)
        return SG_ERR_SYSTEM;
    /* Their counters are 0 and 1 where their rank 0 is world rank 0, and on every rank the
     * second is MPI_COMM_SELF's. */
    set_up_predefined(&world, MPI_COMM_WORLD, sg_process.world);
    atomic_store(&next_counter, 1);
    set_up_predefined(&self, MPI_COMM_SELF, MPI_COMM_SELF);
    return SG_OK;
}

/* Calls what on every communicator there is. */
static void each(void (*what)(struct sg_comm *comm))
{
    what(&world);
    what(&self);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct sg_comm *comm = atomic_load(&buckets[i]); comm != NULL;
             comm = atomic_load(&comm->next))
            what(comm);
    }
}

static void begin_drain(struct sg_comm *comm)
{
    if (comm->span != NULL)
        sg_span_begin_drain(comm->span);
}

static void drain(struct sg_comm *comm)
{
    if (comm->span != NULL)
        sg_span_drain(comm->span);
}

void sg_comm_drain(void)
{
    /* All have been told before any is waited for: ranks walk their tables in orders of their own.
     */
    each(begin_drain);
    each(drain);
}

void sg_comm_stop(void)
{
    sg_comm_drain();
    /* Until all have come here others may still reach into what this rank shares with them. */
    if (sg_wire_ops() != NULL)
        sg_patient_barrier(sg_process.world);
    each(sg_join_free);
    /* Attributes that still stand keep working: MPI frees a keyval when the last one is gone. */
    sg_real.Comm_free_keyval(&keyval);
}
