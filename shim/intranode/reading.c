/* Access to other ranks' memory (reading.h), with its probe in MPI_Init, and the method that uses
 * it for a large broadcast (sg_pull_poll of method.h). */
#include "intranode/reading.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/hash.h"
#include "intranode/memory.h"
#include "intranode/ring.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANCESTORS 16
/* All processes descend from process 1: naming it would name them all. */
#define FIRST_PROCESS 1

/* A rank's address to probe, its process and its ancestors. */
struct offer {
    uint64_t address; /* of `probed` */
    uint64_t probed;
    int32_t process;
    int32_t ancestors[ANCESTORS]; /* from the parent up; 0 after the last */
};

static int32_t *processes; /* by world rank; NULL: ranks cannot read each other's memory */
static uint64_t probed;    /* value that the other ranks try to read */
static unsigned char *scratch;
static size_t scratch_bytes;
static int32_t tracer; /* process to name; 0: none */
static bool is_open;

/* Collects this process's ancestors; stops at one that is not known. */
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

/* Finds the nearest common ancestor of all ranks of the node; 0: only the first process. */
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

/* True if this rank can read every other rank of its node. */
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

/* MPICH over UCX reads other processes in the same way, and fails when it loses the permission. If
 * its module for that is loaded, it has named all processes under Yama: naming one would help
 * nobody. */
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
    bool all;     /* all ranks can read the others of their nodes */
    bool on_node; /* this node's ranks can */
};

/* Probes; returns when all ranks have probed. */
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

/* Probes again, with named tracers on the nodes where the first probe failed. */
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
    /* One buffer for all communicators, used by one call at a time; untouched until then. */
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

/* A large broadcast with a single copy. Every rank reads the root's buffer directly, and the root,
 * which would only wait, writes into the buffers of ranks that have arrived. A reader's buffer is
 * split into blocks. The reader takes blocks from the front and the root from the back, through a
 * shared word, until they meet, so the two copy at the same time. A root without a processor to
 * itself leaves all blocks to the readers, because it would only delay them.
 *
 * A copy may fail on one rank alone; it then reports it before its last count, and all ranks run
 * the call again through the slots. A root whose write has failed does not write again.
 */

/* Minimum size of a block, which is otherwise a fixed share of the call: smaller blocks cost more
 * in system calls than concurrent copying saves. */
#ifndef SG_PULL_BLOCK_BYTES /* tests define smaller ones */
#define SG_PULL_BLOCK_BYTES (32u * 1024u)
#endif
#define BLOCKS_MAX 4
#define PAGE_BYTES 4096u

static size_t size_of(const struct sg_node_op *op)
{
    return op->call.count * op->call.element_bytes;
}

static size_t block_bytes_of(const struct sg_node_op *op)
{
    size_t each = (size_of(op) + BLOCKS_MAX - 1) / BLOCKS_MAX;

    return each > SG_PULL_BLOCK_BYTES ? (each + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES
                                      : SG_PULL_BLOCK_BYTES;
}

/* ---- assignment of blocks ---- */

/* The word of a reader. Reader 0 uses the root's number, because meetings begin at 1. */
static _Atomic uint64_t *word_of(const struct sg_node_op *op, int reader)
{
    return sg_ring_meeting(op->node, op->position, reader > 0 ? reader : op->call.root);
}

/* The word's value: blocks taken from the front, and from the back. */
#define TAKEN_BITS 14
#define TAKEN_MASK ((1u << TAKEN_BITS) - 1)

/* Takes the next block of a reader's buffer for this rank, the reader or the root. False: all are
 * taken. */
static bool take(const struct sg_node_op *op, int reader, uint32_t *block)
{
    _Atomic uint64_t *word = word_of(op, reader);
    uint32_t blocks = (uint32_t)((size_of(op) + block_bytes_of(op) - 1) / block_bytes_of(op));
    bool from_front = op->node->rank == reader;
    /* Relaxed, all: the word carries all the data. */
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    uint32_t taken, front, back;

    do {
        taken = sg_ring_is(seen, op->position) ? sg_ring_value(seen) : 0;
        front = taken & TAKEN_MASK;
        back = taken >> TAKEN_BITS;
        if (front + back == blocks)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        word, &seen, sg_ring_tag(op->position, taken + (from_front ? 1 : 1u << TAKEN_BITS)),
        memory_order_relaxed, memory_order_relaxed));
    *block = from_front ? front : blocks - 1 - back;
    return true;
}

