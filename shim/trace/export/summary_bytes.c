/* A summary as bytes: what a rank sends to rank 0. */
#include "trace/export/summary.h"

#include <string.h>

void sg_summary_put(struct sg_bytes *bytes, const struct sg_summary *summary)
{
    const struct sg_summary *s = summary;

    sg_bytes_put_u32(bytes, (uint32_t)s->rank);
    sg_bytes_put_u32(bytes, (uint32_t)s->world_size);
    sg_bytes_put_u32(bytes, s->finished);
    sg_bytes_put_u32(bytes, s->progress_thread);
    sg_bytes_put_u64(bytes, s->machine);
    sg_bytes_put_u64(bytes, s->realtime_ns);
    sg_bytes_put_u64(bytes, s->monotonic_ns);
    sg_bytes_put_u64(bytes, s->last_ns);
    sg_bytes_put_u64(bytes, s->dropped);
    sg_bytes_put_u64(bytes, s->overhead_calls);
    sg_bytes_put_u64(bytes, s->overhead_ns);
    sg_bytes_put_u64(bytes, s->overhead_long_calls);
    sg_bytes_put_u64(bytes, s->unmanaged_calls);
    sg_bytes_put_u64(bytes, s->unmanaged_posts);
    sg_bytes_put(bytes, &s->calibration, sizeof s->calibration);
    sg_bytes_put_text(bytes, s->host);
    sg_bytes_put_text(bytes, s->program);
    sg_bytes_put_u32(bytes, s->site_count);
    for (uint32_t i = 0; i < s->site_count; i++) {
        const struct sg_site_entry *site = &s->sites[i];

        sg_bytes_put_u32(bytes, site->index);
        sg_bytes_put_u32(bytes, site->id);
        sg_bytes_put_u64(bytes, site->offset);
        sg_bytes_put_text(bytes, site->module);
        sg_bytes_put_text(bytes, site->build_id);
        sg_bytes_put_text(bytes, site->callers);
    }
    sg_bytes_put_u32(bytes, s->name_count);
    for (uint32_t i = 0; i < s->name_count; i++) {
        const struct sg_name_entry *name = &s->names[i];

        sg_bytes_put_u32(bytes, name->id);
        sg_bytes_put_u32(bytes, name->line);
        sg_bytes_put_text(bytes, name->function);
        sg_bytes_put_text(bytes, name->file);
    }
    sg_bytes_put_u32(bytes, s->comm_count);
    for (uint32_t i = 0; i < s->comm_count; i++) {
        const struct sg_comm_entry *comm = &s->comms[i];

        sg_bytes_put_u32(bytes, comm->index);
        sg_bytes_put_u32(bytes, comm->root_world_rank);
        sg_bytes_put_u32(bytes, comm->root_counter);
        sg_bytes_put_u32(bytes, comm->size);
        sg_bytes_put_u32(bytes, comm->rank);
        sg_bytes_put_u32(bytes, comm->parent);
        sg_bytes_put_text(bytes, comm->name);
        sg_bytes_put_u32(bytes, comm->members != NULL ? comm->size : 0);
        if (comm->members != NULL)
            sg_bytes_put(bytes, comm->members, comm->size * sizeof *comm->members);
        sg_intervals_put(bytes, &comm->recorded);
    }
    sg_bytes_put_u32(bytes, s->clock_count);
    sg_bytes_put(bytes, s->clock, s->clock_count * sizeof *s->clock);
    sg_bytes_put_u32(bytes, s->marker_count);
    for (uint32_t i = 0; i < s->marker_count; i++) {
        sg_bytes_put_u32(bytes, s->markers[i].kind);
        sg_bytes_put_u64(bytes, s->markers[i].time_ns);
        sg_bytes_put_text(bytes, s->markers[i].text);
    }
    sg_bytes_put_u32(bytes, s->arm_count);
    for (uint32_t i = 0; i < s->arm_count; i++) {
        sg_bytes_put_u32(bytes, s->arms[i].arm);
        sg_bytes_put_u32(bytes, s->arms[i].block);
        sg_bytes_put_text(bytes, s->arms[i].place);
        sg_bytes_put_text(bytes, s->arms[i].text);
    }
}

static bool take_sites(struct sg_cursor *cursor, struct sg_summary *s)
{
    s->site_count = sg_cursor_count(cursor, 31);
    s->sites = calloc(s->site_count + 1, sizeof *s->sites);
    for (uint32_t i = 0; s->sites != NULL && i < s->site_count; i++) {
        s->sites[i].index = sg_cursor_u32(cursor);
        s->sites[i].id = sg_cursor_u32(cursor);
        s->sites[i].offset = sg_cursor_u64(cursor);
        s->sites[i].module = sg_cursor_text(cursor);
        s->sites[i].build_id = sg_cursor_text(cursor);
        s->sites[i].callers = sg_cursor_text(cursor);
    }
    return s->sites != NULL;
}

static bool take_names(struct sg_cursor *cursor, struct sg_summary *s)
{
    s->name_count = sg_cursor_count(cursor, 18);
    s->names = calloc(s->name_count + 1, sizeof *s->names);
    for (uint32_t i = 0; s->names != NULL && i < s->name_count; i++) {
        s->names[i].id = sg_cursor_u32(cursor);
        s->names[i].line = sg_cursor_u32(cursor);
        s->names[i].function = sg_cursor_text(cursor);
        s->names[i].file = sg_cursor_text(cursor);
    }
    return s->names != NULL;
}

