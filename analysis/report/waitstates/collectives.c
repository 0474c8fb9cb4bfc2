#include "report/waitstates/collectives.h"

#include "core/hash.h"

#include <stdlib.h>

struct instance {
    struct sg_table_link link;
    struct sg_waitstate_collective of; /* as its first member said */
    bool is_spoilt;                    /* members contradict each other */
    uint32_t arrived;
    struct sg_waitstate_member members[];
};

/* A nonblocking collective of a rank. */
struct request {
    struct sg_table_link link;
    uint64_t number;
    struct sg_waitstate_end who;
    int64_t begin_ns;
};

/* ---- instances ------------------------------------------------------------------------------- */

static uint64_t instance_hash(const struct sg_waitstate_collective *of)
{
    return sg_hash_mix(of->seq ^ sg_hash_mix((uint64_t)of->window << 32 | of->comm));
}

static struct instance *find_instance(const struct sg_waitstate_collectives *collectives,
                                      const struct sg_waitstate_collective *of)
{
    struct sg_table_link *link = sg_link_table_first(&collectives->instances, instance_hash(of));

    while (link != NULL) {
        struct instance *instance = (struct instance *)link;

        if (instance->of.comm == of->comm && instance->of.window == of->window &&
            instance->of.seq == of->seq)
            return instance;
        link = sg_link_table_next(link);
    }
    return NULL;
}

static struct instance *new_instance(struct sg_waitstate_collectives *collectives,
                                     const struct sg_waitstate_collective *of)
{
    struct instance *instance =
        calloc(1, sizeof *instance + of->size * sizeof instance->members[0]);

    if (instance == NULL)
        return NULL;
    instance->of = *of;
    if (sg_link_table_add(&collectives->instances, &instance->link, instance_hash(of)) != SG_OK) {
        free(instance);
        return NULL;
    }
    sg_waitstate_born(collectives->settling);
    return instance;
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

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
};

/* Members from first to before end. */
struct group {
    uint32_t first, end;
};

/* Whom a member's data comes from: all, or between groups those of the other one. */
static struct group others_of(const struct instance *instance, uint32_t member)
{
    uint32_t size = instance->of.size, first_size = instance->of.first_size;

    if (first_size == 0)
        return (struct group){0, size};
    return member < first_size ? (struct group){first_size, size} : (struct group){0, first_size};
}

/* The last of a group that begins, without one member (its end: with all); the lowest of several.
 * Its end: there is none. */
static uint32_t last_of(const struct instance *instance, struct group group, uint32_t without)
{
    uint32_t last = group.end;

    for (uint32_t i = group.first; i < group.end; i++) {
        if (i != without &&
            (last == group.end || instance->members[i].begin_ns > instance->members[last].begin_ns))
            last = i;
    }
    return last;
}

static void offer(const struct instance *instance, uint32_t to, uint32_t last)
{
    const struct sg_waitstate_member *member = &instance->members[last];
    const struct sg_waitstate_cause cause = {.kind = kinds[instance->of.pattern],
                                             .ready_ns = member->begin_ns,
                                             .other = member->who,
                                             .comm = instance->of.comm,
                                             .skew = instance->members[to].skew,
                                             .is_bounded =
                                                 instance->of.pattern != SG_PATTERN_NEIGHBORS};

    if (to != last)
        sg_waitstate_call_offer(instance->members[to].completing, &cause);
}

/* Whether a member of a group left before that one came. */
static bool has_left_before(const struct instance *instance, struct group group, uint32_t last)
{
    for (uint32_t i = group.first; i < group.end; i++) {
        const struct sg_waitstate_call *call = instance->members[i].completing;

        if (call->has_left && call->leave_ns < instance->members[last].begin_ns)
            return true;
    }
    return false;
}

/* Without data nobody has to wait for others, and if somebody left before the last came, nobody
 * did. Between groups only those wait that receive something: data may go one way only. */
static bool did_synchronise(const struct instance *instance, struct group group, uint32_t last)
{
    return instance->of.has_data || !has_left_before(instance, group, last);
}

/* Each member of a group waits for the last of those that its data comes from. */
static void tell_group(const struct instance *instance, struct group group)
{
    struct group others = others_of(instance, group.first);
    uint32_t last = last_of(instance, others, others.end);
    bool is_barrier = instance->of.pattern == SG_PATTERN_BARRIER;
    bool has_groups = instance->of.first_size > 0;

    if (!is_barrier && !has_groups && !did_synchronise(instance, group, last))
        return;
    for (uint32_t i = group.first; i < group.end; i++) {
        if (is_barrier || !has_groups || instance->members[i].receives)
            offer(instance, i, last);
    }
}

/* A member that left before a source came waited for others, or for none: there were no data. */
static void tell_neighbors(const struct instance *instance)
{
    for (uint32_t i = 0; i < instance->of.size; i++) {
        const struct sg_waitstate_member *member = &instance->members[i];

        for (uint32_t source = 0; source < member->source_count; source++) {
            if (member->sources[source] < instance->of.size)
                offer(instance, i, member->sources[source]);
        }
    }
}

/* Neighbors are late for each other, not for all: of all members there is no skew. */
static enum sg_status tell(struct sg_waitstate_skews *skews, struct instance *instance)
{
    uint32_t size = instance->of.size, root = instance->of.root, latest = 0;
    struct group others = others_of(instance, root);
    enum sg_status status = SG_OK;

