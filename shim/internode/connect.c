/* Opens the transport, collectively on a communicator between machines, and connects each endpoint
 * to the peers of its protocols.
 *
 * A protocol's peers follow from its parameters, the operation and the root, so every rank knows
 * for which roots endpoints are connected. Set-up connects the peers of barriers, allreduces,
 * reduces to rank 0 and broadcasts from it. It also connects those of all roots if they are few in
 * total (those of bypass are at distances of powers of two). If the protocol carries messages,
 * set-up connects all to all. The first blocking call that needs other connections makes them.
 * Until then MPICH runs a nonblocking call that needs them, because it must not wait for other
 * ranks.
 *
 * A health check finds failed connections, and ranks in different calls; it ends the job.
 */
#include "internode/connect.h"

#include "algos/tree.h"
#include "core/clock.h"
#include "core/status.h"
#include "internode/endpoint.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTE_BYTES 256

/* ---- connecting ---- */

struct peers {
    int32_t *list; /* endpoints, without duplicates */
    int count;
};

static void add_peer(struct peers *peers, int32_t peer)
{
    for (int i = 0; i < peers->count; i++) {
        if (peers->list[i] == peer)
            return;
    }
    peers->list[peers->count++] = peer;
}

/* False: the protocol does not support the operation. */
static bool add_peers_of(const struct sg_internode_protocol *protocol,
                         const struct sg_algo_setup *setup, enum sg_operation operation,
                         int32_t root, int32_t *scratch, struct peers *peers)
{
    int count;

    if (protocol->algo == NULL || (protocol->algo->operations & 1u << operation) == 0)
        return false;
    count = protocol->algo->peers(setup, operation, root, scratch, setup->size);
    for (int i = 0; i < count; i++)
        add_peer(peers, scratch[i]);
    return true;
}

static void add_peers(const struct sg_internode *internode, uint32_t index,
                      enum sg_operation operation, int32_t root, int32_t *scratch,
                      struct peers *peers)
{
    const struct sg_internode_protocol *protocol = &internode->protocols[index];

    if (add_peers_of(protocol, &protocol->setup, operation, root, scratch, peers))
        *sg_internode_reached(internode, index, root) = SG_REACHED;
}

/* Adds the peers of reduces to that root and of broadcasts from it. */
static void add_rooted_peers(const struct sg_internode *internode, uint32_t index, int32_t root,
                             int32_t *scratch, struct peers *peers)
{
    add_peers(internode, index, SG_OPERATION_REDUCE, root, scratch, peers);
    add_peers(internode, index, SG_OPERATION_BCAST, root, scratch, peers);
}

/* With more nodes than this only root 0 is connected at set-up. */
#define NODES_FOR_ALL_ROOTS 64
/* Neighbours allowed for all roots of a protocol, in addition to two for each tree level. */
#define NEIGHBOURS_BESIDE 2

/* Largest number of neighbours of any endpoint over a protocol's calls of all roots: the same on
 * every rank. scratch: twice the number of endpoints. */
static int neighbours_for_all_roots(const struct sg_internode *internode,
                                    const struct sg_internode_protocol *protocol, int32_t *scratch)
{
    static const enum sg_operation rooted[] = {SG_OPERATION_REDUCE, SG_OPERATION_BCAST};
    struct sg_algo_setup setup = protocol->setup;
    int most = 0;

    for (setup.rank = 0; setup.rank < internode->endpoints; setup.rank++) {
        struct peers peers = {scratch + internode->endpoints, 0};

        for (int32_t root = 0; root < internode->endpoints; root++) {
            for (int i = 0; i < 2; i++)
                add_peers_of(protocol, &setup, rooted[i], root, scratch, &peers);
        }
        most = peers.count > most ? peers.count : most;
    }
    return most;
}

static bool has_few_for_all_roots(const struct sg_internode *internode, uint32_t index,
                                  int32_t *scratch)
{
    const struct sg_internode_protocol *protocol = &internode->protocols[index];

    return internode->endpoints <= NODES_FOR_ALL_ROOTS && protocol->algo != NULL &&
           (protocol->algo->operations & 1u << SG_OPERATION_REDUCE) != 0 &&
           neighbours_for_all_roots(internode, protocol, scratch) <=
               2 * sg_tree_levels(internode->endpoints) + NEIGHBOURS_BESIDE;
}

/* The root whose peers are added; NULL: add the peers of set-up. */
struct wanted {
    uint32_t protocol;
    int32_t root;
};

static void add_wanted(const struct sg_internode *internode, const struct wanted *wanted,
                       int32_t *scratch, struct peers *peers)
{
    int32_t *more = peers->list + internode->endpoints;
    bool names_all = internode->messages_protocol >= 0 ||
                     (internode->has_coordinator && internode->endpoint == 0);
    int32_t first = names_all ? internode->endpoints : internode->has_coordinator;

    if (wanted != NULL) {
        add_rooted_peers(internode, wanted->protocol, wanted->root, scratch, peers);
        return;
    }
    /* Every endpoint asks the coordinator, including the coordinator's own. Carried messages may go
     * to any endpoint, including the sender's own. */
    for (int32_t peer = 0; peer < first; peer++)
        add_peer(peers, peer);
    for (uint32_t protocol = 0; protocol < (uint32_t)internode->protocol_count; protocol++) {
        add_peers(internode, protocol, SG_OPERATION_BARRIER, -1, scratch, peers);
        add_peers(internode, protocol, SG_OPERATION_ALLREDUCE, -1, scratch, peers);
        add_rooted_peers(internode, protocol, internode->endpoint_of[0], scratch, peers);
        if (!has_few_for_all_roots(internode, protocol, more))
            continue;
        for (int32_t root = 0; root < internode->endpoints; root++)
            add_rooted_peers(internode, protocol, root, scratch, peers);
    }
}

