
#include "report/archive_calls.h"
#include "report/archive_definitions.h"

#include <stdlib.h>

/* The state of a window. orders is allocated at the first collective, because most archives have
 * windows without any. */
struct window {
    uint64_t *orders; /* collectives so far, by member; NULL: none yet, or the window is freed */
    uint32_t ended;   /* number of members that have freed it */
};

struct sg_archive_windows {
    const struct sg_archive_defs *defs;
    struct sg_waitstate_tracker *tracker;
    struct window *of; /* by index in the definitions */
    uint32_t *ranks;   /* capacity: all ranks */
};

enum sg_status sg_archive_windows_create(const struct sg_archive_defs *defs,
                                         struct sg_waitstate_tracker *tracker,
                                         struct sg_archive_windows **out)
{
    struct sg_archive_windows *windows = calloc(1, sizeof *windows);

    if (windows == NULL)
        return SG_ERR_MEMORY;
    windows->defs = defs;
    windows->tracker = tracker;
    windows->of = calloc((size_t)defs->window_count + 1, sizeof *windows->of);
    windows->ranks = calloc((size_t)defs->rank_count + 1, sizeof *windows->ranks);
    if (windows->of == NULL || windows->ranks == NULL) {
        sg_archive_windows_destroy(windows);
        return SG_ERR_MEMORY;
    }
    *out = windows;
    return SG_OK;
}

void sg_archive_windows_destroy(struct sg_archive_windows *windows)
{
    if (windows == NULL)
        return;
    for (uint32_t i = 0; windows->of != NULL && i < windows->defs->window_count; i++)
        free(windows->of[i].orders);
    free(windows->of);
    free(windows->ranks);
    free(windows);
}

/* ---- location and window of an event --------------------------------------------------------- */

struct place {
    struct sg_archive_windows *windows;
    int64_t time_ns;
    uint32_t location, rank;
    uint32_t window, comm; /* indices in the definitions */
    const struct sg_def_comm *def;
};

/* False: ignore the event. Its location or window is not known, or left out. */
static bool find_place(struct sg_archive_events *events, const struct sg_archive_event *event,
                       struct place *out)
{
    const struct sg_archive_defs *defs = events->defs;
    const struct sg_open_call *open = sg_archive_call_of(events, event, &out->time_ns);
    int64_t window, comm;

    window = sg_map_get(&defs->window_index, event->arguments[SG_EVENT_WINDOW]);
    if (events->windows == NULL || open == NULL || window < 0)
        return false;
    comm = sg_map_get(&defs->comm_index, defs->windows[window].comm);
    if (comm < 0 || defs->comms[comm].is_self || defs->comms[comm].is_inter)
        return false;
    out->windows = events->windows;
    out->location = event->location;
    out->rank = (uint32_t)defs->locations[event->location].rank;
    out->window = (uint32_t)window;
    out->comm = (uint32_t)comm;
    out->def = &defs->comms[comm];
    return true;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static enum sg_waitstate_pattern pattern_of(OTF2_CollectiveOp op)
{
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return SG_PATTERN_FENCE;
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE:
        return SG_PATTERN_CREATE;
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE:
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE:
        return SG_PATTERN_FREE;
    default:
        return SG_PATTERN_NONE;
    }
}

/* Numbers the collective among the member's on the window. */
static enum sg_status number(struct window *window, struct sg_waitstate_collective *collective)
{
    if (window->orders == NULL)
        window->orders = calloc(collective->size, sizeof *window->orders);
    if (window->orders == NULL)
        return SG_ERR_MEMORY;
    collective->seq = window->orders[collective->member]++;
    if (collective->pattern == SG_PATTERN_FREE && ++window->ended == collective->size) {
        free(window->orders);
        window->orders = NULL;
    }
    return SG_OK;
}

