#include "trace/export/summary.h"

#include "core/room.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ---------------------------------------------------------------------------------- */

/* Copies the text of a definition; the summary owns the copy. NULL when out of memory. */
static char *own_text(struct sg_summary *summary, const struct sg_logread *log, const void *record,
                      uint32_t text_bytes)
{
    char *text = sg_logread_text(log, record, text_bytes);

    if (text == NULL ||
        !sg_make_room((void **)&summary->owned, summary->owned_count, sizeof text)) {
        free(text);
        return NULL;
    }
    return summary->owned[summary->owned_count++] = text;
}

/* ---- from the log --------------------------------------------------------------------------- */

static enum sg_status add_site(struct sg_summary *summary, const struct sg_record_site *record,
                               const char *text)
{
    struct sg_site_entry *site =
        sg_summary_table_add(&summary->sites, &summary->site_count, sizeof *site);

    if (site == NULL)
        return SG_ERR_MEMORY;
    site->index = record->index;
    site->id = record->id;
    site->offset = record->offset;
    site->module = text;
    site->build_id = sg_logread_part(text, record->text_bytes, 1);
    site->callers = sg_logread_part(text, record->text_bytes, 2);
    return SG_OK;
}

static enum sg_status add_name(struct sg_summary *summary, const struct sg_record_site_name *record,
                               const char *text)
{
    struct sg_name_entry *name =
        sg_summary_table_add(&summary->names, &summary->name_count, sizeof *name);

    if (name == NULL)
        return SG_ERR_MEMORY;
    name->id = record->id;
    name->line = record->line;
    name->function = text;
    name->file = sg_logread_part(text, record->text_bytes, 1);
    return SG_OK;
}

static enum sg_status add_comm(struct sg_summary *summary, const struct sg_record_comm *record,
                               const char *text)
{
    struct sg_comm_entry *comm;

    if (record->size < 1 || record->size > (uint32_t)summary->world_size ||
        record->rank >= record->size || record->root_world_rank >= (uint32_t)summary->world_size) {
        summary->dropped++;
        return SG_OK;
    }
    comm = sg_summary_table_add(&summary->comms, &summary->comm_count, sizeof *comm);
    if (comm == NULL)
        return SG_ERR_MEMORY;
    comm->index = record->index;
    comm->root_world_rank = record->root_world_rank;
    comm->root_counter = record->root_counter;
    comm->size = record->size;
    comm->rank = record->rank;
    comm->parent = record->parent;
    comm->name = text;
    comm->profile_comm = record->profile_comm;
    if (record->has_members)
        comm->members = sg_summary_table_read_members(text, record->text_bytes, record->size,
                                                      summary->world_size);
    return SG_OK;
}

static enum sg_status add_marker(struct sg_summary *summary, const struct sg_record_marker *record,
                                 char *text)
{
    struct sg_marker_entry *marker;

    if (record->time_ns >= SG_TIME_LIMIT_NS)
        return SG_OK;
    marker = sg_summary_table_add(&summary->markers, &summary->marker_count, sizeof *marker);
    if (marker == NULL)
        return SG_ERR_MEMORY;
    sg_text_clean(text);
    marker->kind = record->marker;
    marker->time_ns = record->time_ns;
    marker->text = text;
    return SG_OK;
}

static enum sg_status add_arm(struct sg_summary *summary, const struct sg_record_arm *record,
                              const char *text)
{
    struct sg_arm_entry *arm =
        sg_summary_table_add(&summary->arms, &summary->arm_count, sizeof *arm);

    if (arm == NULL)
        return SG_ERR_MEMORY;
    arm->arm = record->arm;
    arm->block = record->block;
    arm->text = sg_logread_part(text, record->text_bytes, 1);
    arm->place = text;
    return SG_OK;
}

static enum sg_status add_clock(struct sg_summary *summary, const struct sg_record_clock *record)
{
    struct sg_clock_point *point =
        sg_summary_table_add(&summary->clock, &summary->clock_count, sizeof *point);

