/* The regions `late contribution`: what handling them cost, and the wait that the call they belong
 * to was spared.
 */
#include "report/archive_events_impl.h"

/* Which row it belongs to. False: the archive does not tell. */
static bool find_row(const struct sg_archive_events *events, OTF2_AttributeList *attributes,
                     struct sg_open_late *late)
{
    const struct sg_archive_defs *defs = events->defs;
    OTF2_CommRef comm;
    OTF2_RegionRef region;
    int64_t comm_index, operation;

    if (!sg_archive_has(defs, attributes, SG_ATTRIBUTE_COMM) ||
        !sg_archive_has(defs, attributes, SG_ATTRIBUTE_OPERATION) ||
        OTF2_AttributeList_GetCommRef(attributes, defs->attributes[SG_ATTRIBUTE_COMM], &comm) !=
            OTF2_SUCCESS ||
        OTF2_AttributeList_GetRegionRef(attributes, defs->attributes[SG_ATTRIBUTE_OPERATION],
                                        &region) != OTF2_SUCCESS)
        return false;
    comm_index = sg_map_get(&defs->comm_index, comm);
    operation = sg_map_get(&defs->region_operation, region);
    if (comm_index < 0 || operation < 0)
        return false;
    late->comm = (uint32_t)comm_index;
    late->operation = (enum sg_operation)operation;
    return true;
}

enum sg_status sg_open_late_enter(struct sg_archive_events *events, OTF2_AttributeList *attributes,
                                  struct sg_open_late *open, int64_t time_ns)
{
    struct sg_open_late late = {.depth = 1, .begin_ns = time_ns, .site = events->no_site};
    enum sg_status status = SG_OK;

    /* One that is handled inside another: its time is the outer one's. */
    if (open->depth > 0) {
        open->depth++;
        return SG_OK;
    }
    late.known = find_row(events, attributes, &late);
    if (late.known && sg_archive_has(events->defs, attributes, SG_ATTRIBUTE_SITE))
        status = sg_archive_site(events, attributes, &late.site);
    if (late.known && sg_archive_has(events->defs, attributes, SG_ATTRIBUTE_AVOIDED))
        OTF2_AttributeList_GetUint64(attributes, events->defs->attributes[SG_ATTRIBUTE_AVOIDED],
                                     &late.avoided_ns);
    *open = late;
    return status;
}

enum sg_status sg_open_late_leave(struct sg_archive_events *events, struct sg_open_late *open,
                                  int64_t time_ns)
{
    if (open->depth == 0 || --open->depth > 0 || !open->known)
        return SG_OK;
    return sg_aggregate_late(
        events->aggregate,
        &(struct sg_late_cost){.site = open->site,
                               .comm = open->comm,
                               .operation = open->operation,
                               .handler_ns = (uint64_t)(time_ns - open->begin_ns),
                               .avoided_ns = open->avoided_ns});
}
