/* All ranks of a communicator between machines open the transport together, and connect each
 * endpoint to those that its protocols talk to.
 *
 * A protocol's peers follow from its parameters, the operation and the root, so all ranks know
 * alike for which roots endpoints are connected. Set-up connects what barriers, allreduces and
 * reduces to rank 0 need, and what reduces to all roots need if these have few neighbours together
 * (those of bypass are at distances of powers of two). The first blocking call that needs more
 * connects it. Until then a nonblocking call, which never waits for others, is MPICH's.
 */
#include "internode/connect.h"

#include "core/status.h"
#include "internode/endpoint.h"
#include "internode/health.h"
#include "internode/nonblocking.h"
#include "mpi/observer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTE_BYTES 256

/* ---- connecting ---- */

enum { NOT_KNOWN, REACHED, BEYOND_REACH };

static uint8_t *reached(const struct sg_span *span, uint32_t object, int root_endpoint)
{
    return &span->reached[(size_t)object * (size_t)(span->endpoints + 1) +
                          (size_t)(root_endpoint + 1)];
}

struct peers {
    int32_t *list; /* of endpoints, once each */
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

static void add_peers(const struct sg_span *span, uint32_t index, enum sg_operation operation,
                      int32_t root, int32_t *scratch, struct peers *peers)
{
    const struct sg_span_object *object = &span->objects[index];
    int count;

    if (object->algo == NULL || (object->algo->operations & 1u << operation) == 0)
        return;
    count = object->algo->peers(&object->setup, operation, root, scratch, span->endpoints);
    for (int i = 0; i < count; i++)
        add_peer(peers, scratch[i]);
    *reached(span, index, root) = REACHED;
}

/* More nodes than this are not looked at for all roots. */
#define NODES_FOR_ALL_ROOTS 64
/* Neighbours that an endpoint may have for all roots of a protocol, beside two for each level. */
#define NEIGHBOURS_BESIDE 2

/* The most neighbours that some endpoint has in the reduces of an object to all roots: the same
 * number on every rank. scratch: of two times the endpoints. */
static int neighbours_for_all_roots(const struct sg_span *span, const struct sg_span_object *object,
                                    int32_t *scratch)
{
    struct sg_algo_setup setup = object->setup;
    int most = 0;

    for (setup.rank = 0; setup.rank < span->endpoints; setup.rank++) {
        struct peers peers = {scratch + span->endpoints, 0};

        for (int32_t root = 0; root < span->endpoints; root++) {
            int count =
                object->algo->peers(&setup, SG_OPERATION_REDUCE, root, scratch, span->endpoints);

            for (int i = 0; i < count; i++)
                add_peer(&peers, scratch[i]);
        }
        most = peers.count > most ? peers.count : most;
    }
    return most;
}

static int levels_of(int endpoints)
{
    int levels = 0;

    while (1 << levels < endpoints)
        levels++;
    return levels;
}

static bool has_few_for_all_roots(const struct sg_span *span, uint32_t index, int32_t *scratch)
{
    const struct sg_span_object *object = &span->objects[index];

    return span->endpoints <= NODES_FOR_ALL_ROOTS && object->algo != NULL &&
           (object->algo->operations & 1u << SG_OPERATION_REDUCE) != 0 &&
           neighbours_for_all_roots(span, object, scratch) <=
               2 * levels_of(span->endpoints) + NEIGHBOURS_BESIDE;
}

/* Those of one reduce; NULL: what is usual. */
struct wanted {
    uint32_t object;
    int32_t root;
};

static void add_wanted(const struct sg_span *span, const struct wanted *wanted, int32_t *scratch,
                       struct peers *peers)
{
    int32_t *more = peers->list + span->endpoints;
    int32_t asking = span->has_home && span->endpoint == 0 ? span->endpoints : span->has_home;

    if (wanted != NULL) {
        add_peers(span, wanted->object, SG_OPERATION_REDUCE, wanted->root, scratch, peers);
        return;
    }
    /* Everybody asks the home, itself included. */
    for (int32_t peer = 0; peer < asking; peer++)
        add_peer(peers, peer);
    for (uint32_t object = 0; object < (uint32_t)span->object_count; object++) {
        add_peers(span, object, SG_OPERATION_BARRIER, -1, scratch, peers);
        add_peers(span, object, SG_OPERATION_ALLREDUCE, -1, scratch, peers);
        add_peers(span, object, SG_OPERATION_REDUCE, span->endpoint_of[0], scratch, peers);
        if (!has_few_for_all_roots(span, object, more))
            continue;
        for (int32_t root = 0; root < span->endpoints; root++)
            add_peers(span, object, SG_OPERATION_REDUCE, root, scratch, peers);
    }
}

/* An endpoint that was one before is not another. */
static void keep_peers(struct sg_span *span, const struct peers *peers)
{
    struct peers kept = {span->peers, span->peer_count};

    for (int i = 0; i < peers->count; i++) {
        if (peers->list[i] != span->endpoint)
            add_peer(&kept, peers->list[i]);
    }
    span->peer_count = kept.count;
}

/* Collective, whatever memory this rank has. */
static enum sg_status connect_to(struct sg_span *span, const struct wanted *wanted)
{
    size_t room = (size_t)span->endpoints;
    int32_t *scratch = calloc(4 * room, sizeof *scratch); /* peers from the second part on */
    struct peers peers = {.list = scratch != NULL ? scratch + room : NULL};
    int first_without;
    enum sg_status status =
        sg_exchange_agree(span->place.exchange, scratch != NULL, &first_without);

