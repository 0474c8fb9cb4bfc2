#include "trace/export/export_events.h"

#include "core/room.h"
#include "trace/export/vocabulary.h"

/* Nesting of late contributions; one more closes the innermost. */
#define DEPTH_LIMIT 16

struct open_region {
    uint64_t end_ns;
    uint32_t slot;
};

struct log_writer {
    struct sg_event_writer events;
    struct sg_logread *log;
    uint64_t finalize_end_ns;
    struct sg_locations *locations;
    struct open_region open[DEPTH_LIMIT]; /* of the location being written */
    int depth;
    bool in_program;
};

static const void *record_at(struct log_writer *writer, uint32_t slot)
{
    enum sg_record_kind kind;
    uint64_t from = slot;

    return sg_logread_next(writer->log, &from, &kind);
}

/* Returns the record that began a request, or NULL. All records that begin requests have one slot.
 */
static const void *beginning_of(struct log_writer *writer, const struct sg_record_request *request)
{
    enum sg_record_kind kind;
    uint64_t from = request->request;
    const void *record = sg_logread_next(writer->log, &from, &kind);

    return record != NULL && from == request->request + 1 ? record : NULL;
}

static uint8_t kind_of(const void *record)
{
    return *(const uint8_t *)record;
}

static void add_location(struct sg_archive *archive, struct sg_locations *locations,
                         const struct sg_location *location)
{
    if (sg_make_room((void **)&locations->items, locations->count, sizeof *location))
        locations->items[locations->count++] = *location;
    else
        sg_archive_note(archive, SG_ERR_MEMORY);
}

/* ---- nesting -------------------------------------------------------------------------------- */

static uint32_t header_region(uint32_t slot)
{
    return slot == SG_SLOT_INIT ? SG_REGION_REF_INIT : SG_REGION_REF_FINALIZE;
}

static void close_innermost(struct log_writer *writer, uint64_t limit_ns)
{
    const struct open_region *region = &writer->open[--writer->depth];
    uint64_t end_ns = region->end_ns < limit_ns ? region->end_ns : limit_ns;
    const void *record = region->slot < SG_SLOT_INIT ? record_at(writer, region->slot) : NULL;
    struct sg_recorded_call recorded;

    if (record == NULL)
        sg_event_leave_region(&writer->events, header_region(region->slot), end_ns);
    else if (kind_of(record) == SG_RECORD_EVENT)
        sg_event_leave_call(&writer->events, record, region->slot, end_ns);
    else if (sg_recorded_call_read(record, &recorded))
        sg_event_leave(&writer->events, &recorded, end_ns);
    else
        sg_event_leave_region(&writer->events, SG_REGION_REF_LATE, end_ns);
}

/* A request event at the moment when a call ends belongs to the call. */
static bool has_ended(const struct open_region *region, const struct sg_order_entry *entry)
{
    return region->end_ns < entry->begin_ns ||
           (region->end_ns == entry->begin_ns && entry->what != SG_ORDER_REQUEST);
}

/* Closes the regions that have ended before the entry or cannot enclose it. MPI calls do not nest;
 * if they seem to, the first was left without returning. */
static void close_before(struct log_writer *writer, const struct sg_order_entry *entry)
{
    while (writer->depth > 0 && (entry->what == SG_ORDER_CALL ||
                                 (entry->what == SG_ORDER_LATE && writer->depth == DEPTH_LIMIT) ||
                                 has_ended(&writer->open[writer->depth - 1], entry)))
        close_innermost(writer, entry->begin_ns);
}

static void push(struct log_writer *writer, uint32_t slot, uint64_t end_ns)
{
    if (writer->depth > 0 && writer->open[writer->depth - 1].end_ns < end_ns)
        end_ns = writer->open[writer->depth - 1].end_ns;
    writer->open[writer->depth++] = (struct open_region){.end_ns = end_ns, .slot = slot};
}

static uint64_t end_or_last(const struct log_writer *writer, uint64_t end_ns)
{
    return end_ns > 0 ? end_ns : writer->events.summary->last_ns;
}

static bool is_kept(const struct sg_event_writer *events, const struct sg_recorded_call *recorded)
{
    const struct sg_comm_entry *comm = sg_summary_part_comm(events->summary, recorded);

    return comm != NULL && sg_plan_keeps(events->plan, comm, recorded->seq);
}

static void write_header_region(struct log_writer *writer, uint32_t slot, uint64_t begin_ns)
{
    const struct sg_log_header *header = sg_logread_header(writer->log);

    sg_event_enter_region(&writer->events, header_region(slot), begin_ns);
    push(writer, slot,
         end_or_last(writer, slot == SG_SLOT_INIT ? header->init_end_ns : writer->finalize_end_ns));
}

static void write_late(struct log_writer *writer, uint32_t slot, const struct sg_record_late *late)
{
    sg_event_enter_late(&writer->events, late);
    push(writer, slot,
         end_or_last(writer, atomic_load_explicit(&late->end_ns, memory_order_relaxed)));
}

