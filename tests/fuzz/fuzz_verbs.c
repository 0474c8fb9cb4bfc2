/* Fuzzes bytes from peers over RDMA: datagrams of multicasts, and messages in the rings of
 * channels, with any header and hashes that are right, in any order, while messages are held and
 * released. Messages handed out name an existing endpoint and a payload that lies whole in this
 * endpoint's memory.
 *
 * The adapter is a stand-in: requests succeed, and reads of payload bring zeros.
 */
#include "fuzz/fuzz.h"

#include "core/hash.h"
#include "transport/verbs/access.h"
#include "transport/verbs/verbs_channel.h"
#include "transport/verbs/verbs_multicast.h"
#include "transport/verbs/verbs_open.h"

#define ENDPOINTS 5
#define SELF 1
#define CHANNELS 2 /* to endpoints 0 and 2 */
#define PIECE_BYTES 256
#define HELD 8

static struct {
    struct ibv_context device;
    struct ibv_qp pair;
    struct ibv_cq queue;
    struct ibv_srq doorbells;
    struct ibv_mr region;
    struct ibv_wc done[64];
    uint32_t done_count;
} adapter;

static int post_send(struct ibv_qp *pair, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    if ((request->send_flags & IBV_SEND_SIGNALED) == 0)
        return 0;
    if (request->opcode == IBV_WR_RDMA_READ)
        memset((void *)(uintptr_t)request->sg_list[0].addr, 0, request->sg_list[0].length);
    if (adapter.done_count < sizeof adapter.done / sizeof *adapter.done)
        adapter.done[adapter.done_count++] =
            (struct ibv_wc){.wr_id = request->wr_id, .status = IBV_WC_SUCCESS};
    return 0;
}

static int post_receive(struct ibv_qp *pair, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    return 0;
}

static int ring_doorbell(struct ibv_srq *doorbells, struct ibv_recv_wr *request,
                         struct ibv_recv_wr **bad)
{
    return 0;
}

static int poll_queue(struct ibv_cq *queue, int count, struct ibv_wc *completions)
{
    int given = 0;

    while (given < count && adapter.done_count > 0)
        completions[given++] = adapter.done[--adapter.done_count];
    return given;
}

/* ---- one transport, opened without a device -------------------------------------------------- */

static struct sg_transport transport;
static struct sg_verbs_multicast multicast;
static struct sg_verbs_link links[CHANNELS];
static struct sg_verbs_peer peers[CHANNELS];
static struct sg_verbs_known known[4 * CHANNELS];
static const struct sg_verbs_completed completed = {sg_verbs_access_done, sg_verbs_channel_fetched,
                                                    sg_verbs_multicast_came};

static void *zeroed(size_t size_bytes)
{
    void *memory = aligned_alloc(SG_TRANSPORT_LINE_BYTES,
                                 sg_transport_round(size_bytes, SG_TRANSPORT_LINE_BYTES));

    if (memory == NULL)
        abort();
    return memset(memory, 0, sg_transport_round(size_bytes, SG_TRANSPORT_LINE_BYTES));
}

static void open_multicast(void)
{
    size_t pieces = transport.layout.payload_bytes / PIECE_BYTES + 1;

    multicast = (struct sg_verbs_multicast){
        .pair = &adapter.pair, .communicator = 7, .piece_bytes = PIECE_BYTES};
    multicast.link = (struct sg_verbs_link){.pair = &adapter.pair, .depth = SG_VERBS_SENDS};
    multicast.sends = zeroed(SG_VERBS_SENDS * (size_t)SG_VERBS_DATAGRAM_BYTES);
    multicast.receives = zeroed(SG_VERBS_RECEIVES * (size_t)SG_VERBS_RECEIVE_BYTES);
    multicast.came_words = (pieces + 63) / 64;
    for (int i = 0; i < SG_VERBS_ASSEMBLIES; i++) {
        multicast.assemblies[i].came = zeroed(multicast.came_words * sizeof(uint64_t));
        multicast.assemblies[i].payload = zeroed(transport.layout.payload_bytes);
    }
}

