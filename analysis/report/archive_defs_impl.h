/* The definitions' inside, for the two files that they are made of: collecting (archive_defs.c) and
 * looking them up in each other (archive_resolve.c).
 */
#ifndef SG_REPORT_ARCHIVE_DEFS_IMPL_H
#define SG_REPORT_ARCHIVE_DEFS_IMPL_H

#include "report/archive_defs.h"

struct sg_raw_group {
    OTF2_GroupRef ref;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint32_t size;
    uint64_t *members;
};

struct sg_raw_region {
    OTF2_RegionRef ref;
    OTF2_StringRef name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
};

struct sg_raw_metric_member {
    OTF2_MetricMemberRef ref;
    OTF2_StringRef name;
};

struct sg_raw_metric_class {
    OTF2_MetricRef ref;
    uint8_t size;
    OTF2_MetricMemberRef members[UINT8_MAX];
};

struct sg_raw_attribute {
    OTF2_AttributeRef ref;
    OTF2_StringRef name;
};

struct sg_defs_raw {
    char **strings;
    struct sg_raw_group *groups;
    struct sg_raw_region *regions;
    struct sg_raw_metric_member *metrics;
    struct sg_raw_metric_class *classes;
    struct sg_raw_attribute *attributes;
    uint32_t string_count, group_count, region_count, metric_count, class_count, attribute_count;
    struct sg_map string_index, group_index, rank_of_group, node_of_group;
    enum sg_status status; /* the first error in a callback */
};

/* Appends one element to an array whose capacity is the next power of two. */
OTF2_CallbackCode sg_defs_append(struct sg_archive_defs *defs, void **array, uint32_t *count,
                                 const void *element, size_t element_bytes);
#define SG_DEFS_APPEND(defs, array, count, element)                                                \
    sg_defs_append(defs, (void **)&(array), &(count), &(element), sizeof(element))

/* Makes the last of count elements known by its reference. */
OTF2_CallbackCode sg_defs_index_last(struct sg_archive_defs *defs, struct sg_map *map, uint64_t key,
                                     uint32_t count);

/* After all definitions. SG_ERR_MISSING (logged): no ranks or no clock; SG_ERR_MEMORY. */
enum sg_status sg_defs_resolve(struct sg_archive_defs *defs, const char *path);

#endif
