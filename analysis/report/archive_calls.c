#include "report/archive_calls.h"

#include "core/hash.h"
#include "core/room.h"
#include "report/archive_definitions.h"

#include <stdlib.h>
#include <string.h>

/* ---- for each event -------------------------------------------------------------------------- */

int64_t sg_archive_note_time(struct sg_archive_events *events, int64_t rank, OTF2_TimeStamp ticks)
{
    const struct sg_archive_defs *defs = events->defs;
    int64_t since = (int64_t)(ticks - defs->start_ticks);
    int64_t time_ns = since;

    if (defs->ticks_per_second != UINT64_C(1000000000))
        time_ns = (int64_t)((__int128)since * 1000000000 / (__int128)defs->ticks_per_second);
    if (!events->started) {
        events->started = true;
        events->start_ns = time_ns;
    }
    time_ns -= events->start_ns;
    if (rank >= 0) {
        struct sg_rank_times *times = &events->ranks[rank];

        if (!times->seen)
            times->first_ns = time_ns;
        times->seen = true;
        times->last_ns = time_ns;
    }
    return time_ns;
}

struct sg_open_call *sg_archive_call_of(struct sg_archive_events *events,
                                        const struct sg_archive_event *event, int64_t *time_ns)
{
    int64_t rank = events->defs->locations[event->location].rank;

    *time_ns = sg_archive_note_time(events, rank, event->ticks);
    return rank < 0 ? NULL : &events->calls[event->location];
}

/* ---- the attributes of a call ---------------------------------------------------------------- */

/* *out is unchanged if the archive does not have the attribute. */
static enum sg_status read_site(struct sg_archive_events *events,
                                const struct sg_event_attributes *attributes, uint32_t *out)
{
    uint64_t ref;
    const char *string;
    struct sg_site_text text;
    enum sg_status status;
    char *copy;
    int64_t found;

    if (!sg_event_attribute(attributes, SG_ATTRIBUTE_SITE, &ref))
        return SG_OK;
    found = sg_map_get(&events->sites, ref);
    string = found < 0 ? sg_archive_string(events->defs, (OTF2_StringRef)ref) : NULL;
    if (found >= 0)
        *out = (uint32_t)found;
    if (string == NULL)
        return SG_OK;
    copy = strdup(string);
    if (copy == NULL)
        return SG_ERR_MEMORY;
    status = sg_aggregate_site(events->aggregate,
                               sg_site_parse(copy, &text) == SG_OK ? &text : NULL, out);
    free(copy);
    return status == SG_OK ? sg_map_put(&events->sites, ref, *out) : status;
}

static enum sg_status read_algorithm(struct sg_archive_events *events,
                                     const struct sg_event_attributes *attributes, uint32_t *out)
{
    uint64_t ref;
    const char *name;
    enum sg_status status;
    int64_t found;

    if (!sg_event_attribute(attributes, SG_ATTRIBUTE_ALGORITHM, &ref))
        return SG_OK;
    found = sg_map_get(&events->algorithms, ref);
    name = found < 0 ? sg_archive_string(events->defs, (OTF2_StringRef)ref) : NULL;
    if (found >= 0)
        *out = (uint32_t)found;
    if (name == NULL)
        return SG_OK;
    status = sg_aggregate_algorithm(events->aggregate, name, out);
    return status == SG_OK ? sg_map_put(&events->algorithms, ref, *out) : status;
}

/* Reads the candidate of a call in a trial; otherwise *out is unchanged. */
static enum sg_status read_arm(struct sg_archive_events *events,
                               const struct sg_event_attributes *attributes, uint32_t *out)
{
    const struct sg_archive_defs *defs = events->defs;
    uint64_t place, text, key;
    const char *place_string, *text_string;
    enum sg_status status;
    int64_t found;

    if (!sg_event_attribute(attributes, SG_ATTRIBUTE_TRIAL, &place) ||
        !sg_event_attribute(attributes, SG_ATTRIBUTE_ARM, &text))
        return SG_OK;
    key = place << 32 | text;
    found = sg_map_get(&events->arms, key);
    if (found >= 0) {
        *out = (uint32_t)found;
        return SG_OK;
    }
    place_string = sg_archive_string(defs, (OTF2_StringRef)place);
    text_string = sg_archive_string(defs, (OTF2_StringRef)text);
    if (place_string == NULL || text_string == NULL)
        return SG_OK;
    status = sg_trials_arm(sg_aggregate_trials(events->aggregate), place_string, text_string, out);
    return status == SG_OK ? sg_map_put(&events->arms, key, *out) : status;
}

