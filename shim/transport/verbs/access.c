/* One-sided access: each access is one request on the queue pair to the target, in the order of the
 * calls. Data to write is copied first, so its owner may change it at once. Data that is read goes
 * directly to its destination if that is registered, else through the same staging memory.
 *
 * A queue pair executes its requests in order, except for writes after a read or a fetch-and-add,
 * which need a fence to wait for it. Several processes of an endpoint each have a queue pair, with
 * no order between them: while the accesses of one are not `settled`, the others make none.
 *
 * The data of a write may reach memory after the word or the addition that announces it (adaptive
 * routing, relaxed ordering). So a seal follows data with a stamp: the stamp, and a hash of data
 * and stamp, like that of a channel's message. AWAIT checks it, and repeats a read that returned
 * incomplete data.
 */
#include "transport/verbs/access.h"

#include "core/hash.h"
#include "transport/verbs/verbs_channel.h"

#include <assert.h>
#include <string.h>

enum { FREE, UNDER_WAY, ANSWERED, OVER };

/* After this many looks at incomplete data, peers are probed for a sign of life. */
#define LOOKS_BEFORE_PROBE 65536u

/* ---- seals ----------------------------------------------------------------------------------- */

struct seal {
    uint64_t stamp, hash;
};

_Static_assert(SG_TRANSPORT_SEAL_BYTES == sizeof(struct seal) + 8, "and the padding before it");

static size_t sealed_bytes(const struct sg_action *action)
{
    return action->access.value == 0
               ? action->access.bytes
               : sg_transport_round(action->access.bytes, 8) + sizeof(struct seal);
}

static uint64_t hash_of(const unsigned char *data, const struct sg_action *action)
{
    return sg_hash_words(data, sealed_bytes(action) - sizeof(uint64_t));
}

static void put_seal(unsigned char *data, const struct sg_action *action)
{
    size_t bytes = action->access.bytes, at = sg_transport_round(bytes, 8);
    struct seal seal = {.stamp = action->access.value};

    memset(data + bytes, 0, at - bytes);
    memcpy(data + at, &seal, sizeof seal);
    seal.hash = hash_of(data, action);
    memcpy(data + at, &seal, sizeof seal);
}

