#include "report/archive_defs.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (UINT32_C(1) << 30)

struct group {
    OTF2_GroupRef ref;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint32_t size;
    uint64_t *members;
};

struct region {
    OTF2_RegionRef ref;
    OTF2_StringRef name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
};

struct metric_member {
    OTF2_MetricMemberRef ref;
    OTF2_StringRef name;
};

struct metric_class {
    OTF2_MetricRef ref;
    uint8_t size;
    OTF2_MetricMemberRef members[UINT8_MAX];
};

struct attribute {
    OTF2_AttributeRef ref;
    OTF2_StringRef name;
};

struct sg_defs_raw {
    char **strings;
    struct group *groups;
    struct region *regions;
    struct metric_member *metrics;
    struct metric_class *classes;
    struct attribute *attributes;
    uint32_t string_count, group_count, region_count, metric_count, class_count, attribute_count;
    struct sg_map string_index, group_index, rank_of_group;
    enum sg_status status; /* the first error in a callback */
};

static const char *const attribute_names[SG_ATTRIBUTE_COUNT] = {
    [SG_ATTRIBUTE_SITE] = "call site",
    [SG_ATTRIBUTE_ALGORITHM] = "algorithm",
    [SG_ATTRIBUTE_SEQ] = "seq",
    [SG_ATTRIBUTE_BYTES] = "bytes",
};

static const char *const metric_names[SG_METRIC_COUNT] = {
    [SG_METRIC_EARLY] = "early messages",
    [SG_METRIC_LATE] = "late messages",
    [SG_METRIC_SIGNALS] = "signals",
};

/* ---- collecting -------------------------------------------------------------------------------
 */

/* Appends one element; the array's capacity is the next power of two. */
static OTF2_CallbackCode append(struct sg_archive_defs *defs, void **array, uint32_t *count,
                                const void *element, size_t element_bytes)
{
    if ((*count & (*count - 1)) == 0) {
        void *larger = realloc(*array, (*count ? (size_t)*count * 2 : 1) * element_bytes);

        if (larger == NULL) {
            defs->raw->status = SG_ERR_MEMORY;
            return OTF2_CALLBACK_INTERRUPT;
        }
        *array = larger;
    }
    memcpy((char *)*array + (size_t)*count * element_bytes, element, element_bytes);
    (*count)++;
    return OTF2_CALLBACK_SUCCESS;
}

#define APPEND(defs, array, count, element)                                                        \
    append(defs, (void **)&(array), &(count), &(element), sizeof(element))

static OTF2_CallbackCode index_last(struct sg_archive_defs *defs, struct sg_map *map, uint64_t key,
                                    uint32_t count)
{
    enum sg_status status = sg_map_put(map, key, count - 1);

    if (status == SG_OK)
        return OTF2_CALLBACK_SUCCESS;
    defs->raw->status = status;
    return OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode on_clock(void *context, uint64_t resolution, uint64_t offset,
                                  uint64_t length, uint64_t realtime)
{
    struct sg_archive_defs *defs = context;

    defs->ticks_per_second = resolution;
    defs->start_ticks = offset;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *context, OTF2_StringRef self, const char *string)
{
    struct sg_archive_defs *defs = context;
    struct sg_defs_raw *raw = defs->raw;
    char *copy = strdup(string);

    if (copy == NULL || APPEND(defs, raw->strings, raw->string_count, copy)) {
        free(copy);
        raw->status = SG_ERR_MEMORY;
        return OTF2_CALLBACK_INTERRUPT;
    }
    return index_last(defs, &raw->string_index, self, raw->string_count);
}

static OTF2_CallbackCode on_location(void *context, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    struct sg_archive_defs *defs = context;
    struct sg_def_location location = {
        .ref = self, .group = group, .event_count = events, .rank = -1};

    if (APPEND(defs, defs->locations, defs->location_count, location))
        return OTF2_CALLBACK_INTERRUPT;
    defs->event_count += events;
    return index_last(defs, &defs->location_index, self, defs->location_count);
}

static OTF2_CallbackCode on_region(void *context, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct sg_archive_defs *defs = context;
    struct region region = {.ref = self, .name = name, .role = role, .paradigm = paradigm};

    return APPEND(defs, defs->raw->regions, defs->raw->region_count, region);
}

static OTF2_CallbackCode on_group(void *context, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t size, const uint64_t *members)
{
    struct sg_archive_defs *defs = context;
    struct sg_defs_raw *raw = defs->raw;
    struct group group = {.ref = self, .type = type, .paradigm = paradigm, .size = size};

    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF)
        return OTF2_CALLBACK_SUCCESS;
    group.members = malloc((size ? size : 1) * sizeof *group.members);
    if (group.members == NULL || APPEND(defs, raw->groups, raw->group_count, group)) {
        free(group.members);
        raw->status = SG_ERR_MEMORY;
        return OTF2_CALLBACK_INTERRUPT;
    }
    if (size > 0)
        memcpy(group.members, members, size * sizeof *members);
    return index_last(defs, &raw->group_index, self, raw->group_count);
}