static bool sg_archive_neighborhood_read(const struct sg_event_attributes *attributes,
                                         struct sg_archive_neighborhood *out)
{
    uint64_t comm, sources;

    out->has_sources = sg_event_attribute(attributes, SG_ATTRIBUTE_SOURCES, &sources);
    if (out->has_sources)
        out->sources = (OTF2_GroupRef)sources;
    if (!sg_archive_number(attributes, &out->number) ||
        !sg_event_attribute(attributes, SG_ATTRIBUTE_COMM, &comm))
        return false;
    out->comm = (OTF2_CommRef)comm;
    return true;
}

/* Returns how many messages before this one have no event, from the attribute; 0 without it. */
static uint32_t sg_archive_gap(const struct sg_event_attributes *attributes)
{
    uint64_t gap;

    if (!sg_event_attribute(attributes, SG_ATTRIBUTE_GAP, &gap))
        return 0;
    return gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
}

enum sg_status sg_open_call_read(struct sg_archive_events *events,
                                 const struct sg_event_attributes *attributes,
                                 struct sg_open_call *open)
{
    enum sg_status status;

    open->call.site = events->no_site;
    open->call.algorithm = events->no_algorithm;
    if (attributes->present == 0)
        return SG_OK;
    open->has_site = sg_event_has(attributes, SG_ATTRIBUTE_SITE);
    open->has_seq = sg_event_attribute(attributes, SG_ATTRIBUTE_SEQ, &open->seq);
    open->has_bytes = sg_event_attribute(attributes, SG_ATTRIBUTE_BYTES, &open->call.bytes);
    status = read_site(events, attributes, &open->call.site);
    if (status == SG_OK)
        status = read_algorithm(events, attributes, &open->call.algorithm);
    open->call.is_mpich = open->call.algorithm == events->mpich;
    return status == SG_OK ? read_arm(events, attributes, &open->call.arm) : status;
}

enum sg_status sg_archive_enter_call(struct sg_archive_events *events,
                                     const struct sg_event_attributes *attributes,
                                     const struct sg_open_call *open, OTF2_RegionRef region,
                                     int64_t time_ns)
{
    uint32_t site = events->no_site;
    uint64_t polled_ns = 0;
    enum sg_status status = read_site(events, attributes, &site);

    if (status != SG_OK)
        return status;
    sg_event_attribute(attributes, SG_ATTRIBUTE_POLLED, &polled_ns);
    return sg_archive_waits_enter(events->waits, (uint32_t)(open - events->calls), time_ns, region,
                                  site, polled_ns);
}

/* Derives count times type size from what Score-P writes. In a reduce each rank sends its bytes; an
 * in-place root only receives them (times the number of ranks, or one less). An allreduce sends
 * them times the number of ranks, or one less when in place. In a broadcast each rank receives
 * them. */
static uint64_t derive_bytes(const struct sg_open_call *open, uint32_t size)
{
    if (open->operation == SG_OPERATION_BARRIER)
        return 0;
    if (open->operation == SG_OPERATION_REDUCE) {
        if (open->sent_bytes > 0 || size < 2)
            return open->sent_bytes;
        return open->received_bytes / (size - 1);
    }
    if (open->operation == SG_OPERATION_BCAST)
        return open->received_bytes > 0 ? open->received_bytes : open->sent_bytes / size;
    if (open->sent_bytes % size == 0 || size < 2)
        return open->sent_bytes / size;
    return open->sent_bytes / (size - 1);
}

static enum sg_status next_in_order(struct sg_archive_events *events,
                                    const struct sg_open_call *open, uint32_t member, uint64_t *seq)
{
    uint64_t **orders = &events->orders[open->comm];
    const struct sg_def_comm *comm = &events->defs->comms[open->comm];
    uint32_t at = comm->is_self ? open->call.rank : member;

    if (*orders == NULL)
        *orders = calloc(comm->is_self ? events->defs->rank_count : comm->size, sizeof **orders);
    if (*orders == NULL)
        return SG_ERR_MEMORY;
    *seq = (*orders)[at]++;
    return SG_OK;
}

/* The archive has one MPI_COMM_SELF, the program has one for each rank: each call is an instance of
 * its own. */
static enum sg_status add_alone(struct sg_archive_events *events, struct sg_open_call *open)
{
    struct sg_instance instance = {.seq = open->seq,
                                   .comm = open->comm,
                                   .size = 1,
                                   .operation = open->operation,
                                   .nonblocking = open->call.nonblocking,
                                   .calls = &open->call};

    return sg_aggregate_instance(events->aggregate, &instance);
}

