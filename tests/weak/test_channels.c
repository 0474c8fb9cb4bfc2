/* Tests channels and multicasts of the transport `shm` under the memory model, with few slots:
 * every message to one endpoint arrives exactly once and whole, also where slots, buffers and
 * copies are reused; multicasts that arrive are whole and in order, and the last one arrives. */
#include "lib/unit.h"
#include "transport/shm/shm_layout.h"
#include "weak/weak.h"

#define ENDPOINTS_MAX 3
#define EAGER_BYTES 256
#define SMALL_BYTES 16
#define LARGE_BYTES 160 /* more than fits beside a header */
#define MESSAGES_MAX 4
#define SHARED_BYTES 65536

static _Alignas(64) unsigned char shared[SHARED_BYTES];
static struct sg_transport *transports[ENDPOINTS_MAX];
static const struct sg_transport_ops *const ops = &sg_transport_shm;
static int arrived[ENDPOINTS_MAX][ENDPOINTS_MAX][MESSAGES_MAX]; /* by receiver, sender, number */

static void open_all(int endpoints, uint32_t inflight, uint32_t staged)
{
    struct sg_transport_setup setup = {
        .endpoints = endpoints, .inflight = inflight, .staged = staged, .eager_bytes = EAGER_BYTES};

    memset(shared, 0, ops->shared_bytes(&setup));
    memset(arrived, 0, sizeof arrived);
    for (int i = 0; i < ENDPOINTS_MAX; i++) {
        if (transports[i] != NULL)
            ops->close(transports[i]);
        transports[i] = NULL;
        if (i < endpoints)
            ops->open(&setup, shared, &transports[i]);
    }
}

/* ---- one message ---- */

struct sending {
    int self, to, number;
    size_t bytes;
};

static uint64_t protocol_of(int from, int number)
{
    return (uint64_t)(100 * from + number);
}

static bool has_sent(void *context)
{
    const struct sending *sending = context;
    unsigned char payload[EAGER_BYTES];
    const void *part = payload;
    struct sg_transport_send message = {
        .protocol = protocol_of(sending->self, sending->number),
        .solicited = sending->number / 2 == 1,
        .header = {.seq = (uint32_t)sending->number, .parts = 1, .bytes = (uint32_t)sending->bytes},
        .parts = &part};

    memset(payload, 16 * sending->self + sending->number, sizeof payload);
    return ops->send(transports[sending->self], sending->self, sending->to, &message) ==
           SG_TRANSPORT_DONE;
}

static void send(int self, int to, int number, size_t bytes)
{
    struct sending sending = {self, to, number, bytes};

    weak_await(has_sent, &sending);
}

struct receiving {
    int self;
    struct sg_transport_message message;
};

static bool has_received(void *context)
{
    struct receiving *receiving = context;
    const struct sg_transport *transport = transports[receiving->self];

    return ops->pending(transport, receiving->self) &&
           ops->receive(transports[receiving->self], receiving->self, &receiving->message);
}

static bool has_received_unasked(void *context)
{
    struct receiving *receiving = context;

    return ops->receive(transports[receiving->self], receiving->self, &receiving->message);
}

static void check(int self, const struct sg_transport_message *message)
{
    unsigned char payload[EAGER_BYTES];
    const struct sg_header *header = &message->message.header;
    int from = message->message.from, number = (int)header->seq;

    WEAK_CHECK(header->parts == 1 && number < MESSAGES_MAX);
    WEAK_CHECK(message->protocol == protocol_of(from, number));
    WEAK_CHECK(message->solicited == (number / 2 == 1));
    WEAK_CHECK(header->bytes == SMALL_BYTES || header->bytes == LARGE_BYTES);
    weak_copy(payload, message->parts, header->bytes);
    for (uint32_t i = 0; i < header->bytes; i++)
        WEAK_CHECK(payload[i] == 16 * from + number);
    WEAK_CHECK(arrived[self][from][number]++ == 0);
}

static void release(int self, const struct sg_transport_message *message)
{
    ops->release(transports[self], self, message);
}

static void receive(int self, int count, bool asks)
{
    for (int i = 0; i < count; i++) {
        struct receiving receiving = {.self = self};

        weak_await(asks ? has_received : has_received_unasked, &receiving);
        check(self, &receiving.message);
        release(self, &receiving.message);
    }
}

/* ---- channels ---- */

static void set_up_pair(void)
{
    open_all(2, 1, 1);
}

static void set_up_wide_pair(void)
{
    open_all(2, 2, 1);
}

static void set_up_three(void)
{
    open_all(3, 1, 1);
}

/* One place: it is used again. */
static void run_one_way(int self)
{
    for (int i = 0; i < 3 && self == 0; i++)
        send(0, 1, i, SMALL_BYTES);
    if (self == 1)
        receive(1, 3, true);
}

static void run_one_way_unasked(int self)
{
    for (int i = 0; i < 2 && self == 0; i++)
        send(0, 1, i, SMALL_BYTES);
    if (self == 1)
        receive(1, 2, false);
}

static void run_staged(int self)
{
    for (int i = 0; i < 2 && self == 0; i++)
        send(0, 1, i, LARGE_BYTES);
    if (self == 1)
        receive(1, 2, true);
}

static void run_both_ways(int self)
{
    send(self, 1 - self, 0, SMALL_BYTES);
    receive(self, 1, true);
    send(self, 1 - self, 1, SMALL_BYTES);
    receive(self, 1, true);
}

