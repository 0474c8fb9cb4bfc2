/* Gathers the members of collectives. When all members of a collective have entered, each
 * member's call gets the cause of its wait; the skews and the cause finder get the collective.
 *
 * Rules as in report/wait_tracker.h.
 */
#include "report/keyed.h"
#include "report/path_history.h"
#include "report/wait_skews.h"
#include "report/wait_tracker.h"
#include "report/window.h"

#include <stdlib.h>

struct instance_key {
    uint64_t seq;
    uint32_t comm, window;
};

struct sg_waitstate_instance {
    UT_hash_handle hh;
    struct instance_key key;
    struct sg_waitstate_collective of; /* as reported by its first member */
    bool is_spoilt;                    /* members contradict each other */
    uint32_t arrived;
    struct sg_waitstate_member members[];
};

/* A rank's nonblocking collective. */
struct sg_waitstate_request {
    UT_hash_handle hh;
    struct request_key {
        uint64_t number, rank;
    } key;
    struct sg_waitstate_end who;
    int64_t begin_ns;
    enum sg_waitstate_pattern named; /* as in struct sg_waitstate_call */
};

/* ---- instances ------------------------------------------------------------------------------- */

static struct sg_waitstate_instance *new_instance(struct sg_waitstate_collectives *collectives,
                                                  const struct sg_waitstate_collective *of)
{
    struct sg_waitstate_instance *instance =
        calloc(1, sizeof *instance + of->size * sizeof instance->members[0]);

    if (instance == NULL)
        return NULL;
    instance->key = (struct instance_key){of->seq, of->comm, of->window};
    instance->of = *of;
    if (!SG_KEYED_ADD(collectives->instances, instance)) {
        free(instance);
        return NULL;
    }
    sg_waitstate_born(collectives->settling);
    return instance;
}

/* ---- causes of waits ------------------------------------------------------------------------- */

static const enum sg_waitstate_kind kinds[] = {
    [SG_PATTERN_BARRIER] = SG_WAITSTATE_BARRIER,
    [SG_PATTERN_NXN] = SG_WAITSTATE_NXN,
    [SG_PATTERN_BROADCAST] = SG_WAITSTATE_LATE_BROADCAST,
    [SG_PATTERN_REDUCE] = SG_WAITSTATE_EARLY_REDUCE,
    [SG_PATTERN_SCAN] = SG_WAITSTATE_EARLY_SCAN,
    [SG_PATTERN_NEIGHBORS] = SG_WAITSTATE_LATE_NEIGHBOR,
    [SG_PATTERN_FENCE] = SG_WAITSTATE_FENCE,
    [SG_PATTERN_CREATE] = SG_WAITSTATE_CREATE,
    [SG_PATTERN_FREE] = SG_WAITSTATE_FREE,
    [SG_PATTERN_FILE] = SG_WAITSTATE_FILE,
    [SG_PATTERN_COMM] = SG_WAITSTATE_COMM,
    [SG_PATTERN_INIT] = SG_WAITSTATE_INIT,
    [SG_PATTERN_FINALIZE] = SG_WAITSTATE_FINALIZE,
};

/* Members from first up to, not including, end. */
struct group {
    uint32_t first, end;
};

/* Two groups that exchange data. Calls that make a communicator of both wait for all of both. */
static bool has_groups(const struct sg_waitstate_instance *instance)
{
    return instance->of.first_size > 0 && instance->of.pattern != SG_PATTERN_COMM;
}

/* The members that a member's data comes from: all, or with two groups those of the other group. */
static struct group others_of(const struct sg_waitstate_instance *instance, uint32_t member)
{
    uint32_t size = instance->of.size, first_size = instance->of.first_size;

    if (!has_groups(instance))
        return (struct group){0, size};
    return member < first_size ? (struct group){first_size, size} : (struct group){0, first_size};
}

/* The member of a group that began last, leaving out `without` (group.end: leave out none); the
 * lowest of several. Returns group.end if there is none. */
static uint32_t last_of(const struct sg_waitstate_instance *instance, struct group group,
                        uint32_t without)
{
    uint32_t last = group.end;

    for (uint32_t i = group.first; i < group.end; i++) {
        if (i != without &&
            (last == group.end || instance->members[i].begin_ns > instance->members[last].begin_ns))
            last = i;
    }
    return last;
}

