#include "trace/export/events.h"

#include "trace/export/order.h"

/* Algorithm 0 is MPICH's own (shim/rule/algorithm.h). */
#define PASSED_THROUGH 0
/* Late contributions inside late contributions; one more closes the innermost. */
#define DEPTH_LIMIT 16

struct open_region {
    uint64_t end_ns;
    uint32_t slot;
};

struct event_writer {
    struct sg_archive *archive;
    const struct sg_plan *plan;
    const struct sg_summary *summary;
    struct sg_logread *log;
    uint64_t finalize_end_ns;
    uint32_t *site_texts; /* strings, as summary->sites */
    /* the location being written */
    OTF2_EvtWriter *events;
    OTF2_AttributeList *attributes;
    struct sg_locations *locations;
    struct sg_location location;
    uint64_t now_ns; /* of the latest event: time never runs backwards */
    struct open_region open[DEPTH_LIMIT];
    int depth;
};

static const void *record_at(struct event_writer *writer, uint32_t slot)
{
    enum sg_record_kind kind;
    uint64_t from = slot;

    return sg_logread_next(writer->log, &from, &kind);
}

static void check(struct event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

/* ---- locations ------------------------------------------------------------------------------ */

static void open_location(struct event_writer *writer, uint32_t thread)
{
    uint64_t id = sg_location_id((uint32_t)writer->summary->rank, thread);

    writer->location = (struct sg_location){.id = id};
    writer->now_ns = 0;
    writer->events = OTF2_Archive_GetEvtWriter(writer->archive->handle, id);
    if (writer->events == NULL)
        sg_archive_fail(writer->archive, "%s", sg_status_text(SG_ERR_MEMORY));
}

static void add_location(struct sg_archive *archive, struct sg_locations *locations,
                         const struct sg_location *location)
{
    struct sg_location *moved =
        realloc(locations->items, (locations->count + 1) * sizeof *locations->items);

    if (moved == NULL) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        return;
    }
    locations->items = moved;
    locations->items[locations->count++] = *location;
}

static void close_location(struct event_writer *writer)
{
    if (writer->events == NULL)
        return;
    check(writer, OTF2_EvtWriter_GetNumberOfEvents(writer->events, &writer->location.events));
    check(writer, OTF2_Archive_CloseEvtWriter(writer->archive->handle, writer->events));
    writer->events = NULL;
    add_location(writer->archive, writer->locations, &writer->location);
}

/* Moves the location's clock to a time, or leaves it where it is later already. */
static uint64_t advance(struct event_writer *writer, uint64_t time_ns)
{
    if (time_ns > writer->now_ns)
        writer->now_ns = time_ns;
    if (writer->location.first_ns == 0)
        writer->location.first_ns = writer->now_ns;
    writer->location.last_ns = writer->now_ns;
    return writer->now_ns;
}

/* ---- one event ------------------------------------------------------------------------------ */

static uint32_t site_text(const struct event_writer *writer, uint32_t index)
{
    const struct sg_site_entry *site = sg_summary_site(writer->summary, index);

    return site != NULL ? writer->site_texts[site - writer->summary->sites]
                        : sg_plan_site_text(writer->plan, 0);
}

static uint32_t algorithm_name(const struct event_writer *writer, uint8_t algorithm)
{
    uint32_t last = writer->plan->algorithm_count - 1;

    return writer->plan->algorithms[algorithm < last ? algorithm : last];
}

static void enter_call(struct event_writer *writer, const struct sg_record_call *call)
{
    OTF2_AttributeList *attributes = writer->attributes;
    uint64_t time_ns = advance(writer, call->begin_ns);

    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_SITE,
                                                  site_text(writer, call->site)));
    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_ALGORITHM,
                                                  algorithm_name(writer, call->algorithm)));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SEQ, call->seq));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BYTES, call->bytes));
    check(writer, OTF2_EvtWriter_Enter(writer->events, attributes, time_ns, call->operation));
    check(writer, OTF2_EvtWriter_MpiCollectiveBegin(writer->events, NULL, time_ns));
}

static void write_metrics(struct event_writer *writer, const struct sg_record_call *call)
{
    uint64_t skew_ns = (call->flags & SG_CALL_SKEW) != 0 ? call->skew_ns : 0;
    OTF2_Type types[SG_METRIC_COUNT];
    OTF2_MetricValue values[SG_METRIC_COUNT] = {
        {.unsigned_int = skew_ns},           {.unsigned_int = call->late},
        {.unsigned_int = call->early},       {.unsigned_int = call->signals},
        {.unsigned_int = call->outstanding}, {.unsigned_int = call->stalls},
        {.unsigned_int = call->copies},      {.unsigned_int = call->ignored},
        {.unsigned_int = call->moves},       {.unsigned_int = call->repeats},
    };
    bool known = call->algorithm != PASSED_THROUGH;

    for (int i = 0; i < SG_METRIC_COUNT; i++) {
        types[i] = OTF2_TYPE_UINT64;
        known = known || values[i].unsigned_int != 0;
    }
    if (known)
        check(writer, OTF2_EvtWriter_Metric(writer->events, NULL, writer->now_ns, 0,
                                            SG_METRIC_COUNT, types, values));
}