static enum sg_status on_collective(struct sg_archive_events *events,
                                    const struct sg_archive_event *event)
{
    struct sg_waitstate_collective collective = {
        .pattern = pattern_of((OTF2_CollectiveOp)event->arguments[1]),
        .root = SG_WAITSTATE_NO_ROOT};
    struct place place;
    enum sg_status status;
    int64_t member;

    if (!find_place(events, event, &place) || collective.pattern == SG_PATTERN_NONE)
        return SG_OK;
    member = sg_def_comm_member(place.def, place.rank);
    if (member < 0)
        return SG_OK;
    collective.comm = place.comm;
    collective.window = 1 + place.window;
    collective.size = place.def->size;
    collective.member = (uint32_t)member;
    status = number(&place.windows->of[place.window], &collective);
    if (status == SG_OK)
        status = sg_waitstate_collective(place.windows->tracker, place.location, &collective);
    return status;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static enum sg_status on_group(struct sg_archive_events *events,
                               const struct sg_archive_event *event)
{
    const struct sg_archive_defs *defs = events->defs;
    struct sg_waitstate_group group = {0};
    const struct sg_raw_group *raw;
    struct place place;
    int64_t index;

    if (!find_place(events, event, &place))
        return SG_OK;
    index = sg_map_get(&defs->raw->group_index, event->arguments[1]);
    if (index < 0)
        return SG_OK;
    raw = &defs->raw->groups[index];
    if (raw->type != OTF2_GROUP_TYPE_COMM_GROUP || raw->size > defs->rank_count)
        return SG_OK;
    for (uint32_t i = 0; i < raw->size; i++) {
        if (raw->members[i] >= defs->rank_count)
            return SG_OK;
        place.windows->ranks[i] = (uint32_t)raw->members[i];
    }
    group.window = place.window;
    group.comm = place.comm;
    group.ranks = place.windows->ranks;
    group.count = raw->size;
    return sg_waitstate_synchronise(place.windows->tracker, place.location, &group);
}

/* ---- locks and operations -------------------------------------------------------------------- */

/* Returns a target's rank in MPI_COMM_WORLD; UINT32_MAX: none, or no memory. */
static uint32_t rank_there(const struct sg_archive_events *events, const struct place *place,
                           uint32_t remote)
{
    int64_t rank = -1;

    if (remote >= place->def->size ||
        sg_archive_waits_rank(events->waits, place->location, place->comm, remote, &rank) != SG_OK)
        return UINT32_MAX;
    return (uint32_t)rank;
}

/* False: remote is no rank of the window's communicator. */
static bool find_lock(const struct sg_archive_events *events, const struct place *place,
                      uint32_t remote, struct sg_waitstate_lock *out)
{
    bool is_all = remote == OTF2_UNDEFINED_UINT32;

    out->window = place->window;
    out->comm = place->comm;
    out->target = is_all ? SG_WAITSTATE_ALL : remote;
    out->rank_there = rank_there(events, place, remote);
    return is_all || remote < place->def->size;
}

/* Adds the ranks of all targets. */
static enum sg_status find_targets(const struct sg_archive_events *events,
                                   const struct place *place, struct sg_waitstate_lock *lock)
{
    enum sg_status status = SG_OK;

    if (lock->target == SG_WAITSTATE_ALL)
        status = sg_archive_waits_ranks(events->waits, place->comm, &lock->ranks);
    lock->rank_count = lock->ranks != NULL ? place->def->size : 0;
    return status;
}

static enum sg_status on_request(struct sg_archive_events *events,
                                 const struct sg_archive_event *event)
{
    struct sg_waitstate_lock lock = {.is_exclusive = event->arguments[2] == OTF2_LOCK_EXCLUSIVE};
    enum sg_status status;
    struct place place;

    if (!find_place(events, event, &place) ||
        !find_lock(events, &place, (uint32_t)event->arguments[1], &lock))
        return SG_OK;
    status = find_targets(events, &place, &lock);
    return status == SG_OK
               ? sg_waitstate_request_lock(place.windows->tracker, place.location, &lock)
               : status;
}

static enum sg_status on_release(struct sg_archive_events *events,
                                 const struct sg_archive_event *event)
{
    struct sg_waitstate_lock lock = {0};
    struct place place;

    if (!find_place(events, event, &place) ||
        !find_lock(events, &place, (uint32_t)event->arguments[1], &lock))
        return SG_OK;
    return sg_waitstate_release_lock(place.windows->tracker, place.location, &lock);
}

static enum sg_status on_operation(struct sg_archive_events *events,
                                   const struct sg_archive_event *event)
{
    uint32_t remote = (uint32_t)event->arguments[1];
    struct place place;

    if (!find_place(events, event, &place) || remote >= place.def->size)
        return SG_OK;
    return sg_waitstate_operation(place.windows->tracker, place.location, place.window, remote,
                                  rank_there(events, &place, remote), event->arguments[2]);
}

static enum sg_status on_operated_here(struct sg_archive_events *events,
                                       const struct sg_archive_event *event)
{
    struct place place;

    if (find_place(events, event, &place))
        sg_waitstate_operated_here(place.windows->tracker, place.location, event->arguments[1],
                                   place.time_ns);
    return SG_OK;
}

static enum sg_status on_operated(struct sg_archive_events *events,
                                  const struct sg_archive_event *event)
{
    struct place place;

    if (find_place(events, event, &place))
        sg_waitstate_operated(place.windows->tracker, place.location, event->arguments[1],
                              place.time_ns);
    return SG_OK;
}

enum sg_status sg_archive_window_event(struct sg_archive_events *events,
                                       const struct sg_archive_event *event)
{
    switch (event->kind) {
    case SG_EVENT_RMA_COLLECTIVE:
        return on_collective(events, event);
    case SG_EVENT_RMA_GROUP:
        return on_group(events, event);
    case SG_EVENT_RMA_REQUEST_LOCK:
        return on_request(events, event);
    case SG_EVENT_RMA_RELEASE_LOCK:
        return on_release(events, event);
    case SG_EVENT_RMA_OPERATION:
        return on_operation(events, event);
    case SG_EVENT_RMA_OPERATED_HERE:
        return on_operated_here(events, event);
    default:
        return on_operated(events, event);
    }
}