enum sg_status sg_open_call_finish(struct sg_archive_events *events, struct sg_open_call *open)
{
    const struct sg_def_comm *comm = &events->defs->comms[open->comm];
    int64_t member = sg_def_comm_member(comm, open->call.rank);
    enum sg_status status = SG_OK;

    if (member < 0) {
        events->dropped_calls++;
        return SG_OK;
    }
    if (!open->has_bytes)
        open->call.bytes = derive_bytes(open, comm->size);
    if (!open->has_seq)
        status = next_in_order(events, open, (uint32_t)member, &open->seq);
    if (status != SG_OK)
        return status;
    if (comm->is_self)
        return add_alone(events, open);
    return sg_window_add(events->window, open->comm, open->seq, (uint32_t)member, open->operation,
                         open->root, &open->call);
}

/* ---- nonblocking calls: open from the start call until they are complete --------------------- */

enum sg_status sg_open_requests_add(struct sg_open_requests *requests,
                                    const struct sg_open_call *nonblocking)
{
    return SG_APPEND(requests->items, requests->count, *nonblocking) ? SG_OK : SG_ERR_MEMORY;
}

bool sg_open_requests_take(struct sg_open_requests *requests, uint64_t request,
                           struct sg_open_call *out)
{
    for (uint32_t i = 0; i < requests->count; i++) {
        if (requests->items[i].request != request)
            continue;
        *out = requests->items[i];
        requests->items[i] = requests->items[--requests->count];
        return true;
    }
    return false;
}

bool sg_open_request_read(const struct sg_event_attributes *attributes,
                          struct sg_open_call *nonblocking)
{
    return sg_event_attribute(attributes, SG_ATTRIBUTE_EXPOSED, &nonblocking->call.exposed_ns) &&
           sg_event_attribute(attributes, SG_ATTRIBUTE_HIDDEN, &nonblocking->call.hidden_ns);
}

/* ---- late contributions: handling time and the wait that they spare -------------------------- */

/* Finds the row that the contribution belongs to. False: the archive does not say. */
static bool find_row(const struct sg_archive_events *events,
                     const struct sg_event_attributes *attributes, struct sg_late_cost *cost)
{
    const struct sg_archive_defs *defs = events->defs;
    uint64_t comm, region;
    int64_t comm_index, operation;

    if (!sg_event_attribute(attributes, SG_ATTRIBUTE_COMM, &comm) ||
        !sg_event_attribute(attributes, SG_ATTRIBUTE_OPERATION, &region))
        return false;
    comm_index = sg_map_get(&defs->comm_index, comm);
    operation = sg_map_get(&defs->region_operation, region);
    if (comm_index < 0 || operation < 0)
        return false;
    cost->comm = (uint32_t)comm_index;
    cost->operation = (enum sg_operation)operation;
    return true;
}

enum sg_status sg_open_late_enter(struct sg_archive_events *events,
                                  const struct sg_event_attributes *attributes,
                                  const struct sg_open_call *in, struct sg_open_late *open,
                                  int64_t time_ns)
{
    struct sg_late_cost cost = {.site = events->no_site, .begin_ns = time_ns, .in_call = in->open};
    const struct sg_def_location *location = &events->defs->locations[in - events->calls];
    uint64_t by_signal;

    /* This contribution is handled inside another, whose time includes it. */
    if (open->depth > 0) {
        open->depth++;
        return SG_OK;
    }
    *open = (struct sg_open_late){.depth = 1, .known = find_row(events, attributes, &cost)};
    if (!open->known)
        return SG_OK;
    cost.rank = (uint32_t)location->rank;
    cost.thread = location->thread;
    sg_event_attribute(attributes, SG_ATTRIBUTE_AVOIDED, &cost.avoided_ns);
    cost.has_seq = sg_event_attribute(attributes, SG_ATTRIBUTE_SEQ, &cost.seq);
    cost.by_signal =
        sg_event_attribute(attributes, SG_ATTRIBUTE_BY_SIGNAL, &by_signal) && by_signal > 0;
    open->cost = cost;
    return read_site(events, attributes, &open->cost.site);
}

enum sg_status sg_open_late_leave(struct sg_archive_events *events, struct sg_open_late *open,
                                  int64_t time_ns)
{
    if (open->depth == 0 || --open->depth > 0 || !open->known)
        return SG_OK;
    open->cost.handler_ns = (uint64_t)(time_ns - open->cost.begin_ns);
    return sg_aggregate_late(events->aggregate, &open->cost);
}

/* A group's ranks as members of a communicator. */
struct list {
    OTF2_CommRef comm;
    OTF2_GroupRef group;
    uint32_t *members; /* NULL: none */
    uint32_t count;
};