/* SG_NO_COMM: it is not in the archive. */
static uint32_t comm_ref(const struct event_writer *writer, const struct sg_comm_entry *comm)
{
    const struct sg_plan_comm *found;

    if (comm->index == SG_COMM_WORLD_INDEX)
        return SG_COMM_WORLD_REF;
    if (comm->index == SG_COMM_SELF_INDEX)
        return SG_COMM_SELF_REF;
    found = sg_plan_find_comm(writer->plan, comm->root_world_rank, comm->root_counter);
    return found != NULL ? found->ref : SG_NO_COMM;
}

/* Bytes as Score-P counts them. */
static void count_bytes(const struct sg_record_call *call, const struct sg_comm_entry *comm,
                        uint64_t *sent, uint64_t *received)
{
    bool in_place = (call->flags & SG_CALL_IN_PLACE) != 0;
    uint64_t ranks = comm->size - (in_place ? 1 : 0);

    *sent = *received = 0;
    if (call->operation == SG_OPERATION_ALLREDUCE) {
        *sent = *received = call->bytes * ranks;
    } else if (call->operation == SG_OPERATION_REDUCE) {
        *sent = in_place ? 0 : call->bytes;
        *received = call->root == (int32_t)comm->rank ? call->bytes * ranks : 0;
    }
}

static void leave_call(struct event_writer *writer, const struct sg_record_call *call,
                       uint64_t end_ns)
{
    static const OTF2_CollectiveOp operations[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = OTF2_COLLECTIVE_OP_BARRIER,
        [SG_OPERATION_REDUCE] = OTF2_COLLECTIVE_OP_REDUCE,
        [SG_OPERATION_ALLREDUCE] = OTF2_COLLECTIVE_OP_ALLREDUCE,
    };
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, call->comm);
    uint32_t root = OTF2_COLLECTIVE_ROOT_NONE;
    uint64_t time_ns = advance(writer, end_ns);
    uint64_t sent, received;

    if (call->operation == SG_OPERATION_REDUCE)
        root = (uint32_t)call->root;
    count_bytes(call, comm, &sent, &received);
    check(writer, OTF2_EvtWriter_MpiCollectiveEnd(writer->events, NULL, time_ns,
                                                  operations[call->operation],
                                                  comm_ref(writer, comm), root, sent, received));
    write_metrics(writer, call);
    check(writer, OTF2_EvtWriter_Leave(writer->events, NULL, time_ns, call->operation));
}

static void enter_late(struct event_writer *writer, const struct sg_record_late *late)
{
    OTF2_AttributeList *attributes = writer->attributes;
    const struct sg_comm_entry *comm = sg_summary_comm(writer->summary, late->comm);
    uint32_t ref = comm != NULL ? comm_ref(writer, comm) : SG_NO_COMM;

    check(writer, OTF2_AttributeList_AddStringRef(attributes, SG_ATTRIBUTE_SITE,
                                                  site_text(writer, late->site)));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_SEQ, late->seq));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_BYTES, late->bytes));
    if (ref != SG_NO_COMM)
        check(writer, OTF2_AttributeList_AddCommRef(attributes, SG_ATTRIBUTE_COMM, ref));
    check(writer,
          OTF2_AttributeList_AddRegionRef(attributes, SG_ATTRIBUTE_OPERATION, late->operation));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_CHILD,
                                               late->child >= 0 ? (uint64_t)late->child : 0));
    check(writer, OTF2_AttributeList_AddUint64(attributes, SG_ATTRIBUTE_AVOIDED, late->avoided_ns));
    check(writer, OTF2_EvtWriter_Enter(writer->events, attributes, advance(writer, late->begin_ns),
                                       SG_REGION_LATE));
}

/* ---- nesting -------------------------------------------------------------------------------- */

static void close_innermost(struct event_writer *writer, uint64_t limit_ns)
{
    const struct open_region *region = &writer->open[--writer->depth];
    uint64_t end_ns = region->end_ns < limit_ns ? region->end_ns : limit_ns;
    const void *record;

    if (region->slot >= SG_SLOT_INIT) {
        check(writer, OTF2_EvtWriter_Leave(writer->events, NULL, advance(writer, end_ns),
                                           region->slot == SG_SLOT_INIT ? SG_REGION_INIT
                                                                        : SG_REGION_FINALIZE));
        return;
    }
    record = record_at(writer, region->slot);
    if (*(const uint8_t *)record == SG_RECORD_CALL)
        leave_call(writer, record, end_ns);
    else
        check(writer,
              OTF2_EvtWriter_Leave(writer->events, NULL, advance(writer, end_ns), SG_REGION_LATE));
}

/* Makes place for what begins now: closes what has ended, and what cannot enclose it. MPI calls
 * never lie in one another; where they seem to, the first was left without returning. */
static void close_before(struct event_writer *writer, const struct sg_order_entry *entry)
{
    while (writer->depth > 0 && (!entry->nests || writer->depth == DEPTH_LIMIT ||
                                 writer->open[writer->depth - 1].end_ns <= entry->begin_ns))
        close_innermost(writer, entry->begin_ns);
}

