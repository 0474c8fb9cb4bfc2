#include "intercept/dispatch.h"

#include "core/clock.h"
#include "core/hash.h"
#include "intercept/comm.h"
#include "intercept/post.h"
#include "intercept/process.h"
#include "intercept/run.h"
#include "intercept/site.h"
#include "intercept/statistics.h"
#include "intercept/trial.h"
#include "internode/request.h"
#include "mpi/real.h"
#include "mpi/types.h"

/* What this thread is in. An error handler may leave both for good, by an exception or longjmp. */
static __thread struct {
    struct sg_record_call *record; /* of the call whose end has not come yet */
    struct sg_stack_frame held;
} current;

/* One call in OVERHEAD_EVERY of a thread is timed as a whole, so that a run tells what stagger
 * itself took of it. */
#define OVERHEAD_EVERY 128u
static __thread struct {
    uint32_t calls;
    uint64_t inside_ns; /* of the last one recorded: from its begin to its end */
} timed;

static __thread uint16_t thread_number; /* 1 + index; 0: not yet known */

uint16_t sg_dispatch_thread(void)
{
    if (__builtin_expect(thread_number == 0, 0)) {
        static atomic_uint count;
        uint32_t index = atomic_fetch_add(&count, 1);

        thread_number = (uint16_t)(index < UINT16_MAX - 1 ? index + 1 : UINT16_MAX);
        if (index > 0 && index < UINT16_MAX && sg_process.log != NULL)
            atomic_fetch_add(&sg_log_header(sg_process.log)->thread_count, 1);
    }
    return (uint16_t)(thread_number - 1);
}

/* MPICH's handles of predefined types carry this mark, and the size; pairs (MPI_DOUBLE_INT) do not.
 */
#define TYPE_IS_BUILTIN(handle) (((unsigned)(handle)&0xfc000000u) == 0x4c000000u)
#define BUILTIN_SIZE(handle) ((uint64_t)((unsigned)(handle) >> 8 & 0xff))

/* Bytes of the operand as far as they are known before the call: of predefined types. Of a derived
 * type's handle only MPICH can tell whether it is one; such calls are MPICH's anyway. */
static uint64_t bytes_before(const struct sg_call *call)
{
    enum sg_element element;

    if (call->count <= 0 || call->operation == SG_OPERATION_BARRIER)
        return 0;
    if (TYPE_IS_BUILTIN(call->datatype))
        return (uint64_t)call->count * BUILTIN_SIZE(call->datatype);
    return sg_type_of(call->datatype, &element)
               ? (uint64_t)call->count * sg_element_size_bytes(element)
               : 0;
}

/* After a call that succeeded. */
static void complete_bytes(struct sg_call *call)
{
    MPI_Count size;

    if (call->operation != SG_OPERATION_BARRIER && call->count > 0 &&
        !TYPE_IS_BUILTIN(call->datatype) &&
        sg_real.Type_size_x(call->datatype, &size) == MPI_SUCCESS && size > 0)
        call->bytes = (uint64_t)call->count * (uint64_t)size;
}

/* Where ranks cannot agree, what they choose by is known to all. */
static bool is_by_site(const struct sg_call *call, const struct sg_comm *comm)
{
    return sg_process.by_site[call->operation] &&
           (comm->span == NULL || sg_span_agrees(comm->span));
}

static struct sg_rule_comm rule_comm_of(const struct sg_call *call, const struct sg_comm *comm)
{
    struct sg_rule_comm rule_comm = {
        .name = comm->name, .size = comm->size, .posts = call->request != NULL};

    if (comm->local != NULL)
        rule_comm.reach = SG_REACH_NODE;
    else if (comm->span != NULL)
        rule_comm.reach = SG_REACH_SPAN;
    return rule_comm;
}

static bool is_last(const struct sg_comm_choice *last, const struct sg_comm_choice *call)
{
    return last->choice != NULL && last->bytes == call->bytes && last->site == call->site;
}

/* The slow way to a choice: kept out of line, off the path of calls that repeat themselves.
 * by_site: it may depend on the call site. */