    if (point == NULL)
        return SG_ERR_MEMORY;
    point->local_ns = record->local_ns;
    point->offset_ns = record->offset_ns;
    point->error_ns = record->error_ns;
    return SG_OK;
}

static enum sg_status add_definition(struct sg_summary *summary, const struct sg_logread *log,
                                     const void *record, enum sg_record_kind kind)
{
    char *text = NULL;
    uint32_t text_bytes;

    if (sg_logread_text_bytes(record, kind, &text_bytes)) {
        text = own_text(summary, log, record, text_bytes);
        if (text == NULL)
            return SG_ERR_MEMORY;
    }
    switch (kind) {
    case SG_RECORD_SITE:
        return add_site(summary, record, text);
    case SG_RECORD_SITE_NAME:
        return add_name(summary, record, text);
    case SG_RECORD_COMM:
        return add_comm(summary, record, text);
    case SG_RECORD_MARKER:
        return add_marker(summary, record, text);
    case SG_RECORD_ARM:
        return add_arm(summary, record, text);
    case SG_RECORD_CLOCK:
        return add_clock(summary, record);
    case SG_RECORD_SLICE:
        summary->slices++;
        return SG_OK;
    case SG_RECORD_FUNCTION:
        return sg_summary_calls_add_function(&summary->calls, record, text);
    case SG_RECORD_PROFILE_COMM:
        return sg_summary_calls_add_comm(&summary->calls, summary->world_size, record, text);
    case SG_RECORD_WINDOW:
        return sg_summary_windows_add(&summary->calls.windows, record, text);
    case SG_RECORD_GROUP:
        return sg_summary_windows_add_group(&summary->calls.windows, summary->world_size, record,
                                            text);
    default:
        return SG_OK;
    }
}

static enum sg_status read_definitions(struct sg_summary *summary, struct sg_logread *log)
{
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL)
        status = add_definition(summary, log, record, kind);
    return status;
}

/* Defines MPI_COMM_WORLD and MPI_COMM_SELF independently of the log's records. */
static enum sg_status set_predefined(struct sg_summary *summary)
{
    static const char *const names[] = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};

    for (uint32_t index = SG_COMM_WORLD_INDEX; index <= SG_COMM_SELF_INDEX; index++) {
        struct sg_comm_entry *comm = NULL;
        bool is_world = index == SG_COMM_WORLD_INDEX;

        for (uint32_t i = 0; i < summary->comm_count; i++) {
            if (summary->comms[i].index == index)
                comm = &summary->comms[i];
        }
        if (comm == NULL)
            comm = sg_summary_table_add(&summary->comms, &summary->comm_count, sizeof *comm);
        if (comm == NULL)
            return SG_ERR_MEMORY;
        comm->index = index;
        comm->root_world_rank = is_world ? 0 : (uint32_t)summary->rank;
        comm->root_counter = index;
        comm->size = is_world ? (uint32_t)summary->world_size : 1;
        comm->rank = is_world ? (uint32_t)summary->rank : 0;
        comm->parent = UINT32_MAX;
        comm->profile_comm = index + 1;
        comm->name = names[index];
        free(comm->members);
        comm->members = NULL;
    }
    return SG_OK;
}

static void clear_comm(void *item)
{
    free(((struct sg_comm_entry *)item)->members);
}

static void sort_tables(struct sg_summary *summary)
{
    if (summary->site_count > 1)
        qsort(summary->sites, summary->site_count, sizeof *summary->sites,
              sg_summary_table_by_index);
    sg_summary_table_sort(summary->comms, &summary->comm_count, sizeof *summary->comms, clear_comm);
    summary->clock_count = (uint32_t)sg_clock_sanitize(summary->clock, summary->clock_count);
}

