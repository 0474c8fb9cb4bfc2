#include "report/archive_definitions.h"

#include "core/file.h"
#include "core/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Converts success into a callback's result; the first failure (out of memory) becomes the status
 * of the reading. */
static OTF2_CallbackCode verdict(struct sg_archive_defs *defs, bool done)
{
    if (done)
        return OTF2_CALLBACK_SUCCESS;
    defs->raw->status = SG_ERR_MEMORY;
    return OTF2_CALLBACK_INTERRUPT;
}

/* ---- collecting ------------------------------------------------------------------------------ */

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

    if (copy == NULL || !SG_APPEND(raw->strings, raw->string_count, copy)) {
        free(copy);
        return verdict(defs, false);
    }
    return verdict(defs, sg_map_put(&raw->string_index, self, raw->string_count - 1) == SG_OK);
}

static OTF2_CallbackCode on_location(void *context, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    struct sg_archive_defs *defs = context;
    struct sg_def_location location = {
        .ref = self, .group = group, .event_count = events, .name = name, .rank = -1};

    defs->event_count += events;
    return verdict(defs,
                   SG_APPEND(defs->locations, defs->location_count, location) &&
                       sg_map_put(&defs->location_index, self, defs->location_count - 1) == SG_OK);
}

static OTF2_CallbackCode on_location_group(void *context, OTF2_LocationGroupRef self,
                                           OTF2_StringRef name, OTF2_LocationGroupType type,
                                           OTF2_SystemTreeNodeRef node,
                                           OTF2_LocationGroupRef creator)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs, sg_map_put(&defs->raw->node_of_group, self, node) == SG_OK);
}

static OTF2_CallbackCode on_node(void *context, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs, sg_map_put(&defs->raw->parent_of_node, self, parent) == SG_OK);
}

static OTF2_CallbackCode on_node_domain(void *context, OTF2_SystemTreeNodeRef node,
                                        OTF2_SystemTreeDomain domain)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs, domain != OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY ||
                             sg_map_put(&defs->raw->is_machine, node, 1) == SG_OK);
}

static OTF2_CallbackCode on_region(void *context, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct sg_archive_defs *defs = context;
    struct sg_raw_region region = {.ref = self, .name = name, .role = role, .paradigm = paradigm};

    return verdict(defs, SG_APPEND(defs->raw->regions, defs->raw->region_count, region));
}

static OTF2_CallbackCode on_group(void *context, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t size, const uint64_t *members)
{
    struct sg_archive_defs *defs = context;
    struct sg_defs_raw *raw = defs->raw;
    struct sg_raw_group group = {.ref = self, .type = type, .paradigm = paradigm, .size = size};

    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF)
        return OTF2_CALLBACK_SUCCESS;
    group.members = malloc((size ? size : 1) * sizeof *group.members);
    if (group.members == NULL || !SG_APPEND(raw->groups, raw->group_count, group)) {
        free(group.members);
        return verdict(defs, false);
    }
    if (size > 0)
        memcpy(group.members, members, size * sizeof *members);
    return verdict(defs, sg_map_put(&raw->group_index, self, raw->group_count - 1) == SG_OK);
}

static OTF2_CallbackCode on_comm(void *context, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct sg_archive_defs *defs = context;
    struct sg_def_comm comm = {
        .ref = self, .name_ref = name, .group_ref = group, .parent_ref = parent, .first_rank = -1};

    return verdict(defs, SG_APPEND(defs->comms, defs->comm_count, comm) &&
                             sg_map_put(&defs->comm_index, self, defs->comm_count - 1) == SG_OK);
}

static OTF2_CallbackCode on_inter_comm(void *context, OTF2_CommRef self, OTF2_StringRef name,
                                       OTF2_GroupRef first, OTF2_GroupRef second,
                                       OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct sg_archive_defs *defs = context;
    struct sg_def_comm comm = {.ref = self,
                               .name_ref = name,
                               .group_ref = first,
                               .second_ref = second,
                               .parent_ref = common,
                               .first_rank = -1,
                               .is_inter = true};

    return verdict(defs, SG_APPEND(defs->comms, defs->comm_count, comm) &&
                             sg_map_put(&defs->comm_index, self, defs->comm_count - 1) == SG_OK);
}

