
#include "report/archive_calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---------------------------------------------------------------------------------- */

static struct sg_open_late *late_of(struct sg_archive_events *events,
                                    const struct sg_open_call *open)
{
    return &events->lates[open - events->calls];
}

static struct sg_open_requests *requests_of(struct sg_archive_events *events,
                                            const struct sg_open_call *open)
{
    return &events->requests[open - events->calls];
}

/* The event's location must have a rank. */
static struct sg_rank_times *rank_of(struct sg_archive_events *events,
                                     const struct sg_archive_event *event)
{
    return &events->ranks[events->defs->locations[event->location].rank];
}

/* True if the call is open and is known to be a recorded collective. */
static bool is_ours(const struct sg_open_call *open)
{
    return open->open && (open->ended || open->posted);
}

static enum sg_status on_enter(struct sg_archive_events *events,
                               const struct sg_archive_event *event)
{
    const struct sg_event_attributes *attributes = &event->attributes;
    OTF2_RegionRef region = (OTF2_RegionRef)event->arguments[0];
    enum sg_status status = SG_OK;
    int64_t time_ns, kind;
    struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns);
    struct sg_rank_times *times;

    if (open == NULL)
        return SG_OK;
    kind = sg_map_get(&events->defs->region_kind, region);
    times = rank_of(events, event);
    if (kind == SG_REGION_INIT && !times->has_init) {
        times->has_init = true;
        times->init_ns = times->init_end_ns = time_ns;
    }
    if (kind == SG_REGION_FINALIZE)
        times->finalize_begin_ns = time_ns;
    if (kind == SG_REGION_LATE)
        return sg_open_late_enter(events, attributes, open, late_of(events, open), time_ns);
    if (sg_archive_waits_wants(events->waits, region))
        status = sg_archive_enter_call(events, attributes, open, region, time_ns);
    if (status == SG_OK)
        status = sg_archive_neighbors_enter(events, attributes, open);
    if (kind != SG_REGION_COLLECTIVE || status != SG_OK)
        return status;
    /* If a collective encloses another (a tool that records what MPI calls), the inner one counts.
     */
    events->dropped_calls += is_ours(open);
    *open = (struct sg_open_call){.open = true, .region = region};
    open->call.begin_ns = time_ns;
    open->call.rank = (uint32_t)events->defs->locations[event->location].rank;
    open->call.thread = sg_archive_thread(events, open);
    return sg_open_call_read(events, attributes, open);
}

/* Converts the operation of an event that ends a collective; SG_OPERATION_COUNT: not a recorded
 * one. */
static enum sg_operation operation_of(OTF2_CollectiveOp op)
{
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return SG_OPERATION_BARRIER;
    case OTF2_COLLECTIVE_OP_REDUCE:
        return SG_OPERATION_REDUCE;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        return SG_OPERATION_ALLREDUCE;
    case OTF2_COLLECTIVE_OP_BCAST:
        return SG_OPERATION_BCAST;
    default:
        return SG_OPERATION_COUNT;
    }
}

/* True if the library carried out a blocking collective. It numbers those; archives of other tools
 * have neither such numbers nor call sites. */
static bool is_carried_out(const struct sg_open_call *open, OTF2_CollectiveOp op)
{
    return operation_of(op) != SG_OPERATION_COUNT && (open->has_seq || !open->has_site);
}

/* Sets operation, communicator and root. False: the call does not count, or is inconsistent and
 * dropped. */
static bool end_call(struct sg_archive_events *events, struct sg_open_call *open,
                     OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root)
{
    int64_t comm_index = sg_map_get(&events->defs->comm_index, comm);

    open->operation = operation_of(op);
    if (open->operation == SG_OPERATION_COUNT)
        return false;
    if (comm_index < 0) {
        events->dropped_calls++;
        return false;
    }
    open->comm = (uint32_t)comm_index;
    open->root = sg_operation_has_root(open->operation) ? root : 0;
    return true;
}

