#include "engine/pool.h"

#include "core/clock.h"
#include "core/hash.h"
#include "engine/placement.h"
#include "engine/real.h"
#include "node/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static struct sg_pool_rank *pool; /* this node's, by rank in the node; NULL: none */
static int32_t *processes;        /* by world rank; NULL: ranks cannot read each other's memory */
static int own_rank;

/* A rank's number among those of its node. */
static int number_of(int world_rank)
{
    int node = sg_placement_node(world_rank);
    int number = 0;

    for (int other = node; other < world_rank; other++)
        number += sg_placement_node(other) == node;
    return number;
}

static int node_size(int node, int size)
{
    int count = 0;

    for (int rank = node; rank < size; rank++)
        count += sg_placement_node(rank) == node;
    return count;
}

static bool wants_pool(const struct sg_exchange *exchange)
{
    int node = sg_placement_node(exchange->rank);
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE && node_size(node, exchange->size) > 1;
}

/* What each rank tells the others. */
struct offer {
    struct sg_segment_ticket ticket; /* of its node's first rank */
    uint64_t address;                /* of probed */
    uint64_t probed;
    int32_t process;
};

static uint64_t probed; /* the others try to read it */

/* Yama lets only ancestors read a process, unless it says otherwise. */
static void allow_reading(void)
{
    if (access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* True when this rank can read every other of its node. */
static bool can_read(const struct sg_exchange *exchange, const struct offer *offers)
{
    int node = sg_placement_node(exchange->rank);

    for (int rank = 0; rank < exchange->size; rank++) {
        uint64_t got = 0;
        struct iovec to = {&got, sizeof got};
        struct iovec from = {(void *)(uintptr_t)offers[rank].address, sizeof got};

        if (sg_placement_node(rank) == node && rank != exchange->rank &&
            (process_vm_readv(offers[rank].process, &to, 1, &from, 1, 0) != (ssize_t)sizeof got ||
             got != offers[rank].probed))
            return false;
    }
    return true;
}

/* Every rank's offer on every rank, malloc'ed. */
static enum sg_status share_offers(const struct sg_exchange *exchange, const struct offer *own,
                                   struct offer **offers)
{
    size_t count = (size_t)exchange->size;
    size_t *sizes = calloc(count, sizeof *sizes);
    void *all = NULL;
    size_t all_bytes = count * sizeof *own;
    enum sg_status status = SG_ERR_MEMORY;

    if (sizes != NULL)
        status = exchange->gather(exchange->context, own, sizeof *own, &all, sizes);
    free(sizes);
    if (status == SG_OK)
        status = sg_exchange_share(exchange, &all, &all_bytes);
    *offers = all;
    return status;
}

/* All ranks' processes, where they can read each other. */
static enum sg_status find_readers(const struct sg_exchange *exchange, const struct offer *offers)
{
    int32_t *numbers = malloc((size_t)exchange->size * sizeof *numbers);
    bool can = numbers != NULL && can_read(exchange, offers);
    int first_failed;
    enum sg_status status = sg_exchange_agree(exchange, can, &first_failed);

    if (status != SG_OK || first_failed >= 0) {
        free(numbers);
        return status;
    }
    for (int rank = 0; rank < exchange->size; rank++)
        numbers[rank] = offers[rank].process;
    processes = numbers;
    return SG_OK;
}

/* Every node's first rank makes a segment; the others open it. */
static enum sg_status map_pool(const struct sg_exchange *exchange, void **segment)
{
    int node = sg_placement_node(exchange->rank);
    size_t size_bytes = (size_t)node_size(node, exchange->size) * sizeof *pool;
    struct offer own = {.address = (uintptr_t)&probed, .process = (int32_t)getpid()};
    struct offer *offers = NULL;
    enum sg_status made = SG_OK;
    enum sg_status status;
    int first_failed, error;

    probed = own.probed = sg_hash_mix(sg_clock_ns() ^ (uint64_t)getpid() << 32);
    allow_reading();
    if (node == exchange->rank)
        made = sg_segment_create(size_bytes, segment, &own.ticket);
    error = errno;
    status = share_offers(exchange, &own, &offers);
    if (status == SG_OK && node != exchange->rank) {
        made = offers[node].ticket.size_bytes == size_bytes
                   ? sg_segment_open(&offers[node].ticket, segment)
                   : SG_ERR_MISSING;
        error = errno;
    }
    if (status == SG_OK)
        status = sg_exchange_agree(exchange, made == SG_OK, &first_failed);
    if (node == exchange->rank && made == SG_OK)
        sg_segment_seal(&own.ticket);
    errno = error;
    if (status == SG_OK && first_failed == exchange->rank)
        sg_log("rank %d: no shared buffers for large messages (%m): they go through small ones",
               exchange->rank);
    if (status == SG_OK && first_failed >= 0) {
        if (made == SG_OK)
            sg_segment_unmap(*segment, size_bytes);
        status = SG_ERR_MISSING;
    }
    if (status == SG_OK)
        status = find_readers(exchange, offers);
    free(offers);
    return status;
}

enum sg_status sg_pool_start(const struct sg_exchange *exchange)
{
    void *segment = NULL;
    int first_unwilling;
    enum sg_status status = sg_exchange_agree(exchange, wants_pool(exchange), &first_unwilling);

    own_rank = exchange->rank;
    if (status != SG_OK || first_unwilling >= 0)
        return status;
    status = map_pool(exchange, &segment);
    if (status == SG_OK)
        pool = segment;
    return status == SG_ERR_MISSING ? SG_OK : status;
}

struct sg_pool_rank *sg_pool_of(int world_rank)
{
    if (pool == NULL || sg_placement_node(world_rank) != sg_placement_node(own_rank))
        return NULL;
    return &pool[number_of(world_rank)];
}

int sg_pool_process_of(int world_rank)
{
    return processes != NULL ? processes[world_rank] : 0;
}
