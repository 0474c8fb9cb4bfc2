/* A summary as bytes: what a rank sends to rank 0. */
#include "trace/export/summary.h"

#include <stdlib.h>

static void pack_sites(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->sites, &s->site_count, sizeof *s->sites);
    for (uint32_t i = 0; i < s->site_count; i++) {
        SG_PACK(pack, s->sites[i].index);
        SG_PACK(pack, s->sites[i].id);
        SG_PACK(pack, s->sites[i].offset);
        sg_pack_text(pack, &s->sites[i].module);
        sg_pack_text(pack, &s->sites[i].build_id);
        sg_pack_text(pack, &s->sites[i].callers);
    }
}

static void pack_names(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->names, &s->name_count, sizeof *s->names);
    for (uint32_t i = 0; i < s->name_count; i++) {
        SG_PACK(pack, s->names[i].id);
        SG_PACK(pack, s->names[i].line);
        sg_pack_text(pack, &s->names[i].function);
        sg_pack_text(pack, &s->names[i].file);
    }
}

/* NULL where the rank does not know them. */
static void pack_members(struct sg_pack *pack, struct sg_comm_entry *comm)
{
    uint32_t all = comm->size + comm->remote_size;
    uint32_t count = comm->members != NULL ? all : 0;

    sg_pack_plain_table(pack, &comm->members, &count, sizeof *comm->members);
    if (count != all) {
        free(comm->members);
        comm->members = NULL;
    }
}

static void pack_comm(struct sg_pack *pack, struct sg_comm_entry *comm)
{
    SG_PACK(pack, comm->index);
    SG_PACK(pack, comm->root_world_rank);
    SG_PACK(pack, comm->root_counter);
    SG_PACK(pack, comm->size);
    SG_PACK(pack, comm->remote_size);
    SG_PACK(pack, comm->rank);
    SG_PACK(pack, comm->parent);
    SG_PACK(pack, comm->profile_comm);
    sg_pack_text(pack, &comm->name);
    pack_members(pack, comm);
    sg_intervals_pack(pack, &comm->recorded);
}

static void pack_comms(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->comms, &s->comm_count, sizeof *s->comms);
    for (uint32_t i = 0; i < s->comm_count; i++)
        pack_comm(pack, &s->comms[i]);
}

static void pack_profile_comms(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->calls.comms, &s->calls.comm_count, sizeof *s->calls.comms);
    for (uint32_t i = 0; i < s->calls.comm_count; i++) {
        struct sg_profile_comm_entry *entry = &s->calls.comms[i];
        uint32_t grid_words;

        pack_comm(pack, &entry->comm);
        SG_PACK(pack, entry->identity);
        SG_PACK(pack, entry->ordinal);
        SG_PACK(pack, entry->used);
        SG_PACK(pack, entry->library_comm);
        SG_PACK(pack, entry->messages);
        grid_words = 2 * entry->dimensions;
        sg_pack_plain_table(pack, &entry->grid, &grid_words, sizeof *entry->grid);
        entry->dimensions = grid_words / 2;
    }
}

static void pack_functions(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->calls.functions, &s->calls.function_count, sizeof *s->calls.functions);
    for (uint32_t i = 0; i < s->calls.function_count; i++) {
        SG_PACK(pack, s->calls.functions[i].index);
        SG_PACK(pack, s->calls.functions[i].used);
        SG_PACK(pack, s->calls.functions[i].left_out);
        sg_pack_text(pack, &s->calls.functions[i].name);
    }
}

static void pack_markers(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->markers, &s->marker_count, sizeof *s->markers);
    for (uint32_t i = 0; i < s->marker_count; i++) {
        SG_PACK(pack, s->markers[i].kind);
        SG_PACK(pack, s->markers[i].time_ns);
        sg_pack_text(pack, &s->markers[i].text);
    }
}

static void pack_arms(struct sg_pack *pack, struct sg_summary *s)
{
    sg_pack_table(pack, &s->arms, &s->arm_count, sizeof *s->arms);
    for (uint32_t i = 0; i < s->arm_count; i++) {
        SG_PACK(pack, s->arms[i].arm);
        SG_PACK(pack, s->arms[i].block);
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
    SG_PACK(pack, s->slices);
    SG_PACK(pack, s->overhead_calls);
    SG_PACK(pack, s->overhead_ns);
    SG_PACK(pack, s->overhead_long_calls);
    SG_PACK(pack, s->unmanaged_calls);
    SG_PACK(pack, s->unmanaged_nonblocking);
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