/* needed: the flow of data needs it, whenever the member left. */
static void offer(const struct sg_waitstate_instance *instance, uint32_t to, uint32_t last,
                  bool is_needed)
{
    const struct sg_waitstate_member *member = &instance->members[last];
    struct sg_waitstate_call *completing = instance->members[to].completing;
    const struct sg_waitstate_cause cause = {
        .kind = kinds[instance->of.pattern],
        .ready_ns = member->begin_ns,
        .other = member->who,
        .comm = instance->of.comm,
        .skew = instance->members[to].skew,
        .is_bounded =
            is_needed && instance->of.pattern != SG_PATTERN_NEIGHBORS && !instance->of.has_counts,
        .is_among_needs = is_needed};

    if (to != last && (is_needed || member->begin_ns > completing->until_ns))
        sg_waitstate_call_offer(completing, &cause);
}

/* True if a member of the group left before member `last` entered. */
static bool has_left_before(const struct sg_waitstate_instance *instance, struct group group,
                            uint32_t last)
{
    for (uint32_t i = group.first; i < group.end; i++) {
        const struct sg_waitstate_call *call = instance->members[i].completing;

        if (call->has_left && call->leave_ns < instance->members[last].begin_ns)
            return true;
    }
    return false;
}

/* Without data members need not synchronise: if one left before the last entered, nobody waited. */
static bool did_synchronise(const struct sg_waitstate_instance *instance, struct group group,
                            uint32_t last)
{
    return instance->of.has_data || !has_left_before(instance, group, last);
}

/* Each member of a group waits for the last of the members that its data comes from. With two
 * groups only members that receive data wait: data may go one way only. */
static void tell_group(const struct sg_waitstate_instance *instance, struct group group)
{
    struct group others = others_of(instance, group.first);
    uint32_t last = last_of(instance, others, others.end);
    bool is_barrier = instance->of.pattern == SG_PATTERN_BARRIER, is_split = has_groups(instance);

    if (!is_barrier && !is_split && !did_synchronise(instance, group, last))
        return;
    for (uint32_t i = group.first; i < group.end; i++) {
        if (is_barrier || !is_split || instance->members[i].receives)
            offer(instance, i, last, true);
    }
}

/* Members of a broadcast wait for the root, which waits in a reduction. */
static void tell_rooted(const struct sg_waitstate_instance *instance)
{
    uint32_t root = instance->of.root;
    struct group others;

    if (root >= instance->of.size)
        return;
    others = others_of(instance, root);
    if (instance->of.pattern == SG_PATTERN_REDUCE)
        offer(instance, root, last_of(instance, others, root), true);
    for (uint32_t i = others.first; i < others.end && instance->of.pattern == SG_PATTERN_BROADCAST;
         i++)
        offer(instance, i, root, true);
}

/* By the flow of data. With counts it is not known of members that pass others' data on. */
static void tell_needed(const struct sg_waitstate_instance *instance)
{
    uint32_t size = instance->of.size, latest = 0;

    if (instance->of.has_counts)
        return;
    switch (instance->of.pattern) {
    case SG_PATTERN_NONE:
    case SG_PATTERN_NEIGHBORS:
        break;
    case SG_PATTERN_BROADCAST:
    case SG_PATTERN_REDUCE:
        tell_rooted(instance);
        break;
    case SG_PATTERN_SCAN:
        for (uint32_t i = 1; i < size; i++) {
            if (instance->members[i - 1].begin_ns > instance->members[latest].begin_ns)
                latest = i - 1;
            offer(instance, i, latest, true);
        }
        break;
    default:
        tell_group(instance, others_of(instance, 0));
        if (has_groups(instance))
            tell_group(instance, others_of(instance, size - 1));
        break;
    }
}

/* A member waited for the last that entered before it left, whatever the algorithm. */
static enum sg_status tell_present(const struct sg_waitstate_instance *instance)
{
    uint32_t size = instance->of.size;
    struct sg_arrival *arrivals = malloc(size * sizeof *arrivals);

