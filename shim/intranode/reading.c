#include "intranode/reading.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/procfs.h"
#include "intranode/memory.h"
#include "intranode/placement.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANCESTORS 16
/* All processes descend from it: to name it would name them all. */
#define FIRST_PROCESS 1

/* What each rank tells the others. */
struct offer {
    uint64_t address; /* of probed */
    uint64_t probed;
    int32_t process;
    int32_t ancestors[ANCESTORS]; /* from the parent up; 0 behind the last */
};

static int32_t *processes; /* by world rank; NULL: ranks cannot read each other's memory */
static uint64_t probed;    /* the others try to read it */
static unsigned char *scratch;
static size_t scratch_bytes;
static int32_t tracer; /* who is to be named; 0: nobody */
static bool is_open;

/* 0: not known. */
static void find_ancestors(struct offer *offer)
{
    int32_t process = (int32_t)getppid();

    memset(offer->ancestors, 0, sizeof offer->ancestors);
    for (int i = 0; i < ANCESTORS && process > 0; i++) {
        offer->ancestors[i] = process;
        process = sg_procfs_stat(process).parent;
    }
}

static bool descends_from(const struct offer *offer, int32_t ancestor)
{
    for (int i = 0; i < ANCESTORS; i++) {
        if (offer->ancestors[i] == ancestor)
            return true;
    }
    return false;
}

