/* The skew of collectives by call site, the calls whose waits are not settled yet, and a hash table
 * of outstanding objects. A call is settled, and freed, when its last holder releases it: its wait
 * is then added to the sums, and a late sender is checked for messages that it overtook.
 */
#include "report/wait_skews.h"

#include "core/room.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/path_history.h"
#include "report/quantiles.h"

#include <stdlib.h>

static bool sg_waitstate_call_release(struct sg_waitstate_call *call);
static bool sg_waitstate_call_wait(const struct sg_waitstate_call *call, struct sg_waitstate *out);

/* The filter's decision on a row with a communicator. */
enum taken { NOT_ASKED, TAKEN, LEFT_OUT };

struct row {
    uint32_t place;
    struct sg_report_site of; /* figures of the row */
    struct sg_quantiles skews;
    uint32_t comm;  /* the first communicator */
    uint32_t votes; /* members of the current instance; 0 between instances */
};

/* Counts how often a rank was last. */
struct last {
    uint32_t row, rank;
    uint64_t count;
};

/* A communicator that a row was called on. */
struct called_on {
    enum taken taken;
    bool counted; /* counted among the row's communicators */
};

struct sg_waitstate_skews {
    const struct sg_aggregate *aggregate;
    const struct sg_filter *filter;
    struct sg_places *places;
    struct row *rows;
    struct last *lasts;
    struct called_on *comms;
    uint32_t row_count, last_count, comm_count;
    struct sg_map row_by_place, last_by_key, comm_by_key;
};

enum sg_status sg_waitstate_skews_create(const struct sg_aggregate *aggregate,
                                         const struct sg_filter *filter, struct sg_places *places,
                                         struct sg_waitstate_skews **out)
{
    struct sg_waitstate_skews *skews = calloc(1, sizeof *skews);

    if (skews == NULL)
        return SG_ERR_MEMORY;
    skews->aggregate = aggregate;
    skews->filter = filter;
    skews->places = places;
    *out = skews;
    return SG_OK;
}

