#include "profile/comms.h"

#include "core/hash.h"
#include "mpi/real.h"
#include "runtime/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u

/* Never given back to malloc, nor taken out of its bucket: that of a handle that was given up is
 * the next one's there. */
struct known {
    _Atomic(MPI_Comm) handle; /* MPI_COMM_NULL: of none */
    struct sg_profile_comm comm;
    _Atomic(struct known *) next;
};

static _Atomic(struct known *) buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last_index;

static _Atomic(struct known *) *bucket_of(MPI_Comm handle)
{
    return &buckets[sg_hash_mix((uint32_t)handle) % BUCKETS];
}

static struct known *find(MPI_Comm handle)
{
    /* Acquire: pairs with make, what is behind the handle is there. */
    struct known *known = atomic_load_explicit(bucket_of(handle), memory_order_acquire);

    while (known != NULL && atomic_load_explicit(&known->handle, memory_order_acquire) != handle)
        known = atomic_load_explicit(&known->next, memory_order_acquire);
    return known;
}

static void find_degrees(MPI_Comm handle, struct sg_profile_comm *comm)
{
    int kind = MPI_UNDEFINED, dimensions = 0, weighted;

    if (comm->is_inter || sg_real.Topo_test(handle, &kind) != MPI_SUCCESS)
        return;
    if (kind == MPI_CART) {
        sg_real.Cartdim_get(handle, &dimensions);
        comm->in_degree = comm->out_degree = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        sg_real.Graph_neighbors_count(handle, comm->rank, &comm->in_degree);
        comm->out_degree = comm->in_degree;
    } else if (kind == MPI_DIST_GRAPH) {
        sg_real.Dist_graph_neighbors_count(handle, &comm->in_degree, &comm->out_degree, &weighted);
    }
}

/* The number it gets in the log; 0: the disk is full. */
static uint32_t record(MPI_Comm handle, const struct sg_profile_comm *comm)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    struct sg_record_profile_comm *entry;
    size_t text_bytes;
    int length;

    if (sg_real.Comm_get_name(handle, name, &length) != MPI_SUCCESS)
        name[0] = '\0';
    text_bytes = strlen(name) + 1;
    entry = sg_log_definition(sg_process.log, name, text_bytes);
    if (entry == NULL)
        return 0;
    entry->index = ++last_index;
    entry->is_inter = comm->is_inter;
    entry->peers = (uint32_t)comm->peers;
    entry->rank = (uint32_t)comm->rank;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_PROFILE_COMM);
    return last_index;
}

/* Under the lock. */
static struct known *take(MPI_Comm handle)
{
    struct known *known = atomic_load_explicit(bucket_of(handle), memory_order_relaxed);

    while (known != NULL &&
           atomic_load_explicit(&known->handle, memory_order_relaxed) != MPI_COMM_NULL)
        known = atomic_load_explicit(&known->next, memory_order_relaxed);
    if (known != NULL)
        return known;
    known = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    atomic_init(&known->handle, MPI_COMM_NULL);
    atomic_init(&known->next, atomic_load_explicit(bucket_of(handle), memory_order_relaxed));
    /* Release: see find. */
    atomic_store_explicit(bucket_of(handle), known, memory_order_release);
    return known;
}

static struct known *make(MPI_Comm handle)
{
    struct sg_profile_comm comm = {0};
    struct known *known;
    int is_inter = 0;

    if (sg_real.Comm_test_inter(handle, &is_inter) != MPI_SUCCESS)
        return NULL;
    comm.is_inter = is_inter != 0;
    sg_real.Comm_rank(handle, &comm.rank);
    sg_real.Comm_size(handle, &comm.size);
    comm.peers = comm.size;
    if (comm.is_inter)
        sg_real.Comm_remote_size(handle, &comm.peers);
    find_degrees(handle, &comm);
    pthread_mutex_lock(&lock);
    known = find(handle);
    if (known == NULL)
        known = take(handle);
    if (known != NULL && atomic_load_explicit(&known->handle, memory_order_relaxed) != handle) {
        comm.index = record(handle, &comm);
        known->comm = comm;
        /* Release: see find. */
        atomic_store_explicit(&known->handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

const struct sg_profile_comm *sg_profile_comm_of(MPI_Comm handle)
{
    struct known *known;

    if (handle == MPI_COMM_NULL)
        return NULL;
    known = find(handle);
    if (__builtin_expect(known == NULL, 0))
        known = make(handle);
    return known != NULL ? &known->comm : NULL;
}

void sg_profile_comm_forget(MPI_Comm handle)
{
    struct known *known;

    pthread_mutex_lock(&lock);
    known = find(handle);
    if (known != NULL && handle != MPI_COMM_NULL)
        atomic_store_explicit(&known->handle, MPI_COMM_NULL, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}