    if (arrivals == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < size; i++)
        arrivals[i] = (struct sg_arrival){instance->members[i].begin_ns, i};
    sg_arrivals_sort(arrivals, size);
    for (uint32_t i = 0; i < size; i++) {
        const struct sg_waitstate_call *call = instance->members[i].completing;
        int64_t left_ns = call->has_left ? call->leave_ns : INT64_MAX;

        offer(instance, i, sg_arrivals_awaited(arrivals, size, i, left_ns), false);
    }
    free(arrivals);
    return SG_OK;
}

/* True if members exchange data themselves, and not each with all others. */
static bool is_sparse(const struct sg_waitstate_instance *instance)
{
    bool is_sparse = instance->of.pattern == SG_PATTERN_NEIGHBORS ||
                     (instance->of.is_direct &&
                      (instance->of.pattern != SG_PATTERN_NXN || instance->of.first_size > 0));

    for (uint32_t i = 0; i < instance->of.size && instance->of.is_direct && !is_sparse; i++)
        is_sparse = instance->members[i].sources != NULL || !instance->members[i].receives;
    return is_sparse;
}

/* A receiver may wait for its source, and a source for its receiver. */
static void tell_exchange(const struct sg_waitstate_instance *instance, uint32_t i, uint32_t source)
{
    if (source < instance->of.size) {
        offer(instance, i, source, true);
        offer(instance, source, i, false);
    }
}

/* Members wait for those that they exchange data with, unless they left before those entered. */
static void tell_exchanges(const struct sg_waitstate_instance *instance)
{
    for (uint32_t i = 0; i < instance->of.size; i++) {
        const struct sg_waitstate_member *member = &instance->members[i];
        struct group sources = others_of(instance, i);

        for (uint32_t source = 0; source < member->source_count; source++)
            tell_exchange(instance, i, member->sources[source]);
        if (member->sources != NULL || !member->receives)
            continue;
        if (instance->of.pattern == SG_PATTERN_BROADCAST)
            tell_exchange(instance, i, instance->of.root);
        for (uint32_t source = sources.first;
             source < sources.end && instance->of.pattern != SG_PATTERN_BROADCAST; source++)
            tell_exchange(instance, i, source);
    }
}

/* Neighbors wait only for each other, so a skew over all members has no meaning. MPI_Init and
 * MPI_Finalize have no call site. */
static bool has_skew(enum sg_waitstate_pattern pattern)
{
    return pattern != SG_PATTERN_NEIGHBORS && pattern != SG_PATTERN_INIT &&
           pattern != SG_PATTERN_FINALIZE;
}

static enum sg_status tell(struct sg_waitstate_skews *skews, struct sg_waitstate_instance *instance)
{
    enum sg_status status = SG_OK;

    if (has_skew(instance->of.pattern))
        status =
            sg_waitstate_skews_add(skews, instance->of.comm, instance->members, instance->of.size);
    if (status != SG_OK || instance->of.pattern == SG_PATTERN_NONE)
        return status;
    if (is_sparse(instance)) {
        tell_exchanges(instance);
        return SG_OK;
    }
    tell_needed(instance);
    return tell_present(instance);
}

/* ---- calls that members need ----------------------------------------------------------------- */

static void link_member(struct sg_history *history, const struct sg_waitstate_instance *instance,
                        uint32_t member, uint32_t *list)
{
    sg_history_link(history, list, instance->members[member].who.location,
                    instance->members[member].begin_ns);
}

static uint32_t list_of(struct sg_history *history, const struct sg_waitstate_instance *instance,
                        struct group group)
{
    uint32_t list = 0;

    for (uint32_t i = group.first; i < group.end; i++)
        link_member(history, instance, i, &list);
    return list;
}

static void need(struct sg_history *history, const struct sg_waitstate_instance *instance,
                 uint32_t member, uint32_t list)
{
    sg_history_join(history, &instance->members[member].completing->needs, list);
}

static void need_neighbors(struct sg_history *history, const struct sg_waitstate_instance *instance)
{
    for (uint32_t i = 0; i < instance->of.size; i++) {
        const struct sg_waitstate_member *member = &instance->members[i];
        uint32_t list = 0;

        for (uint32_t source = 0; source < member->source_count; source++) {
            if (member->sources[source] < instance->of.size)
                link_member(history, instance, member->sources[source], &list);
        }
        need(history, instance, i, list);
    }
}