/* Collects the instances that this rank recorded on each communicator. */
static enum sg_status read_instances(struct sg_summary *summary, struct sg_logread *log)
{
    struct sg_comm_entry *comm;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        struct sg_recorded_call recorded;

        if (kind == SG_RECORD_LATE && !sg_late_is_sound(record))
            summary->dropped++;
        if (!sg_recorded_call_read(record, &recorded) || (recorded.flags & SG_CALL_FAILED) != 0)
            continue;
        comm = (struct sg_comm_entry *)sg_summary_part_comm(summary, &recorded);
        if (comm == NULL) {
            summary->dropped++;
            continue;
        }
        if (!sg_intervals_add(&comm->recorded, recorded.seq))
            return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < summary->comm_count; i++) {
        uint64_t calls = sg_intervals_size(&summary->comms[i].recorded);

        if (!sg_intervals_finish(&summary->comms[i].recorded))
            summary->dropped += calls;
    }
    return SG_OK;
}

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static struct sg_summary_causes causes_of(struct sg_logread *log)
{
    struct sg_summary_causes out = {0};
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL) {
        const struct sg_record_causes *causes = record;

        if (kind != SG_RECORD_CAUSES || causes->mode > SG_CAUSES_ALL)
            continue;
        out = (struct sg_summary_causes){.ranks = 1,
                                         .mode = causes->mode,
                                         .intervals = load(&causes->intervals),
                                         .left_out = load(&causes->left_out),
                                         .cost_ns = load(&causes->cost_ns),
                                         .time_ns = load(&causes->time_ns)};
        for (int source = 0; source < SG_SOURCE_COUNT; source++)
            out.lacking[source] = (causes->mask & sg_source_mask(source)) == 0;
    }
    return out;
}

/* Doubles the capacity that all events would have taken: calls of messages get half of a log. A
 * lesser limit than the present one would not help: the disk was full. */
static uint64_t wanted_bytes(const struct sg_log_header *header)
{
    uint64_t used = atomic_load_explicit(&header->next_slot, memory_order_relaxed);
    uint64_t dropped = atomic_load_explicit(&header->dropped_events, memory_order_relaxed);
    uint64_t slots, wanted = 1;

    if (dropped == 0 || used > SG_TRACE_BYTES_MOST || dropped > SG_TRACE_BYTES_MOST)
        return 0;
    slots = 2 * (used + dropped);
    while (wanted < slots)
        wanted *= 2;
    return wanted > header->event_limit_slots && wanted <= SG_TRACE_BYTES_MOST / SG_SLOT_BYTES
               ? wanted * SG_SLOT_BYTES
               : 0;
}

enum sg_status sg_summary_make(struct sg_logread *log, bool at_finalize, struct sg_summary *out)
{
    const struct sg_log_header *header = sg_logread_header(log);
    uint32_t state = atomic_load_explicit(&header->state, memory_order_relaxed);
    struct sg_summary summary = {
        .rank = header->rank,
        .world_size = header->world_size,
        .finished = state == SG_LOG_FINALIZED || (at_finalize && state == SG_LOG_RUNNING),
        .progress_thread = header->progress_thread,
        .machine = header->machine,
        .realtime_ns = header->realtime_ns,
        .monotonic_ns = header->monotonic_ns,
        .last_ns = sg_logread_last_ns(log),
        .dropped = atomic_load_explicit(&header->dropped_events, memory_order_relaxed) +
                   sg_logread_damaged(log),
        .dropped_since_ns = atomic_load_explicit(&header->dropped_since_ns, memory_order_relaxed),
        .wanted_bytes = wanted_bytes(header),
        .off_ns = sg_log_off_ns(header, sg_logread_last_ns(log)),
        .unmanaged_calls = atomic_load_explicit(&header->unmanaged_calls, memory_order_relaxed),
        .unmanaged_nonblocking =
            atomic_load_explicit(&header->unmanaged_nonblocking, memory_order_relaxed),
        .unmanaged_full = atomic_load_explicit(&header->unmanaged_full, memory_order_relaxed),
        .overhead_calls = atomic_load_explicit(&header->overhead_calls, memory_order_relaxed),
        .overhead_ns = atomic_load_explicit(&header->overhead_ns, memory_order_relaxed),
        .overhead_long_calls =
            atomic_load_explicit(&header->overhead_long_calls, memory_order_relaxed),
        .host = header->host,
        .place = {.socket = header->socket, .core = header->core},
        .program = header->program,
    };
    enum sg_status status = read_definitions(&summary, log);

