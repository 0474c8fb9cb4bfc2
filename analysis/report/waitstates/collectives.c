#include "report/waitstates/collectives.h"

#include "core/hash.h"

#include <stdlib.h>

struct member {
    struct sg_waitstate_call *completing; /* NULL: it is not there yet */
    struct sg_waitstate_end who;          /* of the call that began it */
    int64_t begin_ns;
};

struct instance {
    struct sg_table_link link;
    struct sg_waitstate_collective of; /* as its first member said */
    bool is_spoilt;                    /* members contradict each other */
    uint32_t arrived;
    struct member members[];
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
    return sg_hash_mix(of->seq ^ sg_hash_mix(of->comm));
}

static struct instance *find_instance(const struct sg_waitstate_collectives *collectives,
                                      const struct sg_waitstate_collective *of)
{
    struct sg_table_link *link = sg_link_table_first(&collectives->instances, instance_hash(of));

    while (link != NULL) {
        struct instance *instance = (struct instance *)link;

        if (instance->of.comm == of->comm && instance->of.seq == of->seq)
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
};

/* The last of the members from first to before end that begins, without one of them (size: with
 * all); the lowest of several. end: there is none. */
static uint32_t last_of(const struct instance *instance, uint32_t end, uint32_t without)
{
    uint32_t last = end;

    for (uint32_t i = 0; i < end; i++) {
        if (i != without &&
            (last == end || instance->members[i].begin_ns > instance->members[last].begin_ns))
            last = i;
    }
    return last;
}

static void offer(const struct instance *instance, uint32_t to, uint32_t last)
{
    const struct member *member = &instance->members[last];
    const struct sg_waitstate_cause cause = {.kind = kinds[instance->of.pattern],
                                             .ready_ns = member->begin_ns,
                                             .other = member->who,
                                             .comm = instance->of.comm,
                                             .is_bounded = true};

    if (to != last)
        sg_waitstate_call_offer(instance->members[to].completing, &cause);
}

/* Without data nobody has to wait for others, and if somebody left before the last came, nobody
 * did. */
static bool did_synchronise(const struct instance *instance, uint32_t last)
{
    for (uint32_t i = 0; i < instance->of.size && !instance->of.has_data; i++) {
        const struct sg_waitstate_call *call = instance->members[i].completing;

        if (call->has_left && call->leave_ns < instance->members[last].begin_ns)
            return false;
    }
    return true;
}

static void tell(const struct instance *instance)
{
    uint32_t size = instance->of.size, root = instance->of.root;
    uint32_t last = last_of(instance, size, size), latest = 0;

    switch (instance->of.pattern) {
    case SG_PATTERN_NONE:
        break;
    case SG_PATTERN_BARRIER:
    case SG_PATTERN_NXN:
        for (uint32_t i = 0; i < size; i++) {
            if (instance->of.pattern == SG_PATTERN_BARRIER || did_synchronise(instance, last))
                offer(instance, i, last);
        }
        break;
    case SG_PATTERN_BROADCAST:
        for (uint32_t i = 0; i < size && root < size; i++)
            offer(instance, i, root);
        break;
    case SG_PATTERN_REDUCE:
        if (root < size)
            offer(instance, root, last_of(instance, size, root));
        break;
    case SG_PATTERN_SCAN:
        for (uint32_t i = 1; i < size; i++) {
            if (instance->members[i - 1].begin_ns > instance->members[latest].begin_ns)
                latest = i - 1;
            offer(instance, i, latest);
        }
        break;
    }
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

    /* Alone, or without anybody to wait for. */
    if (of->size < 2 || of->member >= of->size || of->pattern == SG_PATTERN_NONE)
        return SG_OK;
    instance = find_instance(collectives, of);
    if (instance == NULL)
        instance = new_instance(collectives, of);
    if (instance == NULL)
        return SG_ERR_MEMORY;
    if (instance->of.size != of->size)
        return SG_OK;
    instance->of.has_data = instance->of.has_data || of->has_data;
    instance->is_spoilt = instance->is_spoilt || instance->of.pattern != of->pattern ||
                          instance->of.root != of->root ||
                          instance->members[of->member].completing != NULL;
    if (instance->members[of->member].completing == NULL)
        instance->members[of->member] =
            (struct member){sg_waitstate_call_hold(call), *who, begin_ns};
    if (++instance->arrived < instance->of.size)
        return SG_OK;
    if (!instance->is_spoilt)
        tell(instance);
    sg_link_table_remove(&collectives->instances, &instance->link);
    return drop(collectives, instance);
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
