/* The worlds, numbered messages and peers of the contract tests (world.h). */
#include "transport/world.h"

#include "lib/unit.h"
#include "transport/faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Between machines: the longest that anything takes, and after how long a multicast is lost. */
#define REMOTE_SECONDS 120
#define REMOTE_LOST_SECONDS 3

static void need(bool condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

static void map(struct world *world)
{
    world->shared = mmap(NULL, world->bytes + WORLD_REGION_BYTES, PROT_READ | PROT_WRITE,
                         MAP_SHARED, world->file, 0);
    need((void *)world->shared != MAP_FAILED, "mmap");
    need(world->which->ops->open(&world->setup, world->shared, &world->transport) == SG_OK,
         "open of the transport");
}

void world_open(struct world *world, const struct world_case *which, uint32_t inflight,
                uint32_t staged, uint32_t eager_bytes)
{
    static const struct faulty_faults faults = {
        .seed = 7, .delay_percent = 30, .delay_ticks = 9, .loss_percent = 20, .repeat_percent = 20};

    faulty_set(&faults);
    memset(world, 0, sizeof *world);
    world->which = which;
    world->setup = (struct sg_transport_setup){.endpoints = WORLD_ENDPOINTS,
                                               .inflight = inflight,
                                               .staged = staged,
                                               .eager_bytes = eager_bytes};
    world->bytes = which->ops->shared_bytes(&world->setup);
    need(world->bytes > 0, "shared_bytes");
    world->file = memfd_create("transport", MFD_CLOEXEC);
    need(world->file >= 0 &&
             ftruncate(world->file, (off_t)(world->bytes + WORLD_REGION_BYTES)) == 0,
         "memfd");
    map(world);
}

void world_reopen(struct world *world)
{
    void *inherited = world->shared;

    map(world);
    need(munmap(inherited, world->bytes + WORLD_REGION_BYTES) == 0, "munmap");
}

void world_close(struct world *world)
{
    world->which->ops->close(world->transport);
    munmap(world->shared, world->bytes + WORLD_REGION_BYTES);
    close(world->file);
}

bool world_check(const struct world *world, bool condition, const char *file, unsigned line,
                 const char *text)
{
    if (!condition)
        printf("over %s:\n", world->which->ops->name);
    CU_assertImplementation(condition, line, text, file, "", CU_FALSE);
    return condition;
}

uint32_t world_random(uint64_t *random, uint32_t limit)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33) % limit;
}

/* ---- numbered messages ----------------------------------------------------------------------- */

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static uint64_t hash_of(int from, int to, uint32_t number)
{
    return mix(mix((uint64_t)from << 32 | (uint32_t)to) + number);
}

/* Nothing, a byte, what just fits beside a header, what does not, all that may be, anything. */
static uint32_t bytes_of(uint64_t hash, uint32_t room)
{
    static const uint32_t some[] = {0, 1, 8, 48, 144, 145, WORLD_EAGER_BYTES};
    uint32_t choice = (uint32_t)(hash >> 8) % 8;
    uint32_t bytes = choice < 7 ? some[choice] : (uint32_t)(hash >> 16) % (room + 1);

    return bytes < room ? bytes : room;
}

static struct sg_transport_send describe(int from, int to, uint32_t number, bool payload)
{
    static const uint8_t parts[] = {1, 1, 1, 1, 2, 3, 5, SG_PARTS_MAX};
    uint64_t hash = hash_of(from, to, number);
    struct sg_transport_send send = {.protocol = mix(hash), .solicited = hash >> 31 & 1};

    send.header.seq = number;
    send.header.kind = (uint8_t)hash;
    send.header.operation = payload;
    send.header.flags = (uint8_t)(hash >> 24);
    if (payload) {
        send.header.parts = parts[hash % 8];
        send.header.bytes = bytes_of(hash, WORLD_EAGER_BYTES / send.header.parts);
    }
    for (int i = 0; i < 5; i++)
        send.header.number[i] = (uint32_t)mix(hash + (uint64_t)i);
    return send;
}

uint32_t world_bytes(int from, int to, uint32_t number)
{
    struct sg_transport_send send = describe(from, to, number, true);

    return send.header.parts * send.header.bytes;
}

static unsigned char byte_of(uint64_t hash, int part, uint32_t at)
{
    return (unsigned char)(hash + (uint64_t)part * 31 + (uint64_t)at * 7 + (at >> 8));
}