/* Records whose begin each member's call needs, also where it did not wait for it: without the cost
 * of communication another member may be the last. */
static void need_members(struct sg_history *history, const struct sg_waitstate_instance *instance)
{
    uint32_t size = instance->of.size, root = instance->of.root, list = 0;
    struct group others = others_of(instance, root);

    switch (instance->of.pattern) {
    case SG_PATTERN_NONE:
        break;
    case SG_PATTERN_BROADCAST:
        if (root < size)
            link_member(history, instance, root, &list);
        for (uint32_t i = others.first; i < others.end; i++)
            need(history, instance, i, list);
        break;
    case SG_PATTERN_REDUCE:
        if (root < size)
            need(history, instance, root, list_of(history, instance, others));
        break;
    case SG_PATTERN_SCAN:
        for (uint32_t i = 1; i < size; i++) {
            link_member(history, instance, i - 1, &list);
            need(history, instance, i, list);
        }
        break;
    case SG_PATTERN_NEIGHBORS:
        need_neighbors(history, instance);
        break;
    default:
        list = list_of(history, instance, others_of(instance, 0));
        for (uint32_t i = 0; i < size; i++) {
            if (has_groups(instance) && i == instance->of.first_size)
                list = list_of(history, instance, others_of(instance, i));
            need(history, instance, i, list);
        }
        break;
    }
}

static enum sg_cause_waiting waiting_of(enum sg_waitstate_pattern pattern)
{
    return pattern == SG_PATTERN_BROADCAST ? SG_CAUSE_WAIT_FOR_ROOT
           : pattern == SG_PATTERN_REDUCE  ? SG_CAUSE_ROOT_WAITS
                                           : SG_CAUSE_ALL_WAIT;
}

/* Nobody can leave these collectives before all members have entered. */
static bool is_contradicted(const struct sg_waitstate_instance *instance)
{
    struct group all = {0, instance->of.size};

    return (instance->of.pattern == SG_PATTERN_BARRIER ||
            (instance->of.pattern == SG_PATTERN_NXN && instance->of.has_data &&
             !instance->of.has_counts && instance->of.first_size == 0)) &&
           has_left_before(instance, all, last_of(instance, all, all.end));
}

static enum sg_status find_causes(const struct sg_waitstate_collectives *collectives,
                                  const struct sg_waitstate_instance *instance)
{
    struct sg_cause_finder *causes = collectives->settling->causes;
    struct sg_cause_member *members;
    enum sg_status status;

    if (causes == NULL || instance->of.pattern == SG_PATTERN_NONE ||
        instance->of.pattern == SG_PATTERN_NEIGHBORS ||
        (waiting_of(instance->of.pattern) != SG_CAUSE_ALL_WAIT &&
         instance->of.root >= instance->of.size))
        return SG_OK;
    members = malloc(instance->of.size * sizeof *members);
    if (members == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < instance->of.size; i++)
        members[i] =
            (struct sg_cause_member){instance->members[i].who, instance->members[i].begin_ns};
    status = sg_cause_finder_instance(
        causes, &(struct sg_cause_instance){.comm = instance->of.comm,
                                            .waiting = waiting_of(instance->of.pattern),
                                            .root = instance->of.root,
                                            .size = instance->of.size,
                                            .is_contradicted = is_contradicted(instance),
                                            .members = members});
    free(members);
    return status;
}

static enum sg_status drop(struct sg_waitstate_collectives *collectives,
                           struct sg_waitstate_instance *instance)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < instance->of.size; i++) {
        enum sg_status left =
            sg_waitstate_let_go(collectives->settling, instance->members[i].completing);

        status = status == SG_OK ? left : status;
    }
    free(instance);
    sg_waitstate_gone(collectives->settling);
    return status;
}

