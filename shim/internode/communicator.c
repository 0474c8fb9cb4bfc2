/* Counters of an endpoint's events, late contributions for the trace, and the record of decisions
 * in a test build. See communicator.h. */
#include "internode/communicator.h"

#include "core/clock.h"

/* Relaxed, here and where calls take the counts: plain counters. */
static void add(_Atomic uint64_t *counter, uint64_t more)
{
    if (more > 0)
        atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

void sg_endpoint_count(struct sg_endpoint *endpoint, const struct sg_algo_head *before,
                       const struct sg_algo_head *after, uint64_t marks)
{
    struct sg_endpoint_counters *counters = &endpoint->counters;

    add(&counters->late, after->late - before->late);
    add(&counters->early, after->early - before->early);
    add(&counters->stalls, after->stalls - before->stalls);
    add(&counters->copies, after->copies - before->copies);
    add(&counters->moves, marks >> SG_MARK_TOKEN_MOVED & 1);
    add(&counters->repeats, marks >> SG_MARK_RELEASE_REPEATED & 1);
    atomic_fetch_add_explicit(&endpoint->doorbell.outstanding,
                              after->outstanding - before->outstanding, memory_order_relaxed);
}

bool sg_endpoint_begin_late(struct sg_internode *internode, uint32_t protocol,
                            const struct sg_event *event, struct sg_late *late)
{
    const struct sg_algo_head *head =
        (const void *)sg_internode_region(internode, protocol, internode->endpoint);
    struct sg_internode_instance *instance;
    const struct sg_instance_name *own;

    if (event->kind != SG_EVENT_MESSAGE)
        return false;
    instance = sg_endpoint_find_instance(internode, protocol,
                                         sg_count_told(head->seq, event->message.header.seq));
    if (instance == NULL)
        return false;
    own = &internode->names[instance->position % internode->depth];
    *late =
        (struct sg_late){.operation = (enum sg_operation)instance->operation,
                         .child = sg_grouping_first(&internode->by_endpoint, event->message.from),
                         .bytes = instance->bytes,
                         .begin_ns = event->time_ns};
    if (!instance->stays)
        late->avoided_ns = event->time_ns - instance->left_ns;
    if (own->position == instance->position)
        late->call = own->call;
    instance->left_ns = event->time_ns;
    return true;
}

void sg_endpoint_end_late(struct sg_internode *internode, struct sg_late *late)
{
    late->end_ns = sg_clock_ns();
    add(&sg_internode_endpoint(internode, internode->endpoint)->counters.handler_ns,
        late->end_ns - late->begin_ns);
    if (late->call.recorded)
        sg_trace_event_late(late);
}

static uint64_t take(_Atomic uint64_t *counter)
{
    /* Most counters are 0 most of the time; skip the write. */
    if (atomic_load_explicit(counter, memory_order_relaxed) == 0)
        return 0;
    return atomic_exchange_explicit(counter, 0, memory_order_relaxed);
}

static uint32_t take_few(_Atomic uint64_t *counter)
{
    uint64_t count = take(counter);

    return (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
}

void sg_internode_read_counters(struct sg_internode *internode,
                                struct sg_call_statistics *statistics)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_endpoint_counters *counters = &endpoint->counters;

    statistics->late = take_few(&counters->late);
    statistics->early = take_few(&counters->early);
    statistics->signals = take_few(&endpoint->doorbell.handled);
    statistics->ignored = take_few(&endpoint->doorbell.ignored);
    statistics->stalls = take_few(&counters->stalls);
    statistics->copies = take_few(&counters->copies);
    statistics->moves = take_few(&counters->moves);
    statistics->repeats = take_few(&counters->repeats);
    statistics->handler_ns = take(&counters->handler_ns);
    statistics->outstanding =
        atomic_load_explicit(&endpoint->doorbell.outstanding, memory_order_relaxed);
}

#if SG_INTERNODE_DECISIONS

#include "algos/algo.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void describe(const struct sg_internode *internode, uint32_t protocol,
                     struct sg_decision *decision)
{
    const struct sg_internode_protocol *info = &internode->protocols[protocol];

    memset(decision, 0, sizeof *decision);
    decision->communicator = internode->header->nonce;
    decision->protocol = protocol;
    while (sg_algos[decision->algo] != info->algo)
        decision->algo++;
    decision->rank = internode->endpoint;
    decision->size = internode->endpoints;
    decision->parameters = info->setup.parameters;
}

void sg_decisions_record(const struct sg_internode *internode, uint32_t protocol,
                         const struct sg_event *event, bool drain, const struct sg_actions *actions)
{
    struct sg_decision decision;
    char name[64];
    int file;

    describe(internode, protocol, &decision);
    decision.kind = drain ? SG_DECISION_DRAIN : event->kind;
    if (!drain && event->kind == SG_EVENT_CALL)
        decision.call = event->call;
    if (event->kind == SG_EVENT_MESSAGE)
        decision.message = event->message;
    if (event->kind == SG_EVENT_TIMER) {
        decision.timer = event->timer.id;
        decision.values[0] = event->timer.value;
    }
    if (event->kind == SG_EVENT_REPLY) {
        decision.tag = event->reply.tag;
        memcpy(decision.values, event->reply.value, sizeof decision.values);
    }
    decision.count = actions->count;
    decision.hash = sg_decision_hash(actions);
    snprintf(name, sizeof name, "decisions-%016llx-%d", (unsigned long long)decision.communicator,
             internode->endpoint);
    file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, &decision, sizeof decision) != (ssize_t)sizeof decision)
        _exit(99); /* the test sees it */
    close(file);
}

#endif
