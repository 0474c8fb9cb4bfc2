#include "watch/watch_arrivals.h"

#include "core/room.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/window.h"
#include "trace/export/clockmap.h"
#include "trace/export/logread.h"
#include "trace/export/summary.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of calls in instances that wait for other members. */
#define WAITING_CALLS UINT64_C(1000000)

/* A communicator in one rank's numbering. */
struct membership {
    uint32_t comm; /* number in the window and in the aggregate */
    uint32_t member, size;
    uint32_t next; /* the rank has not reached this instance, nor later ones */
};

struct rank {
    struct sg_map sites; /* the rank's numbers -> call sites in the aggregate */
    struct sg_map comms; /* the rank's numbers -> memberships */
    struct membership *memberships;
    uint32_t membership_count;
    struct sg_clock_point *clock;
    uint32_t clock_count;
    uint64_t until_ns;
};

struct sg_live_arrivals {
    struct sg_aggregate *aggregate; /* call sites by id only */
    struct sg_watch watch;
    struct sg_instance_window *window;
    struct sg_map comm_by_identity;
    uint32_t comm_count;
    uint32_t unknown_site, algorithm;
    struct rank *ranks;
    uint32_t rank_count;
    struct sg_live_site *sites; /* by number of the aggregate's sum */
    uint32_t site_count;
    struct sg_map site_by_key;
    uint64_t left_out; /* in addition to those that the window dropped */
};

/* ---- figures --------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t id, enum sg_operation operation, bool nonblocking)
{
    return (uint64_t)id << 32 | (uint64_t)operation << 1 | nonblocking;
}

/* Finds the figures that a row of the aggregate counts for. */
static enum sg_status find(struct sg_live_arrivals *arrivals, const struct sg_aggregate *aggregate,
                           uint32_t row, struct sg_live_site **out)
{
    uint32_t sum = sg_aggregate_sum_of(aggregate, row);
    struct sg_report_site name = {0};

    if (sum >= arrivals->site_count) {
        if (!SG_EXTEND(arrivals->sites, arrivals->site_count, sum))
            return SG_ERR_MEMORY;
        sg_aggregate_name_row(aggregate, row, &name);
        if (sg_map_put(&arrivals->site_by_key, key_of(name.id, name.operation, name.nonblocking),
                       sum) != SG_OK)
            return SG_ERR_MEMORY;
    }
    *out = &arrivals->sites[sum];
    return SG_OK;
}

static enum sg_status count(const struct sg_live_arrivals *arrivals,
                            const struct sg_seen_instance *seen, struct sg_live_arrived *into)
{
    const struct sg_instance *instance = seen->instance;

    into->instances++;
    into->skew_sum_ns += (double)seen->measure->skew_ns;
    if (instance->size > 1) {
        if (into->last_counts == NULL)
            into->last_counts = calloc(arrivals->rank_count, sizeof *into->last_counts);
        if (into->last_counts == NULL)
            return SG_ERR_MEMORY;
        into->last_counts[instance->calls[seen->measure->last].rank]++;
    }
    return sg_quantiles_add(&into->skews, seen->measure->skew_ns);
}

/* The aggregate numbers sums in the order of their first calls, so that sites has no gaps. */
static enum sg_status see(void *context, const struct sg_aggregate *aggregate,
                          const struct sg_seen_instance *seen)
{
    struct sg_live_arrivals *arrivals = context;
    struct sg_live_site *site;
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < seen->instance->size && status == SG_OK; i++) {
        status = find(arrivals, aggregate, seen->rows[i], &site);
        if (status != SG_OK)
            break;
        site->total.calls++;
        site->recent.calls++;
        site->total.wait_ns += seen->costs[i].wait_ns;
        site->recent.wait_ns += seen->costs[i].wait_ns;
    }
    if (status == SG_OK)
        status = find(arrivals, aggregate, seen->row, &site);
    if (status == SG_OK)
        status = count(arrivals, seen, &site->total);
    return status == SG_OK ? count(arrivals, seen, &site->recent) : status;
}