    memcpy(&summary.calibration, header->calibration, sizeof summary.calibration);
    sg_logread_waiting(log, &summary.waiting);
    summary.causes = causes_of(log);
    if (status == SG_OK)
        status = set_predefined(&summary);
    if (status == SG_OK) {
        sort_tables(&summary);
        status = read_instances(&summary, log);
    }
    if (status == SG_OK)
        status = sg_summary_calls_read(&summary.calls, log, summary.comms, summary.comm_count);
    if (status != SG_OK) {
        sg_summary_clear(&summary);
        return status;
    }
    *out = summary;
    return SG_OK;
}

const struct sg_site_entry *sg_summary_site(const struct sg_summary *summary, uint32_t index)
{
    return sg_summary_table_find(summary->sites, summary->site_count, sizeof *summary->sites,
                                 index);
}

const struct sg_comm_entry *sg_summary_comm(const struct sg_summary *summary, uint32_t index)
{
    return sg_summary_table_find(summary->comms, summary->comm_count, sizeof *summary->comms,
                                 index);
}

const struct sg_comm_entry *sg_summary_part_comm(const struct sg_summary *summary,
                                                 const struct sg_recorded_call *recorded)
{
    const struct sg_comm_entry *comm = sg_summary_comm(summary, recorded->comm);

    if (comm == NULL || !sg_recorded_call_is_sound(recorded) ||
        (sg_operation_has_root((enum sg_operation)recorded->operation) &&
         (recorded->root < 0 || (uint32_t)recorded->root >= comm->size)))
        return NULL;
    return comm;
}

uint64_t sg_summary_global_ns(const struct sg_summary *summary, uint64_t local_ns)
{
    return summary->clock_count > 0
               ? sg_clock_global(summary->clock, summary->clock_count, local_ns)
               : local_ns;
}

void sg_summary_clear(struct sg_summary *summary)
{
    for (uint32_t i = 0; i < summary->comm_count; i++) {
        free(summary->comms[i].members);
        sg_intervals_clear(&summary->comms[i].recorded);
    }
    for (uint32_t i = 0; i < summary->owned_count; i++)
        free(summary->owned[i]);
    free(summary->owned);
    free(summary->sites);
    free(summary->names);
    free(summary->comms);
    free(summary->clock);
    free(summary->markers);
    free(summary->arms);
    sg_summary_calls_clear(&summary->calls);
    *summary = (struct sg_summary){0};
}

void sg_summary_causes_add(struct sg_summary_causes *sum, const struct sg_summary_causes *one)
{
    sum->ranks += one->ranks;
    if (one->ranks > 0)
        sum->mode = one->mode;
    sum->intervals += one->intervals;
    sum->left_out += one->left_out;
    sum->cost_ns += one->cost_ns;
    sum->time_ns += one->time_ns;
    for (int source = 0; source < SG_SOURCE_COUNT; source++)
        sum->lacking[source] += one->lacking[source];
}

/* ---- packing, for a rank to send its summary to rank 0 -------------------------------------- */

static void pack_sites(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->sites, &s->site_count, sizeof *s->sites);
    for (uint32_t i = 0; i < s->site_count; i++) {
        sg_pack_text(pack, &s->sites[i].module);
        sg_pack_text(pack, &s->sites[i].build_id);
        sg_pack_text(pack, &s->sites[i].callers);
    }
}

