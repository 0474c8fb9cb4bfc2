/* Opens the transport, collectively on a communicator between machines, and connects each endpoint
 * to the peers of its protocols.
 *
 * A protocol computes its peers from its parameters, the operation and the root; they are as few as
 * levels of a tree. Set-up connects the peers of barriers, allreduces, reduces to rank 0 and
 * broadcasts from it. It also connects those of all roots if they are few in total (those of bypass
 * are at distances of powers of two). If the protocol carries messages, set-up connects all to all.
 * The first blocking call that needs other connections makes them. Until then MPICH runs a
 * nonblocking call that needs them, because it must not wait for other ranks. Ranks agree on what
 * they connect, so every rank knows for which calls all endpoints are connected.
 *
 * A health check finds failed connections, and ranks in different calls; it ends the job.
 */
#include "internode/connect.h"

#include "algos/broadcast.h"
#include "algos/tree.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/status.h"
#include "internode/endpoint.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 256

/* ---- connections ---- */

/* Roots that are connected one by one, over all protocols. */
#define ROOTS_MAX 1024u
/* Neighbours allowed for all roots of a protocol, in addition to two for each tree level. */
#define NEIGHBOURS_BESIDE 2

#define BIT(operation) (1u << (operation))
#define ROOTLESS (BIT(SG_OPERATION_BARRIER) | BIT(SG_OPERATION_ALLREDUCE))
#define ROOTED (BIT(SG_OPERATION_REDUCE) | BIT(SG_OPERATION_BCAST))

/* The calls for which a protocol is connected: none, those without a root and with root 0, or all.
 * Set-up agrees on the least of all ranks. */
enum { NOTHING, ROOT_0, ALL_ROOTS };

struct known_root {
    uint32_t protocol; /* + 1; 0: the entry is free */
    int32_t root;
};

/* Connected roots, by hash; at most half full. room: 0 or a power of two. */
struct known_roots {
    struct known_root *list;
    uint32_t count, room;
};

struct sg_internode_links {
    uint64_t extents[SG_INTERNODE_PROTOCOLS_MAX];
    bool is_full[SG_INTERNODE_PROTOCOLS_MAX]; /* no other root can be connected */
    struct known_roots roots;
    int peer_count;
    int32_t peers[SG_TRANSPORT_PEERS_MAX]; /* connected endpoints */
};

/* Adds the peers of the operations that the protocol has, or none of them: false if there are too
 * many, of one operation or in total. */
static __attribute__((noinline)) bool gather(struct sg_peers *into,
                                             const struct sg_internode_protocol *protocol,
                                             uint32_t operations, int32_t root, int most)
{
    int32_t before[SG_TRANSPORT_PEERS_MAX], peers[SG_TRANSPORT_PEERS_MAX];
    int count_before = into->count, count = 0;

    memcpy(before, into->out, (size_t)into->count * sizeof *before);
    for (int operation = 0; operation < SG_OPERATION_COUNT && count >= 0; operation++) {
        if ((operations & protocol->algo->operations & BIT(operation)) == 0)
            continue;
        count = protocol->algo->peers(&protocol->setup, (enum sg_operation)operation, root, peers,
                                      most);
        for (int i = 0; i < count; i++)
            sg_peers_add(into, peers[i]);
    }
    if (count >= 0 && !into->is_short)
        return true;
    memcpy(into->out, before, (size_t)count_before * sizeof *before);
    into->count = count_before;
    into->is_short = false;
    return false;
}

/* Adds the peers of a protocol's calls, of as many as `extent` allows. Returns of which. */
static uint64_t gather_extent(struct sg_peers *into, const struct sg_internode_protocol *protocol,
                              uint64_t extent)
{
    int most = into->capacity;
    int few = 2 * sg_tree_levels(protocol->setup.size) + NEIGHBOURS_BESIDE;

    if (protocol->algo == NULL || extent == NOTHING ||
        !gather(into, protocol, ROOTLESS, -1, most) || !gather(into, protocol, ROOTED, 0, most))
        return NOTHING;
    return extent == ALL_ROOTS &&
                   gather(into, protocol, ROOTED, SG_PEERS_OF_ALL_ROOTS, few < most ? few : most)
               ? ALL_ROOTS
               : ROOT_0;
}

/* Adds the peers of set-up, and changes the extents to those that have fit. Every endpoint asks the
 * coordinator, including the coordinator's own. Carried messages may go to any endpoint, including
 * the sender's own. */