static enum sg_status add_instance(void *context, const struct sg_instance *instance)
{
    struct sg_live_arrivals *arrivals = context;

    return sg_aggregate_instance(arrivals->aggregate, instance);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static enum sg_status take_site(struct sg_live_arrivals *arrivals, struct rank *rank,
                                const struct sg_record_site *record)
{
    const struct sg_site_text text = {.id = record->id};
    uint32_t site;
    enum sg_status status = sg_aggregate_site(arrivals->aggregate, &text, &site);

    return status == SG_OK ? sg_map_put(&rank->sites, record->index, site) : status;
}

/* Adds a communicator to the aggregate and the window, which give it the same number. */
static enum sg_status make_comm(struct sg_live_arrivals *arrivals, uint32_t size, uint32_t *out)
{
    enum sg_status status = sg_aggregate_comm(arrivals->aggregate, "", size, 0, out);

    return status == SG_OK ? sg_window_add_comm(arrivals->window, size) : status;
}

static enum sg_status join(struct rank *rank, uint32_t index, const struct membership *membership)
{
    if (!SG_APPEND(rank->memberships, rank->membership_count, *membership))
        return SG_ERR_MEMORY;
    return sg_map_put(&rank->comms, index, rank->membership_count - 1);
}

/* index: in the rank's numbering. NULL: unknown. */
static struct membership *membership_of(const struct rank *rank, uint32_t index)
{
    int64_t found = sg_map_get(&rank->comms, index);

    return found >= 0 ? &rank->memberships[found] : NULL;
}

static enum sg_status take_comm(struct sg_live_arrivals *arrivals, struct rank *rank,
                                const struct sg_record_comm *record)
{
    struct membership membership = {.member = record->rank, .size = record->size};
    uint64_t identity = (uint64_t)record->root_world_rank << 32 | record->root_counter;
    int64_t found = sg_map_get(&arrivals->comm_by_identity, identity);
    enum sg_status status;

    if (record->index <= SG_COMM_SELF_INDEX || record->size < 1 ||
        record->size > arrivals->rank_count || record->rank >= record->size)
        return SG_OK;
    if (found >= 0) {
        membership.comm = (uint32_t)found;
    } else {
        status = make_comm(arrivals, record->size, &membership.comm);
        if (status == SG_OK)
            status = sg_map_put(&arrivals->comm_by_identity, identity, membership.comm);
        if (status != SG_OK)
            return status;
    }
    return join(rank, record->index, &membership);
}

static enum sg_status take_clock(struct rank *rank, const struct sg_record_clock *record)
{
    const struct sg_clock_point point = {
        .local_ns = record->local_ns, .offset_ns = record->offset_ns, .error_ns = record->error_ns};

    if (!SG_APPEND(rank->clock, rank->clock_count, point))
        return SG_ERR_MEMORY;
    rank->clock_count = (uint32_t)sg_clock_sanitize(rank->clock, rank->clock_count);
    return SG_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int64_t global_ns(const struct rank *rank, uint64_t local_ns)
{
    return (int64_t)(rank->clock_count > 0
                         ? sg_clock_global(rank->clock, rank->clock_count, local_ns)
                         : local_ns);
}

static struct sg_member_call call_of(const struct sg_live_arrivals *arrivals, uint32_t rank,
                                     const struct sg_recorded_call *recorded)
{
    const struct rank *of = &arrivals->ranks[rank];
    int64_t site = sg_map_get(&of->sites, recorded->site);
    struct sg_member_call call = {.site = site >= 0 ? (uint32_t)site : arrivals->unknown_site,
                                  .algorithm = arrivals->algorithm,
                                  .rank = rank,
                                  .thread = recorded->thread,
                                  .bytes = recorded->bytes,
                                  .begin_ns = global_ns(of, recorded->begin_ns)};

    call.end_ns = call.begin_ns + (int64_t)(recorded->end_ns - recorded->begin_ns);
    if (recorded->call == NULL) {
        call.nonblocking = true;
        call.start_ns = recorded->end_ns - recorded->begin_ns;
        call.exposed_ns = recorded->exposed_ns;
        call.hidden_ns = sg_recorded_call_hidden_ns(recorded);
        call.end_ns = call.begin_ns + (int64_t)(recorded->complete_ns - recorded->begin_ns);
    }
    return call;
}

/* MPI_COMM_SELF is one communicator here, but each rank's own in the logs. */
static enum sg_status add_alone(struct sg_live_arrivals *arrivals,
                                const struct membership *membership,
                                const struct sg_recorded_call *recorded,
                                struct sg_member_call *call)
{
    const struct sg_instance instance = {.seq = recorded->seq,
                                         .comm = membership->comm,
                                         .size = 1,
                                         .operation = recorded->operation,
                                         .nonblocking = call->nonblocking,
                                         .calls = call};

