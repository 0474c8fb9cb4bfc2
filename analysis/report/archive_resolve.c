#include "report/archive_definitions.h"

#include "core/room.h"
#include "trace/site_text.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (UINT32_C(1) << 30)

/* Returns SG_OPERATION_COUNT if no recorded operation has this name. */
static int operation_of(const char *name)
{
    int operation = 0;

    while (operation < SG_OPERATION_COUNT && strcmp(name, sg_operation_regions[operation]) != 0)
        operation++;
    return operation;
}

static enum sg_region_kind kind_of(const struct sg_raw_region *region, const char *name)
{
    if (name != NULL) {
        if (operation_of(name) < SG_OPERATION_COUNT)
            return SG_REGION_COLLECTIVE;
        if (strcmp(name, SG_REGION_NAME_LATE) == 0)
            return SG_REGION_LATE;
        if (strcmp(name, SG_REGION_NAME_INIT) == 0 || strcmp(name, "MPI_Init_thread") == 0)
            return SG_REGION_INIT;
        if (strcmp(name, SG_REGION_NAME_FINALIZE) == 0)
            return SG_REGION_FINALIZE;
    }
    /* Other tools use other names for the wrappers of Fortran and other languages. */
    if (region->paradigm == OTF2_PARADIGM_MPI && (region->role == OTF2_REGION_ROLE_BARRIER ||
                                                  region->role == OTF2_REGION_ROLE_COLL_ONE2ALL ||
                                                  region->role == OTF2_REGION_ROLE_COLL_ALL2ONE ||
                                                  region->role == OTF2_REGION_ROLE_COLL_ALL2ALL))
        return SG_REGION_COLLECTIVE;
    return SG_REGION_OTHER;
}

static enum sg_status resolve_regions(struct sg_archive_defs *defs)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < defs->raw->region_count && status == SG_OK; i++) {
        const struct sg_raw_region *region = &defs->raw->regions[i];
        const char *name = sg_archive_string(defs, region->name);
        enum sg_region_kind kind = kind_of(region, name);

        if (kind != SG_REGION_OTHER)
            status = sg_map_put(&defs->region_kind, region->ref, kind);
        if (status == SG_OK && name != NULL && operation_of(name) < SG_OPERATION_COUNT)
            status = sg_map_put(&defs->region_operation, region->ref, (uint32_t)operation_of(name));
    }
    return status;
}

#define TREE_DEPTH_MAX 64

/* The node of the system tree, at or above the group's, that is a machine: processes may be placed
 * on one of its sockets or cores. If the archive does not say which are machines, the group's own.
 */
static uint32_t machine_of(const struct sg_defs_raw *raw, OTF2_LocationGroupRef group)
{
    int64_t own = sg_map_get(&raw->node_of_group, group), node = own;

    for (int i = 0; i < TREE_DEPTH_MAX && node >= 0; i++) {
        if (sg_map_get(&raw->is_machine, (uint64_t)node) >= 0)
            return (uint32_t)node;
        node = sg_map_get(&raw->parent_of_node, (uint64_t)node);
    }
    return (uint32_t)own;
}

static enum sg_status number_threads(struct sg_archive_defs *defs)
{
    uint32_t *counts = calloc(defs->rank_count, sizeof *counts);

    if (counts == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < defs->location_count; i++) {
        struct sg_def_location *location = &defs->locations[i];

        location->rank = sg_map_get(&defs->raw->rank_of_group, location->group);
        location->node = machine_of(defs->raw, location->group);
        if (location->rank >= 0)
            location->thread = counts[location->rank]++;
    }
    free(counts);
    return SG_OK;
}

/* A rank's threads share its location group; the group of all ranks lists one location of each. */
static enum sg_status resolve_ranks(struct sg_archive_defs *defs)
{
    struct sg_defs_raw *raw = defs->raw;
    const struct sg_raw_group *world = NULL;

    for (uint32_t i = 0; i < raw->group_count && world == NULL; i++) {
        if (raw->groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            raw->groups[i].paradigm == OTF2_PARADIGM_MPI)
            world = &raw->groups[i];
    }
    if (world == NULL || world->size == 0 || world->size > RANKS_MAX)
        return SG_ERR_MISSING;
    for (uint32_t rank = 0; rank < world->size; rank++) {
        int64_t index = sg_map_get(&defs->location_index, world->members[rank]);

        if (index < 0)
            return SG_ERR_MISSING;
        if (sg_map_put(&raw->rank_of_group, defs->locations[index].group, rank) != SG_OK)
            return SG_ERR_MEMORY;
    }
    defs->rank_count = world->size;
    return number_threads(defs);
}