static void note_sent(struct world *world, int self, int to)
{
    if (to != SG_TRANSPORT_ALL) {
        world->due[to]++;
        return;
    }
    for (int other = 0; other < world->setup.endpoints; other++)
        world->due_multicasts[other] += other != self;
}

enum sg_transport_result world_send(struct world *world, int self, int to, uint32_t number,
                                    bool payload)
{
    struct sg_transport_send send = describe(self, to, number, payload);
    uint64_t hash = hash_of(self, to, number);
    unsigned char data[WORLD_EAGER_BYTES + 1];
    const void *parts[SG_PARTS_MAX];

    for (int i = 0; i < send.header.parts; i++) {
        unsigned char *part = data + 1 + (size_t)i * send.header.bytes; /* not aligned */

        for (uint32_t at = 0; at < send.header.bytes; at++)
            part[at] = byte_of(hash, i, at);
        parts[i] = part;
    }
    send.parts = parts;
    enum sg_transport_result result = world->which->ops->send(world->transport, self, to, &send);
    if (result == SG_TRANSPORT_DONE)
        note_sent(world, self, to);
    memset(data, 0xa5, sizeof data); /* the sender's again */
    return result;
}

static bool try_receive(struct world *world, int self, struct sg_transport_message *out)
{
    const struct sg_transport_ops *ops = world->which->ops;
    _Atomic uint32_t *due;

    if (!ops->receive(world->transport, self, out))
        return false;
    due = out->message.multicast ? &world->due_multicasts[self] : &world->due[self];
    *due -= *due > 0;
    return true;
}

bool world_receive(struct world *world, int self, struct sg_transport_message *out)
{
    const struct sg_transport_ops *ops = world->which->ops;
    time_t start = time(NULL);

    /* A faulty one may take a while over what is pending. */
    while (!world_is_remote(world->which)) {
        if (!ops->pending(world->transport, self))
            return false;
        if (try_receive(world, self, out))
            return true;
    }
    while (!try_receive(world, self, out)) {
        time_t waited = time(NULL) - start;

        if (world->due[self] == 0 &&
            (world->due_multicasts[self] == 0 || waited > REMOTE_LOST_SECONDS)) {
            world->due_multicasts[self] = 0;
            return false;
        }
        need(waited <= REMOTE_SECONDS, "a message does not come");
    }
    return true;
}

bool world_is_quiet(struct world *world, int self)
{
    const struct sg_transport_ops *ops = world->which->ops;
    struct sg_transport_message message;

    if (!world_is_remote(world->which))
        return !ops->pending(world->transport, self);
    return world->due[self] == 0 && !ops->receive(world->transport, self, &message);
}

/* ---- access ---------------------------------------------------------------------------------- */

static bool is_settled(struct world *world)
{
    const struct sg_transport_remote_ops *remote = world->which->ops->remote;

    return remote == NULL || remote->settled(world->transport);
}

void world_access(struct world *world, int self, const struct sg_action *action,
                  const struct sg_transport_region *region, void *local, uint64_t value[8])
{
    const struct sg_transport_ops *ops = world->which->ops;
    struct sg_transport_message reply;
    time_t start = time(NULL);
    enum sg_transport_result result;

    while ((result = ops->access(world->transport, self, action, region, local, value)) ==
           SG_TRANSPORT_FULL)
        need(time(NULL) - start <= REMOTE_SECONDS, "an access is refused");
    if (result == SG_TRANSPORT_LATER) {
        while (!ops->receive(world->transport, self, &reply))
            need(time(NULL) - start <= REMOTE_SECONDS, "a reply does not come");
        need(reply.is_reply && reply.protocol == region->protocol &&
                 reply.tag == action->access.tag,
             "a message for a reply");
        memcpy(value, reply.value, sizeof reply.value);
    }
    while (!is_settled(world))
        need(time(NULL) - start <= REMOTE_SECONDS, "an access is not done");
}

struct sg_transport_region world_region(struct world *world, uint32_t slot_bytes,
                                        uint32_t slots_count, uint32_t cells_count)
{
    unsigned char *at = world->shared + world->bytes;
    size_t slots_bytes = ((size_t)slot_bytes * slots_count + 63) / 64 * 64;

    need(slots_bytes + cells_count * sizeof(uint64_t) <= WORLD_REGION_BYTES, "region");
    return (struct sg_transport_region){.protocol = 5,
                                        .slots = at,
                                        .cells = (_Atomic uint64_t *)(void *)(at + slots_bytes),
                                        .slot_bytes = slot_bytes,
                                        .slots_count = slots_count,
                                        .cells_count = cells_count};
}