    return sg_aggregate_instance(arrivals->aggregate, &instance);
}

static bool is_sound(const struct sg_recorded_call *recorded, const struct membership *membership)
{
    return sg_recorded_call_is_sound(recorded) &&
           (!sg_operation_has_root((enum sg_operation)recorded->operation) ||
            (recorded->root >= 0 && (uint32_t)recorded->root < membership->size));
}

static enum sg_status take_call(struct sg_live_arrivals *arrivals, uint32_t rank,
                                const void *record)
{
    struct sg_recorded_call recorded;
    struct rank *of = &arrivals->ranks[rank];
    struct membership *membership;
    struct sg_member_call call;

    if (!sg_recorded_call_read(record, &recorded))
        return SG_OK;
    membership = membership_of(of, recorded.comm);
    if (membership != NULL && membership->next <= recorded.seq)
        membership->next = recorded.seq + 1;
    if ((recorded.flags & SG_CALL_FAILED) != 0)
        return SG_OK;
    if (membership == NULL || !is_sound(&recorded, membership)) {
        arrivals->left_out++;
        return SG_OK;
    }
    call = call_of(arrivals, rank, &recorded);
    of->until_ns = call.begin_ns > 0 ? (uint64_t)call.begin_ns : 0;
    if (recorded.comm == SG_COMM_SELF_INDEX)
        return add_alone(arrivals, membership, &recorded, &call);
    if (sg_window_counts(arrivals->window).live * arrivals->rank_count > WAITING_CALLS)
        sg_window_finish(arrivals->window);
    return sg_window_add(arrivals->window, membership->comm, recorded.seq, membership->member,
                         recorded.operation, recorded.root >= 0 ? (uint32_t)recorded.root : 0,
                         &call);
}

enum sg_status sg_live_arrivals_take(struct sg_live_arrivals *arrivals, uint32_t rank,
                                     enum sg_record_kind kind, const void *record)
{
    struct rank *of = &arrivals->ranks[rank];

    switch (kind) {
    case SG_RECORD_SITE:
        return take_site(arrivals, of, record);
    case SG_RECORD_COMM:
        return take_comm(arrivals, of, record);
    case SG_RECORD_CLOCK:
        return take_clock(of, record);
    case SG_RECORD_CALL:
    case SG_RECORD_NONBLOCKING:
        return take_call(arrivals, rank, record);
    default:
        return SG_OK;
    }
}

/* ---- results --------------------------------------------------------------------------------- */

uint64_t sg_live_arrivals_until_ns(const struct sg_live_arrivals *arrivals, uint32_t rank)
{
    return arrivals->ranks[rank].until_ns;
}

uint64_t sg_live_arrivals_left_out(const struct sg_live_arrivals *arrivals)
{
    return arrivals->left_out + sg_window_counts(arrivals->window).dropped_calls;
}

struct sg_live_site *sg_live_arrivals_find(const struct sg_live_arrivals *arrivals, uint32_t id,
                                           enum sg_operation operation, bool nonblocking)
{
    int64_t found = sg_map_get(&arrivals->site_by_key, key_of(id, operation, nonblocking));

