/* Tests agreement between two ranks on two hosts: when one rank cannot carry out a request, because
 * the second rank's settings or arguments differ, neither carries it out, and both keep the state
 * they had. Each rank writes a heading before each case, and its messages, to the file
 * agreement.RANK; the script checks which rank states the reason.
 */
#include "lab/wire.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INFLIGHT = 8, BYTES = 3000, WAIT_SECONDS = 60 };

static void head(const char *what)
{
    fprintf(stderr, "# %s\n", what);
}

/* The launcher forwards what two ranks write in any order. */
static void write_to_own_file(int rank)
{
    char name[32];

    snprintf(name, sizeof name, "agreement.%d", rank);
    REQUIRE(freopen(name, "w", stderr) != NULL);
    setvbuf(stderr, NULL, _IOLBF, 0);
}

/* A message to the other rank and one from it, with payload of many packets. */
static void exchange_one(struct wire *wire)
{
    static unsigned char payload[BYTES];
    const void *part = payload;
    struct sg_transport_send send = {.protocol = 7, .parts = &part};
    struct sg_transport_message message;
    int self = wire->place.self;
    time_t end = time(NULL) + WAIT_SECONDS;

    send.header.parts = 1;
    send.header.bytes = BYTES;
    memset(payload, self + 1, sizeof payload);
    REQUIRE(wire->ops->send(wire->transport, self, 1 - self, &send) == SG_TRANSPORT_DONE);
    while (!wire->ops->receive(wire->transport, self, &message))
        REQUIRE(time(NULL) <= end);
    REQUIRE(message.protocol == 7 && message.message.header.bytes == BYTES);
    for (int i = 0; i < BYTES; i++)
        REQUIRE(((const unsigned char *)message.parts)[i] == 2 - self);
    wire->ops->release(wire->transport, self, &message);
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* the other has read it, too */
}

/* Opens with settings of its own; the device is started anew for them. */
static enum sg_status open_with(struct wire *wire, const struct sg_verbs_settings *settings)
{
    wire->verbs->stop();
    wire_start(wire, settings);
    return wire_open(wire, 1, INFLIGHT, INFLIGHT, BYTES);
}

static struct sg_transport_usage usage_of(const struct wire *wire)
{
    struct sg_transport_usage usage;

    wire->ops->remote->usage(wire->transport, &usage);
    return usage;
}

static void test_memory(struct wire *wire)
{
    struct sg_verbs_settings settings = wire_settings;

    head("memory");
    if (wire->exchange.rank == 1)
        settings.memory_bytes = 1 << 20;
    REQUIRE(open_with(wire, &settings) != SG_OK);
}

static void test_device(struct wire *wire)
{
    const char *reason = NULL;
    struct sg_verbs_settings settings = wire_settings;

    head("device");
    wire->verbs->stop();
    settings.device = wire->exchange.rank == 1 ? "none0" : "";
    REQUIRE(wire->verbs->start(&settings, NULL, &reason) == (wire->exchange.rank == 0));
    if (wire->exchange.rank == 1)
        fprintf(stderr, "start: %s\n", reason);
    REQUIRE(wire_open(wire, 1, INFLIGHT, INFLIGHT, BYTES) != SG_OK);
}

static void test_mtu(struct wire *wire)
{
    struct sg_verbs_settings settings = wire_settings;

    head("mtu");
    settings.mtu = wire->exchange.rank == 1 ? 256 : -1;
    REQUIRE(open_with(wire, &settings) == SG_OK && wire_connect(wire) == SG_OK);
    exchange_one(wire);
    wire_close(wire);
}

static void test_multicast(struct wire *wire)
{
    struct sg_verbs_settings settings = wire_settings;
    struct sg_transport_message message;
    struct sg_transport_send send = {.protocol = 9};
    time_t end = time(NULL) + WAIT_SECONDS;

    head("multicast");
    settings.multicast = wire->exchange.rank == 0;
    REQUIRE(open_with(wire, &settings) == SG_OK && wire_connect(wire) == SG_OK);
    REQUIRE(!usage_of(wire).has_multicast);
    if (wire->place.self == 0) {
        REQUIRE(wire->ops->send(wire->transport, 0, SG_TRANSPORT_ALL, &send) == SG_TRANSPORT_DONE);
    } else {
        while (!wire->ops->receive(wire->transport, 1, &message))
            REQUIRE(time(NULL) <= end);
        REQUIRE(message.protocol == 9 && message.message.multicast && message.message.from == 0);
        wire->ops->release(wire->transport, 1, &message);
    }
    REQUIRE(usage_of(wire).multicasts == 0);
    wire_close(wire);
}

static void test_peers(struct wire *wire)
{
    static const int32_t both[] = {0, 1}, none[] = {7};
    int rank = wire->exchange.rank;

    REQUIRE(open_with(wire, &wire_settings) == SG_OK);
    head("one-sided");
    REQUIRE(wire->ops->remote->connect(wire->transport, both, rank == 0 ? 2 : 0) != SG_OK);
    head("no such endpoint");
    REQUIRE(wire->ops->remote->connect(wire->transport, none, rank) != SG_OK);
    head("all");
    REQUIRE(usage_of(wire).connections == 0);
    REQUIRE(wire->ops->remote->connect(wire->transport, rank == 0 ? both + 1 : both, 1) == SG_OK);
    REQUIRE(usage_of(wire).connections == 1);
    exchange_one(wire);
    /* A failed request for more connections keeps the existing ones; a repeated one makes none
     * anew. */
    head("more in vain");
    REQUIRE(wire->ops->remote->connect(wire->transport, both, rank == 0 ? 0 : 2) == SG_OK);
    REQUIRE(usage_of(wire).connections == (rank == 0 ? 1 : 2));
    REQUIRE(wire->ops->remote->connect(wire->transport, none, rank) != SG_OK);
    exchange_one(wire);
    wire_close(wire);
}

int main(int argc, char **argv)
{
    struct wire wire = {0};

    MUST(MPI_Init(&argc, &argv));
    wire_start(&wire, &wire_settings);
    REQUIRE(wire.exchange.size == 2 && wire.hosts == 2);
    if (argc > 1) { /* "locked": the script has taken care that one may lock little memory */
        head("locked");
        REQUIRE(wire_open(&wire, 1, INFLIGHT, INFLIGHT, BYTES) != SG_OK);
    } else {
        write_to_own_file(wire.exchange.rank);
        test_memory(&wire);
        test_device(&wire);
        test_mtu(&wire);
        test_multicast(&wire);
        test_peers(&wire);
    }
    MUST(MPI_Finalize());
    return 0;
}