static void open_transport(void)
{
    adapter.device.ops.post_send = post_send;
    adapter.device.ops.post_recv = post_receive;
    adapter.device.ops.post_srq_recv = ring_doorbell;
    adapter.device.ops.poll_cq = poll_queue;
    adapter.pair.context = adapter.queue.context = adapter.doorbells.context = &adapter.device;
    adapter.done_count = 0;
    transport = (struct sg_transport){.setup = {.endpoints = ENDPOINTS,
                                                .here = 1,
                                                .inflight = 4,
                                                .staged = 2,
                                                .eager_bytes = 4096},
                                      .location = {.self = SELF, .servers = 1},
                                      .memory = &adapter.region,
                                      .own_region = &adapter.region,
                                      .queue = &adapter.queue,
                                      .doorbells = &adapter.doorbells,
                                      .known = known,
                                      .known_room = 4 * CHANNELS,
                                      .peers = peers,
                                      .links = links,
                                      .links_max = CHANNELS,
                                      .channel_count = CHANNELS,
                                      .link_count = CHANNELS,
                                      .completed = &completed,
                                      .multicast = &multicast,
                                      .multicast_link = &multicast.link};
    fuzz_holds(sg_verbs_lay_out(&transport.setup, &transport.layout), "the setup is possible");
    transport.location.memory = zeroed(transport.layout.bytes);
    memset(known, 0, sizeof known);
    for (uint32_t i = 0; i < CHANNELS; i++) {
        uint32_t at = (uint32_t)sg_hash_mix(2 * i);

        while (known[at % (4 * CHANNELS)].channel != 0)
            at++;
        known[at % (4 * CHANNELS)] = (struct sg_verbs_known){2 * (int32_t)i, i + 1};
        peers[i] = (struct sg_verbs_peer){.endpoint = 2 * (int32_t)i, .servers = 1, .link = i};
        links[i] = (struct sg_verbs_link){
            .pair = &adapter.pair, .channel = i, .depth = SG_VERBS_QUEUE_SPARE};
    }
    open_multicast();
}

static void close_transport(void)
{
    for (int i = 0; i < SG_VERBS_ASSEMBLIES; i++) {
        free(multicast.assemblies[i].came);
        free(multicast.assemblies[i].payload);
    }
    free(multicast.sends);
    free(multicast.receives);
    free(transport.location.memory);
}

/* ---- what peers send ------------------------------------------------------------------------- */

static void take_header(struct fuzz_bytes *bytes, uint64_t bits, struct sg_header *header)
{
    memset(header, 0, sizeof *header);
    header->seq = (uint32_t)fuzz_take(bytes, 1);
    header->parts = (uint8_t)(bits & 1 ? fuzz_take(bytes, 1) : fuzz_take(bytes, 1) % 4);
    header->bytes = (uint32_t)fuzz_take(bytes, bits & 2 ? 4 : 2);
}

static void take_datagram(struct fuzz_bytes *bytes)
{
    uint64_t bits = fuzz_take(bytes, 1);
    uint32_t buffer = multicast.next_receive;
    unsigned char *memory = multicast.receives + (size_t)buffer * SG_VERBS_RECEIVE_BYTES;
    struct sg_verbs_piece *piece = (struct sg_verbs_piece *)(void *)(memory + SG_VERBS_GRH_BYTES);

    piece->communicator = 7;
    piece->number = fuzz_take(bytes, bits & 4 ? 8 : 1);
    piece->from = (int32_t)fuzz_take(bytes, bits & 8 ? 4 : 1);
    piece->solicited = bits & 16;
    take_header(bytes, bits, &piece->header);
    piece->bytes = bits & 32 ? (uint32_t)fuzz_take(bytes, 4)
                             : (uint32_t)sg_transport_payload_bytes(&piece->header);
    piece->at =
        bits & 64 ? (uint32_t)fuzz_take(bytes, 4) : (uint32_t)fuzz_take(bytes, 1) * PIECE_BYTES;
    uint32_t length = piece->at < piece->bytes ? piece->bytes - piece->at : 0;
    length = length < PIECE_BYTES ? length : PIECE_BYTES;
    length += (uint32_t)(SG_VERBS_GRH_BYTES + sizeof *piece);
    if (bits & 128)
        length = (uint32_t)fuzz_take(bytes, 2) % SG_VERBS_RECEIVE_BYTES;
    sg_verbs_multicast_came(&transport, buffer, length);
}