static void gather_first(const struct sg_internode *internode, uint64_t *extents,
                         struct sg_peers *into)
{
    bool names_all = internode->messages_protocol >= 0 ||
                     (internode->has_coordinator && internode->endpoint == 0);
    int32_t first = names_all ? internode->endpoints : internode->has_coordinator;

    for (int32_t peer = 0; peer < first; peer++)
        sg_peers_add(into, peer);
    for (int i = 0; i < internode->protocol_count; i++)
        extents[i] = gather_extent(into, &internode->protocols[i], extents[i]);
}

/* Collective. */
static enum sg_status connect_to(struct sg_internode *internode, const struct sg_peers *peers)
{
    struct sg_internode_links *links = internode->links;
    struct sg_peers all = sg_peers_into(links->peers, SG_TRANSPORT_PEERS_MAX);
    enum sg_status status =
        internode->remote->connect(internode->transport, peers->out, peers->count);

    if (status != SG_OK)
        return status;
    /* Under the lock: tell_peers. */
    sg_endpoint_lock(internode);
    all.count = links->peer_count;
    for (int i = 0; i < peers->count; i++) {
        if (peers->out[i] != internode->endpoint)
            sg_peers_add(&all, peers->out[i]);
    }
    links->peer_count = all.count;
    sg_endpoint_unlock(internode);
    return SG_OK;
}

/* Collective: connects the peers of set-up. Protocols with more peers on some rank than a transport
 * connects are left out on all ranks. */
static enum sg_status connect_first(struct sg_internode *internode)
{
    uint64_t *extents = internode->links->extents;
    int32_t list[SG_TRANSPORT_PEERS_MAX];
    int most = sg_transport_peers_max(internode->endpoints);
    struct sg_peers peers = sg_peers_into(list, most);
    enum sg_status status;

    for (int i = 0; i < internode->protocol_count; i++)
        extents[i] = ALL_ROOTS;
    gather_first(internode, extents, &peers);
    status = sg_exchange_combine(internode->location.exchange, SG_COMBINE_LEAST, extents,
                                 internode->protocol_count);
    if (status != SG_OK)
        return status;
    peers = sg_peers_into(list, most);
    gather_first(internode, extents, &peers);
    return connect_to(internode, &peers);
}

/* ---- roots ---- */

static struct known_root *root_at(const struct known_roots *roots, uint32_t protocol, int32_t root)
{
    uint32_t at = (uint32_t)sg_hash_mix((uint64_t)protocol << 32 | (uint32_t)root);

    for (;; at++) {
        struct known_root *known = &roots->list[at & (roots->room - 1)];

        if (known->protocol == 0 || (known->protocol == protocol + 1 && known->root == root))
            return known;
    }
}

/* False: there is no room for another root. */
static bool grow(struct known_roots *roots)
{
    struct known_roots larger = {.count = roots->count,
                                 .room = roots->room > 0 ? 2 * roots->room : 16};

    if (2 * roots->count < roots->room)
        return true;
    if (larger.room > 2 * ROOTS_MAX)
        return false;
    larger.list = calloc(larger.room, sizeof *larger.list);
    if (larger.list == NULL)
        return false;
    for (uint32_t i = 0; i < roots->room; i++) {
        const struct known_root *known = &roots->list[i];

        if (known->protocol != 0)
            *root_at(&larger, known->protocol - 1, known->root) = *known;
    }
    free(roots->list);
    *roots = larger;
    return true;
}

/* Collective: connects the protocol's peers for a root, if all ranks can. */
static bool connect_root(struct sg_internode *internode, uint32_t index, int32_t root)
{
    const struct sg_internode_protocol *protocol = &internode->protocols[index];
    struct sg_internode_links *links = internode->links;
    int32_t list[SG_TRANSPORT_PEERS_MAX];
    int most = sg_transport_peers_max(internode->endpoints);
    struct sg_peers peers = sg_peers_into(list, most);
    uint64_t fits;

    for (int i = 0; i < links->peer_count; i++)
        sg_peers_add(&peers, links->peers[i]);
    fits = gather(&peers, protocol, ROOTED, root, most) && grow(&links->roots);
    if (sg_exchange_combine(internode->location.exchange, SG_COMBINE_LEAST, &fits, 1) != SG_OK ||
        !fits || connect_to(internode, &peers) != SG_OK)
        return false;
    *root_at(&links->roots, index, root) = (struct known_root){index + 1, root};
    links->roots.count++;
    return true;
}