static enum sg_status add(struct sg_waitstate_collectives *collectives,
                          struct sg_waitstate_call *call, const struct sg_waitstate_end *who,
                          int64_t begin_ns, const struct sg_waitstate_collective *of)
{
    struct sg_waitstate_instance *instance;
    enum sg_status status = SG_OK, dropped;

    /* A single member waits for nobody. */
    if (of->size < 2 || of->member >= of->size)
        return SG_OK;
    instance = SG_KEYED_FIND(collectives->instances,
                             (&(struct instance_key){of->seq, of->comm, of->window}));
    if (instance == NULL)
        instance = new_instance(collectives, of);
    if (instance == NULL)
        return SG_ERR_MEMORY;
    if (instance->of.size != of->size)
        return SG_OK;
    instance->of.has_data = instance->of.has_data || of->has_data;
    if (instance->of.root == SG_WAITSTATE_NO_ROOT)
        instance->of.root = of->root;
    instance->is_spoilt = instance->is_spoilt || instance->of.pattern != of->pattern ||
                          (of->root != SG_WAITSTATE_NO_ROOT && of->root != instance->of.root) ||
                          instance->members[of->member].completing != NULL;
    if (instance->members[of->member].completing == NULL)
        instance->members[of->member] = (struct sg_waitstate_member){sg_waitstate_call_hold(call),
                                                                     *who,
                                                                     begin_ns,
                                                                     0,
                                                                     of->receives,
                                                                     of->sources,
                                                                     of->source_count};
    if (++instance->arrived < instance->of.size)
        return SG_OK;
    if (!instance->is_spoilt) {
        if (call->history != NULL)
            need_members(call->history, instance);
        status = tell(collectives->settling->skews, instance);
        if (status == SG_OK)
            status = find_causes(collectives, instance);
    }
    HASH_DEL(collectives->instances, instance);
    dropped = drop(collectives, instance);
    return status == SG_OK ? dropped : status;
}

/* The collective with the pattern that its function has. */
static struct sg_waitstate_collective named(const struct sg_waitstate_collective *collective,
                                            enum sg_waitstate_pattern pattern)
{
    struct sg_waitstate_collective of = *collective;

    if (pattern != SG_PATTERN_NONE)
        of.pattern = pattern;
    return of;
}

/* A collective that is completed by the same call. */
enum sg_status sg_waitstate_collectives_add(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective)
{
    const struct sg_waitstate_collective of = named(collective, call->named);

    return add(collectives, call, &call->who, call->enter_ns, &of);
}

/* ---- nonblocking collectives ----------------------------------------------------------------- */

enum sg_status sg_waitstate_collectives_begin(struct sg_waitstate_collectives *collectives,
                                              const struct sg_waitstate_call *call, uint64_t number)
{
    struct sg_waitstate_request *request = calloc(1, sizeof *request);

    if (request == NULL)
        return SG_ERR_MEMORY;
    request->key = (struct request_key){number, call->who.rank};
    request->who = call->who;
    request->begin_ns = call->enter_ns;
    request->named = call->named;
    if (!SG_KEYED_ADD(collectives->requests, request)) {
        free(request);
        return SG_ERR_MEMORY;
    }
    sg_waitstate_born(collectives->settling);
    return SG_OK;
}

enum sg_status sg_waitstate_collectives_end(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective,
                                            uint64_t number)
{
    struct sg_waitstate_request *request =
        SG_KEYED_FIND(collectives->requests, (&(struct request_key){number, call->who.rank}));
    struct sg_waitstate_collective of;
    enum sg_status status;

    if (request == NULL)
        return SG_OK;
    HASH_DEL(collectives->requests, request);
    of = named(collective, request->named);
    status = add(collectives, call, &request->who, request->begin_ns, &of);
    free(request);
    sg_waitstate_gone(collectives->settling);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Drops incomplete collectives and releases their calls. */
enum sg_status sg_waitstate_collectives_finish(struct sg_waitstate_collectives *collectives)
{
    struct sg_waitstate_instance *instance, *next_instance;
    struct sg_waitstate_request *request, *next_request;
    enum sg_status status = SG_OK;

    HASH_ITER(hh, collectives->instances, instance, next_instance)
    {
        enum sg_status dropped;

        HASH_DEL(collectives->instances, instance);
        dropped = drop(collectives, instance);
        status = status == SG_OK ? dropped : status;
    }
    HASH_ITER(hh, collectives->requests, request, next_request)
    {
        HASH_DEL(collectives->requests, request);
        free(request);
        sg_waitstate_gone(collectives->settling);
    }
    return status;
}
