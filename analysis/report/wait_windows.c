/* Matches the epochs of windows (start, complete, post and wait) and orders the locks on targets;
 * each gives the calls that waited their causes. An epoch ends when all four roles are reported or
 * given up. A lock has a claim for each of its targets, and is freed with its claims.
 */
#include "report/wait_skews.h"

#include "report/keyed.h"

#include <stdlib.h>

enum role { START, COMPLETE, POST, WAIT, ROLES };

struct key {
    uint32_t window, origin, target;
};

/* The open epochs of an origin and a target, the oldest first. */
struct access {
    UT_hash_handle hh;
    struct key key;
    struct epoch *epochs;
    uint32_t count;
};

/* An access by an origin, and the matching exposure of its target. */
struct epoch {
    struct access *of;
    struct epoch *next;
    uint32_t comm;
    bool is_told[ROLES];                    /* reported, or never will be */
    struct sg_waitstate_call *calls[ROLES]; /* NULL: not reported */
};

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
    struct access *access = epoch->of;
    struct epoch **at = &access->epochs;

    while (*at != epoch)
        at = &(*at)->next;
    *at = epoch->next;
    if (--access->count == 0) {
        HASH_DEL(epochs->open, access);
        free(access);
    }
    return close(epochs, epoch);
}

/* The oldest epoch of the key that lacks the role; NULL: none. */
static struct epoch *find(const struct sg_waitstate_epochs *epochs, const struct key *key,
                          enum role role)
{
    const struct access *access = SG_KEYED_FIND(epochs->open, key);
    struct epoch *epoch = access != NULL ? access->epochs : NULL;

    while (epoch != NULL && epoch->is_told[role])
        epoch = epoch->next;
    return epoch;
}

static struct access *need_access(struct sg_waitstate_epochs *epochs, const struct key *key)
{
    struct access *access = SG_KEYED_FIND(epochs->open, key);

    if (access != NULL)
        return access;
    access = calloc(1, sizeof *access);
    if (access == NULL)
        return NULL;
    access->key = *key;
    if (SG_KEYED_ADD(epochs->open, access))
        return access;
    free(access);
    return NULL;
}

/* Drops the oldest epoch if there are too many. */
static enum sg_status add(struct sg_waitstate_epochs *epochs, const struct key *key, uint32_t comm,
                          struct epoch **out)
{
    struct epoch *epoch = calloc(1, sizeof *epoch), **last;
    struct access *access = epoch != NULL ? need_access(epochs, key) : NULL;
    enum sg_status status = SG_OK;

    if (access == NULL) {
        free(epoch);
        return SG_ERR_MEMORY;
    }
    if (access->count >= SG_WAITSTATE_HELD)
        status = end(epochs, access->epochs);
    *epoch = (struct epoch){.of = access, .comm = comm};
    for (last = &access->epochs; *last != NULL;)
        last = &(*last)->next;
    *last = epoch;
    access->count++;
    sg_waitstate_born(epochs->settling);
    *out = epoch;
    return status;
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
    const struct access *access = SG_KEYED_FIND(epochs->open, key);
    enum sg_status status = SG_OK;
    struct epoch *next;

    for (struct epoch *epoch = access != NULL ? access->epochs : NULL;
         epoch != NULL && status == SG_OK; epoch = next) {
        next = epoch->next;
        if (!epoch->is_told[begin])
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
    struct epoch *epoch = find(epochs, key, role);

    while (status == SG_OK && epoch != NULL && role == START && is_past(epoch, call)) {
        status = end(epochs, epoch);
        epoch = find(epochs, key, role);
    }
    if (status == SG_OK && epoch == NULL)
        status = add(epochs, key, comm, &epoch);
    return status == SG_OK ? tell(epochs, epoch, role, call) : status;
}

static enum sg_status finish(struct sg_waitstate_epochs *epochs, const struct key *key,
                             enum role role, struct sg_waitstate_call *call)
{
    struct epoch *epoch = find(epochs, key, role);

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

enum sg_status sg_waitstate_epochs_finish(struct sg_waitstate_epochs *epochs)
{
    enum sg_status status = SG_OK;