/* ---- copying ---- */

/* Payload of a rank's line. */
struct place {
    uint64_t address; /* of its buffer */
    uint64_t writes;  /* on the root: it takes blocks */
};

static struct place place_of(const struct sg_node_op *op, int rank)
{
    struct place place;

    memcpy(&place, sg_ring_line(op->node, op->position, rank)->payload, sizeof place);
    return place;
}

static size_t span_of(const struct sg_node_op *op, uint32_t block, size_t *at)
{
    size_t each = block_bytes_of(op);

    *at = block * each;
    return size_of(op) - *at < each ? size_of(op) - *at : each;
}

static bool writes(const struct sg_node_op *op)
{
    return op->call.root_writes && op->node->access->write != NULL;
}

static void arrive(struct sg_node_op *op)
{
    bool is_root = sg_broadcast_is_root(op);
    struct place place = {(uint64_t)(uintptr_t)(is_root ? op->call.send : op->call.receive),
                          is_root && writes(op)};

    memcpy(sg_ring_line(op->node, op->position, op->node->rank)->payload, &place, sizeof place);
    sg_op_publish(op, SG_TOLD);
    sg_stage_begin(op);
}

static bool read_span(struct sg_node_op *op, uint64_t address, size_t at, size_t bytes)
{
    const struct sg_node_access *access = op->node->access;

    op->copies++;
    return access->read(access->context, op->call.root, address + at, (char *)op->call.receive + at,
                        bytes);
}

/* Reads all blocks that the root does not write. False: failed. */
static bool read_rest(struct sg_node_op *op)
{
    struct place place = place_of(op, op->call.root);
    uint32_t block;

    if (!place.writes)
        return read_span(op, place.address, 0, size_of(op));
    while (take(op, op->node->rank, &block)) {
        size_t at, bytes = span_of(op, block, &at);

        if (!read_span(op, place.address, at, bytes))
            return false;
    }
    return true;
}

static void write_block(struct sg_node_op *op, int rank, uint32_t block)
{
    struct sg_node_access *access = op->node->access;
    size_t at, bytes = span_of(op, block, &at);

    op->copies++;
    if (access->write(access->context, rank, place_of(op, rank).address + at,
                      (const char *)op->call.send + at, bytes))
        return;
    access->write = NULL;
    sg_op_say_failed(op);
}

/* Writes one block of each reader that has arrived. False: only blocks that others copy are left.
 */
static bool write_blocks(struct sg_node_op *op)
{
    bool is_left = false;
    uint32_t block;

    for (int rank = 0; rank < op->node->ranks && writes(op); rank++) {
        if (rank == op->call.root)
            continue;
        if (!sg_op_sees(op, rank)) {
            is_left = true;
        } else if (op->mismatch_rank >= 0) {
            op->mismatch_rank = -1; /* the reader differs from this root, and handles that itself */
        } else if (take(op, rank, &block)) {
            write_block(op, rank, block);
            is_left = true;
        }
    }
    return is_left && writes(op);
}

/* ---- the call ---- */

/* False: not finished. */
static bool copy(struct sg_node_op *op)
{
    if (sg_broadcast_is_root(op))
        return !write_blocks(op);
    if (!sg_op_sees(op, op->call.root))
        return false;
    if (op->mismatch_rank >= 0)
        return true;
    sg_broadcast_find_skew(op);
    if (!read_rest(op))
        sg_op_say_failed(op);
    return true;
}

enum sg_node_step sg_pull_poll(struct sg_node_op *op)
{
    switch (op->state) {
    case SG_OP_START:
        arrive(op);
        op->state = SG_OP_ARRIVED;
        /* Return once: a rank that sleeps until this one has come need not sleep until it has
         * copied. */
        return SG_NODE_WAIT;
    case SG_OP_ARRIVED:
        if (!copy(op))
            return SG_NODE_WAIT;
        if (op->mismatch_rank >= 0)
            return SG_NODE_MISMATCH;
        sg_stage_done(op, SG_STAGE_FETCH);
        op->state = SG_OP_FETCHED;
        /* fall through */
    default:
        if (!sg_stage_all(op, SG_STAGE_FETCH, 1))
            return SG_NODE_WAIT;
    }
    if (sg_op_anyone_failed(op)) {
        /* This instance has transferred nothing: the next one begins the call again. */
        op->chunk_count = 0;
        op->call.method = SG_NODE_BROADCAST;
    }
    return SG_NODE_DONE;
}
