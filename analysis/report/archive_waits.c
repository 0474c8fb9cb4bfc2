#include "report/archive_waits.h"

#include "core/room.h"
#include "report/archive_definitions.h"
#include "report/quantiles.h"
#include "report/wait_tracker.h"

#include <stdlib.h>
#include <string.h>

/* In place of a window's number, for calls that each rank makes once. */
#define ONCE UINT32_MAX

/* A function of MPI, by region. */
struct function {
    uint32_t number; /* sg_places_function() */
    const char *name;
    struct sg_waitstate_enter enter; /* what its calls have in common */
};

struct comm {
    uint32_t *ranks;  /* in MPI_COMM_WORLD, by member; NULL: not needed yet */
    uint64_t *orders; /* number of collectives so far, by member; likewise */
};

struct sg_archive_waits {
    const struct sg_archive_defs *defs;
    struct sg_places *places;
    struct sg_waitstate_sums *sums;
    struct sg_waitstate_skews *skews;
    struct sg_waitstate_tracker *tracker;
    struct sg_archive_paths *paths; /* NULL: not wanted, or a filter takes a part of the run */
    struct sg_archive_seen *seen;
    struct function *functions;
    uint32_t function_count;
    struct sg_map function_of_region;
    uint32_t operations[2][SG_OPERATION_COUNT]; /* numbers of functions: blocking, nonblocking */
    struct comm *comms;                         /* by index in the definitions */
    uint32_t world; /* likewise: the communicator of all ranks; comm_count: none */
};

/* ---- functions ------------------------------------------------------------------------------- */

/* The pattern of a collective whose kind only its function shows. */
static enum sg_waitstate_pattern named(const struct sg_archive_defs *defs, OTF2_RegionRef region,
                                       const char *name)
{
    static const enum sg_waitstate_pattern patterns[] = {[SG_WITHOUT_NONE] = SG_PATTERN_NONE,
                                                         [SG_WITHOUT_NEIGHBORHOOD] =
                                                             SG_PATTERN_NEIGHBORS,
                                                         [SG_WITHOUT_FILE] = SG_PATTERN_FILE,
                                                         [SG_WITHOUT_COMM] = SG_PATTERN_COMM};
    int64_t kind = sg_map_get(&defs->region_kind, region);

    return kind == SG_REGION_INIT       ? SG_PATTERN_INIT
           : kind == SG_REGION_FINALIZE ? SG_PATTERN_FINALIZE
                                        : patterns[sg_mpi_region_of(name).without];
}

static enum sg_status add_function(struct sg_archive_waits *waits, OTF2_RegionRef region,
                                   const char *name)
{
    struct function function = {.name = name, .enter = sg_waitstate_enter_of(name)};
    enum sg_status status = sg_places_function(waits->places, name, &function.number);

    function.enter.named = named(waits->defs, region, name);
    if (status == SG_OK && !SG_APPEND(waits->functions, waits->function_count, function))
        status = SG_ERR_MEMORY;
    return status == SG_OK
               ? sg_map_put(&waits->function_of_region, region, waits->function_count - 1)
               : status;
}

static enum sg_status add_functions(struct sg_archive_waits *waits)
{
    const struct sg_defs_raw *raw = waits->defs->raw;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < raw->region_count && status == SG_OK; i++) {
        const char *name = sg_archive_string(waits->defs, raw->regions[i].name);

        if (name != NULL && raw->regions[i].paradigm == OTF2_PARADIGM_MPI)
            status = add_function(waits, raw->regions[i].ref, name);
    }
    for (int operation = 0; operation < SG_OPERATION_COUNT && status == SG_OK; operation++) {
        status = sg_places_function(waits->places, sg_operation_regions[operation],
                                    &waits->operations[0][operation]);
        if (status == SG_OK)
            status = sg_places_function(waits->places, sg_operation_nonblocking_regions[operation],
                                        &waits->operations[1][operation]);
    }
    return status;
}