static void write_call(struct log_writer *writer, uint32_t slot,
                       const struct sg_record_event *event)
{
    sg_event_enter_call(&writer->events, event, slot);
    push(writer, slot,
         end_or_last(writer, atomic_load_explicit(&event->end_ns, memory_order_relaxed)));
}

static void write_part(struct log_writer *writer, const struct sg_order_entry *entry,
                       const struct sg_recorded_call *recorded)
{
    if (entry->what == SG_ORDER_COMPLETE) {
        sg_event_complete(&writer->events, recorded, entry->slot);
        return;
    }
    sg_event_enter(&writer->events, recorded, entry->slot);
    push(writer, entry->slot, end_or_last(writer, recorded->end_ns));
}

/* True if the archive has the record's function or collective instance. */
static bool is_written(const struct log_writer *writer, const void *record,
                       const struct sg_recorded_call *recorded)
{
    if (record != NULL && kind_of(record) == SG_RECORD_EVENT)
        return sg_event_has_function(&writer->events, record);
    return recorded == NULL || is_kept(&writer->events, recorded);
}

/* The program's region lasts from the master thread's first event to its end. */
static void open_location(struct log_writer *writer, const struct sg_order_entry *entry)
{
    if (writer->events.events == NULL)
        sg_event_writer_open(&writer->events, entry->thread);
    if (writer->events.events != NULL && entry->thread == 0 && !writer->in_program) {
        writer->in_program = true;
        sg_event_enter_region(&writer->events, SG_REGION_REF_PROGRAM, entry->begin_ns);
    }
}

/* Writes a completion that the record of its call lists. */
static void write_completion(struct log_writer *writer, const struct sg_order_entry *entry)
{
    const void *record = record_at(writer, entry->slot);
    const struct sg_completions completions = sg_completions_of(record, kind_of(record));
    struct sg_record_request request;

    if (sg_completion_read(writer->log, &completions, entry->part - 1u, &request))
        sg_event_request(&writer->events, &request, entry->slot, beginning_of(writer, &request));
}

static void write_entry(struct log_writer *writer, const struct sg_order_entry *entry)
{
    const void *record = entry->slot < SG_SLOT_INIT ? record_at(writer, entry->slot) : NULL;
    struct sg_recorded_call recorded;
    bool is_part = record != NULL && sg_recorded_call_read(record, &recorded);

    if (entry->part == 0 && !is_written(writer, record, is_part ? &recorded : NULL))
        return;
    open_location(writer, entry);
    if (writer->events.events == NULL)
        return;
    close_before(writer, entry);
    if (entry->part > 0)
        write_completion(writer, entry);
    else if (record == NULL)
        write_header_region(writer, entry->slot, entry->begin_ns);
    else if (is_part)
        write_part(writer, entry, &recorded);
    else if (kind_of(record) == SG_RECORD_EVENT)
        write_call(writer, entry->slot, record);
    else if (kind_of(record) == SG_RECORD_INTERVAL)
        sg_event_interval(&writer->events, record);
    else if (kind_of(record) == SG_RECORD_SLICE)
        sg_event_slice(&writer->events, record);
    else if (kind_of(record) == SG_RECORD_REQUEST)
        sg_event_request(&writer->events, record, entry->slot, beginning_of(writer, record));
    else
        write_late(writer, entry->slot, record);
}

static void finish_thread(struct log_writer *writer)
{
    while (writer->depth > 0)
        close_innermost(writer, UINT64_MAX);
    if (writer->events.events == NULL)
        return;
    if (writer->in_program)
        sg_event_leave_region(&writer->events, SG_REGION_REF_PROGRAM,
                              end_or_last(writer, writer->finalize_end_ns));
    writer->in_program = false;
    sg_event_writer_close(&writer->events);
    add_location(writer->events.archive, writer->locations, &writer->events.location);
}

void sg_events_write(struct sg_archive *archive, const struct sg_plan *plan,
                     const struct sg_summary *summary, struct sg_logread *log, uint64_t end_ns,
                     struct sg_locations *locations)
{
    struct log_writer writer = {.log = log, .finalize_end_ns = end_ns, .locations = locations};
    struct sg_order_entry *entries = NULL;
    size_t count = 0;
    uint32_t thread = 0;

    if (!sg_event_writer_start(&writer.events, archive, plan, summary, log) ||
        sg_rma_completions_find(&writer.events.completions, log, summary) != SG_OK ||
        sg_order_make(log, &entries, &count) != SG_OK) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        goto done;
    }
    sg_event_writer_open(&writer.events, thread);
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
    sg_rma_completions_clear(&writer.events.completions);
    sg_event_writer_clear(&writer.events);
}

void sg_events_write_none(struct sg_archive *archive, uint32_t rank, struct sg_locations *locations)
{
    const struct sg_location location = {.id = sg_location_id(rank, 0)};
    OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(archive->handle, location.id);

    if (events == NULL) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        return;
    }
    sg_archive_check(archive, OTF2_Archive_CloseEvtWriter(archive->handle, events));
    add_location(archive, locations, &location);
}