static __attribute__((noinline)) const struct sg_choice *
match(const struct sg_call *call, struct sg_site *site, struct sg_comm *comm, bool by_site)
{
    const struct sg_rule_comm rule_comm = rule_comm_of(call, comm);
    /* What holds for a call site on every communicator of one node that has an engine. */
    bool by_site_alone = by_site && comm->local != NULL;
    const struct sg_rule_site *from = by_site || comm->span == NULL ? &site->rule : NULL;
    struct sg_comm_choice found = {.bytes = call->bytes, .site = by_site ? site : NULL};
    bool fixed;

    if (is_last(&comm->trial[call->operation], &found) && !rule_comm.posts)
        return sg_trial_now(comm, &rule_comm, comm->trial[call->operation].choice);
    found.choice =
        sg_ruleset_match(sg_process.rules, call->operation, from, &rule_comm, call->bytes, &fixed);
    if (sg_process.has_trials)
        sg_trial_look(call, from, &rule_comm);
    /* Turns are not kept; nor is what blocking calls may find in a trial. */
    if (found.choice->arm != 0 && !rule_comm.posts)
        comm->trial[call->operation] = found;
    if (found.choice->arm != 0 || (sg_process.has_trials && rule_comm.posts))
        return sg_trial_now(comm, &rule_comm, found.choice);
    if (!by_site_alone)
        comm->last[call->operation] = found;
    else if (fixed) /* release: pairs with choose */
        atomic_store_explicit(&site->fixed[call->operation], found.choice, memory_order_release);
    return found.choice;
}

static const struct sg_choice *choose(const struct sg_call *call, struct sg_site *site,
                                      struct sg_comm *comm)
{
    bool by_site = is_by_site(call, comm);
    const struct sg_comm_choice *last = &comm->last[call->operation];
    const struct sg_choice *choice = NULL;

    if (by_site && comm->local != NULL) /* acquire: the choice itself is immutable */
        choice = atomic_load_explicit(&site->fixed[call->operation], memory_order_acquire);
    else if (last->bytes == call->bytes && last->site == (by_site ? site : NULL))
        choice = last->choice;
    return choice != NULL ? choice : match(call, site, comm, by_site);
}

static const struct sg_choice *choose_alike(const struct sg_call *call)
{
    return choose(call, NULL, sg_comm_find(call->comm));
}

static struct sg_record_call *begin_record(const struct sg_call *call, const struct sg_site *site,
                                           const struct sg_comm *comm, uint32_t seq,
                                           uint64_t begin_ns)
{
    struct sg_record_call *record = sg_log_event_growing(sg_process.log);

    if (record == NULL)
        return NULL;
    record->operation = (uint8_t)call->operation;
    record->flags = call->send == MPI_IN_PLACE && call->operation != SG_OPERATION_BARRIER
                        ? SG_CALL_IN_PLACE
                        : 0;
    record->site = site->index;
    record->comm = comm->index;
    record->thread = sg_dispatch_thread();
    record->begin_ns = begin_ns;
    record->bytes = call->bytes;
    record->seq = seq;
    record->root = call->root;
    sg_log_publish(record, SG_RECORD_CALL);
    current.record = record;
    return record;
}

static uint8_t byte(uint32_t count)
{
    return (uint8_t)(count < UINT8_MAX ? count : UINT8_MAX);
}

