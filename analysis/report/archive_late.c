/* The regions `late contribution`: what handling them cost, and the wait that the call they belong
 * to was spared.
 */
#include "report/archive_events_impl.h"

/* Which row it belongs to. False: the archive does not tell. */
static bool find_row(const struct sg_archive_events *events, OTF2_AttributeList *attributes,
                     struct sg_late_cost *cost)
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
    cost->comm = (uint32_t)comm_index;
    cost->operation = (enum sg_operation)operation;
    return true;
}

static uint64_t number_of(const struct sg_archive_events *events, OTF2_AttributeList *attributes,
                          enum sg_def_attribute which, bool *known)
{
    uint64_t value = 0;

    *known = sg_archive_has(events->defs, attributes, which) &&
             OTF2_AttributeList_GetUint64(attributes, events->defs->attributes[which], &value) ==
                 OTF2_SUCCESS;
    return value;
}

enum sg_status sg_open_late_enter(struct sg_archive_events *events, OTF2_AttributeList *attributes,
                                  const struct sg_open_call *in, struct sg_open_late *open,
                                  int64_t time_ns)
{
    struct sg_late_cost cost = {.site = events->no_site, .begin_ns = time_ns, .in_call = in->open};
    const struct sg_def_location *location = &events->defs->locations[in - events->calls];
    bool known;

    /* One that is handled inside another: its time is the outer one's. */
    if (open->depth > 0) {
        open->depth++;
        return SG_OK;
    }
    *open = (struct sg_open_late){.depth = 1, .known = find_row(events, attributes, &cost)};
    if (!open->known)
        return SG_OK;
    cost.rank = (uint32_t)location->rank;
    cost.thread = location->thread;
    cost.avoided_ns = number_of(events, attributes, SG_ATTRIBUTE_AVOIDED, &known);
    cost.seq = number_of(events, attributes, SG_ATTRIBUTE_SEQ, &cost.has_seq);
    open->cost = cost;
    if (!sg_archive_has(events->defs, attributes, SG_ATTRIBUTE_SITE))
        return SG_OK;
    return sg_archive_site(events, attributes, &open->cost.site);
}

enum sg_status sg_open_late_leave(struct sg_archive_events *events, struct sg_open_late *open,
                                  int64_t time_ns)
{
    if (open->depth == 0 || --open->depth > 0 || !open->known)
        return SG_OK;
    open->cost.handler_ns = (uint64_t)(time_ns - open->cost.begin_ns);
    return sg_aggregate_late(events->aggregate, &open->cost);
}