    return found >= 0 ? &arrivals->sites[found] : NULL;
}

bool sg_live_arrivals_awaits(const struct sg_live_arrivals *arrivals, uint32_t rank,
                             const struct sg_record_call *call, uint32_t other)
{
    const struct membership *own = membership_of(&arrivals->ranks[rank], call->comm);
    const struct rank *of = &arrivals->ranks[other];

    if (own == NULL || own->size < 2)
        return false;
    for (uint32_t i = 0; i < of->membership_count; i++) {
        const struct membership *its = &of->memberships[i];

        if (its->comm != own->comm || its->member == own->member)
            continue;
        return its->next <= call->seq &&
               (call->operation != SG_OPERATION_BCAST || (int64_t)its->member == call->root) &&
               (call->operation != SG_OPERATION_REDUCE || (int64_t)own->member == call->root);
    }
    return false;
}

static void forget(struct sg_live_arrived *arrived)
{
    sg_quantiles_clear(&arrived->skews);
    free(arrived->last_counts);
    *arrived = (struct sg_live_arrived){0};
}

void sg_live_arrivals_renew(struct sg_live_arrivals *arrivals)
{
    for (uint32_t i = 0; i < arrivals->site_count; i++)
        forget(&arrivals->sites[i].recent);
}

int64_t sg_live_arrived_last(const struct sg_live_arrived *arrived, uint32_t ranks, uint64_t *count)
{
    int64_t last = -1;

    *count = 0;
    for (uint32_t rank = 0; arrived->last_counts != NULL && rank < ranks; rank++) {
        if (arrived->last_counts[rank] > *count) {
            *count = arrived->last_counts[rank];
            last = rank;
        }
    }
    return last;
}

/* ---- from beginning to end ------------------------------------------------------------------- */

static enum sg_status set_up(struct sg_live_arrivals *arrivals)
{
    const struct sg_site_text unknown = {0};
    struct membership world = {.size = arrivals->rank_count}, self = {.size = 1};
    enum sg_status status = sg_aggregate_create(arrivals->rank_count, &arrivals->aggregate);

    if (status == SG_OK)
        status = sg_window_create(add_instance, arrivals, &arrivals->window);
    if (status != SG_OK)
        return status;
    arrivals->watch = (struct sg_watch){.context = arrivals, .instance = see};
    sg_aggregate_watch(arrivals->aggregate, &arrivals->watch);
    status = sg_aggregate_algorithm(arrivals->aggregate, "", &arrivals->algorithm);
    if (status == SG_OK)
        status = sg_aggregate_site(arrivals->aggregate, &unknown, &arrivals->unknown_site);
    if (status == SG_OK)
        status = make_comm(arrivals, world.size, &world.comm);
    if (status == SG_OK)
        status = make_comm(arrivals, self.size, &self.comm);
    for (uint32_t rank = 0; rank < arrivals->rank_count && status == SG_OK; rank++) {
        world.member = rank;
        status = join(&arrivals->ranks[rank], SG_COMM_WORLD_INDEX, &world);
        if (status == SG_OK)
            status = join(&arrivals->ranks[rank], SG_COMM_SELF_INDEX, &self);
    }
    return status;
}

enum sg_status sg_live_arrivals_create(uint32_t ranks, struct sg_live_arrivals **out)
{
    struct sg_live_arrivals *arrivals = calloc(1, sizeof *arrivals);