static int compare_members(const void *left, const void *right)
{
    const struct sg_def_member *a = left, *b = right;

    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Resolves a group of an intercommunicator. If any of its ranks is not known, the group stays
 * empty, so its messages are left out. */
static enum sg_status resolve_side(const struct sg_archive_defs *defs, OTF2_GroupRef ref,
                                   struct sg_def_comm *comm, uint8_t side)
{
    int64_t index = sg_map_get(&defs->raw->group_index, ref);
    const struct sg_raw_group *group = index < 0 ? NULL : &defs->raw->groups[index];
    struct sg_def_side *out = &comm->sides[side];

    if (group == NULL || group->type != OTF2_GROUP_TYPE_COMM_GROUP || group->size == 0)
        return SG_OK;
    out->ranks = calloc(group->size, sizeof *out->ranks);
    if (out->ranks == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < group->size; i++) {
        if (group->members[i] >= defs->rank_count)
            return SG_OK;
        out->ranks[i] = (uint32_t)group->members[i];
        comm->side_of[group->members[i]] = (uint8_t)(1 + side);
        comm->place_of[group->members[i]] = i;
    }
    out->size = group->size;
    return SG_OK;
}

static enum sg_status resolve_inter_comm(const struct sg_archive_defs *defs,
                                         struct sg_def_comm *comm)
{
    enum sg_status status;

    comm->side_of = calloc(defs->rank_count, sizeof *comm->side_of);
    comm->place_of = calloc(defs->rank_count, sizeof *comm->place_of);
    if (comm->side_of == NULL || comm->place_of == NULL)
        return SG_ERR_MEMORY;
    status = resolve_side(defs, comm->group_ref, comm, 0);
    return status == SG_OK ? resolve_side(defs, comm->second_ref, comm, 1) : status;
}

static const char *parent_of(const struct sg_archive_defs *defs, const struct sg_def_comm *comm)
{
    int64_t parent = sg_map_get(&defs->comm_index, comm->parent_ref);

    return parent < 0 ? NULL : sg_archive_string(defs, defs->comms[parent].name_ref);
}

static enum sg_status resolve_comm(struct sg_archive_defs *defs, struct sg_def_comm *comm)
{
    int64_t index = sg_map_get(&defs->raw->group_index, comm->group_ref);
    const struct sg_raw_group *group = index < 0 ? NULL : &defs->raw->groups[index];

    comm->name = sg_archive_string(defs, comm->name_ref);
    if (comm->name == NULL)
        comm->name = "";
    comm->parent = parent_of(defs, comm);
    if (comm->is_inter)
        return resolve_inter_comm(defs, comm);
    if (group == NULL || group->paradigm != OTF2_PARADIGM_MPI)
        return SG_OK;
    if (group->type == OTF2_GROUP_TYPE_COMM_SELF) {
        comm->is_self = true;
        comm->size = 1;
        return SG_OK;
    }
    if (group->type != OTF2_GROUP_TYPE_COMM_GROUP || group->size == 0)
        return SG_OK;
    comm->members = calloc(group->size, sizeof *comm->members);
    if (comm->members == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < group->size; i++) {
        if (group->members[i] >= defs->rank_count)
            return SG_OK;
        comm->members[i] = (struct sg_def_member){.rank = (uint32_t)group->members[i], .member = i};
    }
    comm->first_rank = comm->members[0].rank;
    qsort(comm->members, group->size, sizeof *comm->members, compare_members);
    comm->size = group->size;
    return SG_OK;
}

static int compare_member(const void *key, const void *element)
{
    uint32_t rank = *(const uint32_t *)key;
    const struct sg_def_member *member = element;

    return (rank > member->rank) - (rank < member->rank);
}

int64_t sg_def_comm_member(const struct sg_def_comm *comm, uint32_t rank)
{
    const struct sg_def_member *found;

    if (comm->is_self || comm->size == 0)
        return comm->is_self ? 0 : -1;
    found = bsearch(&rank, comm->members, comm->size, sizeof *found, compare_member);
    return found == NULL ? -1 : (int64_t)found->member;
}

static uint8_t count_of(const char *name)
{
    uint8_t count = 0;

    while (count < SG_COUNT_COUNT &&
           (name == NULL || strcmp(name, sg_metrics[sg_count_metrics[count]].name) != 0))
        count++;
    return count;
}

static uint8_t figure_of(const char *name)
{
    uint8_t figure = 0;

    if (name == NULL)
        return SG_DEF_NO_FIGURE;
    if (strcmp(name, SG_METRIC_NAME_INTERVAL) == 0)
        return SG_DEF_INTERVAL;
    while (figure < SG_FIGURE_COUNT && strcmp(name, sg_figure_table[figure].name) != 0)
        figure++;
    return figure < SG_FIGURE_COUNT ? figure : SG_DEF_NO_FIGURE;
}

static void resolve_metric(const struct sg_archive_defs *defs, OTF2_MetricMemberRef ref,
                           struct sg_def_metric_class *out, uint8_t position)
{
    const char *name = NULL;

    for (uint32_t i = 0; i < defs->raw->metric_count && name == NULL; i++) {
        if (defs->raw->metrics[i].ref == ref)
            name = sg_archive_string(defs, defs->raw->metrics[i].name);
    }
    out->counts[position] = count_of(name);
    out->figures[position] = figure_of(name);
}

static enum sg_status resolve_metrics(struct sg_archive_defs *defs)
{
    for (uint32_t i = 0; i < defs->raw->class_count; i++) {
        const struct sg_raw_metric_class *class = &defs->raw->classes[i];
        struct sg_def_metric_class out = {.ref = class->ref};

        memset(out.counts, SG_COUNT_COUNT, sizeof out.counts);
        for (uint8_t position = 0; position < class->size; position++)
            resolve_metric(defs, class->members[position], &out, position);
        if (!SG_APPEND(defs->classes, defs->class_count, out) ||
            sg_map_put(&defs->class_index, out.ref, defs->class_count - 1) != SG_OK)
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

static void resolve_attributes(struct sg_archive_defs *defs)
{
    for (uint32_t i = 0; i < defs->raw->attribute_count; i++) {
        const struct sg_raw_name *attribute = &defs->raw->attributes[i];
        const char *name = sg_archive_string(defs, attribute->name);

        for (int known = 0; known < SG_ATTRIBUTE_COUNT && name != NULL; known++) {
            if (strcmp(name, sg_attributes[known].name) == 0) {
                defs->attributes[known] = attribute->ref;
                defs->has_attribute[known] = true;
            }
        }
    }
}

static enum sg_status resolve_parameters(struct sg_archive_defs *defs)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < defs->raw->parameter_count && status == SG_OK; i++) {
        const struct sg_raw_name *parameter = &defs->raw->parameters[i];
        const char *name = sg_archive_string(defs, parameter->name);

        for (uint32_t known = 0; known < SG_PARAMETER_COUNT && name != NULL; known++) {
            if (strcmp(name, sg_parameters[known]) == 0)
                status = sg_map_put(&defs->parameter_index, parameter->ref, known);
        }
    }
    return status;
}

enum sg_status sg_archive_defs_resolve(struct sg_archive_defs *defs, const char *path)
{
    enum sg_status status = resolve_ranks(defs);

    if (status == SG_ERR_MISSING)
        sg_log("%s: an archive without MPI ranks", path);
    else if (status == SG_OK && defs->ticks_per_second == 0)
        sg_log("%s: an archive without a clock", path);
    if (status == SG_OK && defs->ticks_per_second == 0)
        status = SG_ERR_MISSING;
    if (status == SG_OK)
        status = resolve_regions(defs);
    for (uint32_t i = 0; i < defs->comm_count && status == SG_OK; i++)
        status = resolve_comm(defs, &defs->comms[i]);
    if (status == SG_OK)
        status = resolve_metrics(defs);
    if (status == SG_OK)
        status = resolve_parameters(defs);
    if (status == SG_OK)
        resolve_attributes(defs);
    return status;
}

/* True if the text ends like a call site's: with '#' and 8 digits of an id (trace/site_text.h). */
static bool may_be_site(const char *text)
{
    const char *mark = strrchr(text, '#');

    return mark != NULL && strlen(mark) == 1 + 8;
}

enum sg_status sg_archive_defs_name_sites(const struct sg_archive_defs *defs,
                                          struct sg_aggregate *aggregate)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < defs->raw->string_count && status == SG_OK; i++) {
        struct sg_site_text text;
        uint32_t index;
        char *copy;

        if (!may_be_site(defs->raw->strings[i]))
            continue;
        copy = strdup(defs->raw->strings[i]);
        if (copy == NULL)
            status = SG_ERR_MEMORY;
        else if (sg_site_parse(copy, &text) == SG_OK)
            status = sg_aggregate_site(aggregate, &text, &index);
        free(copy);
    }
    return status;
}

