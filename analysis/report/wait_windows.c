/* Matches the epochs of windows (start, complete, post and wait) and orders the locks on targets;
 * each gives the calls that waited their causes. An epoch ends when all four roles are reported or
 * given up. A lock has a claim for each of its targets, and is freed with its claims.
 */
#include "report/wait_windows.h"

#include "core/hash.h"

#include <stddef.h>
#include <stdlib.h>

enum role { START, COMPLETE, POST, WAIT, ROLES };

struct key {
    uint32_t window, origin, target;
};

/* An access by an origin, and the matching exposure of its target. */
struct epoch {
    struct sg_table_link link;
    struct key key;
    uint32_t comm;
    uint64_t number;                        /* the older, the lower */
    bool is_told[ROLES];                    /* reported, or never will be */
    struct sg_waitstate_call *calls[ROLES]; /* NULL: not reported */
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

/* ---- causes of waits ------------------------------------------------------------------------- */

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

/* The epoch is in no table any more. */
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

/* The oldest epoch of the key, or the oldest that lacks the role unless role is ROLES; NULL: none.
 * *count: the number of epochs of the key. */
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

/* True if the target's wait ended before this access began: it belonged to an access that is not
 * recorded. */
static bool is_past(const struct epoch *epoch, const struct sg_waitstate_call *start)
{
    const struct sg_waitstate_call *wait = epoch->calls[WAIT];

    return wait != NULL && wait->has_left && wait->leave_ns < start->enter_ns;
}

/* The rank begins a new epoch: the end of its previous one was not recorded. */
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

/* A lock that a rank has requested, on one target or on all. */
struct held_lock {
    struct sg_waitstate_lock of;
    uint32_t rank;
    struct sg_waitstate_call *call; /* the call that requested it */
    struct claim *claims;
    uint32_t claim_count;
};

/* A lock as it concerns one target. A lock on all targets has a claim for SG_WAITSTATE_ALL, and one
 * for each target with an operation. */
struct claim {
    struct sg_table_link link, awaited;
    struct held_lock *lock;
    struct claim *next; /* in the lock's list */
    struct target *target;
    struct claim *before, *behind; /* in the target's list */
    bool is_awaited;               /* an operation is pending */
    uint64_t operation;
    /* The call that completed the first operation: from held_ns on the lock is known to be held. */
    struct sg_waitstate_call *completing;
    int64_t held_ns;
    bool is_void; /* another lock that excludes it is known to have been held, too */
    /* The latest cause of its wait, as far as known. */
    struct sg_waitstate_cause cause;
};

struct target {
    struct sg_table_link link;
    uint32_t window, number;
    struct claim *claims;
};

/* The unlock calls that a rank is in. */
struct sg_waitstate_unlocking {
    uint32_t count;
    int64_t since_ns;                     /* not later than the begin of the first of them */
    const struct sg_waitstate_call *only; /* NULL: none, or several overlap or overlapped */
};

/* ---- tables ---------------------------------------------------------------------------------- */

static uint64_t target_hash(uint32_t window, uint32_t number)
{
    return sg_hash_mix(window ^ sg_hash_mix(number));
}

static uint64_t claim_hash(uint32_t window, uint32_t target, uint32_t rank)
{
    return sg_hash_mix(target_hash(window, target) ^ rank);
}

static uint64_t operation_hash(uint32_t rank, uint64_t operation)
{
    return sg_hash_mix(operation ^ sg_hash_mix(rank));
}

static struct target *find_target(const struct sg_waitstate_locks *locks, uint32_t window,
                                  uint32_t number)
{
    struct sg_table_link *link = sg_link_table_first(&locks->targets, target_hash(window, number));

    for (; link != NULL; link = sg_link_table_next(link)) {
        struct target *target = (struct target *)link;

        if (target->window == window && target->number == number)
            return target;
    }
    return NULL;
}

static struct claim *find_claim(const struct sg_waitstate_locks *locks, uint32_t window,
                                uint32_t target, uint32_t rank)
{
    struct sg_table_link *link =
        sg_link_table_first(&locks->claims, claim_hash(window, target, rank));

    for (; link != NULL; link = sg_link_table_next(link)) {
        struct claim *claim = (struct claim *)link;

        if (claim->lock->rank == rank && claim->target->window == window &&
            claim->target->number == target)
            return claim;
    }
    return NULL;
}

static struct claim *of_awaited(struct sg_table_link *link)
{
    return (struct claim *)(void *)((char *)link - offsetof(struct claim, awaited));
}

static struct claim *find_awaited(const struct sg_waitstate_locks *locks, uint32_t rank,
                                  uint64_t operation)
{
    struct sg_table_link *link =
        sg_link_table_first(&locks->awaited, operation_hash(rank, operation));

    for (; link != NULL; link = sg_link_table_next(link)) {
        struct claim *claim = of_awaited(link);

        if (claim->lock->rank == rank && claim->operation == operation)
            return claim;
    }
    return NULL;
}

static enum sg_status need_target(struct sg_waitstate_locks *locks, uint32_t window,
                                  uint32_t number, struct target **out)
{
    struct target *target = find_target(locks, window, number);

    *out = target;
    if (target != NULL)
        return SG_OK;
    target = calloc(1, sizeof *target);
    if (target == NULL)
        return SG_ERR_MEMORY;
    target->window = window;
    target->number = number;
    if (sg_link_table_add(&locks->targets, &target->link, target_hash(window, number)) != SG_OK) {
        free(target);
        return SG_ERR_MEMORY;
    }
    *out = target;
    return SG_OK;
}

static void drop_if_unused(struct sg_waitstate_locks *locks, struct target *target)
{
    if (target->claims != NULL)
        return;
    sg_link_table_remove(&locks->targets, &target->link);
    free(target);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static enum sg_status add_claim(struct sg_waitstate_locks *locks, struct held_lock *lock,
                                uint32_t number, struct claim **out)
{
    struct claim *claim = calloc(1, sizeof *claim);
    struct target *target;

    if (claim == NULL || need_target(locks, lock->of.window, number, &target) != SG_OK) {
        free(claim);
        return SG_ERR_MEMORY;
    }
    if (sg_link_table_add(&locks->claims, &claim->link,
                          claim_hash(lock->of.window, number, lock->rank)) != SG_OK) {
        drop_if_unused(locks, target);
        free(claim);
        return SG_ERR_MEMORY;
    }
    claim->lock = lock;
    claim->next = lock->claims;
    lock->claims = claim;
    lock->claim_count++;
    claim->target = target;
    claim->behind = target->claims;
    if (target->claims != NULL)
        target->claims->before = claim;
    target->claims = claim;
    sg_waitstate_born(locks->settling);
    *out = claim;
    return SG_OK;
}

static enum sg_status drop_claim(struct sg_waitstate_locks *locks, struct claim *claim)
{
    enum sg_status status = sg_waitstate_let_go(locks->settling, claim->completing);

    sg_link_table_remove(&locks->claims, &claim->link);
    if (claim->is_awaited)
        sg_link_table_remove(&locks->awaited, &claim->awaited);
    *(claim->before != NULL ? &claim->before->behind : &claim->target->claims) = claim->behind;
    if (claim->behind != NULL)
        claim->behind->before = claim->before;
    drop_if_unused(locks, claim->target);
    free(claim);
    sg_waitstate_gone(locks->settling);
    return status;
}

static enum sg_status drop_lock(struct sg_waitstate_locks *locks, struct held_lock *lock)
{
    enum sg_status status = sg_waitstate_let_go(locks->settling, lock->call);

    while (lock->claims != NULL) {
        struct claim *claim = lock->claims;
        enum sg_status left;

        lock->claims = claim->next;
        left = drop_claim(locks, claim);
        status = status == SG_OK ? left : status;
    }
    free(lock);
    sg_waitstate_gone(locks->settling);
    return status;
}

/* ---- causes of waits ------------------------------------------------------------------------- */

static bool is_held_at(const struct claim *claim, int64_t time_ns)
{
    return claim->completing != NULL && claim->held_ns <= time_ns;
}

/* The claim got its lock after the other rank had begun to unlock. */
static void wait_for(struct claim *claim, const struct sg_waitstate_call *unlock)
{
    const struct sg_waitstate_cause cause = {.kind = SG_WAITSTATE_LOCK,
                                             .ready_ns = unlock->enter_ns,
                                             .other = unlock->who,
                                             .comm = claim->lock->of.comm};

    sg_waitstate_call_offer(claim->lock->call, &cause);
    sg_waitstate_call_offer(claim->completing, &cause);
    if (claim->cause.kind != SG_WAITSTATE_LOCK || cause.ready_ns > claim->cause.ready_ns)
        claim->cause = cause;
}

/* Orders a claim whose lock is being released against one that is not released yet. */
static void order(const struct sg_waitstate_locks *locks, struct claim *claim,
                  const struct sg_waitstate_call *unlock, struct claim *other)
{
    const struct sg_waitstate_unlocking *others = &locks->unlocking[other->lock->rank];
    int64_t others_unlock_ns = others->count > 0 ? others->since_ns : INT64_MAX;
    bool was_first, was_other_first;

    if (other->is_void || other->lock->rank == claim->lock->rank ||
        (!claim->lock->of.is_exclusive && !other->lock->of.is_exclusive))
        return;
    was_first = is_held_at(claim, others_unlock_ns);
    was_other_first = is_held_at(other, unlock->enter_ns);
    if (was_first && was_other_first)
        other->is_void = true;
    else if (was_first)
        wait_for(other, unlock);
    else if (was_other_first && others->only != NULL)
        wait_for(claim, others->only);
}

static void order_all(const struct sg_waitstate_locks *locks, struct claim *claim,
                      const struct sg_waitstate_call *unlock)
{
    const struct target *all = find_target(locks, claim->lock->of.window, SG_WAITSTATE_ALL);

    if (claim->target->number == SG_WAITSTATE_ALL || claim->is_void)
        return;
    for (struct claim *other = claim->target->claims; other != NULL; other = other->behind)
        order(locks, claim, unlock, other);
    if (all == NULL || !claim->lock->of.is_exclusive)
        return;
    for (struct claim *other = all->claims; other != NULL; other = other->behind)
        order(locks, claim, unlock, other);
}

/* ---- events ---------------------------------------------------------------------------------- */

enum sg_status sg_waitstate_locks_start(struct sg_waitstate_locks *locks,
                                        struct sg_waitstate_settling *settling, uint32_t ranks)
{
    locks->settling = settling;
    locks->unlocking = calloc((size_t)ranks + 1, sizeof *locks->unlocking);
    return locks->unlocking != NULL ? SG_OK : SG_ERR_MEMORY;
}

static bool unlocks(const struct sg_waitstate_call *call)
{
    return call->rma == SG_RMA_UNLOCK || call->rma == SG_RMA_UNLOCK_ALL;
}

void sg_waitstate_locks_enter(struct sg_waitstate_locks *locks,
                              const struct sg_waitstate_call *call)
{
    struct sg_waitstate_unlocking *unlocking = &locks->unlocking[call->who.rank];

    if (!unlocks(call))
        return;
    if (unlocking->count++ == 0)
        *unlocking = (struct sg_waitstate_unlocking){1, call->enter_ns, call};
    else
        unlocking->only = NULL;
}

void sg_waitstate_locks_leave(struct sg_waitstate_locks *locks,
                              const struct sg_waitstate_call *call)
{
    struct sg_waitstate_unlocking *unlocking = &locks->unlocking[call->who.rank];

    if (!unlocks(call))
        return;
    unlocking->count--;
    unlocking->only = NULL;
}

enum sg_status sg_waitstate_locks_request(struct sg_waitstate_locks *locks,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_lock *of)
{
    struct claim *claim = find_claim(locks, of->window, of->target, call->who.rank);
    struct held_lock *lock;
    enum sg_status status = SG_OK;

    /* The release of the previous lock was not recorded. */
    if (claim != NULL)
        status = drop_lock(locks, claim->lock);
    lock = status == SG_OK ? calloc(1, sizeof *lock) : NULL;
    if (lock == NULL)
        return SG_ERR_MEMORY;
    *lock = (struct held_lock){.of = *of, .rank = call->who.rank};
    status = add_claim(locks, lock, of->target, &claim);
    if (status != SG_OK) {
        free(lock);
        return status;
    }
    lock->call = sg_waitstate_call_hold(call);
    sg_waitstate_born(locks->settling);
    return SG_OK;
}

enum sg_status sg_waitstate_locks_release(struct sg_waitstate_locks *locks,
                                          struct sg_waitstate_call *call,
                                          const struct sg_waitstate_lock *of)
{
    struct claim *claim = find_claim(locks, of->window, of->target, call->who.rank);

    if (claim == NULL || claim->lock->of.target != of->target)
        return SG_OK;
    for (struct claim *each = claim->lock->claims; each != NULL; each = each->next)
        order_all(locks, each, call);
    return drop_lock(locks, claim->lock);
}

enum sg_status sg_waitstate_locks_operation(struct sg_waitstate_locks *locks, uint32_t rank,
                                            uint32_t window, uint32_t target, uint64_t operation)
{
    struct claim *claim = find_claim(locks, window, target, rank), *all;
    enum sg_status status = SG_OK;

    if (claim == NULL) {
        all = find_claim(locks, window, SG_WAITSTATE_ALL, rank);
        if (all == NULL)
            return SG_OK;
        status = add_claim(locks, all->lock, target, &claim);
    }
    if (status != SG_OK || claim->completing != NULL || claim->is_awaited)
        return status;
    claim->operation = operation;
    status = sg_link_table_add(&locks->awaited, &claim->awaited, operation_hash(rank, operation));
    claim->is_awaited = status == SG_OK;
    return status;
}

void sg_waitstate_locks_completed(struct sg_waitstate_locks *locks, struct sg_waitstate_call *call,
                                  uint64_t operation, int64_t time_ns)
{
    struct claim *claim = find_awaited(locks, call->who.rank, operation);

    if (claim == NULL)
        return;
    sg_link_table_remove(&locks->awaited, &claim->awaited);
    claim->is_awaited = false;
    claim->completing = sg_waitstate_call_hold(call);
    claim->held_ns = time_ns;
    if (claim->cause.kind == SG_WAITSTATE_LOCK)
        sg_waitstate_call_offer(call, &claim->cause);
}

/* ---- the end --------------------------------------------------------------------------------- */

struct locks_ending {
    struct sg_waitstate_locks *locks;
    enum sg_status status;
};

static void let_go(struct locks_ending *ending, struct sg_waitstate_call *call)
{
    enum sg_status status = sg_waitstate_let_go(ending->locks->settling, call);

    if (ending->status == SG_OK)
        ending->status = status;
}

/* A lock is freed with its last claim. */
static void end_claim(void *context, struct sg_table_link *link)
{
    struct locks_ending *ending = context;
    struct claim *claim = (struct claim *)link;
    struct held_lock *lock = claim->lock;

    let_go(ending, claim->completing);
    free(claim);
    sg_waitstate_gone(ending->locks->settling);
    if (--lock->claim_count > 0)
        return;
    let_go(ending, lock->call);
    free(lock);
    sg_waitstate_gone(ending->locks->settling);
}

static void end_target(void *context, struct sg_table_link *link)
{
    free((struct target *)link);
}

static void forget(void *context, struct sg_table_link *link)
{
    (void)link;
}

enum sg_status sg_waitstate_locks_finish(struct sg_waitstate_locks *locks)
{
    struct locks_ending ending = {locks, SG_OK};

    sg_link_table_clear(&locks->awaited, forget, NULL);
    sg_link_table_clear(&locks->claims, end_claim, &ending);
    sg_link_table_clear(&locks->targets, end_target, NULL);
    return ending.status;
}

void sg_waitstate_locks_clear(struct sg_waitstate_locks *locks)
{
    sg_waitstate_locks_finish(locks);
    free(locks->unlocking);
    locks->unlocking = NULL;
}