static bool is_whole(const unsigned char *data, const struct sg_action *action)
{
    struct seal seal;

    /* Acquire: each look reads the current data. */
    atomic_thread_fence(memory_order_acquire);
    memcpy(&seal, data + sg_transport_round(action->access.bytes, 8), sizeof seal);
    return seal.stamp == action->access.value && seal.hash == hash_of(data, action);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static unsigned char *staged(const struct sg_transport *transport, size_t at)
{
    return transport->own + at % SG_VERBS_ACCESS_BYTES;
}

/* Reserves contiguous staging memory. False: none free at the moment. */
static bool stage(struct sg_transport *transport, size_t bytes, struct sg_verbs_access *access)
{
    size_t at = transport->staged_to, end;

    if (at % SG_VERBS_ACCESS_BYTES + bytes > SG_VERBS_ACCESS_BYTES)
        at = sg_transport_round(at, SG_VERBS_ACCESS_BYTES);
    end = sg_transport_round(at + bytes, SG_TRANSPORT_LINE_BYTES);
    if (end - transport->staged_from > SG_VERBS_ACCESS_BYTES)
        return false;
    access->staged_at = at;
    access->staged_end = end;
    transport->staged_to = end;
    return true;
}

/* Retires accesses in issue order, because the staging memory is a ring. */
static void retire(struct sg_transport *transport)
{
    while (transport->access_count > 0) {
        struct sg_verbs_access *access = &transport->accesses[transport->access_first];

        if (access->state != OVER)
            return;
        access->state = FREE;
        transport->staged_from = access->staged_end;
        transport->access_first = (transport->access_first + 1) % SG_VERBS_ACCESSES;
        transport->access_count--;
    }
}

void sg_verbs_access_done(struct sg_transport *transport, uint32_t index)
{
    struct sg_verbs_access *access = &transport->accesses[index];

    if (access->bytes > 0)
        memcpy(access->local, staged(transport, access->staged_at), access->bytes);
    access->state = access->reads && !access->again ? ANSWERED : OVER;
    transport->replies += access->reads && !access->again;
    transport->again -= access->again;
    retire(transport);
}

bool sg_verbs_access_reply(struct sg_transport *transport, struct sg_transport_message *out)
{
    struct sg_verbs_access *access;
    uint32_t index = transport->access_first;

    if (transport->replies == 0)
        return false;
    while (transport->accesses[index].state != ANSWERED)
        index = (index + 1) % SG_VERBS_ACCESSES;
    access = &transport->accesses[index];
    memset(out, 0, sizeof *out);
    out->is_reply = true;
    out->protocol = access->protocol;
    out->tag = access->tag;
    memcpy(out->value, staged(transport, access->staged_at), access->words * sizeof *out->value);
    access->state = OVER;
    transport->replies--;
    retire(transport);
    return true;
}

static bool is_registered(const struct sg_transport *transport, const void *data, size_t bytes)
{
    uintptr_t memory = (uintptr_t)transport->location.memory, at = (uintptr_t)data;

    return at >= memory && at - memory <= transport->location.memory_bytes &&
           transport->location.memory_bytes - (at - memory) >= bytes;
}

/* The bytes that an action moves, and their address at the other end. */
struct movement {
    enum ibv_wr_opcode opcode;
    const void *at; /* local equivalent of the remote address */
    size_t bytes;
};

static struct movement movement_of(const struct sg_action *action,
                                   const struct sg_transport_region *region)
{
    const unsigned char *slot =
        (const unsigned char *)region->slots + (size_t)action->access.remote * region->slot_bytes;
    const void *cell = region->cells + action->access.remote;

    switch ((enum sg_action_kind)action->kind) {
    case SG_ACTION_WRITE:
        return (struct movement){IBV_WR_RDMA_WRITE, slot, sealed_bytes(action)};
    case SG_ACTION_READ:
        return (struct movement){IBV_WR_RDMA_READ, slot, sealed_bytes(action)};
    case SG_ACTION_WRITE_CELL:
        return (struct movement){IBV_WR_RDMA_WRITE, cell, sizeof(uint64_t)};
    case SG_ACTION_FETCH_ADD:
        return (struct movement){IBV_WR_ATOMIC_FETCH_AND_ADD, cell, sizeof(uint64_t)};
    case SG_ACTION_READ_CELLS:
        return (struct movement){IBV_WR_RDMA_READ, cell, action->access.count * sizeof(uint64_t)};
    default:
        assert(!"one-sided");
    }
    return (struct movement){0};
}

static void check(const struct sg_action *action, const struct sg_transport_region *region)
{
    bool slots = action->kind == SG_ACTION_WRITE || action->kind == SG_ACTION_READ;
    uint32_t count = action->kind == SG_ACTION_READ_CELLS ? action->access.count : 1;

    assert(!slots || (action->access.remote < region->slots_count &&
                      sealed_bytes(action) <= region->slot_bytes &&
                      action->access.bytes <= SG_TRANSPORT_ACCESS_BYTES));
    assert(slots || (count <= 8 && count <= region->cells_count &&
                     action->access.remote <= region->cells_count - count));
    (void)slots;
    (void)count;
}

static void request_access(struct sg_transport *transport, struct sg_verbs_access *access,
                           const struct sg_action *action, const struct movement *movement,
                           void *local)
{
    const struct sg_verbs_peer *peer = &transport->peers[access->channel];
    struct sg_verbs_link *link = &transport->links[peer->link];
    uint64_t remote =
        link->memory + (uint64_t)((uintptr_t)movement->at - (uintptr_t)transport->location.memory);
    struct ibv_sge piece = {(uintptr_t)staged(transport, access->staged_at),
                            (uint32_t)movement->bytes, transport->own_region->lkey};
    struct ibv_send_wr request = {
        .sg_list = &piece, .num_sge = movement->bytes > 0, .opcode = movement->opcode};

    if (action->kind == SG_ACTION_READ && access->bytes == 0) {
        piece.addr = (uintptr_t)local;
        piece.lkey = transport->memory->lkey;
    }
    if (movement->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        request.wr.atomic.remote_addr = remote;
        request.wr.atomic.compare_add = action->access.value;
        request.wr.atomic.rkey = link->key;
    } else {
        request.wr.rdma.remote_addr = remote;
        request.wr.rdma.rkey = link->key;
    }
    if (!access->reads && link->reads > 0)
        request.send_flags |= IBV_SEND_FENCE;
    if (!access->reads && movement->bytes <= link->inline_bytes)
        request.send_flags |= IBV_SEND_INLINE;
    link->reads += access->reads;
    sg_verbs_post_request(transport, link, &request, SG_VERBS_OF_ACCESS,
                          (uint32_t)(access - transport->accesses));
}

static void fill_staged(struct sg_transport *transport, const struct sg_verbs_access *access,
                        const struct sg_action *action, const void *local)
{
    unsigned char *at = staged(transport, access->staged_at);

    if (action->kind == SG_ACTION_WRITE && action->access.bytes > 0)
        memcpy(at, local, action->access.bytes);
    if (action->kind == SG_ACTION_WRITE && action->access.value != 0)
        put_seal(at, action);
    else if (action->kind == SG_ACTION_WRITE_CELL)
        memcpy(at, &action->access.value, sizeof(uint64_t));
}

/* DONE: the data is complete. */
static enum sg_transport_result await(struct sg_transport *transport, int self,
                                      const struct sg_action *action,
                                      const struct sg_transport_region *region, void *local)
{
    struct sg_action read = *action;

    if (is_whole(local, action) || sg_verbs_has_failed(transport))
        return SG_TRANSPORT_DONE;
    if (++transport->looks % LOOKS_BEFORE_PROBE == 0)
        sg_verbs_probe(transport);
    sg_verbs_poll(transport);
    if (action->to < 0 || transport->again > 0)
        return SG_TRANSPORT_FULL;
    read.kind = SG_ACTION_READ;
    if (sg_verbs_access(transport, self, &read, region, local, NULL) == SG_TRANSPORT_LATER &&
        !sg_verbs_has_failed(transport)) {
        struct sg_verbs_access *last =
            &transport->accesses[(transport->access_first + transport->access_count - 1) %
                                 SG_VERBS_ACCESSES];

        last->again = true;
        transport->again++;
    }
    return SG_TRANSPORT_FULL;
}

enum sg_transport_result sg_verbs_access(struct sg_transport *transport, int self,
                                         const struct sg_action *action,
                                         const struct sg_transport_region *region, void *local,
                                         uint64_t value[8])
{
    uint32_t index = (transport->access_first + transport->access_count) % SG_VERBS_ACCESSES;
    struct sg_verbs_access *access = &transport->accesses[index];
    bool reads = action->kind != SG_ACTION_WRITE && action->kind != SG_ACTION_WRITE_CELL;
    enum sg_transport_result result = reads ? SG_TRANSPORT_LATER : SG_TRANSPORT_DONE;
    struct movement movement;
    uint32_t channel;
    bool in_place;

    if (action->kind == SG_ACTION_AWAIT)
        return await(transport, self, action, region, local);
    movement = movement_of(action, region);
    channel = sg_verbs_channel_of(transport, action->to) - 1;
    in_place = action->kind == SG_ACTION_READ && is_registered(transport, local, movement.bytes);
    check(action, region);
    assert(self == transport->location.self && channel != UINT32_MAX);
    if (sg_verbs_has_failed(transport))
        return result;
    if (transport->access_count == SG_VERBS_ACCESSES ||
        !sg_verbs_has_room(transport, &transport->links[transport->peers[channel].link]) ||
        !stage(transport, in_place ? 0 : movement.bytes, access)) {
        sg_verbs_poll(transport);
        return SG_TRANSPORT_FULL;
    }
    access->state = UNDER_WAY;
    access->reads = reads;
    access->again = false;
    access->channel = channel;
    access->tag = action->access.tag;
    access->protocol = region->protocol;
    access->words = action->kind == SG_ACTION_FETCH_ADD    ? 1
                    : action->kind == SG_ACTION_READ_CELLS ? action->access.count
                                                           : 0;
    access->bytes = action->kind == SG_ACTION_READ && !in_place ? (uint32_t)movement.bytes : 0;
    access->local = local;
    transport->access_count++;
    fill_staged(transport, access, action, local);
    request_access(transport, access, action, &movement, local);
    return result;
}