struct sg_archive_neighbors {
    const struct sg_archive_defs *defs;
    struct sg_waitstate_tracker *tracker;
    struct list *lists;
    uint32_t list_count;
    struct sg_map list_by_key;
};

enum sg_status sg_archive_neighbors_create(const struct sg_archive_defs *defs,
                                           struct sg_waitstate_tracker *tracker,
                                           struct sg_archive_neighbors **out)
{
    struct sg_archive_neighbors *neighbors = calloc(1, sizeof *neighbors);

    if (neighbors == NULL)
        return SG_ERR_MEMORY;
    neighbors->defs = defs;
    neighbors->tracker = tracker;
    *out = neighbors;
    return SG_OK;
}

void sg_archive_neighbors_destroy(struct sg_archive_neighbors *neighbors)
{
    if (neighbors == NULL)
        return;
    for (uint32_t i = 0; i < neighbors->list_count; i++)
        free(neighbors->lists[i].members);
    free(neighbors->lists);
    sg_map_clear(&neighbors->list_by_key);
    free(neighbors);
}

/* ---- neighborhood collectives: sources ------------------------------------------------------- */

static enum sg_status make_list(const struct sg_archive_defs *defs, const struct sg_def_comm *comm,
                                struct list *list)
{
    int64_t index = sg_map_get(&defs->raw->group_index, list->group);
    const struct sg_raw_group *group = index < 0 ? NULL : &defs->raw->groups[index];

    if (group == NULL || group->type != OTF2_GROUP_TYPE_COMM_GROUP || group->size == 0)
        return SG_OK;
    list->members = malloc(group->size * sizeof *list->members);
    if (list->members == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < group->size; i++) {
        int64_t member = group->members[i] < defs->rank_count
                             ? sg_def_comm_member(comm, (uint32_t)group->members[i])
                             : -1;

        if (member >= 0)
            list->members[list->count++] = (uint32_t)member;
    }
    return SG_OK;
}

/* Finds or makes the list; NULL: out of memory. Adding lists moves them, but not their members. */
static const struct list *list_of(struct sg_archive_neighbors *neighbors,
                                  const struct sg_def_comm *comm,
                                  const struct sg_archive_neighborhood *of)
{
    uint64_t key = (uint64_t)of->comm << 32 | of->sources;
    struct list list = {.comm = of->comm, .group = of->sources};
    bool is_new;
    int64_t index = sg_map_number(&neighbors->list_by_key, key, neighbors->list_count, &is_new);

    if (index < 0)
        return NULL;
    if (is_new && (make_list(neighbors->defs, comm, &list) != SG_OK ||
                   !SG_APPEND(neighbors->lists, neighbors->list_count, list))) {
        free(list.members);
        return NULL;
    }
    return &neighbors->lists[index];
}

bool sg_archive_sources(const struct sg_archive_events *events,
                        const struct sg_event_attributes *attributes,
                        struct sg_archive_collective *collective)
{
    const struct sg_archive_defs *defs = events->defs;
    struct sg_archive_neighborhood of = {.comm = collective->comm};
    uint64_t sources;
    int64_t index;
    const struct list *list;

    if (events->neighbors == NULL ||
        !sg_event_attribute(attributes, SG_ATTRIBUTE_SOURCES, &sources))
        return true;
    of.sources = (OTF2_GroupRef)sources;
    index = sg_map_get(&defs->comm_index, of.comm);
    if (index < 0 || defs->comms[index].is_self || defs->comms[index].is_inter)
        return true;
    list = list_of(events->neighbors, &defs->comms[index], &of);
    if (list == NULL)
        return false;
    collective->sources = list->members;
    collective->source_count = list->count;
    return true;
}

/* ---- neighborhood collectives: wait states --------------------------------------------------- */

/* request: NULL for a blocking collective. */
static enum sg_status tell(const struct sg_archive_events *events, const struct sg_open_call *open,
                           const struct sg_archive_neighborhood *of, const uint64_t *request)
{
    struct sg_archive_neighbors *neighbors = events->neighbors;
    uint32_t location = (uint32_t)(open - events->calls);
    struct sg_waitstate_collective collective = {
        .pattern = SG_PATTERN_NEIGHBORS, .seq = of->number, .root = SG_WAITSTATE_NO_ROOT};
    int64_t index = sg_map_get(&events->defs->comm_index, of->comm);

    if (index < 0 || !sg_archive_waits_place(events->waits, index,
                                             (uint32_t)events->defs->locations[location].rank,
                                             OTF2_UNDEFINED_UINT32, &collective))
        return SG_OK;
    collective.first_size = 0; /* both groups wait for all */
    if (of->has_sources) {
        const struct list *list = list_of(neighbors, &events->defs->comms[index], of);

        if (list == NULL)
            return SG_ERR_MEMORY;
        collective.sources = list->members;
        collective.source_count = list->count;
    }
    return request == NULL
               ? sg_waitstate_collective(neighbors->tracker, location, &collective)
               : sg_waitstate_end_collective(neighbors->tracker, location, &collective, *request);
}