/* Appends peers that are not listed yet. */
static void keep_peers(struct sg_internode *internode, const struct peers *peers)
{
    struct peers kept = {internode->peers, internode->peer_count};

    for (int i = 0; i < peers->count; i++) {
        if (peers->list[i] != internode->endpoint)
            add_peer(&kept, peers->list[i]);
    }
    internode->peer_count = kept.count;
}

/* Collective, even if this rank is out of memory. */
static enum sg_status connect_to(struct sg_internode *internode, const struct wanted *wanted)
{
    size_t room = (size_t)internode->endpoints;
    int32_t *scratch = calloc(4 * room, sizeof *scratch); /* the second half holds peers */
    struct peers peers = {.list = scratch != NULL ? scratch + room : NULL};
    int first_without;
    enum sg_status status =
        sg_exchange_agree(internode->location.exchange, scratch != NULL, &first_without);

    if (status == SG_OK && first_without >= 0)
        status = SG_ERR_MEMORY;
    if (status == SG_OK) {
        add_wanted(internode, wanted, scratch, &peers);
        status = internode->remote->connect(internode->transport, peers.list, peers.count);
    }
    if (status == SG_OK)
        keep_peers(internode, &peers);
    free(scratch);
    return status;
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
    internode->location.index = internode->index_of[internode->endpoint];
    internode->location.server = internode->local;
    internode->location.servers = internode->servers;
    internode->transport_setup.location = &internode->location;
    internode->reached =
        calloc((size_t)internode->protocol_count, (size_t)internode->endpoints + 1);
    internode->peers = calloc((size_t)internode->endpoints, sizeof *internode->peers);
    opened = sg_internode_open(internode);
    status = sg_exchange_agree(
        exchange, opened == SG_OK && internode->reached != NULL && internode->peers != NULL,
        &first_failed);
    if (status != SG_OK)
        return status;
    if (first_failed >= 0) {
        if (opened == SG_OK && first_failed == internode->rank)
            sg_log("rank %d: no memory for RDMA: MPICH runs the collectives of a communicator of "
                   "%d ranks",
                   internode->rank, internode->ranks);
        return SG_ERR_SYSTEM;
    }
    status = connect_to(internode, NULL);
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

bool sg_internode_reach(struct sg_internode *internode, uint32_t protocol, int root_endpoint)
{
    struct wanted wanted = {protocol, root_endpoint};
    uint8_t *known = sg_internode_reached(internode, protocol, root_endpoint);

    if (connect_to(internode, &wanted) != SG_OK)
        *known = SG_BEYOND_REACH;
    return *known == SG_REACHED;
}

/* ---- health ---- */

#define RANKS_TEXT_BYTES 64
#define HOST_TEXT_BYTES 256

#define PROBE_NS UINT64_C(1000000000)

/* Names an endpoint's ranks: "3", "4 to 7" for consecutive ranks, else the first "and others". */
static const char *name_ranks(const struct sg_internode *internode, int endpoint,
                              char text[RANKS_TEXT_BYTES], int *first)
{
    int last = -1, count = 0;

    *first = -1;
    for (int rank = 0; rank < internode->ranks; rank++) {
        if (internode->endpoint_of[rank] != endpoint)
            continue;
        if (*first < 0)
            *first = rank;
        last = rank;
        count++;
    }
    if (count == 1)
        snprintf(text, RANKS_TEXT_BYTES, "rank %d", *first);
    else if (last - *first + 1 == count)
        snprintf(text, RANKS_TEXT_BYTES, "ranks %d to %d", *first, last);
    else
        snprintf(text, RANKS_TEXT_BYTES, "rank %d and others", *first);
    return text;
}

static void __attribute__((noreturn)) end_job(void)
{
    sg_log_drain();
    sg_real.Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void report_foreign(const struct sg_internode *internode, uint64_t foreign)
{
    const struct sg_rank_state *info = sg_internode_rank_state(internode, internode->rank);
    uint64_t position = foreign >> 16;
    char call[SG_REPORT_CALL_BYTES], ranks[RANKS_TEXT_BYTES];
    bool is_in = atomic_load_explicit(&info->position, memory_order_relaxed) == position + 1;
    int first;

    name_ranks(internode, (int)(foreign & 0xffff) - 1, ranks, &first);
    sg_report_line(
        SG_TRACE_LINE_MISMATCH,
        "ranks of one communicator disagree on a collective: rank %d is in %s, %s on %s in a call "
        "with another operation, size, root, form or use of MPI_IN_PLACE; aborting the job",
        internode->rank, is_in ? sg_report_call(&info->call, call) : "a call that it has left",
        ranks, internode->hosts[first]);
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
        snprintf(other, sizeof other, "%s on %s", ranks, internode->hosts[first]);
    }
    if (fault->is_own)
        sg_log("rank %d on %s: its RDMA adapter failed%s%s (%s); aborting the job", internode->rank,
               internode->hosts[internode->rank], is_about_others ? " on the way to " : "",
               is_about_others ? other : "", fault->what);
    else
        sg_log("rank %d on %s: %s can no longer be reached (%s); aborting the job", internode->rank,
               internode->hosts[internode->rank], other, fault->what);
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
        for (int peer = 0; peer < internode->peer_count; peer++)
            internode->ops->send(internode->transport, internode->endpoint, internode->peers[peer],
                                 &message);
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
    uint64_t foreign = atomic_load_explicit(&endpoint->foreign, memory_order_relaxed);
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