static bool take_members(struct sg_cursor *cursor, struct sg_comm_entry *comm)
{
    uint32_t count = sg_cursor_count(cursor, sizeof *comm->members);
    const void *members = sg_cursor_take(cursor, count * sizeof *comm->members);

    if (count == 0 || members == NULL)
        return true;
    comm->members = malloc(count * sizeof *comm->members);
    if (comm->members != NULL)
        memcpy(comm->members, members, count * sizeof *comm->members);
    return comm->members != NULL;
}

static bool take_comms(struct sg_cursor *cursor, struct sg_summary *s)
{
    uint32_t count = sg_cursor_count(cursor, 37);

    s->comms = calloc(count + 1, sizeof *s->comms);
    for (s->comm_count = 0; s->comms != NULL && s->comm_count < count; s->comm_count++) {
        struct sg_comm_entry *comm = &s->comms[s->comm_count];

        comm->index = sg_cursor_u32(cursor);
        comm->root_world_rank = sg_cursor_u32(cursor);
        comm->root_counter = sg_cursor_u32(cursor);
        comm->size = sg_cursor_u32(cursor);
        comm->rank = sg_cursor_u32(cursor);
        comm->parent = sg_cursor_u32(cursor);
        comm->name = sg_cursor_text(cursor);
        if (!take_members(cursor, comm) || !sg_intervals_take(cursor, &comm->recorded)) {
            s->comm_count++;
            return false;
        }
    }
    return s->comms != NULL;
}

static bool take_clock(struct sg_cursor *cursor, struct sg_summary *s)
{
    const void *points;

    s->clock_count = sg_cursor_count(cursor, sizeof *s->clock);
    points = sg_cursor_take(cursor, s->clock_count * sizeof *s->clock);
    s->clock = calloc(s->clock_count + 1, sizeof *s->clock);
    if (s->clock != NULL && points != NULL)
        memcpy(s->clock, points, s->clock_count * sizeof *s->clock);
    return s->clock != NULL;
}

static bool take_markers(struct sg_cursor *cursor, struct sg_summary *s)
{
    s->marker_count = sg_cursor_count(cursor, 17);
    s->markers = calloc(s->marker_count + 1, sizeof *s->markers);
    for (uint32_t i = 0; s->markers != NULL && i < s->marker_count; i++) {
        s->markers[i].kind = sg_cursor_u32(cursor);
        s->markers[i].time_ns = sg_cursor_u64(cursor);
        s->markers[i].text = sg_cursor_text(cursor);
    }
    return s->markers != NULL;
}

static bool take_arms(struct sg_cursor *cursor, struct sg_summary *s)
{
    s->arm_count = sg_cursor_count(cursor, 18);
    s->arms = calloc(s->arm_count + 1, sizeof *s->arms);
    for (uint32_t i = 0; s->arms != NULL && i < s->arm_count; i++) {
        s->arms[i].arm = sg_cursor_u32(cursor);
        s->arms[i].block = sg_cursor_u32(cursor);
        s->arms[i].place = sg_cursor_text(cursor);
        s->arms[i].text = sg_cursor_text(cursor);
    }
    return s->arms != NULL;
}

enum sg_status sg_summary_take(struct sg_cursor *cursor, struct sg_summary *out)
{
    struct sg_summary s = {.rank = (int32_t)sg_cursor_u32(cursor)};
    const void *calibration;

    s.world_size = (int32_t)sg_cursor_u32(cursor);
    s.finished = sg_cursor_u32(cursor);
    s.progress_thread = sg_cursor_u32(cursor);
    s.machine = sg_cursor_u64(cursor);
    s.realtime_ns = sg_cursor_u64(cursor);
    s.monotonic_ns = sg_cursor_u64(cursor);
    s.last_ns = sg_cursor_u64(cursor);
    s.dropped = sg_cursor_u64(cursor);
    s.overhead_calls = sg_cursor_u64(cursor);
    s.overhead_ns = sg_cursor_u64(cursor);
    s.overhead_long_calls = sg_cursor_u64(cursor);
    s.unmanaged_calls = sg_cursor_u64(cursor);
    s.unmanaged_posts = sg_cursor_u64(cursor);
    calibration = sg_cursor_take(cursor, sizeof s.calibration);
    if (calibration != NULL)
        memcpy(&s.calibration, calibration, sizeof s.calibration);
    s.host = sg_cursor_text(cursor);
    s.program = sg_cursor_text(cursor);
    if (!take_sites(cursor, &s) || !take_names(cursor, &s) || !take_comms(cursor, &s) ||
        !take_clock(cursor, &s) || !take_markers(cursor, &s) || !take_arms(cursor, &s)) {
        sg_summary_clear(&s);
        return cursor->failed ? SG_ERR_FORMAT : SG_ERR_MEMORY;
    }
    if (cursor->failed) {
        sg_summary_clear(&s);
        return SG_ERR_FORMAT;
    }
    *out = s;
    return SG_OK;
}