bool sg_internode_reaches(struct sg_internode *internode, uint32_t protocol, int32_t root,
                          bool sets_up)
{
    struct sg_internode_links *links = internode->links;

    if (links->extents[protocol] == ALL_ROOTS || root <= 0)
        return links->extents[protocol] != NOTHING;
    if (links->roots.room > 0 && root_at(&links->roots, protocol, root)->protocol != 0)
        return true;
    if (!sets_up || links->extents[protocol] == NOTHING || links->is_full[protocol])
        return false;
    links->is_full[protocol] = !connect_root(internode, protocol, root);
    return !links->is_full[protocol];
}

void sg_internode_lose_links(struct sg_internode *internode)
{
    if (internode->links != NULL)
        free(internode->links->roots.list);
    free(internode->links);
}

/* ---- opening ---- */

enum sg_status sg_internode_open(struct sg_internode *internode)
{
    enum sg_status status = internode->ops->open(
        &internode->transport_setup, sg_internode_at(internode, internode->transport_at),
        &internode->transport);

    if (status != SG_OK)
        return status;
    internode->client.doorbell = &sg_internode_endpoint(internode, internode->endpoint)->doorbell;
    internode->client.serves = sg_internode_serves(internode);
    internode->client.has_companions = internode->locals > 1;
    internode->client.is_polled = internode->is_polled;
    internode->client.remote = internode->remote;
    internode->client.transport = internode->transport;
    if (!sg_progress_add(&internode->client)) {
        errno = ENOSPC;
        return SG_ERR_FULL;
    }
    return SG_OK;
}

enum sg_status sg_internode_link(struct sg_internode *internode)
{
    const struct sg_exchange *exchange = internode->location.exchange;
    enum sg_status opened, status;
    int first_failed;

    internode->location.memory = internode->header;
    internode->location.memory_bytes = internode->size_bytes;
    internode->location.self = internode->endpoint;
    internode->location.index = internode->index;
    internode->location.ranks = &internode->by_endpoint;
    internode->location.machines = &internode->by_machine;
    internode->location.servers_max = internode->servers_max;
    internode->location.server = internode->local;
    internode->location.servers = internode->servers;
    internode->transport_setup.location = &internode->location;
    internode->links = calloc(1, sizeof *internode->links);
    opened = sg_internode_open(internode);
    status =
        sg_exchange_agree(exchange, opened == SG_OK && internode->links != NULL, &first_failed);
    if (status != SG_OK)
        return status;
    if (first_failed >= 0) {
        if (opened == SG_OK && first_failed == internode->rank)
            sg_log("rank %d: no memory for RDMA: MPICH runs the collectives of a communicator of "
                   "%d ranks",
                   internode->rank, internode->ranks);
        return SG_ERR_SYSTEM;
    }
    status = connect_first(internode);
    if (status == SG_OK && internode->local == 0 && internode->servers < internode->locals)
        atomic_store(&sg_internode_endpoint(internode, internode->endpoint)->master,
                     1 + sg_progress_serve());
    return status;
}

void sg_internode_note_usage(struct sg_internode *internode)
{
    struct sg_transport_usage usage;
    char text[NOTE_BYTES];

    if (internode->noted)
        return;
    internode->noted = true;
    internode->remote->usage(internode->transport, &usage);
    snprintf(text, sizeof text,
             "%s of a communicator of %d ranks: %u connections, %llu bytes registered, "
             "%llu work requests, %llu multicasts, %llu repeated%s",
             internode->ops->name, internode->ranks, usage.connections,
             (unsigned long long)usage.registered_bytes, (unsigned long long)usage.requests,
             (unsigned long long)usage.multicasts, (unsigned long long)usage.repeats,
             usage.has_multicast ? "" : ", releases along a tree");
    sg_trace_event_line(SG_TRACE_LINE_NOTE, text);
}

bool sg_internode_is_linked(const struct sg_internode *internode)
{
    return internode->remote != NULL;
}

/* ---- health ---- */

#define RANKS_TEXT_BYTES 64
#define HOST_TEXT_BYTES 256

#define PROBE_NS UINT64_C(1000000000)

/* Names an endpoint's ranks: "3", "4 to 7" for consecutive ranks, else the first "and others". */
static const char *name_ranks(const struct sg_internode *internode, int endpoint,
                              char text[RANKS_TEXT_BYTES], int *first)
{
    int count = sg_grouping_size(&internode->by_endpoint, endpoint);
    int last = sg_grouping_item(&internode->by_endpoint, endpoint, count - 1);

    *first = sg_grouping_first(&internode->by_endpoint, endpoint);
    if (count == 1)
        snprintf(text, RANKS_TEXT_BYTES, "rank %d", *first);
    else if (last - *first + 1 == count)
        snprintf(text, RANKS_TEXT_BYTES, "ranks %d to %d", *first, last);
    else
        snprintf(text, RANKS_TEXT_BYTES, "rank %d and others", *first);
    return text;
}