static OTF2_CallbackCode on_window(void *context, OTF2_RmaWinRef self, OTF2_StringRef name,
                                   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs,
                   SG_APPEND(defs->windows, defs->window_count, (struct sg_def_window){comm}) &&
                       sg_map_put(&defs->window_index, self, defs->window_count - 1) == SG_OK);
}

static OTF2_CallbackCode on_attribute(void *context, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs, SG_APPEND(defs->raw->attributes, defs->raw->attribute_count,
                                   (struct sg_raw_name){self, name}));
}

static OTF2_CallbackCode on_parameter(void *context, OTF2_ParameterRef self, OTF2_StringRef name,
                                      OTF2_ParameterType type)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs, SG_APPEND(defs->raw->parameters, defs->raw->parameter_count,
                                   (struct sg_raw_name){self, name}));
}

static OTF2_CallbackCode on_metric(void *context, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value_type, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    struct sg_archive_defs *defs = context;

    return verdict(defs, SG_APPEND(defs->raw->metrics, defs->raw->metric_count,
                                   (struct sg_raw_name){self, name}));
}

static OTF2_CallbackCode on_metric_class(void *context, OTF2_MetricRef self, uint8_t size,
                                         const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence, OTF2_RecorderKind kind)
{
    struct sg_archive_defs *defs = context;
    struct sg_raw_metric_class class = {.ref = self, .size = size};

    memcpy(class.members, members, size * sizeof *members);
    return verdict(defs, SG_APPEND(defs->raw->classes, defs->raw->class_count, class));
}

/* ---- reading --------------------------------------------------------------------------------- */

static OTF2_GlobalDefReaderCallbacks *make_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();

    if (callbacks == NULL)
        return NULL;
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(callbacks, on_node_domain);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, on_window);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_metric);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
    return callbacks;
}

enum sg_status sg_archive_defs_read(OTF2_Reader *reader, struct sg_archive_defs *out)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = make_callbacks();
    OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;
    enum sg_status status = SG_ERR_MEMORY;
    uint64_t count = 0, expected = 0;

    *out = (struct sg_archive_defs){.raw = calloc(1, sizeof *out->raw)};
    if (out->raw == NULL || callbacks == NULL)
        goto out_of_memory;
    if (global != NULL)
        code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, callbacks, out);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &count);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &expected);
    if (code == OTF2_SUCCESS && count < expected)
        code = OTF2_ERROR_END_OF_BUFFER;
    status = out->raw->status;
    if (status == SG_OK && code != OTF2_SUCCESS)
        status = SG_ERR_FORMAT;
out_of_memory:
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    return status;
}

const char *sg_archive_string(const struct sg_archive_defs *defs, OTF2_StringRef ref)
{
    int64_t index = sg_map_get(&defs->raw->string_index, ref);

    return index < 0 ? NULL : defs->raw->strings[index];
}

void sg_archive_defs_clear(struct sg_archive_defs *defs)
{
    struct sg_defs_raw *raw = defs->raw;

    for (uint32_t i = 0; raw != NULL && i < raw->string_count; i++)
        free(raw->strings[i]);
    for (uint32_t i = 0; raw != NULL && i < raw->group_count; i++)
        free(raw->groups[i].members);
    for (uint32_t i = 0; i < defs->comm_count; i++) {
        free(defs->comms[i].members);
        free(defs->comms[i].sides[0].ranks);
        free(defs->comms[i].sides[1].ranks);
        free(defs->comms[i].side_of);
        free(defs->comms[i].place_of);
    }
    if (raw != NULL) {
        free(raw->strings);
        free(raw->groups);
        free(raw->regions);
        free(raw->metrics);
        free(raw->classes);
        free(raw->attributes);
        free(raw->parameters);
        sg_map_clear(&raw->string_index);
        sg_map_clear(&raw->group_index);
        sg_map_clear(&raw->rank_of_group);
        sg_map_clear(&raw->node_of_group);
        sg_map_clear(&raw->parent_of_node);
        sg_map_clear(&raw->is_machine);
    }
    free(raw);
    free(defs->locations);
    free(defs->comms);
    free(defs->windows);
    free(defs->classes);
    sg_map_clear(&defs->location_index);
    sg_map_clear(&defs->comm_index);
    sg_map_clear(&defs->window_index);
    sg_map_clear(&defs->class_index);
    sg_map_clear(&defs->region_kind);
    sg_map_clear(&defs->region_operation);
    sg_map_clear(&defs->parameter_index);
    *defs = (struct sg_archive_defs){0};
}

