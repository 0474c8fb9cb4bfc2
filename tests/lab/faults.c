/* The loss of a peer. Rank 0 asks its peers for signs of life until the transport reports a fault,
 * which must name rank 1's endpoint. Meanwhile rank 1 kills itself ("killed"), or the script pulls
 * the cable ("cut"); the file `ready` tells the script that all worked until then.
 *
 * No MPI call follows, as MPI may have lost rank 1 as well.
 */
#include "lab/wire.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_SECONDS = 60 };

static void exchange_one(struct wire *wire)
{
    struct sg_transport_send send = {.protocol = 1};
    struct sg_transport_message message;
    int self = wire->place.self;
    time_t end = time(NULL) + WAIT_SECONDS;

    REQUIRE(wire->ops->send(wire->transport, self, 1 - self, &send) == SG_TRANSPORT_DONE);
    while (!wire->ops->receive(wire->transport, self, &message))
        REQUIRE(time(NULL) <= end);
    REQUIRE(message.protocol == 1 && message.message.from == 1 - self);
    wire->ops->release(wire->transport, self, &message);
}

static void say_ready(void)
{
    FILE *file = fopen("ready.new", "w");

    REQUIRE(file != NULL && fclose(file) == 0 && rename("ready.new", "ready") == 0);
}

static void await_fault(struct wire *wire)
{
    const struct sg_transport_remote_ops *ops = wire->ops->remote;
    struct sg_transport_send send = {.protocol = 1};
    struct sg_transport_message message;
    struct sg_transport_fault fault;
    time_t end = time(NULL) + WAIT_SECONDS;

    while (!ops->fault(wire->transport, &fault)) {
        REQUIRE(time(NULL) <= end);
        ops->probe(wire->transport);
        wire->ops->receive(wire->transport, wire->place.self, &message);
    }
    printf("endpoint %d: %s\n", fault.peer, fault.what);
    REQUIRE(fault.peer == 1 && fault.what[0] != '\0');
    /* Whatever is sent from now on is dropped. */
    for (int i = 0; i < 100; i++)
        REQUIRE(wire->ops->send(wire->transport, 0, 1, &send) == SG_TRANSPORT_DONE);
    REQUIRE(!wire->ops->receive(wire->transport, 0, &message));
}

int main(int argc, char **argv)
{
    struct wire wire = {0};
    bool kills = argc > 1 && strcmp(argv[1], "killed") == 0;

    MUST(MPI_Init(&argc, &argv));
    wire_start(&wire, &wire_settings);
    REQUIRE(wire.exchange.size == 2 && wire.hosts == 2);
    REQUIRE(wire_open(&wire, 1, 8, 8, 64) == SG_OK && wire_connect(&wire) == SG_OK);
    exchange_one(&wire);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (wire.exchange.rank == 1 && kills)
        raise(SIGKILL);
    if (wire.exchange.rank == 1)
        pause(); /* until the launcher ends it */
    say_ready();
    await_fault(&wire);
    fflush(stdout);
    _exit(0);
}