enum sg_status sg_archive_neighbors_enter(struct sg_archive_events *events,
                                          const struct sg_event_attributes *attributes,
                                          const struct sg_open_call *open)
{
    struct sg_archive_neighborhood of;

    if (events->neighbors == NULL || !sg_archive_neighborhood_read(attributes, &of))
        return SG_OK;
    return tell(events, open, &of, NULL);
}

/* ---- neighborhood collectives: nonblocking ones ---------------------------------------------- */

static bool is_named(const struct sg_archive_defs *defs, OTF2_ParameterRef ref,
                     enum sg_parameter_ref which)
{
    int64_t index = sg_map_get(&defs->parameter_index, ref);

    return index >= 0 && (enum sg_parameter_ref)index == which;
}

enum sg_status sg_archive_parameter_event(struct sg_archive_events *events,
                                          const struct sg_archive_event *event)
{
    OTF2_ParameterRef parameter = (OTF2_ParameterRef)event->arguments[0];
    uint64_t request = event->arguments[1];
    struct sg_archive_neighborhood of;
    int64_t time_ns;
    const struct sg_open_call *open = sg_archive_call_of(events, event, &time_ns);

    if (open == NULL || events->neighbors == NULL)
        return SG_OK;
    if (is_named(events->defs, parameter, SG_PARAMETER_BEGUN))
        return sg_waitstate_begin_collective(events->neighbors->tracker, event->location, request);
    if (is_named(events->defs, parameter, SG_PARAMETER_COMPLETE) &&
        sg_archive_neighborhood_read(&event->attributes, &of))
        return tell(events, open, &of, &request);
    return SG_OK;
}

/* ---- messages and requests, which feed wait states ------------------------------------------- */

static enum sg_status tell_message(struct sg_archive_events *events,
                                   const struct sg_archive_event *event,
                                   enum sg_archive_message_kind kind)
{
    const uint64_t *arguments = event->arguments;
    struct sg_archive_message message = {.kind = kind,
                                         .peer = (uint32_t)arguments[SG_EVENT_PEER],
                                         .comm = (OTF2_CommRef)arguments[SG_EVENT_COMM],
                                         .tag = (uint32_t)arguments[SG_EVENT_TAG],
                                         .bytes = arguments[SG_EVENT_BYTES],
                                         .gap = sg_archive_gap(&event->attributes),
                                         .is_complete =
                                             sg_event_has(&event->attributes, SG_ATTRIBUTE_EAGER)};
    int64_t time_ns;

    if (sg_archive_call_of(events, event, &time_ns) == NULL)
        return SG_OK;
    if (kind == SG_ARCHIVE_ISEND || kind == SG_ARCHIVE_RECEIVED)
        message.request = arguments[SG_EVENT_MESSAGE_REQUEST];
    return sg_archive_waits_message(events->waits, event->location, time_ns, &message);
}

static enum sg_status tell_request(struct sg_archive_events *events,
                                   const struct sg_archive_event *event,
                                   enum sg_archive_request what)
{
    int64_t time_ns;

    if (sg_archive_call_of(events, event, &time_ns) == NULL)
        return SG_OK;
    return sg_archive_waits_request(events->waits, event->location, what, event->arguments[0]);
}

enum sg_status sg_archive_message_event(struct sg_archive_events *events,
                                        const struct sg_archive_event *event)
{
    switch (event->kind) {
    case SG_EVENT_SEND:
        return tell_message(events, event, SG_ARCHIVE_SEND);
    case SG_EVENT_ISEND:
        return tell_message(events, event, SG_ARCHIVE_ISEND);
    case SG_EVENT_RECEIVE:
        return tell_message(events, event, SG_ARCHIVE_RECEIVE);
    case SG_EVENT_RECEIVED:
        return tell_message(events, event, SG_ARCHIVE_RECEIVED);
    case SG_EVENT_POST:
        return tell_request(events, event, SG_ARCHIVE_POST);
    case SG_EVENT_SENT:
        return tell_request(events, event, SG_ARCHIVE_SENT);
    default:
        return tell_request(events, event, SG_ARCHIVE_CANCELLED);
    }
}