static void push(struct event_writer *writer, uint32_t slot, uint64_t end_ns)
{
    if (writer->depth > 0 && writer->open[writer->depth - 1].end_ns < end_ns)
        end_ns = writer->open[writer->depth - 1].end_ns;
    writer->open[writer->depth++] = (struct open_region){.end_ns = end_ns, .slot = slot};
}

static uint64_t end_or_last(const struct event_writer *writer, uint64_t end_ns)
{
    return end_ns > 0 ? end_ns : writer->summary->last_ns;
}

static bool is_kept(const struct event_writer *writer, const struct sg_record_call *call)
{
    const struct sg_comm_entry *comm = sg_summary_call_comm(writer->summary, call);
    const struct sg_plan_comm *found;

    if (comm == NULL)
        return false;
    if (comm->index == SG_COMM_SELF_INDEX)
        return sg_intervals_contain(&comm->recorded, call->seq);
    if (comm->index == SG_COMM_WORLD_INDEX)
        return sg_intervals_contain(&writer->plan->world_kept, call->seq);
    found = sg_plan_find_comm(writer->plan, comm->root_world_rank, comm->root_counter);
    return found != NULL && found->ref != SG_NO_COMM &&
           sg_intervals_contain(&found->kept, call->seq);
}

static void write_header_region(struct event_writer *writer, uint32_t slot, uint64_t begin_ns)
{
    const struct sg_log_header *header = sg_logread_header(writer->log);
    bool is_init = slot == SG_SLOT_INIT;

    check(writer, OTF2_EvtWriter_Enter(writer->events, NULL, advance(writer, begin_ns),
                                       is_init ? SG_REGION_INIT : SG_REGION_FINALIZE));
    push(writer, slot,
         end_or_last(writer, is_init ? header->init_end_ns : writer->finalize_end_ns));
}

static void write_entry(struct event_writer *writer, const struct sg_order_entry *entry)
{
    const void *record = entry->slot < SG_SLOT_INIT ? record_at(writer, entry->slot) : NULL;

    if (record != NULL && !entry->nests && !is_kept(writer, record))
        return;
    if (writer->events == NULL)
        open_location(writer, entry->thread);
    if (writer->events == NULL)
        return;
    close_before(writer, entry);
    if (record == NULL) {
        write_header_region(writer, entry->slot, entry->begin_ns);
    } else if (entry->nests) {
        const struct sg_record_late *late = record;

        enter_late(writer, late);
        push(writer, entry->slot,
             end_or_last(writer, atomic_load_explicit(&late->end_ns, memory_order_relaxed)));
    } else {
        const struct sg_record_call *call = record;

        enter_call(writer, call);
        push(writer, entry->slot,
             end_or_last(writer, atomic_load_explicit(&call->end_ns, memory_order_relaxed)));
    }
}

static void finish_thread(struct event_writer *writer)
{
    while (writer->depth > 0)
        close_innermost(writer, UINT64_MAX);
    close_location(writer);
}

static bool prepare(struct event_writer *writer)
{
    const struct sg_summary *summary = writer->summary;

    writer->site_texts = calloc(summary->site_count + 1, sizeof *writer->site_texts);
    writer->attributes = OTF2_AttributeList_New();
    if (writer->site_texts == NULL || writer->attributes == NULL)
        return false;
    for (uint32_t i = 0; i < summary->site_count; i++)
        writer->site_texts[i] = sg_plan_site_text(writer->plan, summary->sites[i].id);
    return true;
}

void sg_events_write(struct sg_archive *archive, const struct sg_plan *plan,
                     const struct sg_summary *summary, struct sg_logread *log, uint64_t end_ns,
                     struct sg_locations *locations)
{
    struct event_writer writer = {
        .archive = archive,
        .plan = plan,
        .summary = summary,
        .log = log,
        .finalize_end_ns = end_ns,
        .locations = locations,
    };
    struct sg_order_entry *entries = NULL;
    size_t count = 0;
    uint32_t thread = 0;

    if (!prepare(&writer) || sg_order_make(log, &entries, &count) != SG_OK) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        goto done;
    }
    open_location(&writer, thread);
    for (size_t i = 0; i < count && !archive->failed; i++) {
        if (entries[i].thread != thread) {
            finish_thread(&writer);
            thread = entries[i].thread;
        }
        write_entry(&writer, &entries[i]);
    }
    finish_thread(&writer);
done:
    free(entries);
    free(writer.site_texts);
    OTF2_AttributeList_Delete(writer.attributes);
}

void sg_events_write_none(struct sg_archive *archive, uint32_t rank, struct sg_locations *locations)
{
    const struct sg_location location = {.id = sg_location_id(rank, 0)};
    OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(archive->handle, location.id);

    if (events == NULL) {
        sg_archive_fail(archive, "%s", sg_status_text(SG_ERR_MEMORY));
        return;
    }
    sg_archive_check(archive, OTF2_Archive_CloseEvtWriter(archive->handle, events));
    add_location(archive, locations, &location);
}
