#include "trace/export/export_plan.h"

#include "core/hash.h"
#include "core/room.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>

void sg_plan_pack(struct sg_pack *pack, struct sg_plan *plan)
{
    struct sg_plan_windows *windows = &plan->windows;

    sg_pack_plain_table(pack, &plan->sites, &plan->site_count, sizeof *plan->sites);
    sg_pack_plain_table(pack, &plan->frames, &plan->frame_count, sizeof *plan->frames);
    sg_pack_plain_table(pack, &plan->comms, &plan->comm_count, sizeof *plan->comms);
    for (uint32_t i = 0; i < plan->comm_count; i++)
        sg_intervals_pack(pack, &plan->comms[i].kept);
    sg_intervals_pack(pack, &plan->world_kept);
    sg_pack_plain_table(pack, &plan->profile_comms, &plan->profile_comm_count,
                        sizeof *plan->profile_comms);
    for (uint32_t i = 0; i < plan->profile_comm_count; i++)
        sg_intervals_pack(pack, &plan->profile_comms[i].kept);
    sg_pack_plain_table(pack, &plan->functions, &plan->function_count, sizeof *plan->functions);
    sg_pack_plain_table(pack, &windows->windows, &windows->window_count, sizeof *windows->windows);
    for (uint32_t i = 0; i < windows->window_count; i++)
        sg_intervals_pack(pack, &windows->windows[i].kept);
    sg_pack_plain_table(pack, &windows->groups, &windows->group_count, sizeof *windows->groups);
    sg_pack_plain_table(pack, &plan->algorithms, &plan->algorithm_count, sizeof *plan->algorithms);
    SG_PACK(pack, plan->arms);
    SG_PACK(pack, plan->definition_chunk_bytes);
}

void sg_plan_clear(struct sg_plan *plan)
{
    for (uint32_t i = 0; i < plan->comm_count; i++)
        sg_intervals_clear(&plan->comms[i].kept);
    for (uint32_t i = 0; i < plan->profile_comm_count; i++)
        sg_intervals_clear(&plan->profile_comms[i].kept);
    for (uint32_t i = 0; i < plan->windows.window_count; i++)
        sg_intervals_clear(&plan->windows.windows[i].kept);
    sg_intervals_clear(&plan->world_kept);
    free(plan->windows.windows);
    free(plan->windows.groups);
    free(plan->profile_comms);
    free(plan->functions);
    free(plan->sites);
    free(plan->frames);
    free(plan->comms);
    free(plan->algorithms);
    *plan = (struct sg_plan){0};
}

static int by_id(const void *a, const void *b)
{
    const struct sg_plan_site *left = a;
    const struct sg_plan_site *right = b;

    return (left->id > right->id) - (left->id < right->id);
}

const struct sg_plan_site *sg_plan_find_site(const struct sg_plan *plan, uint32_t id)
{
    struct sg_plan_site key = {.id = id};
    const struct sg_plan_site *site =
        plan->site_count == 0 ? NULL
                              : bsearch(&key, plan->sites, plan->site_count, sizeof key, by_id);

    return site == NULL && id != 0 ? sg_plan_find_site(plan, 0) : site;
}

static int by_identity(const void *a, const void *b)
{
    const struct sg_plan_comm *left = a;
    const struct sg_plan_comm *right = b;

    if (left->root_world_rank != right->root_world_rank)
        return left->root_world_rank > right->root_world_rank ? 1 : -1;
    return (left->root_counter > right->root_counter) - (left->root_counter < right->root_counter);
}

const struct sg_plan_comm *sg_plan_find_comm(const struct sg_plan *plan,
                                             const struct sg_comm_entry *comm)
{
    struct sg_plan_comm key = {.root_world_rank = comm->root_world_rank,
                               .root_counter = comm->root_counter};

    if (comm->index <= SG_COMM_SELF_INDEX || plan->comm_count == 0)
        return NULL;
    return bsearch(&key, plan->comms, plan->comm_count, sizeof key, by_identity);
}

uint32_t sg_plan_comm_ref(const struct sg_plan *plan, const struct sg_comm_entry *comm)
{
    const struct sg_plan_comm *found = sg_plan_find_comm(plan, comm);

    if (comm->index == SG_COMM_WORLD_INDEX)
        return SG_COMM_WORLD_REF;
    if (comm->index == SG_COMM_SELF_INDEX)
        return SG_COMM_SELF_REF;
    return found != NULL ? found->ref : SG_NO_COMM;
}

