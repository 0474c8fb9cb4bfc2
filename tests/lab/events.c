/* The event descriptor of the verbs transport: it raises a real-time signal for a solicited message
 * or multicast exactly when it is armed. Like signals.c, but through the transport.
 *
 * Real-time signals queue, so every signal is delivered and the final count includes any
 * unsolicited one. The last round raises a signal, so a late one of an earlier round is delivered
 * before it.
 */
#include "lab/wire.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { WAIT_SECONDS = 60 };

static const struct {
    bool arm, solicited, multicast;
    int signals;
} rounds[] = {
    {true, true, false, 1},   /* armed */
    {false, true, false, 0},  /* one signal for each time it is armed */
    {false, false, false, 0}, /* */
    {true, false, false, 0},  /* armed for solicited messages only */
    {false, true, false, 1},  /* and still armed */
    {true, true, true, 1},    /* multicasts likewise */
    {true, false, true, 0},   {false, true, true, 1},
    {false, true, true, 0},   {true, true, false, 1},
};
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

static volatile sig_atomic_t raised;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    raised++;
}

static void ask_for_signals(int descriptor)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    int number = SIGRTMIN + 4;

    REQUIRE(sigaction(number, &action, NULL) == 0);
    REQUIRE(fcntl(descriptor, F_SETOWN_EX, &owner) == 0);
    REQUIRE(fcntl(descriptor, F_SETSIG, number) == 0);
    REQUIRE(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_ASYNC | O_NONBLOCK) == 0);
}

static void receive_round(struct wire *wire, int round, int expected)
{
    struct sg_transport_message message;
    time_t end = time(NULL) + WAIT_SECONDS;
    int before = raised;

    if (rounds[round].arm)
        wire->ops->remote->arm(wire->transport);
    MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    while (!wire->ops->receive(wire->transport, wire->place.self, &message) && time(NULL) <= end)
        ;
    REQUIRE(time(NULL) <= end);
    REQUIRE(message.protocol == (uint64_t)round && message.solicited == rounds[round].solicited);
    REQUIRE(message.message.multicast == rounds[round].multicast);
    wire->ops->release(wire->transport, wire->place.self, &message);
    while (raised < expected && time(NULL) <= end)
        ;
    if (raised != expected)
        fprintf(stderr, "round %d: %d signals, not %d\n", round, (int)raised, expected);
    REQUIRE(raised == expected);
    REQUIRE(wire->ops->remote->take_events(wire->transport) == expected - before);
}

static void send_round(struct wire *wire, int round)
{
    struct sg_transport_send send = {.protocol = (uint64_t)round,
                                     .solicited = rounds[round].solicited};
    int to = rounds[round].multicast ? SG_TRANSPORT_ALL : 1;

    MUST(MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    REQUIRE(wire->ops->send(wire->transport, 0, to, &send) == SG_TRANSPORT_DONE);
}

int main(int argc, char **argv)
{
    struct wire wire = {0};
    int expected = 0;

    MUST(MPI_Init(&argc, &argv));
    wire_start(&wire, &wire_settings);
    REQUIRE(wire.exchange.size == 2 && wire.hosts == 2);
    REQUIRE(wire_open(&wire, 1, 8, 8, 64) == SG_OK && wire_connect(&wire) == SG_OK);
    if (wire.exchange.rank == 1)
        ask_for_signals(wire.ops->remote->descriptor(wire.transport));
    for (int round = 0; round < ROUNDS; round++) {
        expected += rounds[round].signals;
        if (wire.exchange.rank == 1)
            receive_round(&wire, round, expected);
        else
            send_round(&wire, round);
    }
    wire_close(&wire);
    MUST(MPI_Finalize());
    return 0;
}