/* Sets the members that the event of a collective has. False: out of memory. */
static bool read_collective(const struct sg_archive_events *events,
                            const struct sg_archive_event *event, struct sg_archive_collective *out)
{
    const uint64_t *arguments = event->arguments;

    *out = (struct sg_archive_collective){.op = (OTF2_CollectiveOp)arguments[SG_EVENT_OP],
                                          .comm = (OTF2_CommRef)arguments[SG_EVENT_COMM],
                                          .root = (uint32_t)arguments[SG_EVENT_ROOT],
                                          .sent_bytes = arguments[SG_EVENT_SENT_BYTES],
                                          .received_bytes = arguments[SG_EVENT_RECEIVED_BYTES]};
    out->has_number = sg_archive_number(&event->attributes, &out->number);
    return sg_archive_sources(events, &event->attributes, out);
}

static enum sg_status on_collective(struct sg_archive_events *events,
                                    const struct sg_archive_event *event)
{
    struct sg_archive_collective collective;
    int64_t time_ns;
    struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns);

    if (open == NULL)
        return SG_OK;
    if (!read_collective(events, event, &collective))
        return SG_ERR_MEMORY;
    if (!open->open || !is_carried_out(open, collective.op)) {
        open->open = false;
        return sg_archive_waits_collective(events->waits, event->location, &collective, NULL);
    }
    open->open = open->ended =
        end_call(events, open, collective.op, collective.comm, collective.root);
    open->sent_bytes = collective.sent_bytes;
    open->received_bytes = collective.received_bytes;
    return SG_OK;
}

static enum sg_status on_request(struct sg_archive_events *events,
                                 const struct sg_archive_event *event)
{
    uint64_t request = event->arguments[0];
    int64_t time_ns;
    struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns);

    if (open == NULL)
        return SG_OK;
    if (!open->open || !open->has_seq || !sg_archive_has_nonblocking(events->defs))
        return sg_archive_waits_request(events->waits, event->location, SG_ARCHIVE_BEGIN_COLLECTIVE,
                                        request);
    open->posted = true;
    open->request = request;
    open->call.nonblocking = true;
    return SG_OK;
}

static enum sg_status on_complete(struct sg_archive_events *events,
                                  const struct sg_archive_event *event)
{
    uint64_t request = event->arguments[SG_EVENT_COLLECTIVE_REQUEST];
    struct sg_archive_collective collective;
    int64_t time_ns;
    struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns), nonblocking;

    if (open == NULL)
        return SG_OK;
    if (!read_collective(events, event, &collective))
        return SG_ERR_MEMORY;
    if (!sg_open_requests_take(requests_of(events, open), request, &nonblocking))
        return sg_archive_waits_collective(events->waits, event->location, &collective, &request);
    if (!end_call(events, &nonblocking, collective.op, collective.comm, collective.root))
        return SG_OK;
    if (!sg_open_request_read(&event->attributes, &nonblocking)) {
        events->dropped_calls++;
        return SG_OK;
    }
    nonblocking.sent_bytes = collective.sent_bytes;
    nonblocking.received_bytes = collective.received_bytes;
    nonblocking.call.end_ns = time_ns;
    return sg_open_call_finish(events, &nonblocking);
}

static enum sg_status on_metric(struct sg_archive_events *events,
                                const struct sg_archive_event *event)
{
    const struct sg_def_metric_class *class;
    int64_t time_ns, class_index;
    struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns);

    class_index = sg_map_get(&events->defs->class_index, event->arguments[0]);
    if (open == NULL || class_index < 0)
        return SG_OK;
    class = &events->defs->classes[class_index];
    for (uint8_t i = 0; i < event->number_count; i++) {
        if (open->open && class->counts[i] != SG_COUNT_COUNT)
            sg_counts_add(&open->call.counts, class->counts[i], event->numbers[i]);
    }
    return sg_archive_waits_metrics(events->waits, event->location, time_ns, class,
                                    event->number_count, event->numbers);
}

