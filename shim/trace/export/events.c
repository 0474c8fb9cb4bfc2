#include "trace/export/events_impl.h"

#include "trace/export/order.h"

static const void *record_at(struct sg_event_writer *writer, uint32_t slot)
{
    enum sg_record_kind kind;
    uint64_t from = slot;

    return sg_logread_next(writer->log, &from, &kind);
}

/* ---- locations ------------------------------------------------------------------------------ */

static void open_location(struct sg_event_writer *writer, uint32_t thread)
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

static void close_location(struct sg_event_writer *writer)
{
    if (writer->events == NULL)
        return;
    sg_event_check(writer,
                   OTF2_EvtWriter_GetNumberOfEvents(writer->events, &writer->location.events));
    sg_event_check(writer, OTF2_Archive_CloseEvtWriter(writer->archive->handle, writer->events));
    writer->events = NULL;
    add_location(writer->archive, writer->locations, &writer->location);
}

/* ---- nesting -------------------------------------------------------------------------------- */

static void close_innermost(struct sg_event_writer *writer, uint64_t limit_ns)
{
    const struct sg_open_region *region = &writer->open[--writer->depth];
    uint64_t end_ns = region->end_ns < limit_ns ? region->end_ns : limit_ns;
    struct sg_part part;

    if (region->slot >= SG_SLOT_INIT) {
        sg_event_check(writer,
                       OTF2_EvtWriter_Leave(writer->events, NULL, sg_event_advance(writer, end_ns),
                                            region->slot == SG_SLOT_INIT ? SG_REGION_INIT
                                                                         : SG_REGION_FINALIZE));
        return;
    }
    if (sg_part_read(record_at(writer, region->slot), &part))
        sg_event_leave(writer, &part, end_ns);
    else
        sg_event_check(writer,
                       OTF2_EvtWriter_Leave(writer->events, NULL, sg_event_advance(writer, end_ns),
                                            SG_REGION_LATE));
}

/* Makes place for what happens now: closes what has ended, and what cannot enclose it. MPI calls
 * never lie in one another; where they seem to, the first was left without returning. */
static void close_before(struct sg_event_writer *writer, const struct sg_order_entry *entry)
{
    while (writer->depth > 0 &&
           (entry->what == SG_ORDER_CALL ||
            (entry->what == SG_ORDER_LATE && writer->depth == SG_EVENT_DEPTH_LIMIT) ||
            writer->open[writer->depth - 1].end_ns <= entry->begin_ns))
        close_innermost(writer, entry->begin_ns);
}

static void push(struct sg_event_writer *writer, uint32_t slot, uint64_t end_ns)
{
    if (writer->depth > 0 && writer->open[writer->depth - 1].end_ns < end_ns)
        end_ns = writer->open[writer->depth - 1].end_ns;
    writer->open[writer->depth++] = (struct sg_open_region){.end_ns = end_ns, .slot = slot};
}

static uint64_t end_or_last(const struct sg_event_writer *writer, uint64_t end_ns)
{
    return end_ns > 0 ? end_ns : writer->summary->last_ns;
}

static bool is_kept(const struct sg_event_writer *writer, const struct sg_part *part)
{
    const struct sg_comm_entry *comm = sg_part_comm(writer->summary, part);
    const struct sg_plan_comm *found;

    if (comm == NULL)
        return false;
    if (comm->index == SG_COMM_SELF_INDEX)
        return sg_intervals_contain(&comm->recorded, part->seq);
    if (comm->index == SG_COMM_WORLD_INDEX)
        return sg_intervals_contain(&writer->plan->world_kept, part->seq);
    found = sg_plan_find_comm(writer->plan, comm->root_world_rank, comm->root_counter);
    return found != NULL && found->ref != SG_NO_COMM &&
           sg_intervals_contain(&found->kept, part->seq);
}

static void write_header_region(struct sg_event_writer *writer, uint32_t slot, uint64_t begin_ns)
{
    const struct sg_log_header *header = sg_logread_header(writer->log);
    bool is_init = slot == SG_SLOT_INIT;

    sg_event_check(writer,
                   OTF2_EvtWriter_Enter(writer->events, NULL, sg_event_advance(writer, begin_ns),
                                        is_init ? SG_REGION_INIT : SG_REGION_FINALIZE));
    push(writer, slot,
         end_or_last(writer, is_init ? header->init_end_ns : writer->finalize_end_ns));
}

static void write_late(struct sg_event_writer *writer, uint32_t slot,
                       const struct sg_record_late *late)
{
    sg_event_enter_late(writer, late);
    push(writer, slot,
         end_or_last(writer, atomic_load_explicit(&late->end_ns, memory_order_relaxed)));
}

static void write_entry(struct sg_event_writer *writer, const struct sg_order_entry *entry)
{
    const void *record = entry->slot < SG_SLOT_INIT ? record_at(writer, entry->slot) : NULL;
    struct sg_part part;
    bool is_part = record != NULL && sg_part_read(record, &part);

    if (is_part && !is_kept(writer, &part))
        return;
    if (writer->events == NULL)
        open_location(writer, entry->thread);
    if (writer->events == NULL)
        return;
    close_before(writer, entry);
    if (record == NULL) {
        write_header_region(writer, entry->slot, entry->begin_ns);
    } else if (!is_part) {
        write_late(writer, entry->slot, record);
    } else if (entry->what == SG_ORDER_COMPLETE) {
        sg_event_complete(writer, &part, entry->slot);
    } else {
        sg_event_enter(writer, &part, entry->slot);
        push(writer, entry->slot, end_or_last(writer, part.end_ns));
    }
}

static void finish_thread(struct sg_event_writer *writer)
{
    while (writer->depth > 0)
        close_innermost(writer, UINT64_MAX);
    close_location(writer);
}

static bool prepare(struct sg_event_writer *writer)
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
    struct sg_event_writer writer = {
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