static int check_mode(mode_t mode)
{
    return S_ISREG(mode) ? 0 : S_ISLNK(mode) ? SG_FILE_LINK : SG_FILE_IRREGULAR;
}

static enum sg_status refuse(const char *path, const char *name, int error)
{
    sg_log("%s%s%s: %s", path, name != NULL ? "/" : "", name != NULL ? name : "",
           sg_file_error(error));
    return SG_ERR_FORMAT;
}

/* OTF2 itself reports files that are missing or hold no archive. */
static enum sg_status check_file(const char *path)
{
    struct stat info;
    int error = lstat(path, &info) == 0 ? check_mode(info.st_mode) : 0;

    return error != 0 ? refuse(path, NULL, error) : SG_OK;
}

/* OTF2 reads only files that are named after a location: digits, then a dot. */
static enum sg_status check_entries(const char *path, DIR *stream)
{
    enum sg_status status = SG_OK;
    struct dirent *entry;
    struct stat info;

    while (status == SG_OK && (entry = readdir(stream)) != NULL) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")] != '.' || entry->d_name[0] == '.' ||
            entry->d_type == DT_REG)
            continue;
        if (fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            !S_ISREG(info.st_mode))
            status = refuse(path, entry->d_name, check_mode(info.st_mode));
    }
    return status;
}

static enum sg_status check_locations(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = directory >= 0 ? fdopendir(directory) : NULL;
    enum sg_status status = SG_OK;
    struct stat info;

    if (stream != NULL) {
        status = check_entries(path, stream);
        closedir(stream);
    } else if (directory >= 0) {
        close(directory);
    } else if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        status = refuse(path, NULL, SG_FILE_LINK);
    }
    return status;
}

enum sg_status sg_archive_files_check(const char *anchor)
{
    static const char *const endings[] = {".otf2", ".def", ".marker"};
    const char *end = strrchr(anchor, '.');
    int length = end != NULL ? (int)(end - anchor) : (int)strlen(anchor);
    enum sg_status status = check_file(anchor);
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof endings / sizeof *endings && status == SG_OK; i++) {
        /* A truncated path does no harm: OTF2 refuses longer ones. */
        snprintf(path, sizeof path, "%.*s%s", length, anchor, endings[i]);
        status = check_file(path);
    }
    snprintf(path, sizeof path, "%.*s", length, anchor);
    return status == SG_OK ? check_locations(path) : status;
}

struct markers {
    struct sg_learned *learned;
    OTF2_MarkerRef kind; /* of learned rules */
    bool has_kind;
    enum sg_status status;
};

static OTF2_CallbackCode on_kind(void *context, OTF2_MarkerRef self, const char *group,
                                 const char *category, OTF2_MarkerSeverity severity)
{
    struct markers *markers = context;

    if (strcmp(category, SG_MARKER_LEARNED_CATEGORY) == 0) {
        markers->kind = self;
        markers->has_kind = true;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_marker(void *context, OTF2_TimeStamp time, OTF2_TimeStamp duration,
                                   OTF2_MarkerRef kind, OTF2_MarkerScope scope, uint64_t scope_ref,
                                   const char *text)
{
    struct markers *markers = context;

    if (!markers->has_kind || kind != markers->kind || scope != OTF2_MARKER_SCOPE_LOCATION)
        return OTF2_CALLBACK_SUCCESS;
    markers->status = sg_learned_add(markers->learned, (uint32_t)scope_ref, text);
    return markers->status == SG_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

enum sg_status sg_archive_markers_read(OTF2_Reader *reader, struct sg_learned *learned)
{
    struct markers markers = {.learned = learned};
    OTF2_MarkerReader *file = OTF2_Reader_GetMarkerReader(reader);
    OTF2_MarkerReaderCallbacks *callbacks = OTF2_MarkerReaderCallbacks_New();
    uint64_t count;

    if (file != NULL && callbacks != NULL) {
        OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, on_kind);
        OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
        OTF2_Reader_RegisterMarkerCallbacks(reader, file, callbacks, &markers);
        OTF2_Reader_ReadAllMarkers(reader, file, &count);
    }
    if (callbacks != NULL)
        OTF2_MarkerReaderCallbacks_Delete(callbacks);
    if (file != NULL)
        OTF2_Reader_CloseMarkerReader(reader, file);
    return markers.status;
}