static enum sg_status on_leave(struct sg_archive_events *events,
                               const struct sg_archive_event *event)
{
    OTF2_RegionRef region = (OTF2_RegionRef)event->arguments[0];
    enum sg_status status = SG_OK;
    int64_t time_ns, kind;
    struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns);
    struct sg_rank_times *times;

    if (open == NULL)
        return SG_OK;
    kind = sg_map_get(&events->defs->region_kind, region);
    times = rank_of(events, event);
    if (kind == SG_REGION_LATE)
        return sg_open_late_leave(events, late_of(events, open), time_ns);
    if (kind == SG_REGION_INIT && times->init_end_ns == times->init_ns)
        times->init_end_ns = time_ns;
    if (kind == SG_REGION_FINALIZE) {
        times->has_finalize = true;
        times->finalize_ns = time_ns;
    }
    if (sg_archive_waits_wants(events->waits, region))
        status = sg_archive_waits_leave(events->waits, event->location, time_ns,
                                        is_ours(open) && open->region == region);
    if (!open->open || open->region != region || status != SG_OK)
        return status;
    open->open = false;
    if (open->posted) {
        open->call.start_ns = (uint64_t)(time_ns - open->call.begin_ns);
        return sg_open_requests_add(requests_of(events, open), open);
    }
    if (!open->ended)
        return SG_OK;
    open->call.end_ns = time_ns;
    return sg_open_call_finish(events, open);
}

enum sg_status sg_archive_events_take(struct sg_archive_events *events,
                                      const struct sg_archive_event *event)
{
    switch (event->kind) {
    case SG_EVENT_ENTER:
        return on_enter(events, event);
    case SG_EVENT_LEAVE:
        return on_leave(events, event);
    case SG_EVENT_COLLECTIVE:
        return on_collective(events, event);
    case SG_EVENT_COLLECTIVE_BEGUN:
        return on_request(events, event);
    case SG_EVENT_COLLECTIVE_COMPLETE:
        return on_complete(events, event);
    case SG_EVENT_METRIC:
        return on_metric(events, event);
    case SG_EVENT_PARAMETER:
        return sg_archive_parameter_event(events, event);
    case SG_EVENT_SEND:
    case SG_EVENT_ISEND:
    case SG_EVENT_RECEIVE:
    case SG_EVENT_RECEIVED:
    case SG_EVENT_POST:
    case SG_EVENT_SENT:
    case SG_EVENT_CANCELLED:
        return sg_archive_message_event(events, event);
    default:
        return sg_archive_window_event(events, event);
    }
}

/* ---- making and finishing -------------------------------------------------------------------- */

static enum sg_status take_instance(void *context, const struct sg_instance *instance)
{
    const struct sg_archive_events *events = context;
    enum sg_status status = sg_aggregate_instance(events->aggregate, instance);

    return status == SG_OK && events->waits != NULL
               ? sg_archive_waits_instance(events->waits, instance)
               : status;
}

/* Communicators have the same number in definitions, aggregate and window. */
static enum sg_status add_comms(struct sg_archive_events *events)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < events->defs->comm_count && status == SG_OK; i++) {
        const struct sg_def_comm *comm = &events->defs->comms[i];
        uint32_t size = comm->is_inter ? comm->sides[0].size + comm->sides[1].size : comm->size;
        uint32_t index;

        status = sg_aggregate_comm(events->aggregate, comm->name, size, comm->first_rank, &index);
        assert(status != SG_OK || index == i);
        if (status == SG_OK)
            status = sg_aggregate_comm_parent(events->aggregate, index, comm->parent);
        if (status == SG_OK)
            status = sg_window_add_comm(events->window, comm->size > 0 ? comm->size : 1);
    }
    return status;
}

enum sg_status sg_archive_events_create(const struct sg_archive_defs *defs,
                                        struct sg_aggregate *aggregate,
                                        struct sg_archive_waits *waits,
                                        struct sg_archive_events **out)
{
    struct sg_archive_events *events = calloc(1, sizeof *events);
    enum sg_status status;

