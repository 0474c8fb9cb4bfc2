/* Definitions as an archive contains them, in any order, before references are resolved. */
#ifndef SG_REPORT_ARCHIVE_RAW_H
#define SG_REPORT_ARCHIVE_RAW_H

#include "report/map.h"

#include <otf2/otf2.h>

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

struct sg_raw_metric_class {
    OTF2_MetricRef ref;
    uint8_t size;
    OTF2_MetricMemberRef members[UINT8_MAX];
};

/* Of an attribute, or of a member of metrics. */
struct sg_raw_name {
    uint32_t ref;
    OTF2_StringRef name;
};

struct sg_defs_raw {
    char **strings;
    struct sg_raw_group *groups;
    struct sg_raw_region *regions;
    struct sg_raw_name *metrics;
    struct sg_raw_metric_class *classes;
    struct sg_raw_name *attributes;
    struct sg_raw_name *parameters;
    uint32_t string_count, group_count, region_count, metric_count, class_count, attribute_count;
    uint32_t parameter_count;
    struct sg_map string_index, group_index, rank_of_group, node_of_group;
    enum sg_status status; /* the first error in a callback */
};

#endif