static const char *host_of(const struct sg_internode *internode, int rank)
{
    return internode->host_of(internode->location.exchange, rank);
}

static void __attribute__((noreturn)) end_job(void)
{
    sg_log_drain();
    sg_real.Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void report_foreign(const struct sg_internode *internode, uint64_t foreign)
{
    const struct sg_rank_state *info = sg_internode_own_state(internode);
    int32_t from = sg_internode_endpoint(internode, internode->endpoint)->foreign_from;
    char call[SG_REPORT_CALL_BYTES], ranks[RANKS_TEXT_BYTES];
    bool is_in = atomic_load_explicit(&info->position, memory_order_relaxed) == foreign;
    int first;

    name_ranks(internode, from, ranks, &first);
    sg_report_line(
        SG_TRACE_LINE_MISMATCH,
        "ranks of one communicator disagree on a collective: rank %d is in %s, %s on %s in a call "
        "with another operation, size, root, form or use of MPI_IN_PLACE; aborting the job",
        internode->rank, is_in ? sg_report_call(&info->call, call) : "a call that it has left",
        ranks, host_of(internode, first));
    end_job();
}

static void report_fault(const struct sg_internode *internode,
                         const struct sg_transport_fault *fault)
{
    char ranks[RANKS_TEXT_BYTES], other[RANKS_TEXT_BYTES + HOST_TEXT_BYTES] = "all others";
    bool is_about_others = fault->peer != SG_TRANSPORT_NOBODY;
    int first;

    if (fault->peer >= 0) {
        name_ranks(internode, fault->peer, ranks, &first);
        snprintf(other, sizeof other, "%s on %s", ranks, host_of(internode, first));
    }
    if (fault->is_own)
        sg_log("rank %d on %s: its RDMA adapter failed%s%s (%s); aborting the job", internode->rank,
               host_of(internode, internode->rank), is_about_others ? " on the way to " : "",
               is_about_others ? other : "", fault->what);
    else
        sg_log("rank %d on %s: %s can no longer be reached (%s); aborting the job", internode->rank,
               host_of(internode, internode->rank), other, fault->what);
    end_job();
}

/* Under the lock: notifies peers of the instances that ranks here wait for, once for each instance.
 * Ranks in different calls may wait for messages that nobody will send; these notices reveal it. If
 * a channel is full, the peer has other messages to read. */
static void tell_peers(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    for (uint32_t i = 0; i < internode->depth; i++) {
        struct sg_internode_instance *place = &endpoint->instances[i];
        struct sg_transport_send message = {.protocol = (uint64_t)sg_endpoint_note(internode, place)
                                                            << 32 |
                                                        SG_INTERNODE_NOTE_ONLY};

        if (place->arrived == 0 || place->told ||
            atomic_load_explicit(&place->finished, memory_order_relaxed) > place->position)
            continue;
        place->told = true;
        for (int peer = 0; peer < internode->links->peer_count; peer++)
            internode->ops->send(internode->transport, internode->endpoint,
                                 internode->links->peers[peer], &message);
    }
}

/* Runs every second while something is outstanding, in one thread at a time. */
static void probe(struct sg_internode *internode)
{
    uint64_t now_ns = sg_clock_ns();
    uint64_t before_ns = atomic_load_explicit(&internode->probed_ns, memory_order_relaxed);

    if (now_ns - before_ns < PROBE_NS ||
        !atomic_compare_exchange_strong(&internode->probed_ns, &before_ns, now_ns))
        return;
    sg_endpoint_lock(internode);
    internode->remote->probe(internode->transport);
    tell_peers(internode);
    sg_endpoint_unlock(internode);
}

void sg_internode_check_health(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    /* Acquire: the other endpoint is known. */
    uint64_t foreign = atomic_load_explicit(&endpoint->foreign, memory_order_acquire);
    struct sg_transport_fault fault;

    if (internode->remote == NULL)
        return;
    if (foreign != 0)
        report_foreign(internode, foreign);
    if (internode->remote->fault(internode->transport, &fault))
        report_fault(internode, &fault);
    /* A process that does not serve the endpoint has no connections. */
    if (sg_internode_serves(internode) &&
        (atomic_load_explicit(&endpoint->doorbell.outstanding, memory_order_relaxed) > 0 ||
         internode->asking.is_waiting))
        probe(internode);
}