static void pack_names(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->names, &s->name_count, sizeof *s->names);
    for (uint32_t i = 0; i < s->name_count; i++) {
        sg_pack_text(pack, &s->names[i].function);
        sg_pack_text(pack, &s->names[i].file);
    }
}

static void pack_comm(struct sg_pack *pack, struct sg_comm_entry *comm)
{
    sg_pack_text(pack, &comm->name);
    sg_pack_members(pack, &comm->members, comm->size + comm->remote_size);
    sg_intervals_pack(pack, &comm->recorded);
}

static void pack_comms(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->comms, &s->comm_count, sizeof *s->comms);
    for (uint32_t i = 0; i < s->comm_count; i++)
        pack_comm(pack, &s->comms[i]);
}

static void pack_profile_comms(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->calls.comms, &s->calls.comm_count, sizeof *s->calls.comms);
    for (uint32_t i = 0; i < s->calls.comm_count; i++) {
        struct sg_profile_comm_entry *entry = &s->calls.comms[i];
        uint32_t grid_words = 2 * entry->dimensions;

        pack_comm(pack, &entry->comm);
        sg_pack_plain_table(pack, &entry->grid, &grid_words, sizeof *entry->grid);
        entry->dimensions = grid_words / 2;
    }
}

static void pack_functions(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->calls.functions, &s->calls.function_count,
                        sizeof *s->calls.functions);
    for (uint32_t i = 0; i < s->calls.function_count; i++)
        sg_pack_text(pack, &s->calls.functions[i].name);
}

static void pack_markers(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->markers, &s->marker_count, sizeof *s->markers);
    for (uint32_t i = 0; i < s->marker_count; i++)
        sg_pack_text(pack, &s->markers[i].text);
}

static void pack_arms(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_plain_table(pack, &s->arms, &s->arm_count, sizeof *s->arms);
    for (uint32_t i = 0; i < s->arm_count; i++) {
        sg_pack_text(pack, &s->arms[i].place);
        sg_pack_text(pack, &s->arms[i].text);
    }
}

void sg_summary_pack(struct sg_pack *pack, struct sg_summary *s)
{
    SG_PACK(pack, s->rank);
    SG_PACK(pack, s->world_size);
    SG_PACK(pack, s->finished);
    SG_PACK(pack, s->progress_thread);
    SG_PACK(pack, s->machine);
    SG_PACK(pack, s->realtime_ns);
    SG_PACK(pack, s->monotonic_ns);
    SG_PACK(pack, s->last_ns);
    SG_PACK(pack, s->dropped);
    SG_PACK(pack, s->dropped_since_ns);
    SG_PACK(pack, s->wanted_bytes);
    SG_PACK(pack, s->off_ns);
    SG_PACK(pack, s->slices);
    SG_PACK(pack, s->overhead_calls);
    SG_PACK(pack, s->overhead_ns);
    SG_PACK(pack, s->overhead_long_calls);
    SG_PACK(pack, s->unmanaged_calls);
    SG_PACK(pack, s->unmanaged_nonblocking);
    SG_PACK(pack, s->unmanaged_full);
    SG_PACK(pack, s->calibration);
    SG_PACK(pack, s->waiting);
    SG_PACK(pack, s->causes);
    SG_PACK(pack, s->place);
    sg_pack_text(pack, &s->host);
    sg_pack_text(pack, &s->program);
    pack_sites(pack, s);
    pack_names(pack, s);
    pack_comms(pack, s);
    pack_profile_comms(pack, s);
    pack_functions(pack, s);
    sg_summary_windows_pack(pack, &s->calls.windows);
    SG_PACK(pack, s->calls.events);
    SG_PACK(pack, s->calls.dropped);
    sg_pack_plain_table(pack, &s->clock, &s->clock_count, sizeof *s->clock);
    pack_markers(pack, s);
    pack_arms(pack, s);
}