static void run_two_senders(int self)
{
    if (self == 0)
        receive(0, 2, true);
    else
        send(self, 0, self, SMALL_BYTES);
}

static void run_two_senders_unasked(int self)
{
    if (self == 0)
        receive(0, 2, false);
    else
        send(self, 0, self, SMALL_BYTES);
}

/* The buffer of one sender, by way of two channels. */
static void run_two_receivers(int self)
{
    if (self == 0) {
        send(0, 1, 0, LARGE_BYTES);
        send(0, 2, 1, LARGE_BYTES);
    } else {
        receive(self, 1, true);
    }
}

/* Two are held, and given back the other way round. */
static void run_held(int self)
{
    struct receiving first = {.self = 1}, second = {.self = 1};

    if (self == 0) {
        for (int i = 0; i < 4; i++)
            send(0, 1, i, SMALL_BYTES);
        return;
    }
    for (int i = 0; i < 2; i++) {
        weak_await(has_received, &first);
        weak_await(has_received, &second);
        check(1, &second.message);
        release(1, &second.message);
        check(1, &first.message);
        release(1, &first.message);
    }
}

/* ---- multicasts ---- */

static int last_of[ENDPOINTS_MAX]; /* multicasts of each */

/* Until the last of each sender has come. */
static void receive_multicasts(int self, int senders)
{
    int next[ENDPOINTS_MAX] = {0};

    for (int done = 0; done < senders;) {
        struct receiving receiving = {.self = self};
        int from, number;

        weak_await(has_received, &receiving);
        from = receiving.message.message.from;
        number = (int)receiving.message.message.header.seq;
        WEAK_CHECK(receiving.message.message.multicast);
        WEAK_CHECK(number >= next[from]);
        check(self, &receiving.message);
        release(self, &receiving.message);
        next[from] = number + 1;
        done += number == last_of[from];
    }
}

static void set_up_multicasts(void)
{
    open_all(2, 1, 1);
    last_of[0] = SG_SHM_MULTICASTS;
}

/* One more than there are places. */
static void run_multicasts(int self)
{
    for (int i = 0; i <= last_of[0] && self == 0; i++)
        send(0, SG_TRANSPORT_ALL, i, SMALL_BYTES);
    if (self == 1)
        receive_multicasts(1, 1);
}

static void set_up_posters(void)
{
    open_all(3, 1, 1);
    last_of[0] = last_of[1] = 0;
}

static void run_posters(int self)
{
    if (self < 2)
        send(self, SG_TRANSPORT_ALL, 0, SMALL_BYTES);
    else
        receive_multicasts(2, 2);
}

/* A message and a multicast. */
static void run_both_kinds(int self)
{
    if (self == 0) {
        send(0, SG_TRANSPORT_ALL, 0, SMALL_BYTES);
        send(0, 1, 1, SMALL_BYTES);
    } else {
        receive(1, 2, true);
    }
}

/* ---- */

static const struct weak_scenario one_way = {"one place", 2, set_up_pair, run_one_way, NULL, 0, 0};
static const struct weak_scenario one_way_unasked = {
    "received unasked", 2, set_up_pair, run_one_way_unasked, NULL, 0, 0};
static const struct weak_scenario staged = {"one buffer", 2, set_up_pair, run_staged, NULL, 0, 0};
static const struct weak_scenario both_ways = {"both ways", 2, set_up_pair, run_both_ways, NULL,
                                               0,           0};
static const struct weak_scenario two_senders = {
    "two senders", 3, set_up_three, run_two_senders, NULL, 0, 0};
static const struct weak_scenario two_senders_unasked = {
    "two senders, received unasked", 3, set_up_three, run_two_senders_unasked, NULL, 0, 0};
static const struct weak_scenario two_receivers = {
    "two receivers, one buffer", 3, set_up_three, run_two_receivers, NULL, 0, 0};
static const struct weak_scenario held = {
    "held, and released the other way round", 2, set_up_wide_pair, run_held, NULL, 0, 0};
static const struct weak_scenario multicasts = {
    "multicasts", 2, set_up_multicasts, run_multicasts, NULL, 0, 0};
static const struct weak_scenario posters = {
    "two posters", 3, set_up_posters, run_posters, NULL, 0, 0};
static const struct weak_scenario both_kinds = {
    "a message and a multicast", 2, set_up_pair, run_both_kinds, NULL, 0, 0};

static const struct weak_scenario *const scenarios[] = {
    &one_way,       &one_way_unasked,
    &staged,        &both_ways,
    &two_senders,   &two_senders_unasked,
    &two_receivers, &held,
    &multicasts,    &posters,
    &both_kinds,    NULL,
};

TEST("messages in shared memory are correct in every execution of the memory model")
{
    EXPECT(weak_holds(scenarios));
}

#define FOR_LEAVING "for who leaves a call, which is not here: test_doorbell.c"

static const struct weak_unneeded unneeded[] = {
    {"sg_shm_channel_pending", "load seq_cst", 1, "acquire", FOR_LEAVING},
    {"sg_shm_channel_pending", "load seq_cst", 1, "relaxed", FOR_LEAVING},
    {"sg_shm_multicast_pending", "load seq_cst", 1, "acquire", FOR_LEAVING},
    {"sg_shm_multicast_pending", "load seq_cst", 1, "relaxed", FOR_LEAVING},
    {NULL, NULL, 0, NULL, NULL},
};

TEST("each memory order in the channels and multicasts is needed")
{
    EXPECT(weak_faults(scenarios, NULL, unneeded));
}