    if (events == NULL)
        return SG_ERR_MEMORY;
    events->defs = defs;
    events->aggregate = aggregate;
    events->waits = waits;
    events->calls = calloc((size_t)defs->location_count + 1, sizeof *events->calls);
    events->lates = calloc((size_t)defs->location_count + 1, sizeof *events->lates);
    events->requests = calloc((size_t)defs->location_count + 1, sizeof *events->requests);
    events->ranks = calloc(defs->rank_count, sizeof *events->ranks);
    events->orders = calloc((size_t)defs->comm_count + 1, sizeof *events->orders);
    status = sg_window_create(take_instance, events, &events->window);
    if (events->calls == NULL || events->lates == NULL || events->requests == NULL ||
        events->ranks == NULL || events->orders == NULL)
        status = SG_ERR_MEMORY;
    if (status == SG_OK && waits != NULL)
        status = sg_archive_windows_create(defs, sg_archive_waits_tracker(waits), &events->windows);
    if (status == SG_OK && waits != NULL)
        status =
            sg_archive_neighbors_create(defs, sg_archive_waits_tracker(waits), &events->neighbors);
    if (status == SG_OK)
        status = sg_aggregate_site(aggregate, NULL, &events->no_site);
    if (status == SG_OK)
        status = sg_aggregate_algorithm(aggregate, "", &events->no_algorithm);
    if (status == SG_OK)
        status = sg_aggregate_algorithm(aggregate, "mpich", &events->mpich);
    if (status == SG_OK)
        status = add_comms(events);
    if (status != SG_OK) {
        sg_archive_events_destroy(events);
        return status;
    }
    *out = events;
    return SG_OK;
}

void sg_archive_events_destroy(struct sg_archive_events *events)
{
    if (events == NULL)
        return;
    for (uint32_t i = 0; events->orders != NULL && i < events->defs->comm_count; i++)
        free(events->orders[i]);
    for (uint32_t i = 0; events->requests != NULL && i < events->defs->location_count; i++)
        free(events->requests[i].items);
    sg_archive_windows_destroy(events->windows);
    sg_archive_neighbors_destroy(events->neighbors);
    sg_window_destroy(events->window);
    sg_map_clear(&events->sites);
    sg_map_clear(&events->algorithms);
    sg_map_clear(&events->arms);
    free(events->calls);
    free(events->lates);
    free(events->requests);
    free(events->ranks);
    free(events->orders);
    free(events);
}

static uint64_t time_in_ends(const struct sg_rank_times *times)
{
    uint64_t init_ns =
        times->has_init ? (uint64_t)times->init_end_ns - (uint64_t)times->init_ns : 0;

    return init_ns + (times->has_finalize
                          ? (uint64_t)times->finalize_ns - (uint64_t)times->finalize_begin_ns
                          : 0);
}

struct sg_window_counts sg_archive_events_finish(struct sg_archive_events *events)
{
    struct sg_window_counts counts;

    sg_window_finish(events->window);
    counts = sg_window_counts(events->window);
    counts.dropped_calls += events->dropped_calls;
    for (uint32_t i = 0; i < events->defs->location_count; i++)
        counts.dropped_calls += is_ours(&events->calls[i]) + events->requests[i].count;
    for (uint32_t rank = 0; rank < events->defs->rank_count; rank++) {
        const struct sg_rank_times *times = &events->ranks[rank];
        int64_t begin_ns = times->has_init ? times->init_ns : times->first_ns;
        int64_t end_ns = times->has_finalize ? times->finalize_ns : times->last_ns;

        if (times->seen && end_ns > begin_ns)
            sg_aggregate_span(events->aggregate, rank, begin_ns, end_ns);
        sg_aggregate_ends(events->aggregate, rank, time_in_ends(times));
    }
    return counts;
}