    if (arrivals == NULL)
        return SG_ERR_MEMORY;
    arrivals->rank_count = ranks;
    arrivals->ranks = calloc(ranks, sizeof *arrivals->ranks);
    if (arrivals->ranks == NULL || set_up(arrivals) != SG_OK) {
        sg_live_arrivals_destroy(arrivals);
        return SG_ERR_MEMORY;
    }
    *out = arrivals;
    return SG_OK;
}

void sg_live_arrivals_destroy(struct sg_live_arrivals *arrivals)
{
    if (arrivals == NULL)
        return;
    for (uint32_t i = 0; i < arrivals->site_count; i++) {
        forget(&arrivals->sites[i].total);
        forget(&arrivals->sites[i].recent);
    }
    for (uint32_t i = 0; arrivals->ranks != NULL && i < arrivals->rank_count; i++) {
        sg_map_clear(&arrivals->ranks[i].sites);
        sg_map_clear(&arrivals->ranks[i].comms);
        free(arrivals->ranks[i].memberships);
        free(arrivals->ranks[i].clock);
    }
    free(arrivals->ranks);
    free(arrivals->sites);
    sg_map_clear(&arrivals->site_by_key);
    sg_map_clear(&arrivals->comm_by_identity);
    sg_window_destroy(arrivals->window);
    sg_aggregate_destroy(arrivals->aggregate);
    free(arrivals);
}

/* ---- copying slots --------------------------------------------------------------------------- */

static sigjmp_buf way_out;
static volatile sig_atomic_t is_copying;

static void leave(int signal)
{
    if (is_copying)
        siglongjmp(way_out, 1);
    /* The signal comes again and ends the program. */
    (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

void sg_slots_guard(void)
{
    /* SA_NODEFER: siglongjmp need not restore a mask, so that sigsetjmp costs no system call. */
    const struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};

    (void)sigaction(SIGBUS, &action, NULL);
}

/* Offset of a record's end time, which is 0 while the record is open; 0: the kind has none. */
static size_t place_of_end(uint8_t kind)
{
    switch (kind) {
    case SG_RECORD_CALL:
        return offsetof(struct sg_record_call, end_ns);
    case SG_RECORD_NONBLOCKING:
        return offsetof(struct sg_record_nonblocking, end_ns);
    case SG_RECORD_EVENT:
        return offsetof(struct sg_record_event, end_ns);
    default:
        return 0;
    }
}

static void copy_words(unsigned char *to, const unsigned char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word =
            atomic_load_explicit((const _Atomic uint64_t *)(from + at), memory_order_relaxed);

        memcpy(to + at, &word, sizeof word);
    }
}

static void copy_slot(unsigned char *to, const unsigned char *from)
{
    /* Both loads acquire: they pair with the writer's releases, so that the words are at least as
     * new. */
    uint8_t kind = atomic_load_explicit((const _Atomic uint8_t *)from, memory_order_acquire);
    size_t place = place_of_end(kind);
    uint64_t end_ns = place == 0 ? 0
                                 : atomic_load_explicit((const _Atomic uint64_t *)(from + place),
                                                        memory_order_acquire);

    copy_words(to, from, SG_SLOT_BYTES);
    to[0] = kind;
    if (place > 0)
        memcpy(to + place, &end_ns, sizeof end_ns);
}

bool sg_slots_copy(void *to, const void *from, uint64_t count)
{
    if (sigsetjmp(way_out, 0) != 0) {
        is_copying = 0;
        return false;
    }
    is_copying = 1;
    atomic_signal_fence(memory_order_seq_cst);
    for (uint64_t slot = 0; slot < count; slot++)
        copy_slot((unsigned char *)to + slot * SG_SLOT_BYTES,
                  (const unsigned char *)from + slot * SG_SLOT_BYTES);
    atomic_signal_fence(memory_order_seq_cst);
    is_copying = 0;
    return true;
}

bool sg_slots_copy_words(void *to, const void *from, size_t bytes)
{
    if (sigsetjmp(way_out, 0) != 0) {
        is_copying = 0;
        return false;
    }
    is_copying = 1;
    atomic_signal_fence(memory_order_seq_cst);
    copy_words(to, from, bytes);
    atomic_signal_fence(memory_order_seq_cst);
    is_copying = 0;
    return true;
}
