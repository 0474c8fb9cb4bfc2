#include "report/archive_neighbors.h"

#include "core/hash.h"
#include "core/room.h"
#include "report/archive_calls.h"
#include "report/archive_raw.h"

#include <stdlib.h>
#include <string.h>

/* A group's ranks as members of a communicator. */
struct list {
    OTF2_CommRef comm;
    OTF2_GroupRef group;
    uint32_t *members; /* NULL: there are none */
    uint32_t count;
};

struct sg_archive_neighbors {
    const struct sg_archive_defs *defs;
    struct sg_waitstate_tracker *tracker;
    struct list *lists;
    uint32_t list_count;
    struct sg_map list_by_key;
};

enum sg_status sg_archive_neighbors_create(const struct sg_archive_defs *defs,
                                           struct sg_waitstate_tracker *tracker,
                                           struct sg_archive_neighbors **out)
{
    struct sg_archive_neighbors *neighbors = calloc(1, sizeof *neighbors);

    if (neighbors == NULL)
        return SG_ERR_MEMORY;
    neighbors->defs = defs;
    neighbors->tracker = tracker;
    *out = neighbors;
    return SG_OK;
}

void sg_archive_neighbors_destroy(struct sg_archive_neighbors *neighbors)
{
    if (neighbors == NULL)
        return;
    for (uint32_t i = 0; i < neighbors->list_count; i++)
        free(neighbors->lists[i].members);
    free(neighbors->lists);
    sg_map_clear(&neighbors->list_by_key);
    free(neighbors);
}

/* ---- sources --------------------------------------------------------------------------------- */

static enum sg_status make_list(const struct sg_archive_defs *defs, const struct sg_def_comm *comm,
                                struct list *list)
{
    int64_t index = sg_map_get(&defs->raw->group_index, list->group);
    const struct sg_raw_group *group = index < 0 ? NULL : &defs->raw->groups[index];

    if (group == NULL || group->type != OTF2_GROUP_TYPE_COMM_GROUP || group->size == 0)
        return SG_OK;
    list->members = malloc(group->size * sizeof *list->members);
    if (list->members == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < group->size; i++) {
        int64_t member = group->members[i] < defs->rank_count
                             ? sg_def_comm_member(comm, (uint32_t)group->members[i])
                             : -1;

        if (member >= 0)
            list->members[list->count++] = (uint32_t)member;
    }
    return SG_OK;
}

/* NULL: no memory. Lists move when more are made, but what they hold stays. */
static const struct list *list_of(struct sg_archive_neighbors *neighbors,
                                  const struct sg_def_comm *comm,
                                  const struct sg_archive_neighborhood *of)
{
    uint64_t key = (uint64_t)of->comm << 32 | of->sources;
    struct list list = {.comm = of->comm, .group = of->sources};
    bool is_new;
    int64_t index = sg_map_number(&neighbors->list_by_key, key, neighbors->list_count, &is_new);

    if (index < 0)
        return NULL;
    if (is_new && (make_list(neighbors->defs, comm, &list) != SG_OK ||
                   !SG_APPEND(neighbors->lists, neighbors->list_count, list))) {
        free(list.members);
        return NULL;
    }
    return &neighbors->lists[index];
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* request: NULL of a blocking one. */
static enum sg_status tell(const struct sg_archive_events *events, const struct sg_open_call *open,
                           const struct sg_archive_neighborhood *of, const uint64_t *request)
{
    struct sg_archive_neighbors *neighbors = events->neighbors;
    uint32_t location = (uint32_t)(open - events->calls);
    struct sg_waitstate_collective collective = {
        .pattern = SG_PATTERN_NEIGHBORS, .seq = of->number, .root = SG_WAITSTATE_NO_ROOT};
    int64_t index = sg_map_get(&events->defs->comm_index, of->comm), member;
    const struct sg_def_comm *comm = index < 0 ? NULL : &events->defs->comms[index];

    if (comm == NULL || comm->is_self || comm->is_inter)
        return SG_OK;
    member = sg_def_comm_member(comm, (uint32_t)events->defs->locations[location].rank);
    if (member < 0)
        return SG_OK;
    collective.comm = (uint32_t)index;
    collective.size = comm->size;
    collective.member = (uint32_t)member;
    if (of->has_sources) {
        const struct list *list = list_of(neighbors, comm, of);

        if (list == NULL)
            return SG_ERR_MEMORY;
        collective.sources = list->members;
        collective.source_count = list->count;
    }
    return request == NULL
               ? sg_waitstate_collective(neighbors->tracker, location, &collective)
               : sg_waitstate_end_collective(neighbors->tracker, location, &collective, *request);
}

enum sg_status sg_archive_neighbors_enter(struct sg_archive_events *events,
                                          OTF2_AttributeList *attributes,
                                          const struct sg_open_call *open)
{
    struct sg_archive_neighborhood of;

    if (events->neighbors == NULL || !sg_archive_neighborhood_read(events, attributes, &of))
        return SG_OK;
    return tell(events, open, &of, NULL);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static bool is_named(const struct sg_archive_defs *defs, OTF2_ParameterRef ref,
                     enum sg_parameter_ref which)
{
    int64_t index = sg_map_get(&defs->parameter_index, ref);

    return index >= 0 && (enum sg_parameter_ref)index == which;
}

static OTF2_CallbackCode on_parameter(OTF2_LocationRef location, OTF2_TimeStamp ticks,
                                      void *context, OTF2_AttributeList *attributes,
                                      OTF2_ParameterRef parameter, uint64_t request)
{
    struct sg_archive_events *events = context;
    struct sg_archive_neighborhood of;
    int64_t rank;
    const struct sg_open_call *open = sg_archive_call_of(events, location, &rank);
    enum sg_status status = SG_OK;

    sg_archive_note_time(events, rank, ticks);
    if (open == NULL || events->neighbors == NULL)
        return OTF2_CALLBACK_SUCCESS;
    if (is_named(events->defs, parameter, SG_PARAMETER_BEGUN))
        status = sg_waitstate_begin_collective(events->neighbors->tracker,
                                               (uint32_t)(open - events->calls), request);
    else if (is_named(events->defs, parameter, SG_PARAMETER_COMPLETE) &&
             sg_archive_neighborhood_read(events, attributes, &of))
        status = tell(events, open, &of, &request);
    return sg_archive_verdict(events, status);
}

void sg_archive_neighbor_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, on_parameter);
}