/* ---- what is received ------------------------------------------------------------------------ */

bool world_is_whole(const struct sg_transport_message *message, int self)
{
    const struct sg_header *header = &message->message.header;
    int from = message->message.from, to = message->message.multicast ? SG_TRANSPORT_ALL : self;
    struct sg_transport_send send = describe(from, to, header->seq, header->operation != 0);
    uint64_t hash = hash_of(from, to, header->seq);
    size_t stride = (header->bytes + 15u) / 16 * 16;

    if (memcmp(header, &send.header, sizeof *header) != 0 || message->protocol != send.protocol ||
        message->solicited != send.solicited)
        return false;
    for (int i = 0; i < header->parts; i++) {
        const unsigned char *part = (const unsigned char *)message->parts + (size_t)i * stride;

        if ((uintptr_t)part % 16 != 0 && header->bytes > 0)
            return false;
        for (uint32_t at = 0; at < header->bytes; at++) {
            if (part[at] != byte_of(hash, i, at))
                return false;
        }
    }
    return true;
}

/* ---- peers ----------------------------------------------------------------------------------- */

void peer_init(struct peer *peer, struct world *world, int self, uint32_t count,
               uint32_t multicasts, uint64_t seed)
{
    memset(peer, 0, sizeof *peer);
    peer->world = world;
    peer->self = self;
    peer->count = count;
    peer->multicasts = multicasts;
    peer->random = seed * 1000003 + (uint64_t)self;
}

static void peer_send(struct peer *peer)
{
    int to = (int)world_random(&peer->random, (uint32_t)peer->world->setup.endpoints);

    if (peer->next[to] < peer->count) {
        if (world_send(peer->world, peer->self, to, peer->next[to], true) == SG_TRANSPORT_DONE)
            peer->next[to]++;
        else
            peer->refused++;
    }
    if (peer->next_multicast < peer->multicasts && world_random(&peer->random, 4) == 0)
        world_send(peer->world, peer->self, SG_TRANSPORT_ALL, peer->next_multicast++, true);
}

static void note(struct peer *peer, const struct sg_transport_message *message)
{
    int from = message->message.from;
    uint32_t number = message->message.header.seq;

    if (!world_is_whole(message, peer->self) || number >= PEER_NUMBERS) {
        peer->wrong++;
    } else if (message->message.multicast) {
        peer->multicasts_received++;
        peer->wrong += peer->multicasts_seen[from][number]++ > 0 && !peer->world->which->faulty;
        peer->wrong += from == peer->self;
    } else {
        peer->received++;
        peer->wrong += peer->seen[from][number]++ > 0;
    }
}

static void peer_receive(struct peer *peer)
{
    const struct sg_transport_ops *ops = peer->world->which->ops;
    struct sg_transport_message *message = &peer->held[peer->held_count];
    bool pending = ops->pending(peer->world->transport, peer->self);
    bool found = ops->receive(peer->world->transport, peer->self, message);

    if (peer->alone && !world_is_remote(peer->world->which))
        peer->wrong += pending != found && (found || !peer->world->which->faulty);
    if (found) {
        note(peer, message);
        peer->held_count++;
    }
}

static void peer_release(struct peer *peer)
{
    int which = (int)world_random(&peer->random, (uint32_t)peer->held_count);

    peer->wrong += !world_is_whole(&peer->held[which], peer->self);
    peer->world->which->ops->release(peer->world->transport, peer->self, &peer->held[which]);
    peer->held[which] = peer->held[--peer->held_count];
}

bool peer_step(struct peer *peer)
{
    bool sent = peer->next_multicast == peer->multicasts;

    for (int to = 0; to < peer->world->setup.endpoints; to++)
        sent = sent && peer->next[to] == peer->count;
    if (!sent && world_random(&peer->random, 2) == 0)
        peer_send(peer);
    else if (peer->held_count == PEER_HELD ||
             (peer->held_count > 0 && world_random(&peer->random, 2) == 0))
        peer_release(peer);
    else
        peer_receive(peer);
    return sent && peer->held_count == 0 &&
           peer->received == peer->count * (uint32_t)peer->world->setup.endpoints;
}