bool sg_plan_keeps(const struct sg_plan *plan, const struct sg_comm_entry *comm, uint32_t seq)
{
    const struct sg_plan_comm *found = sg_plan_find_comm(plan, comm);

    if (comm->index == SG_COMM_SELF_INDEX)
        return sg_intervals_contain(&comm->recorded, seq);
    if (comm->index == SG_COMM_WORLD_INDEX)
        return sg_intervals_contain(&plan->world_kept, seq);
    return found != NULL && found->ref != SG_NO_COMM && sg_intervals_contain(&found->kept, seq);
}

/* ---- communicators and functions of all calls' events ---------------------------------------- */

static int by_identity_and_ordinal(const void *a, const void *b)
{
    const struct sg_plan_profile_comm *left = a;
    const struct sg_plan_profile_comm *right = b;

    if (left->identity != right->identity)
        return left->identity > right->identity ? 1 : -1;
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

const struct sg_plan_profile_comm *
sg_plan_find_profile_comm(const struct sg_plan *plan, const struct sg_profile_comm_entry *comm)
{
    struct sg_plan_profile_comm key = {.identity = comm->identity, .ordinal = comm->ordinal};

    return plan->profile_comm_count == 0
               ? NULL
               : bsearch(&key, plan->profile_comms, plan->profile_comm_count, sizeof key,
                         by_identity_and_ordinal);
}

uint64_t sg_plan_name_hash(const char *name)
{
    return sg_hash_bytes(SG_HASH_START, name, strlen(name));
}

int sg_plan_by_name_hash(const void *a, const void *b)
{
    const struct sg_plan_function *left = a;
    const struct sg_plan_function *right = b;

    return (left->name_hash > right->name_hash) - (left->name_hash < right->name_hash);
}

bool sg_plan_find_region(const struct sg_plan *plan, const char *name, uint32_t *region)
{
    struct sg_plan_function key = {.name_hash = sg_plan_name_hash(name)};
    const struct sg_plan_function *found =
        plan->function_count == 0 ? NULL
                                  : bsearch(&key, plan->functions, plan->function_count, sizeof key,
                                            sg_plan_by_name_hash);

    if (found != NULL)
        *region = found->region;
    return found != NULL;
}

/* ---- windows and groups ---------------------------------------------------------------------- */

int sg_plan_windows_compare(const void *a, const void *b)
{
    const struct sg_plan_window *left = a, *right = b;

    if (left->identity != right->identity)
        return left->identity > right->identity ? 1 : -1;
    if (left->comm_ordinal != right->comm_ordinal)
        return left->comm_ordinal > right->comm_ordinal ? 1 : -1;
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

int sg_plan_groups_compare(const void *a, const void *b)
{
    const struct sg_plan_group *left = a, *right = b;

    if (left->hash != right->hash)
        return left->hash > right->hash ? 1 : -1;
    return (left->size > right->size) - (left->size < right->size);
}

uint64_t sg_plan_group_hash(const uint32_t *members, uint32_t size)
{
    return sg_hash_bytes(SG_HASH_START, members, size * sizeof *members);
}

const struct sg_plan_window *sg_plan_find_window(const struct sg_plan_windows *windows,
                                                 const struct sg_plan_window *key)
{
    const struct sg_plan_window *found = windows->window_count == 0
                                             ? NULL
                                             : bsearch(key, windows->windows, windows->window_count,
                                                       sizeof *key, sg_plan_windows_compare);

    return found != NULL && found->ref != SG_NO_WINDOW ? found : NULL;
}

bool sg_plan_find_group(const struct sg_plan_windows *windows, const struct sg_group_entry *group,
                        uint32_t *ref)
{
    struct sg_plan_group key = {.size = group->size};
    const struct sg_plan_group *found;

    if (group->members == NULL || windows->group_count == 0)
        return false;
    key.hash = sg_plan_group_hash(group->members, group->size);
    found =
        bsearch(&key, windows->groups, windows->group_count, sizeof key, sg_plan_groups_compare);
    if (found != NULL)
        *ref = found->ref;
    return found != NULL;
}

/* ---- order of events ------------------------------------------------------------------------- */

struct list {
    struct sg_order_entry *entries;
    size_t count;
    bool sorted;
};

static int compare(const struct sg_order_entry *a, const struct sg_order_entry *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static int compare_entries(const void *a, const void *b)
{
    return compare(a, b);
}

static enum sg_status add(struct list *list, struct sg_order_entry entry)
{
    if (!sg_make_room((void **)&list->entries, list->count, sizeof entry))
        return SG_ERR_MEMORY;
    if (list->count > 0 && compare(&list->entries[list->count - 1], &entry) > 0)
        list->sorted = false;
    list->entries[list->count++] = entry;
    return SG_OK;
}

static enum sg_status add_completions(struct list *list, const void *record,
                                      enum sg_record_kind kind, uint32_t slot)
{
    const struct sg_completions completions = sg_completions_of(record, kind);
    enum sg_status status = SG_OK;

    for (unsigned i = 0; i < completions.count && status == SG_OK; i++)
        status = add(list, (struct sg_order_entry){completions.time_ns, slot, completions.thread,
                                                   SG_ORDER_REQUEST, (uint8_t)(1 + i)});
    return status;
}

static enum sg_status add_record(struct list *list, const void *record, enum sg_record_kind kind,
                                 uint32_t slot)
{
    enum sg_status status = SG_OK;
    struct sg_recorded_call recorded;

    if (kind == SG_RECORD_LATE) {
        const struct sg_record_late *late = record;

        if (sg_late_is_sound(late))
            status = add(list, (struct sg_order_entry){late->begin_ns, slot, late->thread,
                                                       SG_ORDER_LATE, 0});
    } else if (kind == SG_RECORD_EVENT) {
        const struct sg_record_event *event = record;

        if (sg_event_is_sound(event))
            status = add(list, (struct sg_order_entry){event->begin_ns, slot, event->thread,
                                                       SG_ORDER_CALL, 0});
    } else if (kind == SG_RECORD_INTERVAL) {
        const struct sg_record_interval *interval = record;

        if (sg_interval_is_sound(interval))
            status = add(list, (struct sg_order_entry){interval->end_ns, slot, interval->thread,
                                                       SG_ORDER_INTERVAL, 0});
    } else if (kind == SG_RECORD_SLICE) {
        const struct sg_record_slice *slice = record;

        if (sg_slice_is_sound(slice))
            status = add(list, (struct sg_order_entry){slice->begin_ns + slice->until_ns, slot,
                                                       slice->thread, SG_ORDER_SLICE, 0});
    } else if (kind == SG_RECORD_REQUEST) {
        const struct sg_record_request *request = record;

        if (sg_request_is_sound(request))
            status = add(list, (struct sg_order_entry){request->time_ns, slot, request->thread,
                                                       SG_ORDER_REQUEST, 0});
    } else if (sg_recorded_call_read(record, &recorded) && (recorded.flags & SG_CALL_FAILED) == 0 &&
               sg_recorded_call_is_sound(&recorded)) {
        status = add(list, (struct sg_order_entry){recorded.begin_ns, slot, recorded.thread,
                                                   SG_ORDER_CALL, 0});
        if (status == SG_OK && recorded.complete_ns > 0)
            status = add(list, (struct sg_order_entry){recorded.complete_ns, slot, recorded.thread,
                                                       SG_ORDER_COMPLETE, 0});
    }
    return status;
}

enum sg_status sg_order_make(struct sg_logread *log, struct sg_order_entry **out, size_t *count)
{
    const struct sg_log_header *header = sg_logread_header(log);
    struct list list = {.sorted = true};
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    if (header->init_begin_ns > 0)
        status = add(&list, (struct sg_order_entry){header->init_begin_ns, SG_SLOT_INIT, 0,
                                                    SG_ORDER_CALL, 0});
    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        /* Every other kind that add_record takes has one slot. */
        uint64_t slots = kind == SG_RECORD_INTERVAL ? SG_INTERVAL_SLOTS
                         : kind == SG_RECORD_SLICE  ? SG_SLICE_SLOTS
                                                    : 1;

        status = add_record(&list, record, kind, (uint32_t)(slot - slots));
        if (status == SG_OK)
            status = add_completions(&list, record, kind, (uint32_t)(slot - slots));
    }
    if (status == SG_OK && header->finalize_begin_ns > 0)
        status = add(&list, (struct sg_order_entry){header->finalize_begin_ns, SG_SLOT_FINALIZE, 0,
                                                    SG_ORDER_CALL, 0});
    if (status != SG_OK) {
        free(list.entries);
        return status;
    }
    if (!list.sorted)
        qsort(list.entries, list.count, sizeof *list.entries, compare_entries);
    *out = list.entries;
    *count = list.count;
    return SG_OK;
}
