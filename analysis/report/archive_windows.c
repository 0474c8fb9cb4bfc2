
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
static bool find_place(struct sg_archive_events *events, OTF2_LocationRef location,
                       OTF2_TimeStamp ticks, OTF2_RmaWinRef ref, struct place *out)
{
    const struct sg_archive_defs *defs = events->defs;
    int64_t rank, window, comm;
    const struct sg_open_call *open = sg_archive_call_of(events, location, &rank);

    out->time_ns = sg_archive_note_time(events, rank, ticks);
    window = sg_map_get(&defs->window_index, ref);
    if (events->windows == NULL || open == NULL || window < 0)
        return false;
    comm = sg_map_get(&defs->comm_index, defs->windows[window].comm);
    if (comm < 0 || defs->comms[comm].is_self || defs->comms[comm].is_inter)
        return false;
    out->windows = events->windows;
    out->location = (uint32_t)(open - events->calls);
    out->rank = (uint32_t)rank;
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

static OTF2_CallbackCode on_collective(OTF2_LocationRef location, OTF2_TimeStamp ticks,
                                       void *context, OTF2_AttributeList *attributes,
                                       OTF2_CollectiveOp op, OTF2_RmaSyncLevel level,
                                       OTF2_RmaWinRef window, uint32_t root, uint64_t sent,
                                       uint64_t received)
{
    struct sg_archive_events *events = context;
    struct sg_waitstate_collective collective = {.pattern = pattern_of(op),
                                                 .root = SG_WAITSTATE_NO_ROOT};
    struct place place;
    enum sg_status status;
    int64_t member;

    if (!find_place(events, location, ticks, window, &place) ||
        collective.pattern == SG_PATTERN_NONE)
        return OTF2_CALLBACK_SUCCESS;
    member = sg_def_comm_member(place.def, place.rank);
    if (member < 0)
        return OTF2_CALLBACK_SUCCESS;
    collective.comm = place.comm;
    collective.window = 1 + place.window;
    collective.size = place.def->size;
    collective.member = (uint32_t)member;
    status = number(&place.windows->of[place.window], &collective);
    if (status == SG_OK)
        status = sg_waitstate_collective(place.windows->tracker, place.location, &collective);
    return sg_archive_verdict(events, status);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_group(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                  OTF2_AttributeList *attributes, OTF2_RmaSyncLevel level,
                                  OTF2_RmaWinRef window, OTF2_GroupRef ref)
{
    struct sg_archive_events *events = context;
    const struct sg_archive_defs *defs = events->defs;
    struct sg_waitstate_group group = {0};
    const struct sg_raw_group *raw;
    struct place place;
    int64_t index;

    if (!find_place(events, location, ticks, window, &place))
        return OTF2_CALLBACK_SUCCESS;
    index = sg_map_get(&defs->raw->group_index, ref);
    if (index < 0)
        return OTF2_CALLBACK_SUCCESS;
    raw = &defs->raw->groups[index];
    if (raw->type != OTF2_GROUP_TYPE_COMM_GROUP || raw->size > defs->rank_count)
        return OTF2_CALLBACK_SUCCESS;
    for (uint32_t i = 0; i < raw->size; i++) {
        if (raw->members[i] >= defs->rank_count)
            return OTF2_CALLBACK_SUCCESS;
        place.windows->ranks[i] = (uint32_t)raw->members[i];
    }
    group.window = place.window;
    group.comm = place.comm;
    group.ranks = place.windows->ranks;
    group.count = raw->size;
    return sg_archive_verdict(
        events, sg_waitstate_synchronise(place.windows->tracker, place.location, &group));
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

static OTF2_CallbackCode on_request(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                    OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                    uint32_t remote, uint64_t id, OTF2_LockType type)
{
    struct sg_archive_events *events = context;
    struct sg_waitstate_lock lock = {.is_exclusive = type == OTF2_LOCK_EXCLUSIVE};
    enum sg_status status;
    struct place place;

    if (!find_place(events, location, ticks, window, &place) ||
        !find_lock(events, &place, remote, &lock))
        return OTF2_CALLBACK_SUCCESS;
    status = find_targets(events, &place, &lock);
    if (status == SG_OK)
        status = sg_waitstate_request_lock(place.windows->tracker, place.location, &lock);
    return sg_archive_verdict(events, status);
}

static OTF2_CallbackCode on_release(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                    OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                    uint32_t remote, uint64_t id)
{
    struct sg_archive_events *events = context;
    struct sg_waitstate_lock lock = {0};
    struct place place;

    if (!find_place(events, location, ticks, window, &place) ||
        !find_lock(events, &place, remote, &lock))
        return OTF2_CALLBACK_SUCCESS;
    return sg_archive_verdict(
        events, sg_waitstate_release_lock(place.windows->tracker, place.location, &lock));
}

static OTF2_CallbackCode tell_operation(struct sg_archive_events *events, OTF2_LocationRef location,
                                        OTF2_TimeStamp ticks, OTF2_RmaWinRef window,
                                        uint32_t remote, uint64_t id)
{
    struct place place;

    if (!find_place(events, location, ticks, window, &place) || remote >= place.def->size)
        return OTF2_CALLBACK_SUCCESS;
    return sg_archive_verdict(
        events, sg_waitstate_operation(place.windows->tracker, place.location, place.window, remote,
                                       rank_there(events, &place, remote), id));
}

static OTF2_CallbackCode on_put(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                uint32_t remote, uint64_t bytes, uint64_t id)
{
    return tell_operation(context, location, ticks, window, remote, id);
}

static OTF2_CallbackCode on_atomic(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                   OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                   uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
                                   uint64_t received, uint64_t id)
{
    return tell_operation(context, location, ticks, window, remote, id);
}

static OTF2_CallbackCode on_operated_here(OTF2_LocationRef location, OTF2_TimeStamp ticks,
                                          void *context, OTF2_AttributeList *attributes,
                                          OTF2_RmaWinRef window, uint64_t id)
{
    struct sg_archive_events *events = context;
    struct place place;

    if (find_place(events, location, ticks, window, &place))
        sg_waitstate_operated_here(place.windows->tracker, place.location, id, place.time_ns);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_operated(OTF2_LocationRef location, OTF2_TimeStamp ticks, void *context,
                                     OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                     uint64_t id)
{
    struct sg_archive_events *events = context;
    struct place place;

    if (find_place(events, location, ticks, window, &place))
        sg_waitstate_operated(place.windows->tracker, place.location, id, place.time_ns);
    return OTF2_CALLBACK_SUCCESS;
}

void sg_archive_window_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, on_collective);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, on_group);
    OTF2_GlobalEvtReaderCallbacks_SetRmaRequestLockCallback(callbacks, on_request);
    OTF2_GlobalEvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, on_release);
    OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(callbacks, on_put);
    OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(callbacks, on_put);
    OTF2_GlobalEvtReaderCallbacks_SetRmaAtomicCallback(callbacks, on_atomic);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks, on_operated_here);
    OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks, on_operated);
}
