#include "sim/papers/schemes.h"

#include <stdbool.h>

/* When a process is ready, and when it may send and take its next message. */
struct process {
    double now, send, receive;
};

static double later(double one, double other)
{
    return one > other ? one : other;
}

/* Returns when the message arrives. */
static double send(const struct sg_logp *network, struct process *from)
{
    from->now = later(from->now, from->send);
    from->send = from->now + network->gap;
    return from->now + network->latency;
}

static void receive(const struct sg_logp *network, struct process *to, double arrival)
{
    to->now = later(later(to->now, to->receive), arrival);
    to->receive = to->now + network->gap;
}

static void broadcast(const struct sg_logp *network, struct process *processes)
{
    for (int32_t rank = 1; rank < network->processes; rank++)
        receive(network, &processes[rank], send(network, &processes[0]));
}

/* The root takes the messages in the order of their arrival. */
static void barrier(const struct sg_logp *network, struct process *processes)
{
    double arrivals[SG_SCHEME_PROCESSES];
    bool taken[SG_SCHEME_PROCESSES] = {false};

    for (int32_t rank = 1; rank < network->processes; rank++)
        arrivals[rank] = send(network, &processes[rank]);
    for (int32_t count = 1; count < network->processes; count++) {
        int32_t next = 0;

        for (int32_t rank = 1; rank < network->processes; rank++) {
            if (!taken[rank] && (next == 0 || arrivals[rank] < arrivals[next]))
                next = rank;
        }
        taken[next] = true;
        receive(network, &processes[0], arrivals[next]);
    }
    broadcast(network, processes);
}

static void begin(const struct sg_logp *network, const double *entries, struct process *processes)
{
    for (int32_t rank = 0; rank < network->processes; rank++)
        processes[rank] = (struct process){.now = entries[rank]};
}

static void end(const struct sg_logp *network, const struct process *processes, double *exits)
{
    for (int32_t rank = 0; rank < network->processes; rank++)
        exits[rank] = processes[rank].now;
}

void sg_scheme_call(const struct sg_logp *network, const double *entries, double *exits)
{
    struct process processes[SG_SCHEME_PROCESSES];

    begin(network, entries, processes);
    broadcast(network, processes);
    end(network, processes, exits);
}

void sg_scheme_barrier(const struct sg_logp *network, const double *entries, double *exits)
{
    struct process processes[SG_SCHEME_PROCESSES];

    begin(network, entries, processes);
    barrier(network, processes);
    end(network, processes, exits);
}

double sg_scheme_true(const struct sg_logp *network)
{
    return sg_scheme_reported(SG_SCHEME_WINDOW, network, 1);
}

double sg_scheme_reported(enum sg_scheme scheme, const struct sg_logp *network, uint32_t calls)
{
    struct process processes[SG_SCHEME_PROCESSES];
    double entries[SG_SCHEME_PROCESSES] = {0}, exits[SG_SCHEME_PROCESSES], longest = 0;
    bool first_only = scheme == SG_SCHEME_MPPTEST || scheme == SG_SCHEME_MPBENCH;

    begin(network, entries, processes);
    if (scheme == SG_SCHEME_MPPTEST || scheme == SG_SCHEME_IMB) {
        barrier(network, processes);
        end(network, processes, entries);
    }
    if (scheme == SG_SCHEME_WINDOW)
        calls = 1;
    for (uint32_t i = 0; i < calls; i++)
        broadcast(network, processes);
    end(network, processes, exits);
    for (int32_t rank = 0; rank < (first_only ? 1 : network->processes); rank++)
        longest = later(longest, exits[rank] - entries[rank]);
    return longest / calls;
}