void sg_waitstate_skews_destroy(struct sg_waitstate_skews *skews)
{
    if (skews == NULL)
        return;
    for (uint32_t i = 0; i < skews->row_count; i++)
        sg_quantiles_clear(&skews->rows[i].skews);
    sg_map_clear(&skews->row_by_place);
    sg_map_clear(&skews->last_by_key);
    sg_map_clear(&skews->comm_by_key);
    free(skews->rows);
    free(skews->lasts);
    free(skews->comms);
    free(skews);
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The functions return an index, or -1 if out of memory. */

static int64_t find_row(struct sg_waitstate_skews *skews, const struct sg_waitstate_end *who)
{
    int64_t place = sg_places_find(skews->places, who);

    if (place < 0)
        return -1;
    return SG_MAP_INDEX(&skews->row_by_place, (uint64_t)place, skews->rows, skews->row_count,
                        ((struct row){.place = (uint32_t)place}));
}

static int64_t find_last(struct sg_waitstate_skews *skews, uint32_t row, uint32_t rank)
{
    return SG_MAP_INDEX(&skews->last_by_key, key_of(row, rank), skews->lasts, skews->last_count,
                        ((struct last){.row = row, .rank = rank}));
}

static int64_t find_comm(struct sg_waitstate_skews *skews, uint32_t row, uint32_t comm)
{
    return SG_MAP_INDEX(&skews->comm_by_key, key_of(row, comm), skews->comms, skews->comm_count,
                        ((struct called_on){0}));
}

/* True if the filter takes a row's call site with the communicator; evaluated once for each
 * pair. */
static bool takes(const struct sg_waitstate_skews *skews, uint32_t row, uint32_t comm,
                  struct called_on *on)
{
    struct sg_report_site name = {0};

    if (on->taken == NOT_ASKED) {
        sg_aggregate_name_site(skews->aggregate,
                               sg_places_site(skews->places, skews->rows[row].place), &name);
        sg_aggregate_name_comm(skews->aggregate, comm, &name);
        on->taken = sg_filter_takes_row(skews->filter, &name) ? TAKEN : LEFT_OUT;
    }
    return on->taken == TAKEN;
}

/* ---- adding ---------------------------------------------------------------------------------- */

struct spread {
    int64_t first_ns;
    uint64_t skew_ns;
    uint32_t last; /* the lowest rank if several are last */
};

static struct spread spread_of(const struct sg_waitstate_member *members, uint32_t count)
{
    struct spread spread = {.first_ns = members[0].begin_ns};
    int64_t last_ns = members[0].begin_ns;

    for (uint32_t i = 1; i < count; i++) {
        if (members[i].begin_ns < spread.first_ns)
            spread.first_ns = members[i].begin_ns;
        if (members[i].begin_ns > last_ns) {
            last_ns = members[i].begin_ns;
            spread.last = i;
        }
    }
    spread.skew_ns = (uint64_t)last_ns - (uint64_t)spread.first_ns;
    return spread;
}

/* The row that most members called from; of several, the first in rank order. */
static uint32_t majority(struct sg_waitstate_skews *skews,
                         const struct sg_waitstate_member *members, uint32_t count)
{
    uint32_t best = members[0].skew - 1;

    for (uint32_t i = 0; i < count; i++)
        skews->rows[members[i].skew - 1].votes++;
    for (uint32_t i = 0; i < count; i++) {
        if (skews->rows[members[i].skew - 1].votes > skews->rows[best].votes)
            best = members[i].skew - 1;
    }
    for (uint32_t i = 0; i < count; i++)
        skews->rows[members[i].skew - 1].votes = 0;
    return best;
}

/* The row's figures, with the communicator counted once. */
static struct sg_report_site *figures_of(struct sg_waitstate_skews *skews, uint32_t row,
                                         uint32_t comm, struct called_on *on)
{
    struct sg_report_site *of = &skews->rows[row].of;
    struct sg_report_site name = {0};

    if (on->counted)
        return of;
    on->counted = true;
    sg_aggregate_name_comm(skews->aggregate, comm, &name);
    if (of->comms++ == 0) {
        skews->rows[row].comm = comm;
        of->comm_size = name.comm_size;
    } else if (of->comm_size != name.comm_size) {
        of->comm_size = 0;
    }
    return of;
}

static bool takes_any_rank(const struct sg_waitstate_skews *skews,
                           const struct sg_waitstate_member *members, uint32_t count)
{
    bool taken = false;

    for (uint32_t i = 0; i < count && !taken; i++)
        taken = sg_filter_takes_rank(skews->filter, members[i].who.rank);
    return taken;
}

static enum sg_status add_instance(struct sg_waitstate_skews *skews, uint32_t row, uint32_t comm,
                                   const struct spread *spread, uint32_t last_rank)
{
    int64_t on = find_comm(skews, row, comm), last;
    struct sg_report_site *of;

    if (on < 0)
        return SG_ERR_MEMORY;
    if (!takes(skews, row, comm, &skews->comms[on]))
        return SG_OK;
    last = find_last(skews, row, last_rank);
    if (last < 0)
        return SG_ERR_MEMORY;
    skews->lasts[last].count++;
    of = figures_of(skews, row, comm, &skews->comms[on]);
    if (of->instances++ == 0 || spread->skew_ns > of->skew_max_ns) {
        of->skew_max_ns = spread->skew_ns;
        of->worst_time_ns = spread->first_ns;
    }
    of->skew_sum_ns += spread->skew_ns;
    return sg_quantiles_add(&skews->rows[row].skews, spread->skew_ns);
}

/* Sets *skew to 0 if the filter leaves the call out. */
static enum sg_status add_call(struct sg_waitstate_skews *skews, uint32_t comm, uint32_t rank,
                               uint32_t *skew)
{
    uint32_t row = *skew - 1;
    int64_t on = find_comm(skews, row, comm);

    if (on < 0)
        return SG_ERR_MEMORY;
    if (!takes(skews, row, comm, &skews->comms[on]) || !sg_filter_takes_rank(skews->filter, rank))
        *skew = 0;
    else
        figures_of(skews, row, comm, &skews->comms[on])->event_calls++;
    return SG_OK;
}

enum sg_status sg_waitstate_skews_add(struct sg_waitstate_skews *skews, uint32_t comm,
                                      struct sg_waitstate_member *members, uint32_t count)
{
    const struct spread spread = spread_of(members, count);
    enum sg_status status = SG_OK;
    uint32_t row;

    if (!sg_filter_takes_time(skews->filter, spread.first_ns))
        return SG_OK;
    for (uint32_t i = 0; i < count; i++) {
        int64_t found = find_row(skews, &members[i].who);

        if (found < 0)
            return SG_ERR_MEMORY;
        members[i].skew = (uint32_t)found + 1;
    }
    row = majority(skews, members, count);
    if (takes_any_rank(skews, members, count))
        status = add_instance(skews, row, comm, &spread, members[spread.last].who.rank);
    for (uint32_t i = 0; i < count && status == SG_OK; i++)
        status = add_call(skews, comm, members[i].who.rank, &members[i].skew);
    return status;
}

/* Adds the wait of a member. */
static void sg_waitstate_skews_wait(struct sg_waitstate_skews *skews, uint32_t skew,
                                    uint64_t wait_ns)
{
    skews->rows[skew - 1].of.wait_ns += wait_ns;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The lowest rank wins a tie. */
static void find_last_ranks(struct sg_waitstate_skews *skews)
{
    for (uint32_t i = 0; i < skews->row_count; i++)
        skews->rows[i].of.last_rank = -1;
    for (uint32_t i = 0; i < skews->last_count; i++) {
        const struct last *last = &skews->lasts[i];
        struct sg_report_site *of = &skews->rows[last->row].of;

        if (last->count > of->last_count ||
            (last->count == of->last_count && last->rank < of->last_rank)) {
            of->last_count = last->count;
            of->last_rank = last->rank;
        }
    }
}

static void finish_row(const struct sg_waitstate_skews *skews, struct row *row,
                       struct sg_waitstate_place *out)
{
    uint32_t comm_size = row->of.comm_size, comms = row->of.comms;

    out->site = row->of;
    sg_places_name(skews->places, row->place, out);
    sg_aggregate_name_comm(skews->aggregate, row->comm, &out->site);
    out->site.comm_size = comm_size;
    out->site.comms = comms;
    if (comms > 1)
        out->site.comm = NULL;
    out->site.calls = out->site.event_calls;
    out->site.skew_p50_ns = sg_quantiles_get(&row->skews, 0.50);
    out->site.skew_p95_ns = sg_quantiles_get(&row->skews, 0.95);
}

static int compare(const void *left, const void *right)
{
    const struct sg_waitstate_place *a = left, *b = right;

    if (a->site.wait_ns != b->site.wait_ns)
        return a->site.wait_ns < b->site.wait_ns ? 1 : -1;
    if (a->site.skew_sum_ns != b->site.skew_sum_ns)
        return a->site.skew_sum_ns < b->site.skew_sum_ns ? 1 : -1;
    return sg_waitstate_compare_places(a, b);
}

enum sg_status sg_waitstate_skews_finish(struct sg_waitstate_skews *skews,
                                         struct sg_waitstates *states)
{
    states->skews = calloc((size_t)skews->row_count + 1, sizeof *states->skews);
    if (states->skews == NULL)
        return SG_ERR_MEMORY;
    find_last_ranks(skews);
    for (uint32_t i = 0; i < skews->row_count; i++) {
        if (skews->rows[i].of.comms > 0)
            finish_row(skews, &skews->rows[i], &states->skews[states->skew_count++]);
    }
    if (states->skew_count > 0)
        qsort(states->skews, states->skew_count, sizeof *states->skews, compare);
    return SG_OK;
}

enum sg_status sg_waitstate_settling_start(struct sg_waitstate_settling *settling,
                                           struct sg_waitstate_sums *sums,
                                           struct sg_waitstate_skews *skews, uint32_t ranks)
{
    *settling = (struct sg_waitstate_settling){.sums = sums, .skews = skews};
    settling->receivers = calloc((size_t)ranks + 1, sizeof *settling->receivers);
    return settling->receivers != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_waitstate_settling_clear(struct sg_waitstate_settling *settling)
{
    free(settling->receivers);
    settling->receivers = NULL;
}

/* ---- messages under way ---------------------------------------------------------------------- */

void sg_waitstate_set_out(struct sg_waitstate_settling *settling, uint32_t rank,
                          struct sg_waitstate_underway *message)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[rank];
    struct sg_waitstate_underway *before = receiver->newest;

    /* Messages arrive in event order, but sort by the begin of their call, which differs between
     * threads. */
    while (before != NULL && before->sent_ns > message->sent_ns)
        before = before->older;
    message->older = before;
    message->newer = before != NULL ? before->newer : receiver->oldest;
    *(before != NULL ? &before->newer : &receiver->oldest) = message;
    *(message->newer != NULL ? &message->newer->older : &receiver->newest) = message;
}

void sg_waitstate_take_off(struct sg_waitstate_settling *settling, uint32_t rank,
                           struct sg_waitstate_underway *message)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[rank];

    *(message->older != NULL ? &message->older->newer : &receiver->oldest) = message->newer;
    *(message->newer != NULL ? &message->newer->older : &receiver->newest) = message->older;
}

static void suspect(struct sg_waitstate_receiver *receiver, const struct sg_waitstate_suspect *wait)
{
    receiver->suspects[receiver->next] = *wait;
    receiver->next = (receiver->next + 1) % SG_WAITSTATE_SUSPECTS;
    if (receiver->suspect_count < SG_WAITSTATE_SUSPECTS)
        receiver->suspect_count++;
}

void sg_waitstate_took(struct sg_waitstate_settling *settling, uint32_t rank, int64_t sent_ns,
                       int64_t received_ns)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[rank];
    uint32_t count = receiver->suspect_count, kept = 0;
    struct sg_waitstate_suspect suspects[SG_WAITSTATE_SUSPECTS];

    receiver->taken[receiver->taken_count++ % SG_WAITSTATE_SUSPECTS] =
        (struct sg_waitstate_taken){sent_ns, received_ns};
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (receiver->next + SG_WAITSTATE_SUSPECTS - count + i) % SG_WAITSTATE_SUSPECTS;
        const struct sg_waitstate_suspect *wait = &receiver->suspects[at];

        if (sent_ns < wait->sent_ns && received_ns > wait->leave_ns)
            sg_waitstate_sums_wrong_order(settling->sums, wait->row, wait->wait_ns);
        else
            suspects[kept++] = *wait;
    }
    for (uint32_t i = 0; i < kept; i++)
        receiver->suspects[i] = suspects[i];
    receiver->suspect_count = kept;
    receiver->next = kept % SG_WAITSTATE_SUSPECTS;
}