static OTF2_CallbackCode on_comm(void *context, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct sg_archive_defs *defs = context;
    struct sg_def_comm comm = {.ref = self, .name_ref = name, .group_ref = group, .first_rank = -1};

    if (APPEND(defs, defs->comms, defs->comm_count, comm))
        return OTF2_CALLBACK_INTERRUPT;
    return index_last(defs, &defs->comm_index, self, defs->comm_count);
}

static OTF2_CallbackCode on_attribute(void *context, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct sg_archive_defs *defs = context;
    struct attribute attribute = {.ref = self, .name = name};

    return APPEND(defs, defs->raw->attributes, defs->raw->attribute_count, attribute);
}

static OTF2_CallbackCode on_metric(void *context, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value_type, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    struct sg_archive_defs *defs = context;
    struct metric_member member = {.ref = self, .name = name};

    return APPEND(defs, defs->raw->metrics, defs->raw->metric_count, member);
}

static OTF2_CallbackCode on_metric_class(void *context, OTF2_MetricRef self, uint8_t size,
                                         const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence, OTF2_RecorderKind kind)
{
    struct sg_archive_defs *defs = context;
    struct metric_class class = {.ref = self, .size = size};

    memcpy(class.members, members, size * sizeof *members);
    return APPEND(defs, defs->raw->classes, defs->raw->class_count, class);
}

/* ---- resolving --------------------------------------------------------------------------------
 */

const char *sg_archive_string(const struct sg_archive_defs *defs, OTF2_StringRef ref)
{
    int64_t index = sg_map_get(&defs->raw->string_index, ref);

    return index < 0 ? NULL : defs->raw->strings[index];
}

static enum sg_region_kind kind_of(const struct sg_archive_defs *defs, const struct region *region)
{
    const char *name = sg_archive_string(defs, region->name);

    if (name != NULL) {
        for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            if (strcmp(name, sg_operation_regions[operation]) == 0)
                return SG_REGION_COLLECTIVE;
        }
        if (strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0)
            return SG_REGION_INIT;
        if (strcmp(name, "MPI_Finalize") == 0)
            return SG_REGION_FINALIZE;
    }
    /* Other tools name the wrappers of other language bindings otherwise. */
    if (region->paradigm == OTF2_PARADIGM_MPI && (region->role == OTF2_REGION_ROLE_BARRIER ||
                                                  region->role == OTF2_REGION_ROLE_COLL_ALL2ONE ||
                                                  region->role == OTF2_REGION_ROLE_COLL_ALL2ALL))
        return SG_REGION_COLLECTIVE;
    return SG_REGION_OTHER;
}

static enum sg_status resolve_regions(struct sg_archive_defs *defs)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < defs->raw->region_count && status == SG_OK; i++) {
        const struct region *region = &defs->raw->regions[i];
        enum sg_region_kind kind = kind_of(defs, region);

        if (kind != SG_REGION_OTHER)
            status = sg_map_put(&defs->region_kind, region->ref, kind);
    }
    return status;
}

/* A rank's threads share its location group; the group of all ranks lists one location of each. */
static enum sg_status resolve_ranks(struct sg_archive_defs *defs)
{
    struct sg_defs_raw *raw = defs->raw;
    const struct group *world = NULL;

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
    for (uint32_t i = 0; i < defs->location_count; i++)
        defs->locations[i].rank = sg_map_get(&raw->rank_of_group, defs->locations[i].group);
    defs->rank_count = world->size;
    return SG_OK;
}

static int compare_members(const void *left, const void *right)
{
    const struct sg_def_member *a = left, *b = right;

    return (a->rank > b->rank) - (a->rank < b->rank);
}

static enum sg_status resolve_comm(struct sg_archive_defs *defs, struct sg_def_comm *comm)
{
    int64_t index = sg_map_get(&defs->raw->group_index, comm->group_ref);
    const struct group *group = index < 0 ? NULL : &defs->raw->groups[index];