/* The outermost call of MPI that a location is in. */
struct call {
    uint32_t depth; /* 0: none */
    struct sg_seen_call seen;
};

struct sg_archive_seen {
    const struct sg_archive_defs *defs;
    const struct sg_aggregate *aggregate;
    const struct sg_watch *watch;
    struct call *calls; /* by location */
};

enum sg_status sg_archive_seen_create(const struct sg_archive_defs *defs,
                                      const struct sg_aggregate *aggregate,
                                      const struct sg_watch *watch, struct sg_archive_seen **out)
{
    struct sg_archive_seen *seen = calloc(1, sizeof *seen);

    if (seen == NULL)
        return SG_ERR_MEMORY;
    *seen = (struct sg_archive_seen){.defs = defs, .aggregate = aggregate, .watch = watch};
    seen->calls = calloc((size_t)defs->location_count + 1, sizeof *seen->calls);
    if (seen->calls == NULL) {
        free(seen);
        return SG_ERR_MEMORY;
    }
    *out = seen;
    return SG_OK;
}

void sg_archive_seen_destroy(struct sg_archive_seen *seen)
{
    if (seen == NULL)
        return;
    free(seen->calls);
    free(seen);
}

static struct sg_seen_thread thread_of(const struct sg_archive_seen *seen, uint32_t location)
{
    const struct sg_def_location *at = &seen->defs->locations[location];