/* True if a message that was sent before the late one was received after it. */
static bool has_overtaken(const struct sg_waitstate_receiver *receiver,
                          const struct sg_waitstate_call *call)
{
    for (uint32_t i = 0; i < SG_WAITSTATE_SUSPECTS && i < receiver->taken_count; i++) {
        if (receiver->taken[i].sent_ns < call->until_ns &&
            receiver->taken[i].received_ns > call->leave_ns)
            return true;
    }
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum sg_status add_wait(const struct sg_waitstate_settling *settling,
                               const struct sg_waitstate *wait, uint32_t *row)
{
    enum sg_status status =
        settling->waited != NULL ? settling->waited(settling->waited_context, wait) : SG_OK;

    return status == SG_OK ? sg_waitstate_sums_add(settling->sums, wait, row) : status;
}

/* Nobody gets a lock before its target makes progress: only the rest is the holder's. The holder
 * itself may be the latest target. */
static enum sg_status add_target(const struct sg_waitstate_settling *settling,
                                 const struct sg_waitstate_call *call, struct sg_waitstate *lock)
{
    const struct sg_waitstate_target *target =
        &call->targets[call->targets[0].ready_ns >= call->until_ns];
    struct sg_waitstate wait = *lock;

    if (target->ready_ns <= call->enter_ns)
        return SG_OK;
    wait.kind = SG_WAITSTATE_LATE_TARGET;
    wait.other = target->who;
    wait.wait_ns = (uint64_t)target->ready_ns - (uint64_t)call->enter_ns;
    lock->begin_ns = target->ready_ns;
    lock->wait_ns -= wait.wait_ns;
    return add_wait(settling, &wait, NULL);
}

static enum sg_status settle(struct sg_waitstate_settling *settling,
                             const struct sg_waitstate_call *call)
{
    struct sg_waitstate_receiver *receiver = &settling->receivers[call->who.rank];
    struct sg_waitstate wait;
    enum sg_status status = SG_OK;
    uint32_t row;

    if (settling->critical != NULL && call->has_left)
        sg_critical_need(settling->critical, call->who.location, call->enter_ns, call->needs);
    if (!sg_waitstate_call_wait(call, &wait))
        return SG_OK;
    if (wait.skew != 0)
        sg_waitstate_skews_wait(settling->skews, wait.skew, wait.wait_ns);
    if (settling->critical != NULL)
        sg_critical_wait(settling->critical, call->who.location, call->enter_ns, call->until_ns,
                         call->other.location);
    if (wait.kind == SG_WAITSTATE_LOCK)
        status = add_target(settling, call, &wait);
    if (status == SG_OK)
        status = add_wait(settling, &wait, &row);
    /* A call that only asks receives no message. */
    if (status != SG_OK || row == SG_WAITSTATE_LEFT_OUT || wait.kind != SG_WAITSTATE_LATE_SENDER ||
        call->is_question)
        return status;
    if (has_overtaken(receiver, call))
        sg_waitstate_sums_wrong_order(settling->sums, row, wait.wait_ns);
    else if (receiver->oldest != NULL && receiver->oldest->sent_ns < call->until_ns)
        suspect(receiver,
                &(struct sg_waitstate_suspect){call->until_ns, call->leave_ns, wait.wait_ns, row});
    return status;
}

enum sg_status sg_waitstate_let_go(struct sg_waitstate_settling *settling,
                                   struct sg_waitstate_call *call)
{
    enum sg_status status = SG_OK;

    while (sg_waitstate_call_release(call)) {
        struct sg_waitstate_call *asked = call->asked;
        enum sg_status settled = settle(settling, call);

        status = status == SG_OK ? settled : status;
        free(call);
        sg_waitstate_gone(settling);
        call = asked;
    }
    return status;
}

struct sg_waitstate_call *sg_waitstate_call_new(const struct sg_waitstate_end *who,
                                                int64_t enter_ns)
{
    struct sg_waitstate_call *call = calloc(1, sizeof *call);

    if (call == NULL)
        return NULL;
    call->who = *who;
    call->enter_ns = call->until_ns = enter_ns;
    call->targets[0].ready_ns = call->targets[1].ready_ns = enter_ns;
    call->holders = 1;
    return call;
}

struct sg_waitstate_call *sg_waitstate_call_hold(struct sg_waitstate_call *call)
{
    if (call != NULL)
        call->holders++;
    return call;
}

/* A send may need no receive, and a lock no unlock, that was there before the call began: eager
 * messages need none, and the order of locks is another in another run. */
static bool is_need(const struct sg_waitstate_call *call, const struct sg_waitstate_cause *cause)
{
    bool is_optional =
        cause->kind == SG_WAITSTATE_LATE_RECEIVER || cause->kind == SG_WAITSTATE_LOCK;

    return !cause->is_among_needs && (!is_optional || cause->ready_ns > call->enter_ns) &&
           (!call->has_left || cause->ready_ns < call->leave_ns);
}

static void note_target(struct sg_waitstate_call *call, const struct sg_waitstate_cause *cause)
{
    const struct sg_waitstate_target target = {cause->ready_ns, cause->other};
    struct sg_waitstate_target *of = call->targets;

    if (call->has_left && target.ready_ns >= call->leave_ns)
        return;
    if (target.ready_ns > of[0].ready_ns) {
        of[1] = of[0];
        of[0] = target;
    } else if (target.ready_ns > of[1].ready_ns && target.ready_ns < of[0].ready_ns) {
        of[1] = target;
    }
}

static void offer(struct sg_waitstate_call *call, const struct sg_waitstate_cause *cause)
{
    if (call->history != NULL && is_need(call, cause))
        sg_history_link(call->history, &call->needs, cause->other.location, cause->ready_ns);
    if (call->only_tests)
        return;
    if (cause->kind == SG_WAITSTATE_LATE_TARGET)
        note_target(call, cause);
    if (cause->ready_ns < call->until_ns)
        return;
    /* Among simultaneous causes the lowest kind counts, in whatever order they arrive. */
    if (cause->ready_ns == call->until_ns &&
        (call->until_ns == call->enter_ns || cause->kind >= call->kind))
        return;
    if (!cause->is_bounded && call->has_left && cause->ready_ns >= call->leave_ns)
        return;
    call->until_ns = cause->ready_ns;
    call->kind = cause->kind;
    call->comm = cause->comm;
    call->other = cause->other;
    call->skew = cause->skew;
}

/* A call that asked ended early only if the cause was ready before. */
void sg_waitstate_call_offer(struct sg_waitstate_call *call, const struct sg_waitstate_cause *cause)
{
    struct sg_waitstate_cause before = *cause;

    if (call == NULL)
        return;
    offer(call, cause);
    before.is_bounded = before.is_among_needs = false;
    for (call = call->asked; call != NULL; call = call->asked)
        offer(call, &before);
}

/* Returns true if this was the last holder: the caller then counts and frees the call. NULL:
 * false. */
static bool sg_waitstate_call_release(struct sg_waitstate_call *call)
{
    return call != NULL && --call->holders == 0;
}

/* Gives the wait of a call without holders; returns false if it did not wait. */
static bool sg_waitstate_call_wait(const struct sg_waitstate_call *call, struct sg_waitstate *out)
{
    int64_t until_ns = call->until_ns < call->leave_ns ? call->until_ns : call->leave_ns;

    if (!call->has_left || until_ns <= call->enter_ns)
        return false;
    *out = (struct sg_waitstate){.kind = call->kind,
                                 .at = call->who,
                                 .other = call->other,
                                 .comm = call->comm,
                                 .begin_ns = call->enter_ns,
                                 .wait_ns = (uint64_t)until_ns - (uint64_t)call->enter_ns,
                                 .skew = call->skew};
    return true;
}