    while (epochs->open != NULL) {
        enum sg_status ended = end(epochs, epochs->open->epochs);

        status = status == SG_OK ? ended : status;
    }
    return status;
}

/* A lock that a rank has requested, on one target or on all. */
struct held_lock {
    struct sg_waitstate_lock of;
    uint32_t rank;
    struct sg_waitstate_call *call; /* the call that requested it */
    bool is_settled;                /* the call's late targets are known */
    struct claim *claims;
};

/* A lock as it concerns one target. A lock on all targets has a claim for SG_WAITSTATE_ALL, and one
 * for each target with an operation. */
struct claim {
    UT_hash_handle hh, awaited;
    struct claim_key {
        uint32_t window, target, rank;
    } key;
    struct held_lock *lock;
    struct claim *next; /* in the lock's list */
    struct target *target;
    struct claim *before, *behind; /* in the target's list */
    bool is_awaited;               /* an operation is pending */
    bool is_here;                  /* ... which is complete at its origin */
    struct operation {
        uint64_t number, rank;
    } operation;
    uint32_t rank_there; /* its target's rank in MPI_COMM_WORLD */
    /* The call that completed the first operation: from held_ns on the lock is known to be held. */
    struct sg_waitstate_call *completing;
    int64_t held_ns;
    bool is_void; /* another lock that excludes it is known to have been held, too */
    /* The latest cause of its wait, as far as known. */
    struct sg_waitstate_cause cause;
};

struct target {
    UT_hash_handle hh;
    struct target_key {
        uint32_t window, number;
    } key;
    struct claim *claims;
};

/* A rank that was in no call entered one. */
struct entrance {
    int64_t left_ns, enter_ns;
    struct sg_waitstate_end who;
};

/* The calls of a rank, as far as others wait for them. */
struct sg_waitstate_presence {
    uint32_t calls;           /* that it is in, on all its threads */
    int64_t left_ns;          /* when it left the last of them */
    struct entrance *returns; /* NULL: no operation names it yet; a ring of the latest */
    uint64_t count;           /* of entrances since then */
};

/* The unlock calls that a rank is in. */
struct sg_waitstate_unlocking {
    uint32_t count;
    int64_t since_ns;                     /* not later than the begin of the first of them */
    const struct sg_waitstate_call *only; /* NULL: none, or several overlap or overlapped */
};

/* ---- tables ---------------------------------------------------------------------------------- */

static struct target *find_target(const struct sg_waitstate_locks *locks, uint32_t window,
                                  uint32_t number)
{
    return SG_KEYED_FIND(locks->targets, (&(struct target_key){window, number}));
}

static struct claim *find_claim(const struct sg_waitstate_locks *locks, uint32_t window,
                                uint32_t target, uint32_t rank)
{
    return SG_KEYED_FIND(locks->claims, (&(struct claim_key){window, target, rank}));
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
    target->key = (struct target_key){window, number};
    if (!SG_KEYED_ADD(locks->targets, target)) {
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
    HASH_DEL(locks->targets, target);
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
    claim->key = (struct claim_key){lock->of.window, number, lock->rank};
    if (!SG_KEYED_ADD(locks->claims, claim)) {
        drop_if_unused(locks, target);
        free(claim);
        return SG_ERR_MEMORY;
    }
    claim->lock = lock;
    claim->next = lock->claims;
    lock->claims = claim;
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

    HASH_DEL(locks->claims, claim);
    if (claim->is_awaited)
        HASH_DELETE(awaited, locks->awaited, claim);
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

    if (claim->key.target == SG_WAITSTATE_ALL || claim->is_void)
        return;
    for (struct claim *other = claim->target->claims; other != NULL; other = other->behind)
        order(locks, claim, unlock, other);
    if (all == NULL || !claim->lock->of.is_exclusive)
        return;
    for (struct claim *other = all->claims; other != NULL; other = other->behind)
        order(locks, claim, unlock, other);
}

/* ---- targets that are late ------------------------------------------------------------------- */

/* Finds the first call that the rank entered after a time, if it was in none for most of the time
 * until then: it may have been on its way out of one. NULL: it was not, or this is not known. */
static const struct entrance *first_after(const struct sg_waitstate_presence *presence,
                                          int64_t time_ns)
{
    uint64_t oldest =
        presence->count > SG_WAITSTATE_RETURNS ? presence->count - SG_WAITSTATE_RETURNS : 0;

    for (uint64_t i = oldest; i < presence->count; i++) {
        const struct entrance *at = &presence->returns[i % SG_WAITSTATE_RETURNS];

        if (at->enter_ns > time_ns)
            return at->left_ns - time_ns <= at->enter_ns - at->left_ns ? at : NULL;
    }
    return NULL;
}

/* The call, which needs the target to make progress, waited for it to enter MPI. */
static void wait_for_rank(const struct sg_waitstate_locks *locks, uint32_t rank, uint32_t comm,
                          struct sg_waitstate_call *call)
{
    const struct sg_waitstate_presence *presence = &locks->presence[rank];
    const struct entrance *first = rank != call->who.rank && presence->returns != NULL
                                       ? first_after(presence, call->enter_ns)
                                       : NULL;

    if (first != NULL)
        sg_waitstate_call_offer(call, &(struct sg_waitstate_cause){.kind = SG_WAITSTATE_LATE_TARGET,
                                                                   .ready_ns = first->enter_ns,
                                                                   .other = first->who,
                                                                   .comm = comm});
}

static void wait_for_target(const struct sg_waitstate_locks *locks, const struct claim *claim,
                            struct sg_waitstate_call *call)
{
    wait_for_rank(locks, claim->rank_there, claim->lock->of.comm, call);
}

/* MPI_Win_lock_all may have waited for each of its targets. Call early: of a target's calls only
 * the latest are remembered. */
static void wait_for_all(const struct sg_waitstate_locks *locks, struct held_lock *lock)
{
    if (lock->of.target == SG_WAITSTATE_ALL && !lock->is_settled) {
        for (uint32_t i = 0; i < lock->of.rank_count; i++)
            wait_for_rank(locks, lock->of.ranks[i], lock->of.comm, lock->call);
    }
    lock->is_settled = true;
}

static bool watch(struct sg_waitstate_locks *locks, uint32_t rank)
{
    struct sg_waitstate_presence *presence = &locks->presence[rank];

    if (presence->returns == NULL)
        presence->returns = calloc(SG_WAITSTATE_RETURNS, sizeof *presence->returns);
    return presence->returns != NULL;
}

static bool watch_all(struct sg_waitstate_locks *locks, const struct sg_waitstate_lock *of)
{
    bool is_watched = of->target == SG_WAITSTATE_ALL || watch(locks, of->rank_there);

    for (uint32_t i = 0; i < of->rank_count && is_watched; i++)
        is_watched = watch(locks, of->ranks[i]);
    return is_watched;
}

/* ---- events ---------------------------------------------------------------------------------- */

enum sg_status sg_waitstate_locks_start(struct sg_waitstate_locks *locks,
                                        struct sg_waitstate_settling *settling, uint32_t ranks)
{
    locks->settling = settling;
    locks->rank_count = ranks;
    locks->unlocking = calloc((size_t)ranks + 1, sizeof *locks->unlocking);
    locks->presence = calloc((size_t)ranks + 1, sizeof *locks->presence);
    return locks->unlocking != NULL && locks->presence != NULL ? SG_OK : SG_ERR_MEMORY;
}

static bool unlocks(const struct sg_waitstate_call *call)
{
    return call->rma == SG_RMA_UNLOCK || call->rma == SG_RMA_UNLOCK_ALL;
}

void sg_waitstate_locks_enter(struct sg_waitstate_locks *locks,
                              const struct sg_waitstate_call *call)
{
    struct sg_waitstate_unlocking *unlocking = &locks->unlocking[call->who.rank];
    struct sg_waitstate_presence *presence = &locks->presence[call->who.rank];

    if (presence->calls++ == 0 && presence->returns != NULL)
        presence->returns[presence->count++ % SG_WAITSTATE_RETURNS] =
            (struct entrance){presence->left_ns, call->enter_ns, call->who};
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
    struct sg_waitstate_presence *presence = &locks->presence[call->who.rank];

    if (--presence->calls == 0)
        presence->left_ns = call->leave_ns;
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
    if (status == SG_OK && !watch_all(locks, of))
        status = SG_ERR_MEMORY;
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
    wait_for_all(locks, claim->lock);
    for (struct claim *each = claim->lock->claims; each != NULL; each = each->next) {
        order_all(locks, each, call);
        /* The operations may be complete: the target still has to take back its lock. */
        if (each->completing != NULL)
            wait_for_target(locks, each, call);
    }
    return drop_lock(locks, claim->lock);
}

enum sg_status sg_waitstate_locks_operation(struct sg_waitstate_locks *locks, uint32_t rank,
                                            uint32_t window, uint32_t target, uint32_t rank_there,
                                            uint64_t operation)
{
    struct claim *claim = find_claim(locks, window, target, rank), *all;
    enum sg_status status = SG_OK;

    if (claim == NULL) {
        all = find_claim(locks, window, SG_WAITSTATE_ALL, rank);
        if (all == NULL)
            return SG_OK;
        wait_for_all(locks, all->lock);
        status = add_claim(locks, all->lock, target, &claim);
    }
    if (status != SG_OK || (claim->is_awaited && !claim->is_here))
        return status;
    if (!watch(locks, rank_there))
        return SG_ERR_MEMORY;
    if (claim->is_awaited)
        HASH_DELETE(awaited, locks->awaited, claim);
    claim->is_here = false;
    claim->rank_there = rank_there;
    /* The lock may have waited, too. */
    if (claim->completing == NULL && claim->lock->of.target == target)
        wait_for_target(locks, claim, claim->lock->call);
    claim->operation = (struct operation){operation, rank};
    HASH_ADD(awaited, locks->awaited, operation, sizeof claim->operation, claim);
    claim->is_awaited = claim->awaited.tbl != NULL;
    return claim->is_awaited ? SG_OK : SG_ERR_MEMORY;
}

void sg_waitstate_locks_completed(struct sg_waitstate_locks *locks, struct sg_waitstate_call *call,
                                  uint64_t operation, int64_t time_ns, bool is_there)
{
    const struct operation key = {operation, call->who.rank};
    struct claim *claim;

    HASH_FIND(awaited, locks->awaited, &key, sizeof key, claim);
    if (claim == NULL)
        return;
    wait_for_target(locks, claim, call);
    claim->is_here = true;
    if (!is_there)
        return;
    HASH_DELETE(awaited, locks->awaited, claim);
    claim->is_awaited = false;
    if (claim->completing != NULL)
        return;
    claim->completing = sg_waitstate_call_hold(call);
    claim->held_ns = time_ns;
    if (claim->cause.kind == SG_WAITSTATE_LOCK)
        sg_waitstate_call_offer(call, &claim->cause);
}

/* ---- the end --------------------------------------------------------------------------------- */

enum sg_status sg_waitstate_locks_finish(struct sg_waitstate_locks *locks)
{
    enum sg_status status = SG_OK;

    while (locks->claims != NULL) {
        enum sg_status dropped = drop_lock(locks, locks->claims->lock);

        status = status == SG_OK ? dropped : status;
    }
    return status;
}

void sg_waitstate_locks_clear(struct sg_waitstate_locks *locks)
{
    sg_waitstate_locks_finish(locks);
    for (uint32_t i = 0; locks->presence != NULL && i < locks->rank_count; i++)
        free(locks->presence[i].returns);
    free(locks->presence);
    free(locks->unlocking);
    locks->presence = NULL;
    locks->unlocking = NULL;
}