/* The nearest one of all ranks of the node; 0: none but the first process. */
static int32_t find_common(const struct sg_exchange *exchange, const struct offer *offers)
{
    const struct offer *own = &offers[exchange->rank];
    int node = sg_placement_node(exchange->rank);

    for (int i = 0; i < ANCESTORS && own->ancestors[i] > FIRST_PROCESS; i++) {
        bool common = true;

        for (int rank = 0; rank < exchange->size && common; rank++)
            common =
                sg_placement_node(rank) != node || descends_from(&offers[rank], own->ancestors[i]);
        if (common)
            return own->ancestors[i];
    }
    return 0;
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

/* MPICH over UCX reads other processes likewise, and does not survive it when it may no longer.
 * Where its module for that is loaded it has named all processes, if Yama is there: naming one
 * would help nobody. */
static bool is_left_to_ucx(void)
{
    void *module = dlopen("libuct_cma.so.0", RTLD_LAZY | RTLD_NOLOAD);

    if (module != NULL)
        dlclose(module);
    return module != NULL;
}

static bool name_tracer(int32_t process)
{
    return prctl(PR_SET_PTRACER, (unsigned long)process, 0, 0, 0) == 0;
}

struct tried {
    bool all;     /* ranks can read all others of their nodes */
    bool on_node; /* those of this node can */
};

/* Ends when all ranks have tried. */
static enum sg_status try(const struct sg_exchange *exchange, const struct offer *offers,
                          struct tried *tried)
{
    int node = sg_placement_node(exchange->rank);
    unsigned char own = can_read(exchange, offers);
    void *all;
    enum sg_status status = sg_exchange_collect(exchange, &own, sizeof own, &all);

    *tried = (struct tried){.all = status == SG_OK, .on_node = status == SG_OK};
    for (int rank = 0; rank < exchange->size && status == SG_OK; rank++) {
        bool can = ((const unsigned char *)all)[rank] != 0;

        tried->all = tried->all && can;
        tried->on_node = tried->on_node && (can || sg_placement_node(rank) != node);
    }
    free(all);
    return status;
}

/* Where this node's ranks could not. */
static enum sg_status try_named(const struct sg_exchange *exchange, const struct offer *offers,
                                struct tried *tried)
{
    int32_t common = find_common(exchange, offers);
    bool is_named = !tried->on_node && common > 0 && !is_left_to_ucx() && name_tracer(common);
    int first;
    enum sg_status status = sg_exchange_agree(exchange, is_named || tried->on_node, &first);

    if (status == SG_OK && first < 0)
        status = try(exchange, offers, tried);
    if (is_named)
        name_tracer(0);
    if (is_named && tried->all)
        tracer = common;
    return status;
}

static enum sg_status find_readers(const struct sg_exchange *exchange, const struct offer *offers)
{
    int32_t *numbers = malloc((size_t)exchange->size * sizeof *numbers);
    struct tried tried = {0};
    int first;
    enum sg_status status = sg_exchange_agree(exchange, numbers != NULL, &first);

    if (status == SG_OK && first < 0)
        status = try(exchange, offers, &tried);
    if (status == SG_OK && first < 0 && !tried.all)
        status = try_named(exchange, offers, &tried);
    if (!tried.all) {
        free(numbers);
        return status;
    }
    for (int rank = 0; rank < exchange->size; rank++)
        numbers[rank] = offers[rank].process;
    processes = numbers;
    return SG_OK;
}

enum sg_status sg_reading_start(const struct sg_exchange *exchange, bool is_wanted)
{
    struct offer own = {.address = (uintptr_t)&probed, .process = (int32_t)getpid()};
    void *offers;
    enum sg_status status;

    if (!is_wanted || !sg_memory_is_shared())
        return SG_OK;
    probed = own.probed = sg_hash_mix(sg_clock_ns() ^ (uint64_t)getpid() << 32);
    find_ancestors(&own);
    status = sg_exchange_collect(exchange, &own, sizeof own, &offers);
    if (status == SG_OK)
        status = find_readers(exchange, offers);
    free(offers);
    scratch_bytes =
        (size_t)sg_placement_node_size(sg_placement_node(exchange->rank), exchange->size) *
        SG_NODE_READ_BYTES;
    return status;
}

struct members {
    struct sg_node_access access;
    int32_t processes[]; /* by rank */
};

typedef ssize_t (*mover)(pid_t process, const struct iovec *here, unsigned long here_count,
                         const struct iovec *there, unsigned long there_count, unsigned long flags);

static bool move(mover each, int32_t process, struct iovec here, uint64_t address)
{
    struct iovec there = {(void *)(uintptr_t)address, here.iov_len};

    while (here.iov_len > 0) {
        ssize_t moved = each(process, &here, 1, &there, 1, 0);

        if (moved <= 0)
            return false;
        here.iov_base = (char *)here.iov_base + moved;
        there.iov_base = (char *)there.iov_base + moved;
        here.iov_len -= (size_t)moved;
        there.iov_len = here.iov_len;
    }
    return true;
}

static bool read_member(void *context, int rank, uint64_t address, void *to, size_t size_bytes)
{
    const struct members *members = context;

    return move(process_vm_readv, members->processes[rank], (struct iovec){to, size_bytes},
                address);
}

static bool write_member(void *context, int rank, uint64_t address, const void *from,
                         size_t size_bytes)
{
    const struct members *members = context;

    return move(process_vm_writev, members->processes[rank],
                (struct iovec){(void *)(uintptr_t)from, size_bytes}, address);
}

bool sg_reading_access(const int *world_ranks, int ranks, struct sg_node_access **out)
{
    struct members *members;

    *out = NULL;
    if (processes == NULL)
        return true;
    /* One for all communicators, of one call at a time; touched only when it is used. */
    if (scratch == NULL)
        scratch = malloc(scratch_bytes);
    members = malloc(sizeof *members + (size_t)ranks * sizeof members->processes[0]);
    if (scratch == NULL || members == NULL) {
        free(members);
        return false;
    }
    for (int rank = 0; rank < ranks; rank++)
        members->processes[rank] = processes[world_ranks[rank]];
    members->access = (struct sg_node_access){read_member, write_member, members, scratch};
    *out = &members->access;
    return true;
}

void sg_reading_open(void)
{
    if (is_open || tracer == 0)
        return;
    name_tracer(tracer);
    is_open = true;
}

void sg_reading_stop(void)
{
    if (is_open)
        name_tracer(0);
    is_open = false;
}
