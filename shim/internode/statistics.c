#include "internode/statistics.h"

#include "core/clock.h"

/* Relaxed, here and where calls take them: counts. */
static void add(_Atomic uint64_t *counter, uint64_t more)
{
    if (more > 0)
        atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

void sg_span_count(struct sg_span_endpoint *endpoint, const struct sg_algo_head *before,
                   const struct sg_algo_head *after, uint64_t marks)
{
    struct sg_span_counters *counters = &endpoint->counters;

    add(&counters->late, after->late - before->late);
    add(&counters->early, after->early - before->early);
    add(&counters->stalls, after->stalls - before->stalls);
    add(&counters->copies, after->copies - before->copies);
    add(&counters->moves, marks >> SG_MARK_TOKEN_MOVED & 1);
    add(&counters->repeats, marks >> SG_MARK_RELEASE_REPEATED & 1);
    atomic_fetch_add_explicit(&endpoint->bell.outstanding, after->outstanding - before->outstanding,
                              memory_order_relaxed);
}

static int first_rank(const struct sg_span *span, int endpoint)
{
    int rank = 0;

    while (span->endpoint_of[rank] != endpoint)
        rank++;
    return rank;
}

bool sg_span_begin_late(struct sg_span *span, uint32_t object, const struct sg_event *event,
                        struct sg_late *late)
{
    struct sg_span_instance *place;
    const struct sg_span_name *own;

    if (event->kind != SG_EVENT_MESSAGE)
        return false;
    place = sg_span_find_instance(span, object, event->message.header.seq);
    if (place == NULL)
        return false;
    own = &span->names[place->position % span->depth];
    *late = (struct sg_late){.operation = (enum sg_operation)place->operation,
                             .child = first_rank(span, event->message.from),
                             .bytes = place->bytes,
                             .begin_ns = event->time_ns};
    if (!place->stays)
        late->avoided_ns = event->time_ns - place->left_ns;
    if (own->position == place->position)
        late->call = own->call;
    place->left_ns = event->time_ns;
    return true;
}

void sg_span_end_late(struct sg_span *span, struct sg_late *late)
{
    late->end_ns = sg_clock_ns();
    add(&sg_span_endpoint(span, span->endpoint)->counters.handler_ns,
        late->end_ns - late->begin_ns);
    if (late->call.recorded)
        sg_observed_late(late);
}

static uint64_t take(_Atomic uint64_t *counter)
{
    /* Most are 0 most of the time, and then not written. */
    if (atomic_load_explicit(counter, memory_order_relaxed) == 0)
        return 0;
    return atomic_exchange_explicit(counter, 0, memory_order_relaxed);
}

static uint32_t take_few(_Atomic uint64_t *counter)
{
    uint64_t count = take(counter);

    return (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
}

void sg_span_tell(struct sg_span *span, struct sg_outcome *outcome)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_span_counters *counters = &endpoint->counters;

    outcome->late = take_few(&counters->late);
    outcome->early = take_few(&counters->early);
    outcome->signals = take_few(&endpoint->bell.handled);
    outcome->ignored = take_few(&endpoint->bell.ignored);
    outcome->stalls = take_few(&counters->stalls);
    outcome->copies = take_few(&counters->copies);
    outcome->moves = take_few(&counters->moves);
    outcome->repeats = take_few(&counters->repeats);
    outcome->handler_ns = take(&counters->handler_ns);
    outcome->outstanding = atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed);
}
