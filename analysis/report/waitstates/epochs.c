#include "report/waitstates/epochs.h"

#include "core/hash.h"

#include <stdlib.h>

enum role { START, COMPLETE, POST, WAIT, ROLES };

struct key {
    uint32_t window, origin, target;
};

/* An access by an origin, and the exposure of its target. */
struct epoch {
    struct sg_table_link link;
    struct key key;
    uint32_t comm;
    uint64_t number;                        /* the older, the lower */
    bool is_told[ROLES];                    /* or will never be */
    struct sg_waitstate_call *calls[ROLES]; /* NULL: not told */
};

static uint64_t hash_of(const struct key *key)
{
    return sg_hash_mix(key->window ^
                       sg_hash_mix(key->origin ^ sg_hash_mix((uint64_t)key->target << 32)));
}

static bool is_of(const struct epoch *epoch, const struct key *key)
{
    return epoch->key.window == key->window && epoch->key.origin == key->origin &&
           epoch->key.target == key->target;
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

static void offer(const struct epoch *epoch, enum role waiting, enum role other,
                  enum sg_waitstate_kind kind)
{
    const struct sg_waitstate_call *late = epoch->calls[other];

    if (late != NULL)
        sg_waitstate_call_offer(
            epoch->calls[waiting],
            &(struct sg_waitstate_cause){
                .kind = kind, .ready_ns = late->enter_ns, .other = late->who, .comm = epoch->comm});
}

/* It is in no table any more. */
static enum sg_status close(struct sg_waitstate_epochs *epochs, struct epoch *epoch)
{
    enum sg_status status = SG_OK;

    offer(epoch, START, POST, SG_WAITSTATE_LATE_POST);
    offer(epoch, COMPLETE, POST, SG_WAITSTATE_LATE_POST);
    offer(epoch, WAIT, COMPLETE, SG_WAITSTATE_EARLY_WAIT);
    for (int role = 0; role < ROLES; role++) {
        enum sg_status left = sg_waitstate_let_go(epochs->settling, epoch->calls[role]);

        status = status == SG_OK ? left : status;
    }
    free(epoch);
    sg_waitstate_gone(epochs->settling);
    return status;
}

/* ---- epochs of an origin and a target -------------------------------------------------------- */

static enum sg_status end(struct sg_waitstate_epochs *epochs, struct epoch *epoch)
{
    sg_link_table_remove(&epochs->open, &epoch->link);
    return close(epochs, epoch);
}

/* The oldest, or of those to which the role is not told; NULL: none. *count: how many there are. */
static struct epoch *find(const struct sg_waitstate_epochs *epochs, const struct key *key,
                          enum role role, uint32_t *count)
{
    struct sg_table_link *link = sg_link_table_first(&epochs->open, hash_of(key));
    struct epoch *oldest = NULL;

    *count = 0;
    for (; link != NULL; link = sg_link_table_next(link)) {
        struct epoch *epoch = (struct epoch *)link;

        if (!is_of(epoch, key))
            continue;
        ++*count;
        if ((role == ROLES || !epoch->is_told[role]) &&
            (oldest == NULL || epoch->number < oldest->number))
            oldest = epoch;
    }
    return oldest;
}

static enum sg_status add(struct sg_waitstate_epochs *epochs, const struct key *key, uint32_t comm,
                          struct epoch **out)
{
    struct epoch *epoch = calloc(1, sizeof *epoch);

    if (epoch == NULL)
        return SG_ERR_MEMORY;
    epoch->key = *key;
    epoch->comm = comm;
    epoch->number = epochs->begun++;
    if (sg_link_table_add(&epochs->open, &epoch->link, hash_of(key)) != SG_OK) {
        free(epoch);
        return SG_ERR_MEMORY;
    }
    sg_waitstate_born(epochs->settling);
    *out = epoch;
    return SG_OK;
}

static bool is_over(const struct epoch *epoch)
{
    return epoch->is_told[START] && epoch->is_told[COMPLETE] && epoch->is_told[POST] &&
           epoch->is_told[WAIT];
}

/* The target's wait was over before this access began: that was for one that is not recorded. */
static bool is_past(const struct epoch *epoch, const struct sg_waitstate_call *start)
{
    const struct sg_waitstate_call *wait = epoch->calls[WAIT];

    return wait != NULL && wait->has_left && wait->leave_ns < start->enter_ns;
}

/* A rank begins anew: the end of what it began before is not recorded. */
static enum sg_status give_up(struct sg_waitstate_epochs *epochs, const struct key *key,
                              enum role begin)
{
    struct sg_table_link *link = sg_link_table_first(&epochs->open, hash_of(key)), *next;
    enum sg_status status = SG_OK;

    for (; link != NULL && status == SG_OK; link = next) {
        struct epoch *epoch = (struct epoch *)link;

        next = sg_link_table_next(link);
        if (!is_of(epoch, key) || !epoch->is_told[begin])
            continue;
        epoch->is_told[begin + 1] = true;
        if (is_over(epoch))
            status = end(epochs, epoch);
    }
    return status;
}

static enum sg_status tell(struct sg_waitstate_epochs *epochs, struct epoch *epoch, enum role role,
                           struct sg_waitstate_call *call)
{
    epoch->is_told[role] = true;
    epoch->calls[role] = sg_waitstate_call_hold(call);
    return is_over(epoch) ? end(epochs, epoch) : SG_OK;
}

static enum sg_status begin(struct sg_waitstate_epochs *epochs, const struct key *key,
                            uint32_t comm, enum role role, struct sg_waitstate_call *call)
{
    enum sg_status status = give_up(epochs, key, role);
    uint32_t count;
    struct epoch *epoch = find(epochs, key, role, &count);

    while (status == SG_OK && epoch != NULL && role == START && is_past(epoch, call)) {
        status = end(epochs, epoch);
        epoch = find(epochs, key, role, &count);
    }
    if (status == SG_OK && epoch == NULL && count >= SG_WAITSTATE_HELD)
        status = end(epochs, find(epochs, key, ROLES, &count));
    if (status == SG_OK && epoch == NULL)
        status = add(epochs, key, comm, &epoch);
    return status == SG_OK ? tell(epochs, epoch, role, call) : status;
}

static enum sg_status finish(struct sg_waitstate_epochs *epochs, const struct key *key,
                             enum role role, struct sg_waitstate_call *call)
{
    uint32_t count;
    struct epoch *epoch = find(epochs, key, role, &count);

    if (epoch == NULL || !epoch->is_told[role - 1])
        return SG_OK;
    return tell(epochs, epoch, role, call);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum role role_of(enum sg_rma rma)
{
    return rma == SG_RMA_START      ? START
           : rma == SG_RMA_COMPLETE ? COMPLETE
           : rma == SG_RMA_POST     ? POST
           : rma == SG_RMA_WAIT     ? WAIT
                                    : ROLES;
}

enum sg_status sg_waitstate_epochs_add(struct sg_waitstate_epochs *epochs,
                                       struct sg_waitstate_call *call,
                                       const struct sg_waitstate_group *group)
{
    enum role role = role_of(call->rma);
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < group->count && role != ROLES && status == SG_OK; i++) {
        bool is_origin = role == START || role == COMPLETE;
        const struct key key = {.window = group->window,
                                .origin = is_origin ? call->who.rank : group->ranks[i],
                                .target = is_origin ? group->ranks[i] : call->who.rank};

        status = role == START || role == POST ? begin(epochs, &key, group->comm, role, call)
                                               : finish(epochs, &key, role, call);
    }
    return status;
}

struct ending {
    struct sg_waitstate_epochs *epochs;
    enum sg_status status;
};

static void end_epoch(void *context, struct sg_table_link *link)
{
    struct ending *ending = context;
    enum sg_status status = close(ending->epochs, (struct epoch *)link);

    if (ending->status == SG_OK)
        ending->status = status;
}

enum sg_status sg_waitstate_epochs_finish(struct sg_waitstate_epochs *epochs)
{
    struct ending ending = {epochs, SG_OK};

    sg_link_table_clear(&epochs->open, end_epoch, &ending);
    return ending.status;
}