    return (struct sg_seen_thread){(uint32_t)at->rank, at->thread};
}

/* ---- calls ----------------------------------------------------------------------------------- */

void sg_archive_seen_enter(struct sg_archive_seen *seen, uint32_t location, int64_t time_ns,
                           uint32_t function, const char *name, uint32_t site)
{
    struct call *call = &seen->calls[location];

    if (call->depth++ > 0)
        return;
    call->seen = (struct sg_seen_call){.at = thread_of(seen, location),
                                       .function = function,
                                       .name = name,
                                       .site = site,
                                       .begin_ns = time_ns,
                                       .comm = SG_SEEN_NO_COMM,
                                       .root = -1};
}

enum sg_status sg_archive_seen_leave(struct sg_archive_seen *seen, uint32_t location,
                                     int64_t time_ns, bool is_instance)
{
    struct call *call = &seen->calls[location];

    if (call->depth == 0 || --call->depth > 0 || is_instance || seen->watch->call == NULL)
        return SG_OK;
    call->seen.end_ns = time_ns;
    return seen->watch->call(seen->watch->context, seen->aggregate, &call->seen);
}

static enum sg_status tell_part(const struct sg_archive_seen *seen, const struct sg_seen_part *part)
{
    return seen->watch->part != NULL ? seen->watch->part(seen->watch->context, part) : SG_OK;
}

enum sg_status sg_archive_seen_message(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind,
                                       const struct sg_waitstate_message *message, uint64_t bytes,
                                       uint64_t request)
{
    struct call *call = &seen->calls[location];
    bool is_send = kind == SG_SEEN_SEND || kind == SG_SEEN_ISEND;
    struct sg_seen_messages *messages = is_send ? &call->seen.sent : &call->seen.received;
    const struct sg_seen_part part = {.at = call->seen.at,
                                      .kind = kind,
                                      .comm = message->comm,
                                      .peer = message->peer,
                                      .tag = message->tag,
                                      .bytes = bytes,
                                      .request = request,
                                      .has_gap = message->gap > 0};

    if (call->depth == 0)
        return SG_OK;
    messages->count++;
    messages->bytes += bytes;
    messages->peer = message->peer;
    messages->tag = message->tag;
    messages->comm = message->comm;
    return tell_part(seen, &part);
}

enum sg_status sg_archive_seen_request(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind, uint64_t request)
{
    const struct call *call = &seen->calls[location];
    const struct sg_seen_part part = {.at = call->seen.at, .kind = kind, .request = request};

    return call->depth > 0 ? tell_part(seen, &part) : SG_OK;
}

void sg_archive_seen_collective(struct sg_archive_seen *seen, uint32_t location, uint32_t comm,
                                int64_t root, uint64_t sent_bytes, uint64_t received_bytes)
{
    struct call *call = &seen->calls[location];

    if (call->depth == 0)
        return;
    call->seen.collectives++;
    call->seen.comm = comm;
    call->seen.root = root;
    call->seen.sent_bytes += sent_bytes;
    call->seen.received_bytes += received_bytes;
}

/* ---- messages -------------------------------------------------------------------------------- */

enum sg_status sg_archive_seen_matched(void *context, const struct sg_waitstate_matched *matched)
{
    const struct sg_archive_seen *seen = context;
    const struct sg_seen_message message = {.from = thread_of(seen, matched->from),
                                            .to = thread_of(seen, matched->to),
                                            .sent_ns = matched->sent_ns,
                                            .completing_ns = matched->completing_ns,
                                            .received_ns = matched->received_ns};

    if (seen->watch->message == NULL)
        return SG_OK;
    return seen->watch->message(seen->watch->context, &message);
}

enum sg_status sg_archive_seen_waited(void *context, const struct sg_waitstate *wait)
{
    const struct sg_archive_seen *seen = context;
    const struct sg_seen_wait told = {.at = thread_of(seen, wait->at.location),
                                      .begin_ns = wait->begin_ns,
                                      .wait_ns = wait->wait_ns};

    if (seen->watch->wait == NULL)
        return SG_OK;
    return seen->watch->wait(seen->watch->context, &told);
}