/* As a peer's write leaves it: what is hashed lies in the place. */
static void take_entry(struct fuzz_bytes *bytes)
{
    uint64_t bits = fuzz_take(bytes, 1);
    uint32_t index = bits & 4 ? 1 : 0;
    uint64_t number = sg_verbs_channel(&transport, index)->scanned + 1;
    struct sg_verbs_entry *entry = sg_verbs_ring(&transport, index, number);
    size_t hashed;

    memset(entry, 0, sizeof *entry);
    take_header(bytes, bits, &entry->header);
    entry->taken = fuzz_take(bytes, bits & 8 ? 8 : 1);
    entry->protocol = fuzz_take(bytes, 1);
    entry->payload_bytes = bits & 16 ? (uint32_t)fuzz_take(bytes, 4)
                                     : (uint32_t)sg_transport_payload_bytes(&entry->header);
    entry->stage = bits & 32 ? (uint32_t)fuzz_take(bytes, 4) : 0;
    if (bits & 64 && entry->payload_bytes > transport.layout.inline_bytes)
        entry->stage = 1;
    entry->kind = (uint8_t)(bits & 128 ? fuzz_take(bytes, 1) : SG_VERBS_MESSAGE);
    entry->from = (int32_t)fuzz_take(bytes, bits & 128 ? 4 : 1);
    entry->number = number;
    if (entry->stage == 0 && entry->payload_bytes > transport.layout.inline_bytes)
        return; /* more than its place holds: it never has a hash */
    hashed = sizeof *entry + (entry->stage != 0 ? 0 : sg_transport_round(entry->payload_bytes, 8));
    entry->hash = sg_hash_words((const unsigned char *)entry + sizeof entry->hash,
                                hashed - sizeof entry->hash);
}

/* ---- what is handed out ---------------------------------------------------------------------- */

static bool lies_in(const void *at, size_t bytes, const void *memory, size_t memory_bytes)
{
    uintptr_t begin = (uintptr_t)at, from = (uintptr_t)memory;

    return begin >= from && bytes <= memory_bytes && begin - from <= memory_bytes - bytes;
}

static void check(const struct sg_transport_message *message, bool by_datagrams)
{
    size_t bytes = sg_transport_payload_bytes(&message->message.header);
    const struct sg_verbs_layout *layout = &transport.layout;
    const unsigned char *base = transport.location.memory;
    uint64_t sum = 0;

    fuzz_holds(message->message.from >= 0 && message->message.from < ENDPOINTS &&
                   message->message.from != SELF,
               "a message is from another endpoint");
    fuzz_holds(bytes <= layout->payload_bytes, "a payload is no larger than was agreed");
    if (bytes == 0)
        return;
    fuzz_holds(message->parts != NULL, "a message with parts has them");
    if (!by_datagrams)
        fuzz_holds(lies_in(message->parts, bytes, base + sizeof(struct sg_verbs_header),
                           layout->endpoint_bytes),
                   "a payload lies in the endpoint's memory");
    for (size_t i = 0; i < bytes; i++)
        sum += ((const volatile unsigned char *)message->parts)[i];
    (void)sum;
}

static struct {
    struct sg_transport_message message;
    bool by_datagrams;
} held[HELD];
static int held_count;

static void receive(void)
{
    struct sg_transport_message message = {0};
    int32_t came_by;

    sg_verbs_poll(&transport);
    if (held_count == HELD)
        return;
    bool by_datagrams = sg_verbs_multicast_receive(&transport, &message);
    if (!by_datagrams && !sg_verbs_channel_receive(&transport, &message, &came_by))
        return;
    if (!by_datagrams && message.message.multicast)
        sg_verbs_tree_forward(&transport, &message, came_by);
    check(&message, by_datagrams);
    held[held_count].message = message;
    held[held_count++].by_datagrams = by_datagrams;
}

static void release(int index)
{
    check(&held[index].message, held[index].by_datagrams);
    if (held[index].by_datagrams)
        sg_verbs_multicast_release(&transport, &held[index].message);
    else
        sg_verbs_channel_release(&transport, &held[index].message);
    held[index] = held[--held_count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};

    open_transport();
    held_count = 0;
    for (int steps = 0; bytes.at < bytes.end && steps < 200; steps++) {
        uint64_t what = fuzz_take(&bytes, 1);

        if (sg_verbs_has_failed(&transport))
            break;
        if (what % 4 == 0)
            take_datagram(&bytes);
        else if (what % 4 == 1)
            take_entry(&bytes);
        else if (what % 4 == 2)
            receive();
        else if (held_count > 0)
            release((int)(what >> 2) % held_count);
    }
    close_transport();
    return 0;
}