    comm->name = sg_archive_string(defs, comm->name_ref);
    if (comm->name == NULL)
        comm->name = "";
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

static uint8_t metric_kind(const struct sg_archive_defs *defs, OTF2_MetricMemberRef ref)
{
    for (uint32_t i = 0; i < defs->raw->metric_count; i++) {
        const char *name = sg_archive_string(defs, defs->raw->metrics[i].name);

        for (uint8_t kind = 0; kind < SG_METRIC_COUNT; kind++) {
            if (defs->raw->metrics[i].ref == ref && name != NULL &&
                strcmp(name, metric_names[kind]) == 0)
                return kind;
        }
    }
    return SG_METRIC_COUNT;
}

static enum sg_status resolve_metrics(struct sg_archive_defs *defs)
{
    for (uint32_t i = 0; i < defs->raw->class_count; i++) {
        const struct metric_class *class = &defs->raw->classes[i];
        struct sg_def_metric_class out = {.ref = class->ref};

        memset(out.kinds, SG_METRIC_COUNT, sizeof out.kinds);
        for (uint8_t position = 0; position < class->size; position++)
            out.kinds[position] = metric_kind(defs, class->members[position]);
        if (APPEND(defs, defs->classes, defs->class_count, out) ||
            index_last(defs, &defs->class_index, out.ref, defs->class_count))
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

static void resolve_attributes(struct sg_archive_defs *defs)
{
    for (uint32_t i = 0; i < defs->raw->attribute_count; i++) {
        const struct attribute *attribute = &defs->raw->attributes[i];
        const char *name = sg_archive_string(defs, attribute->name);

        for (int known = 0; known < SG_ATTRIBUTE_COUNT && name != NULL; known++) {
            if (strcmp(name, attribute_names[known]) == 0) {
                defs->attributes[known] = attribute->ref;
                defs->has_attribute[known] = true;
            }
        }
    }
}

static enum sg_status resolve(struct sg_archive_defs *defs, const char *path)
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
        resolve_attributes(defs);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static OTF2_GlobalDefReaderCallbacks *make_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();

    if (callbacks == NULL)
        return NULL;
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_metric);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
    return callbacks;
}

enum sg_status sg_archive_defs_read(OTF2_Reader *reader, const char *path,
                                    struct sg_archive_defs *out)
{
    struct sg_archive_defs defs = {.raw = calloc(1, sizeof *defs.raw)};
    OTF2_GlobalDefReaderCallbacks *callbacks = make_callbacks();
    OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;
    enum sg_status status = SG_ERR_MEMORY;
    uint64_t count = 0;

    if (defs.raw == NULL || callbacks == NULL)
        goto out_of_memory;
    status = SG_ERR_FORMAT;
    if (global != NULL)
        code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, callbacks, &defs);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &count);
    if (defs.raw->status != SG_OK)
        status = defs.raw->status;
    else if (code == OTF2_SUCCESS)
        status = resolve(&defs, path);

out_of_memory:
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (status == SG_ERR_MEMORY)
        sg_log("%s: out of memory for its definitions", path);
    if (status != SG_OK) {
        sg_archive_defs_clear(&defs);
        return status;
    }
    *out = defs;
    return SG_OK;
}

void sg_archive_defs_clear(struct sg_archive_defs *defs)
{
    struct sg_defs_raw *raw = defs->raw;

    for (uint32_t i = 0; raw != NULL && i < raw->string_count; i++)
        free(raw->strings[i]);
    for (uint32_t i = 0; raw != NULL && i < raw->group_count; i++)
        free(raw->groups[i].members);
    for (uint32_t i = 0; i < defs->comm_count; i++)
        free(defs->comms[i].members);
    if (raw != NULL) {
        free(raw->strings);
        free(raw->groups);
        free(raw->regions);
        free(raw->metrics);
        free(raw->classes);
        free(raw->attributes);
        sg_map_clear(&raw->string_index);
        sg_map_clear(&raw->group_index);
        sg_map_clear(&raw->rank_of_group);
    }
    free(raw);
    free(defs->locations);
    free(defs->comms);
    free(defs->classes);
    sg_map_clear(&defs->location_index);
    sg_map_clear(&defs->comm_index);
    sg_map_clear(&defs->class_index);
    sg_map_clear(&defs->region_kind);
    *defs = (struct sg_archive_defs){0};
}