static uint32_t find_world(const struct sg_archive_defs *defs)
{
    uint32_t world = 0;

    while (world < defs->comm_count &&
           (defs->comms[world].is_self || defs->comms[world].size != defs->rank_count))
        world++;
    return world;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

enum sg_status sg_archive_waits_create(const struct sg_archive_defs *defs,
                                       const struct sg_aggregate *aggregate,
                                       const struct sg_watch *watch, struct sg_archive_waits **out)
{
    struct sg_archive_waits *waits = calloc(1, sizeof *waits);
    enum sg_status status;

    if (waits == NULL)
        return SG_ERR_MEMORY;
    waits->defs = defs;
    waits->world = find_world(defs);
    waits->comms = calloc((size_t)defs->comm_count + 1, sizeof *waits->comms);
    status = waits->comms != NULL ? sg_places_create(aggregate, &waits->places) : SG_ERR_MEMORY;
    if (status == SG_OK)
        status = sg_waitstate_sums_create(aggregate, watch->filter, waits->places, &waits->sums);
    if (status == SG_OK)
        status = sg_waitstate_skews_create(aggregate, watch->filter, waits->places, &waits->skews);
    if (status == SG_OK)
        status = sg_waitstate_tracker_create(waits->sums, waits->skews, defs->rank_count,
                                             defs->location_count, &waits->tracker);
    if (status == SG_OK)
        status = sg_archive_seen_create(defs, aggregate, watch, &waits->seen);
    if (status == SG_OK)
        status = add_functions(waits);
    if (status == SG_OK && watch->paths && watch->filter == NULL)
        status = sg_archive_paths_create(defs, waits->tracker, waits->places, &waits->paths);
    if (status != SG_OK) {
        sg_archive_waits_destroy(waits);
        return status;
    }
    sg_waitstate_tracker_listen(waits->tracker, sg_archive_seen_matched, sg_archive_seen_waited,
                                waits->seen);
    *out = waits;
    return SG_OK;
}

struct sg_waitstate_tracker *sg_archive_waits_tracker(const struct sg_archive_waits *waits)
{
    return waits->tracker;
}

void sg_archive_waits_destroy(struct sg_archive_waits *waits)
{
    if (waits == NULL)
        return;
    for (uint32_t i = 0; waits->comms != NULL && i < waits->defs->comm_count; i++) {
        free(waits->comms[i].ranks);
        free(waits->comms[i].orders);
    }
    sg_waitstate_tracker_destroy(waits->tracker);
    sg_archive_paths_destroy(waits->paths);
    sg_archive_seen_destroy(waits->seen);
    sg_waitstate_skews_destroy(waits->skews);
    sg_waitstate_sums_destroy(waits->sums);
    sg_places_destroy(waits->places);
    sg_map_clear(&waits->function_of_region);
    free(waits->functions);
    free(waits->comms);
    free(waits);
}

/* ---- calls ----------------------------------------------------------------------------------- */

bool sg_archive_waits_wants(const struct sg_archive_waits *waits, OTF2_RegionRef region)
{
    return waits != NULL && sg_map_get(&waits->function_of_region, region) >= 0;
}

static uint32_t rank_of(const struct sg_archive_waits *waits, uint32_t location)
{
    return (uint32_t)waits->defs->locations[location].rank;
}

/* All ranks call it, once. */
static enum sg_status meet(struct sg_archive_waits *waits, uint32_t location,
                           enum sg_waitstate_pattern named)
{
    const struct sg_waitstate_collective collective = {.comm = waits->world,
                                                       .window = ONCE,
                                                       .seq = named,
                                                       .size = waits->defs->rank_count,
                                                       .member = rank_of(waits, location),
                                                       .root = SG_WAITSTATE_NO_ROOT};

    return waits->world < waits->defs->comm_count
               ? sg_waitstate_collective(waits->tracker, location, &collective)
               : SG_OK;
}

enum sg_status sg_archive_waits_enter(struct sg_archive_waits *waits, uint32_t location,
                                      int64_t time_ns, OTF2_RegionRef region, uint32_t site,
                                      uint64_t polled_ns)
{
    const struct function *function =
        &waits->functions[sg_map_get(&waits->function_of_region, region)];
    struct sg_waitstate_enter enter = function->enter;
    enum sg_status status;

    enter.who =
        (struct sg_waitstate_end){function->number, site, rank_of(waits, location), location};
    enter.time_ns = time_ns;
    enter.polled_ns = polled_ns;
    sg_archive_seen_enter(waits->seen, location, time_ns, function->number, function->name, site);
    status = sg_waitstate_enter(waits->tracker, location, &enter);
    if (status == SG_OK && (enter.named == SG_PATTERN_INIT || enter.named == SG_PATTERN_FINALIZE))
        status = meet(waits, location, enter.named);
    return status;
}

enum sg_status sg_archive_waits_leave(struct sg_archive_waits *waits, uint32_t location,
                                      int64_t time_ns, bool is_instance)
{
    enum sg_status status = sg_archive_seen_leave(waits->seen, location, time_ns, is_instance);

    return status == SG_OK ? sg_waitstate_leave(waits->tracker, location, time_ns) : status;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* Returns the communicator's index; -1: it is not defined, or waits is NULL. */
static int64_t find_comm(const struct sg_archive_waits *waits, OTF2_CommRef ref)
{
    return waits != NULL ? sg_map_get(&waits->defs->comm_index, ref) : -1;
}

/* In an intercommunicator, the peer of a rank is in the other group. */
static int64_t find_remote_rank(const struct sg_def_comm *comm, uint32_t rank, uint32_t peer)
{
    const struct sg_def_side *remote;

    if (comm->side_of[rank] == 0)
        return -1;
    remote = &comm->sides[comm->side_of[rank] == 1];
    return peer < remote->size ? (int64_t)remote->ranks[peer] : -1;
}

enum sg_status sg_archive_waits_ranks(struct sg_archive_waits *waits, int64_t index,
                                      const uint32_t **out)
{
    const struct sg_def_comm *def = &waits->defs->comms[index];
    struct comm *comm = &waits->comms[index];

    *out = NULL;
    if (def->is_self || def->is_inter || def->size == 0)
        return SG_OK;
    if (comm->ranks == NULL) {
        comm->ranks = malloc(def->size * sizeof *comm->ranks);
        if (comm->ranks == NULL)
            return SG_ERR_MEMORY;
        for (uint32_t i = 0; i < def->size; i++)
            comm->ranks[def->members[i].member] = def->members[i].rank;
    }
    *out = comm->ranks;
    return SG_OK;
}

enum sg_status sg_archive_waits_rank(struct sg_archive_waits *waits, uint32_t location,
                                     int64_t index, uint32_t member, int64_t *out)
{
    const struct sg_def_comm *def = &waits->defs->comms[index];
    const uint32_t *ranks;
    enum sg_status status;

    *out = def->is_inter ? find_remote_rank(def, rank_of(waits, location), member) : -1;
    if (member >= def->size)
        return SG_OK;
    *out = rank_of(waits, location);
    status = sg_archive_waits_ranks(waits, index, &ranks);
    if (ranks != NULL)
        *out = ranks[member];
    return status;
}

/* ---- messages -------------------------------------------------------------------------------- */

static const enum sg_seen_part_kind parts[] = {SG_SEEN_SEND, SG_SEEN_ISEND, SG_SEEN_RECEIVE,
                                               SG_SEEN_RECEIVED};

enum sg_status sg_archive_waits_message(struct sg_archive_waits *waits, uint32_t location,
                                        int64_t time_ns, const struct sg_archive_message *of)
{
    struct sg_waitstate_message message = {
        .tag = of->tag, .gap = of->gap, .bytes = of->bytes, .is_complete = of->is_complete};
    int64_t index = find_comm(waits, of->comm), rank;
    enum sg_status status;

    if (index < 0)
        return SG_OK;
    status = sg_archive_waits_rank(waits, location, index, of->peer, &rank);
    if (status != SG_OK || rank < 0)
        return status;
    message.comm = (uint32_t)index;
    message.peer = (uint32_t)rank;
    status = sg_archive_seen_message(waits->seen, location, parts[of->kind], &message, of->bytes,
                                     of->request);
    if (status != SG_OK)
        return status;
    switch (of->kind) {
    case SG_ARCHIVE_SEND:
        return sg_waitstate_send(waits->tracker, location, &message);
    case SG_ARCHIVE_ISEND:
        return sg_waitstate_isend(waits->tracker, location, &message, of->request);
    case SG_ARCHIVE_RECEIVE:
        return sg_waitstate_receive(waits->tracker, location, &message, time_ns);
    case SG_ARCHIVE_RECEIVED:
        return sg_waitstate_received(waits->tracker, location, &message, of->request, time_ns);
    }
    return SG_OK;
}

enum sg_status sg_archive_waits_request(struct sg_archive_waits *waits, uint32_t location,
                                        enum sg_archive_request what, uint64_t request)
{
    enum sg_status status = SG_OK;

    if (waits == NULL)
        return SG_OK;
    if (what != SG_ARCHIVE_BEGIN_COLLECTIVE)
        status = sg_archive_seen_request(waits->seen, location,
                                         SG_SEEN_POST + (what - SG_ARCHIVE_POST), request);
    if (status != SG_OK)
        return status;
    switch (what) {
    case SG_ARCHIVE_POST:
        return sg_waitstate_post(waits->tracker, location, request);
    case SG_ARCHIVE_SENT:
        return sg_waitstate_sent(waits->tracker, location, request);
    case SG_ARCHIVE_CANCELLED:
        return sg_waitstate_cancelled(waits->tracker, location, request);
    case SG_ARCHIVE_BEGIN_COLLECTIVE:
        return sg_waitstate_begin_collective(waits->tracker, location, request);
    }
    return SG_OK;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static enum sg_waitstate_pattern pattern_of(OTF2_CollectiveOp op)
{
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return SG_PATTERN_BARRIER;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return SG_PATTERN_BROADCAST;
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
        return SG_PATTERN_REDUCE;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return SG_PATTERN_NXN;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
        return SG_PATTERN_SCAN;
    default:
        return SG_PATTERN_NONE;
    }
}

/* MPI_Alltoallv and similar: each member sends and receives its data itself. */
static bool is_direct(OTF2_CollectiveOp op)
{
    return op == OTF2_COLLECTIVE_OP_SCATTERV || op == OTF2_COLLECTIVE_OP_GATHERV ||
           op == OTF2_COLLECTIVE_OP_ALLTOALLV || op == OTF2_COLLECTIVE_OP_ALLTOALLW;
}

/* Members may exchange nothing. */
static bool has_counts(OTF2_CollectiveOp op)
{
    return is_direct(op) || op == OTF2_COLLECTIVE_OP_ALLGATHERV ||
           op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER;
}

static bool has_root(enum sg_waitstate_pattern pattern)
{
    return pattern == SG_PATTERN_BROADCAST || pattern == SG_PATTERN_REDUCE;
}

/* Numbers a rank and the root over both groups, the first group first. False: the rank is in
 * neither, or a group is not known. */
static bool place_in_groups(const struct sg_def_comm *comm, uint32_t rank, uint32_t root,
                            struct sg_waitstate_collective *collective)
{
    const struct sg_def_side *sides = comm->sides;
    bool is_second = comm->side_of[rank] == 2;

    if (comm->side_of[rank] == 0 || sides[0].size == 0 || sides[1].size == 0)
        return false;
    collective->first_size = sides[0].size;
    collective->size = sides[0].size + sides[1].size;
    collective->member = comm->place_of[rank] + (is_second ? sides[0].size : 0);
    if (root == OTF2_COLLECTIVE_ROOT_SELF)
        collective->root = collective->member;
    else if (root < sides[!is_second].size)
        collective->root = root + (is_second ? 0 : sides[0].size);
    return true;
}

bool sg_archive_waits_place(const struct sg_archive_waits *waits, int64_t index, uint32_t rank,
                            uint32_t root, struct sg_waitstate_collective *collective)
{
    const struct sg_def_comm *comm = &waits->defs->comms[index];
    int64_t member;

    collective->comm = (uint32_t)index;
    if (comm->is_inter)
        return place_in_groups(comm, rank, root, collective);
    member = sg_def_comm_member(comm, rank);
    if (comm->is_self || member < 0)
        return false;
    collective->size = comm->size;
    collective->member = (uint32_t)member;
    if (has_root(collective->pattern))
        collective->root = root;
    return true;
}

/* Numbers the collective among the member's on its communicator. */
static enum sg_status number(struct sg_archive_waits *waits,
                             struct sg_waitstate_collective *collective)
{
    struct comm *comm = &waits->comms[collective->comm];

    if (comm->orders == NULL)
        comm->orders = calloc(collective->size, sizeof *comm->orders);
    if (comm->orders == NULL)
        return SG_ERR_MEMORY;
    collective->seq = comm->orders[collective->member]++;
    return SG_OK;
}

enum sg_status sg_archive_waits_collective(struct sg_archive_waits *waits, uint32_t location,
                                           const struct sg_archive_collective *of,
                                           const uint64_t *request)
{
    struct sg_waitstate_collective collective = {.pattern = pattern_of(of->op),
                                                 .root = SG_WAITSTATE_NO_ROOT,
                                                 .has_data =
                                                     of->sent_bytes + of->received_bytes > 0,
                                                 .receives = of->received_bytes > 0,
                                                 .has_counts = has_counts(of->op),
                                                 .is_direct = is_direct(of->op),
                                                 .sources = of->sources,
                                                 .source_count = of->source_count};
    int64_t index = find_comm(waits, of->comm), root = -1;
    enum sg_status status = SG_OK;

    if (index < 0)
        return SG_OK;
    if (has_root(collective.pattern) && of->root == OTF2_COLLECTIVE_ROOT_SELF)
        root = rank_of(waits, location);
    else if (has_root(collective.pattern))
        status = sg_archive_waits_rank(waits, location, index, of->root, &root);
    sg_archive_seen_collective(waits->seen, location, (uint32_t)index, root, of->sent_bytes,
                               of->received_bytes);
    if (status != SG_OK ||
        !sg_archive_waits_place(waits, index, rank_of(waits, location), of->root, &collective))
        return status;
    collective.seq = of->number;
    if (!of->has_number)
        status = number(waits, &collective);
    if (status != SG_OK)
        return status;
    return request == NULL
               ? sg_waitstate_collective(waits->tracker, location, &collective)
               : sg_waitstate_end_collective(waits->tracker, location, &collective, *request);
}

static struct sg_waitstate_end end_of(const struct sg_archive_waits *waits,
                                      const struct sg_instance *instance, uint32_t member)
{
    const struct sg_member_call *call = &instance->calls[member];

    return (struct sg_waitstate_end){
        .function = waits->operations[instance->nonblocking][instance->operation],
        .site = call->site,
        .rank = call->rank};
}

enum sg_status sg_archive_waits_instance(struct sg_archive_waits *waits,
                                         const struct sg_instance *instance)
{
    static const enum sg_waitstate_kind kinds[SG_OPERATION_COUNT] = {
        [SG_OPERATION_BARRIER] = SG_WAITSTATE_BARRIER,
        [SG_OPERATION_REDUCE] = SG_WAITSTATE_EARLY_REDUCE,
        [SG_OPERATION_ALLREDUCE] = SG_WAITSTATE_NXN,
        [SG_OPERATION_BCAST] = SG_WAITSTATE_LATE_BROADCAST,
    };
    struct sg_measure measure;
    enum sg_status status = SG_OK;

    if (instance->size < 2)
        return SG_OK;
    status = sg_archive_paths_instance(
        waits->paths, instance, waits->operations[instance->nonblocking][instance->operation]);
    sg_measure_instance(instance, &measure);
    for (uint32_t i = 0; i < instance->size && status == SG_OK; i++) {
        struct sg_call_measure cost;
        uint32_t last;

        sg_measure_call(instance, &measure, i, &cost);
        if (cost.wait_ns == 0)
            continue;
        last = sg_measure_awaited_by(instance, &measure, i);
        sg_archive_paths_wait(waits->paths, instance, i, last);
        status =
            sg_waitstate_sums_add(waits->sums,
                                  &(struct sg_waitstate){.kind = kinds[instance->operation],
                                                         .at = end_of(waits, instance, i),
                                                         .other = end_of(waits, instance, last),
                                                         .comm = instance->comm,
                                                         .begin_ns = instance->calls[i].begin_ns,
                                                         .wait_ns = cost.wait_ns},
                                  NULL);
    }
    return status;
}

enum sg_status sg_archive_waits_metrics(struct sg_archive_waits *waits, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values)
{
    return waits != NULL
               ? sg_archive_paths_metrics(waits->paths, location, time_ns, class, count, values)
               : SG_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

enum sg_status sg_archive_waits_finish(struct sg_archive_waits *waits, struct sg_report *report)
{
    struct sg_waitstates **out = &report->waitstates;
    struct sg_waitstate_counts counts;
    enum sg_status status = sg_waitstate_tracker_finish(waits->tracker, &counts);

    if (status == SG_OK)
        status = sg_waitstate_sums_finish(waits->sums, out);
    if (status == SG_OK)
        status = sg_waitstate_skews_finish(waits->skews, *out);
    if (status != SG_OK)
        return status;
    (*out)->messages = counts.messages;
    (*out)->unmatched_sends = counts.unmatched_sends;
    (*out)->unmatched_receives = counts.unmatched_receives;
    (*out)->clock_violations = counts.violations;
    (*out)->largest_violation_ns = counts.largest_violation_ns;
    status = sg_archive_paths_finish(waits->paths, report);
    (*out)->places = waits->places; /* the result has pointers to them */
    waits->places = NULL;
    return status;
}