static uint16_t word(uint32_t count)
{
    return (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
}

static void end_record(struct sg_record_call *record, const struct sg_call *call,
                       const struct sg_outcome *outcome, int error, uint64_t end_ns)
{
    record->bytes = call->bytes;
    record->early = word(outcome->early);
    record->late = word(outcome->late);
    record->signals = word(outcome->signals);
    record->ignored = byte(outcome->ignored);
    record->stalls = byte(outcome->stalls);
    record->copies = byte(outcome->copies);
    record->outstanding = byte(outcome->outstanding);
    record->moves = word(outcome->moves);
    record->repeats = word(outcome->repeats);
    record->skew_ns = outcome->skew_ns < SG_CALL_WIDE_MAX ? outcome->skew_ns : SG_CALL_WIDE_MAX;
    record->ran = outcome->ran;
    if (outcome->skew_known)
        record->flags |= SG_CALL_SKEW;
    if (error != MPI_SUCCESS)
        record->flags |= SG_CALL_FAILED;
    /* Release: a reader that sees the end sees the whole record. */
    atomic_store_explicit(&record->end_ns, end_ns, memory_order_release);
    current.record = NULL;
}

void sg_dispatch_settle(void)
{
    static const struct sg_outcome nothing;
    struct sg_call abandoned = {0};

    if (current.record == NULL)
        return;
    abandoned.bytes = current.record->bytes;
    end_record(current.record, &abandoned, &nothing, MPI_ERR_OTHER, sg_clock_ns());
}

/* The call on a managed communicator, recorded. */
static int run_recorded(struct sg_call *call, struct sg_site *site, struct sg_comm *comm,
                        const struct sg_choice *choice)
{
    struct sg_outcome outcome = {0};
    uint32_t seq = atomic_load_explicit(&comm->seq, memory_order_relaxed);
    struct sg_record_call *record = NULL;
    uint64_t begin_ns = sg_clock_ns();
    uint64_t end_ns;
    int error;

    call->arrival_ns = begin_ns;
    if (sg_process.config.trace == SG_TRACE_OTF2) {
        call->name = (struct sg_call_name){true, site->index, comm->index, seq};
        record = begin_record(call, site, comm, seq, begin_ns);
    }
    error = sg_call_run(call, choice, &outcome);
    end_ns = sg_clock_ns();
    timed.inside_ns = end_ns - begin_ns;
    if (error == MPI_SUCCESS)
        complete_bytes(call);
    /* Another: an error handler's calls have settled this one. */
    if (record != NULL && record == current.record)
        end_record(record, call, &outcome, error, end_ns);
    if (error == MPI_SUCCESS)
        sg_statistics_add(call, site, comm->index, &outcome, end_ns - begin_ns);
    else
        atomic_fetch_add_explicit(&sg_log_header(sg_process.log)->failed_calls, 1,
                                  memory_order_relaxed);
    return error;
}

static bool is_recording(const struct sg_comm *comm)
{
    return sg_process.log != NULL && comm->index != SG_COMM_UNRECORDED &&
           atomic_load_explicit(&sg_process.recording, memory_order_relaxed);
}

/* What the call is, besides its arguments, and its choice. */
static const struct sg_choice *complete_call(struct sg_call *call, struct sg_site *site,
                                             struct sg_comm *comm)
{
    call->bytes = bytes_before(call);
    call->site = &site->rule;
    call->local = comm->local;
    call->span = comm->span;
    call->devices = comm->devices;
    if ((call->local != NULL || call->span != NULL) && is_by_site(call, comm)) {
        call->rules = sg_process.rules;
        call->choose_alike = choose_alike;
    }
    return choose(call, site, comm);
}

/* A call that failed (an argument error, on this rank alone perhaps) is no instance. */
static void count_instance(struct sg_comm *comm, int error)
{
    if (error == MPI_SUCCESS)
        atomic_store_explicit(&comm->seq,
                              atomic_load_explicit(&comm->seq, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

static int run_managed(struct sg_call *call, struct sg_comm *comm, void *return_address)
{
    struct sg_site *site = sg_site_of(return_address);
    const struct sg_choice *choice = complete_call(call, site, comm);
    struct sg_outcome outcome = {0};
    int error;

    if (is_recording(comm))
        error = run_recorded(call, site, comm, choice);
    else
        error = sg_call_run(call, choice, &outcome);
    count_instance(comm, error);
    return error;
}

static __attribute__((noinline)) int run_timed(struct sg_call *call, struct sg_comm *comm,
                                               void *return_address)
{
    struct sg_log_header *header = is_recording(comm) ? sg_log_header(sg_process.log) : NULL;
    uint64_t begin_ns = sg_clock_ns(), own_ns;
    int error = run_managed(call, comm, return_address);

    if (header == NULL)
        return error;
    own_ns = sg_clock_ns() - begin_ns - timed.inside_ns;
    if (own_ns > SG_OVERHEAD_LONG_NS) {
        atomic_fetch_add_explicit(&header->overhead_long_calls, 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&header->overhead_calls, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&header->overhead_ns, own_ns, memory_order_relaxed);
    }
    return error;
}

static int pass_unrecorded(const struct sg_call *call)
{
    struct sg_log_header *header = sg_process.log != NULL ? sg_log_header(sg_process.log) : NULL;

    if (header != NULL)
        atomic_fetch_add_explicit(&header->unmanaged_calls, 1, memory_order_relaxed);
    if (header != NULL && call->request != NULL)
        atomic_fetch_add_explicit(&header->unmanaged_posts, 1, memory_order_relaxed);
    return call->pass(call);
}

/* A nonblocking call, which never sets its communicator up. What MPICH runs of them it also
 * completes: there is nothing to record. */
static int post(struct sg_call *call, struct sg_comm *comm, void *return_address)
{
    uint64_t begin_ns = sg_clock_ns();
    struct sg_outcome outcome = {0};
    const struct sg_choice *choice;
    struct sg_span_plan plan;
    struct sg_site *site;
    int error;

    if (comm == NULL || comm->span == NULL)
        return pass_unrecorded(call);
    sg_request_reap();
    site = sg_site_of(return_address);
    choice = complete_call(call, site, comm);
    if (!sg_call_plan_post(call, &choice, &plan)) {
        error = pass_unrecorded(call);
        /* Where an arm takes no such call, turns go on all the same. */
        if (choice->arm != 0)
            count_instance(comm, error);
        return error;
    }
    if (is_recording(comm))
        error = sg_post_recorded(call, &plan, site, comm, begin_ns);
    else
        error = sg_request_post(call, &plan, NULL, NULL, &outcome);
    count_instance(comm, error);
    /* Last: the handler need not return. */
    if (error != MPI_SUCCESS)
        sg_real.Comm_call_errhandler(call->comm, error);
    return error;
}

/* The first call on a communicator: MPICH's own, so that its argument checks come first; the
 * communicator is set up behind it. */
static int run_first(struct sg_call *call, void *return_address)
{
    uint64_t begin_ns = sg_clock_ns();
    int error = call->pass(call);
    uint64_t end_ns = sg_clock_ns();
    struct sg_comm *comm;

    if (error != MPI_SUCCESS)
        return error;
    comm = sg_comm_set_up(call->comm);
    if (comm == NULL || !comm->managed)
        return error;
    if (is_recording(comm)) {
        static const struct sg_outcome nothing;
        struct sg_site *site = sg_site_of(return_address);
        struct sg_record_call *record = NULL;

        call->bytes = bytes_before(call);
        complete_bytes(call);
        if (sg_process.config.trace == SG_TRACE_OTF2)
            record = begin_record(call, site, comm, 0, begin_ns);
        if (record != NULL)
            end_record(record, call, &nothing, error, end_ns);
        sg_statistics_add(call, site, comm->index, &nothing, end_ns - begin_ns);
    }
    atomic_store_explicit(&comm->seq, 1, memory_order_relaxed);
    return error;
}

/* True inside a function of this thread that holds. */
static __attribute__((noinline)) bool is_held(uintptr_t frame)
{
    if (frame < current.held.address && sg_stack_holds(&current.held))
        return true;
    current.held.address = 0;
    return false;
}

struct sg_stack_frame sg_dispatch_hold(void *frame, void *caller)
{
    struct sg_stack_frame before = {0};

    if (current.held.address != 0 && is_held((uintptr_t)frame))
        before = current.held;
    current.held.address = (uintptr_t)frame;
    current.held.caller = caller;
    return before;
}

void sg_dispatch_release(struct sg_stack_frame before)
{
    current.held = before;
}

int sg_dispatch(struct sg_call *call, void *return_address)
{
    struct sg_comm *comm;
    int error;

    if (__builtin_expect(current.held.address != 0, 0) &&
        is_held((uintptr_t)__builtin_frame_address(0)))
        return call->pass(call);
    if (__builtin_expect(current.record != NULL, 0))
        sg_dispatch_settle();
    comm = sg_comm_find(call->comm);
    if (__builtin_expect(call->request != NULL, 0)) {
        error = post(call, comm, return_address);
    } else if (comm == NULL) {
        error = run_first(call, return_address);
    } else if (comm->managed) {
        error = __builtin_expect(++timed.calls % OVERHEAD_EVERY == 0, 0)
                    ? run_timed(call, comm, return_address)
                    : run_managed(call, comm, return_address);
    } else {
        error = pass_unrecorded(call);
    }
    return error;
}