    if (instance->of.pattern != SG_PATTERN_NEIGHBORS)
        status = sg_waitstate_skews_add(skews, instance->of.comm, instance->members, size);
    if (status != SG_OK)
        return status;
    switch (instance->of.pattern) {
    case SG_PATTERN_NONE:
        break;
    case SG_PATTERN_BARRIER:
    case SG_PATTERN_NXN:
    case SG_PATTERN_FENCE:
    case SG_PATTERN_CREATE:
    case SG_PATTERN_FREE:
        tell_group(instance, others_of(instance, 0));
        if (instance->of.first_size > 0)
            tell_group(instance, others_of(instance, size - 1));
        break;
    case SG_PATTERN_BROADCAST:
        for (uint32_t i = others.first; i < others.end && root < size; i++)
            offer(instance, i, root);
        break;
    case SG_PATTERN_REDUCE:
        if (root < size)
            offer(instance, root, last_of(instance, others, root));
        break;
    case SG_PATTERN_SCAN:
        for (uint32_t i = 1; i < size; i++) {
            if (instance->members[i - 1].begin_ns > instance->members[latest].begin_ns)
                latest = i - 1;
            offer(instance, i, latest);
        }
        break;
    case SG_PATTERN_NEIGHBORS:
        tell_neighbors(instance);
        break;
    }
    return SG_OK;
}

static enum sg_cause_waiting waiting_of(enum sg_waitstate_pattern pattern)
{
    return pattern == SG_PATTERN_BROADCAST ? SG_CAUSE_WAIT_FOR_ROOT
           : pattern == SG_PATTERN_REDUCE  ? SG_CAUSE_ROOT_WAITS
                                           : SG_CAUSE_ALL_WAIT;
}

/* Nobody can leave these before all have come. */
static bool is_contradicted(const struct instance *instance)
{
    struct group all = {0, instance->of.size};

    return (instance->of.pattern == SG_PATTERN_BARRIER ||
            (instance->of.pattern == SG_PATTERN_NXN && instance->of.has_data &&
             instance->of.first_size == 0)) &&
           has_left_before(instance, all, last_of(instance, all, all.end));
}

static enum sg_status find_causes(const struct sg_waitstate_collectives *collectives,
                                  const struct instance *instance)
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

static enum sg_status drop(struct sg_waitstate_collectives *collectives, struct instance *instance)
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
    struct instance *instance;
    enum sg_status status = SG_OK, dropped;

    /* Alone it waits for nobody. */
    if (of->size < 2 || of->member >= of->size)
        return SG_OK;
    instance = find_instance(collectives, of);
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
        status = tell(collectives->settling->skews, instance);
        if (status == SG_OK)
            status = find_causes(collectives, instance);
    }
    sg_link_table_remove(&collectives->instances, &instance->link);
    dropped = drop(collectives, instance);
    return status == SG_OK ? dropped : status;
}

enum sg_status sg_waitstate_collectives_add(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective)
{
    return add(collectives, call, &call->who, call->enter_ns, collective);
}

/* ---- nonblocking ones ------------------------------------------------------------------------ */

static uint64_t request_hash(uint32_t rank, uint64_t number)
{
    return sg_hash_mix(number ^ sg_hash_mix(rank));
}

enum sg_status sg_waitstate_collectives_begin(struct sg_waitstate_collectives *collectives,
                                              const struct sg_waitstate_call *call, uint64_t number)
{
    struct request *request = calloc(1, sizeof *request);

    if (request == NULL)
        return SG_ERR_MEMORY;
    request->number = number;
    request->who = call->who;
    request->begin_ns = call->enter_ns;
    if (sg_link_table_add(&collectives->requests, &request->link,
                          request_hash(call->who.rank, number)) != SG_OK) {
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
    struct sg_table_link *link =
        sg_link_table_first(&collectives->requests, request_hash(call->who.rank, number));
    struct request *request;
    enum sg_status status;

    while (link != NULL && (((struct request *)link)->number != number ||
                            ((struct request *)link)->who.rank != call->who.rank))
        link = sg_link_table_next(link);
    if (link == NULL)
        return SG_OK;
    request = (struct request *)link;
    sg_link_table_remove(&collectives->requests, link);
    status = add(collectives, call, &request->who, request->begin_ns, collective);
    free(request);
    sg_waitstate_gone(collectives->settling);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

struct ending {
    struct sg_waitstate_collectives *collectives;
    enum sg_status status;
};

static void end_instance(void *context, struct sg_table_link *link)
{
    struct ending *ending = context;
    enum sg_status status = drop(ending->collectives, (struct instance *)link);

    if (ending->status == SG_OK)
        ending->status = status;
}

static void end_request(void *context, struct sg_table_link *link)
{
    struct ending *ending = context;

    free((struct request *)link);
    sg_waitstate_gone(ending->collectives->settling);
}

enum sg_status sg_waitstate_collectives_finish(struct sg_waitstate_collectives *collectives)
{
    struct ending ending = {collectives, SG_OK};

    sg_link_table_clear(&collectives->instances, end_instance, &ending);
    sg_link_table_clear(&collectives->requests, end_request, &ending);
    return ending.status;
}