    if (status == SG_OK && first_without >= 0)
        status = SG_ERR_MEMORY;
    if (status == SG_OK) {
        add_wanted(span, wanted, scratch, &peers);
        status = span->wire->connect(span->transport, peers.list, peers.count);
    }
    if (status == SG_OK)
        keep_peers(span, &peers);
    free(scratch);
    return status;
}

/* ---- opening ---- */

static struct sg_span *span_of(struct sg_progress_client *client)
{
    return (struct sg_span *)((char *)client - offsetof(struct sg_span, client));
}

static bool poll_client(struct sg_progress_client *client)
{
    return sg_span_look(span_of(client));
}

static void advance_client(struct sg_progress_client *client)
{
    sg_span_advance(span_of(client));
}

static void check_client(struct sg_progress_client *client)
{
    sg_span_mind(span_of(client));
}

static const struct sg_progress_ops progress_ops = {poll_client, advance_client, check_client};

enum sg_status sg_span_open(struct sg_span *span)
{
    enum sg_status status = span->ops->open(&span->transport_setup,
                                            sg_span_at(span, span->transport_at), &span->transport);

    if (status != SG_OK)
        return status;
    span->client.ops = &progress_ops;
    span->client.bell = &sg_span_endpoint(span, span->endpoint)->bell;
    span->client.serves = sg_span_serves(span);
    span->client.has_companions = span->locals > 1;
    span->client.is_polled = span->is_polled;
    span->client.wire = span->wire;
    span->client.transport = span->transport;
    if (!sg_progress_add(&span->client)) {
        errno = ENOSPC;
        return SG_ERR_FULL;
    }
    return SG_OK;
}

enum sg_status sg_span_link(struct sg_span *span)
{
    const struct sg_exchange *exchange = span->place.exchange;
    enum sg_status opened, status;
    int first_failed;

    span->place.memory = span->header;
    span->place.memory_bytes = span->size_bytes;
    span->place.self = span->endpoint;
    span->place.index = span->index_of[span->endpoint];
    span->place.server = span->local;
    span->place.servers = span->servers;
    span->transport_setup.place = &span->place;
    span->reached = calloc((size_t)span->object_count, (size_t)span->endpoints + 1);
    span->peers = calloc((size_t)span->endpoints, sizeof *span->peers);
    opened = sg_span_open(span);
    status = sg_exchange_agree(
        exchange, opened == SG_OK && span->reached != NULL && span->peers != NULL, &first_failed);
    if (status != SG_OK)
        return status;
    if (first_failed >= 0) {
        if (opened == SG_OK && first_failed == span->rank)
            sg_log("rank %d: no memory for RDMA: collectives of a communicator of %d ranks pass "
                   "through",
                   span->rank, span->ranks);
        return SG_ERR_SYSTEM;
    }
    status = connect_to(span, NULL);
    if (status == SG_OK && span->local == 0 && span->servers < span->locals)
        atomic_store(&sg_span_endpoint(span, span->endpoint)->master, 1 + sg_progress_serve());
    return status;
}

void sg_span_note_usage(struct sg_span *span)
{
    struct sg_transport_usage usage;
    char text[NOTE_BYTES];

    if (span->noted)
        return;
    span->noted = true;
    span->wire->usage(span->transport, &usage);
    snprintf(text, sizeof text,
             "%s of a communicator of %d ranks: %u connections, %llu bytes registered, "
             "%llu work requests, %llu multicasts, %llu repeated%s",
             span->ops->name, span->ranks, usage.connections,
             (unsigned long long)usage.registered_bytes, (unsigned long long)usage.requests,
             (unsigned long long)usage.multicasts, (unsigned long long)usage.repeats,
             usage.has_multicast ? "" : ", releases along a tree");
    sg_trace_event_line(SG_TRACE_LINE_NOTE, text);
}

bool sg_span_is_linked(const struct sg_span *span)
{
    return span->wire != NULL;
}

bool sg_span_reaches(struct sg_span *span, const struct sg_span_plan *plan,
                     const struct sg_call *call, bool sets_up)
{
    int root = call->root >= 0 ? span->endpoint_of[call->root] : -1;
    uint8_t *known;

    if (span->wire == NULL)
        return true;
    known = reached(span, plan->object, root);
    if (*known == NOT_KNOWN && sets_up) {
        struct wanted wanted = {plan->object, root};

        if (connect_to(span, &wanted) != SG_OK)
            *known = BEYOND_REACH;
    }
    return *known == REACHED;
}
