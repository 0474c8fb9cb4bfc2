/* Runs one collective: by MPICH, inside a node, or between nodes. Finds the communicator, call site
 * and choice of the call, and records it (dispatch.h).
 *
 * Called in the application's thread, inside the intercepted call; never from a signal handler. A
 * call that passes to MPICH still counts among all MPI calls.
 */
#include "intercept/wrap.h"

#include "core/account.h"
#include "core/clock.h"
#include "core/tick.h"
#include "intercept/call_log.h"
#include "intercept/choose.h"
#include "intercept/comm_setup.h"
#include "internode/agree.h"
#include "internode/internode.h"
#include "internode/request.h"
#include "intranode/mpi/intranode.h"
#include "mpi/gpu_buffers.h"
#include "mpi/operands.h"
#include "mpi/packed.h"
#include "mpi/real.h"
#include "profile/profile.h"
#include "profile/site.h"
#include "runtime/recording.h"
#include "runtime/settings.h"

/* ---- buffers in a GPU's memory ---- */

/* A thread's last buffers when no driver was there. Host memory stays host memory, and most calls
 * reuse the buffers of the call before. */
static __thread struct {
    const void *send, *receive;
} of_host;

static __attribute__((noinline)) bool is_driver_there(const struct sg_call *call)
{
    if (sg_device_is_there())
        return true;
    of_host.send = call->send;
    of_host.receive = call->receive;
    return false;
}

/* True if the call's buffers may be in a GPU's memory and have to be checked. */
static inline bool is_near_devices(const struct sg_call *call)
{
    if (call->operation == SG_OPERATION_BARRIER)
        return false;
    return call->devices || ((call->send != of_host.send || call->receive != of_host.receive) &&
                             is_driver_there(call));
}

/* Returns true, the same on all ranks, if MPICH has to run a nonblocking call: it cannot wait for
 * the other ranks to report their buffers. */
static bool is_left_to_mpich(const struct sg_call *call)
{
    if (!is_near_devices(call))
        return false;
    if (sg_device_has_buffer(call) && !call->devices)
        sg_device_end_job(call);
    return call->devices;
}

/* ---- running ---- */

/* Runs MPICH's function, by choice or because the chosen algorithm does not take the call. */
static int pass(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_call_statistics *statistics)
{
    statistics->executed = sg_executed(SG_ALGORITHM_MPICH, choice->arm);
    return choice->algorithm == SG_ALGORITHM_MPICH ? sg_call_pass(call) : sg_unmet_pass(call);
}

/* A buffer may be in a GPU's memory, and no rank can wait for the others' report. */
static int pass_from_devices(const struct sg_call *call, const struct sg_choice *choice,
                             struct sg_call_statistics *statistics)
{
    sg_device_has_buffer(call); /* counts it */
    sg_device_say_mpich(call);
    return pass(call, choice, statistics);
}

/* *choice becomes the one that all ranks follow. A call that is wrong on this rank alone takes no
 * part in the choices of all ranks. */
static bool plan_between_nodes(const struct sg_call *call, const struct sg_choice **choice,
                               struct sg_internode_plan *plan)
{
    if ((call->rules != NULL || (*choice)->algorithm == SG_ALGORITHM_AUTO) &&
        !sg_internode_takes(call->internode, call))
        return false;
    if (call->rules != NULL) {
        *choice = sg_internode_agree(call->internode, call, *choice);
        if (*choice == NULL)
            *choice = sg_choose_alike(call);
    }
    return sg_internode_plan_call(call->internode, call, *choice, plan);
}

static int run_between_nodes(const struct sg_call *call, const struct sg_choice *choice,
                             struct sg_call_statistics *statistics)
{
    struct sg_internode_plan plan;
    int error = plan_between_nodes(call, &choice, &plan)
                    ? sg_internode_run_planned(call->internode, &plan, statistics)
                    : pass(call, choice, statistics);

    if (choice->algorithm == SG_ALGORITHM_AUTO)
        sg_internode_end_turn(call->internode, statistics);
    return error;
}

/* Runs the candidate that `auto` selects. The record has its algorithm, and the trial candidate of
 * the choice. */
static __attribute__((noinline)) int run_auto_in_node(const struct sg_call *call,
                                                      const struct sg_choice *choice,
                                                      struct sg_call_statistics *statistics)
{
    const struct sg_choice *selected = sg_intranode_begin_turn(call->intranode, call, choice);
    int error = selected->algorithm == SG_ALGORITHM_MPICH
                    ? pass(call, selected, statistics)
                    : sg_intranode_run_planned(call->intranode, call, selected, statistics);

    sg_intranode_end_turn(call->intranode);
    statistics->executed = sg_executed(sg_executed_algorithm(statistics->executed), choice->arm);
    return error;
}

static int run_in_node(const struct sg_call *call, const struct sg_choice *choice,
                       struct sg_call_statistics *statistics)
{
    if (!sg_intranode_plan(call->intranode, call, &choice))
        return pass(call, choice, statistics);
    if (choice->algorithm == SG_ALGORITHM_AUTO)
        return run_auto_in_node(call, choice, statistics);
    return sg_intranode_run_planned(call->intranode, call, choice, statistics);
}

/* Runs the call on host buffers, or among ranks that report GPU buffers to each other. */
static int run_on_engine(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_call_statistics *statistics)
{
    if (call->internode != NULL)
        return run_between_nodes(call, choice, statistics);
    return call->intranode != NULL ? run_in_node(call, choice, statistics)
                                   : pass(call, choice, statistics);
}

/* Runs the call on bytes that MPICH packs and unpacks. */
static int run_packed(const struct sg_call *call, const struct sg_choice *choice,
                      struct sg_call_statistics *statistics)
{
    struct sg_packed_call packed;
    int error = sg_packed_begin_call(call, &packed), error_of_end;
    bool has_data;

    if (error != MPI_SUCCESS)
        return sg_real.Comm_call_errhandler(call->comm, error);
    error = sg_packed_fill(&packed);
    if (error == MPI_SUCCESS)
        error = run_on_engine(&packed.call, choice, statistics);
    has_data =
        error == MPI_SUCCESS && sg_executed_algorithm(statistics->executed) != SG_ALGORITHM_MPICH;
    error_of_end = sg_packed_end_call(&packed, has_data);
    return error != MPI_SUCCESS ? error : error_of_end;
}

/* Runs the call on host memory, into which MPICH copies the data of a GPU. */
static int run_staged(const struct sg_call *call, const struct sg_choice *choice,
                      struct sg_call_statistics *statistics)
{
    struct sg_device_stage stage;
    int error, error_of_end;

    if (!sg_device_can_stage(call))
        return run_on_engine(call, choice, statistics);
    error = sg_device_begin_stage(call, &stage);
    if (error != MPI_SUCCESS)
        return sg_real.Comm_call_errhandler(call->comm, error);
    error = sg_device_fill_stage(&stage);
    if (error == MPI_SUCCESS)
        error = run_on_engine(&stage.call, choice, statistics);
    error_of_end = sg_device_end_stage(&stage, error == MPI_SUCCESS);
    return error != MPI_SUCCESS ? error : error_of_end;
}

/* Packs a derived type, or a buffer in a GPU's memory if the other ranks do not know of its
 * driver. */
static int run_broadcast(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_call_statistics *statistics)
{
    bool passes = call->internode != NULL && is_near_devices(call) && call->devices;
    bool managed = call->internode != NULL || call->intranode != NULL;
    bool is_derived = !sg_type_is_builtin(call->datatype);
    bool is_plain = is_derived && call->bytes > 0 && managed && sg_packed_is_plain(call);
    bool packs = (is_derived && !is_plain) ||
                 (managed && is_near_devices(call) && !call->devices && sg_device_has_buffer(call));
    struct sg_call bytes;

    if (passes)
        return pass_from_devices(call, choice, statistics);
    if (!managed || call->bytes == 0 || !(packs || is_plain) ||
        (choice->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL))
        return run_on_engine(call, choice, statistics);
    if (packs)
        return run_packed(call, choice, statistics);
    bytes = sg_packed_as_bytes(call);
    return run_on_engine(&bytes, choice, statistics);
}

/* MPICH returns from these calls at once, on all ranks. */
static bool moves_nothing(const struct sg_call *call)
{
    return (call->operation == SG_OPERATION_REDUCE && call->count == 0) ||
           (call->operation == SG_OPERATION_BCAST && call->count >= 0 && call->bytes == 0);
}

/* Runs a collective by the choice. Returns what the MPI call returns. */
static int run_collective(const struct sg_call *call, const struct sg_choice *choice,
                          struct sg_call_statistics *statistics)
{
    if (__builtin_expect(moves_nothing(call), 0))
        return pass(call, choice, statistics);
    if (call->operation == SG_OPERATION_BCAST)
        return run_broadcast(call, choice, statistics);
    if (__builtin_expect(!is_near_devices(call), 1) ||
        (call->internode == NULL && call->intranode == NULL))
        return run_on_engine(call, choice, statistics);
    if (!call->devices)
        return sg_device_has_buffer(call) ? run_staged(call, choice, statistics)
                                          : run_on_engine(call, choice, statistics);
    if (call->internode == NULL)
        return run_on_engine(call, choice, statistics);
    return pass_from_devices(call, choice, statistics);
}

/* ---- calls that failed on this rank alone ---- */

/* True if the other ranks reach the call's position without a message from this rank. False for a
 * call that MPICH runs: it does not wait for them, least of all if it fails. */
static bool is_met(const struct sg_call *call, const struct sg_choice *choice)
{
    if (call->request != NULL || call->rules != NULL || choice->algorithm == SG_ALGORITHM_MPICH ||
        choice->algorithm == SG_ALGORITHM_AUTO)
        return false;
    if (call->internode != NULL)
        return sg_internode_takes(call->internode, call);
    return call->intranode != NULL && sg_intranode_takes(call->intranode, call);
}

/* Takes part in the failed calls in which the other ranks are. */
static __attribute__((noinline)) void run_unmet(struct sg_comm *comm, const struct sg_call *call,
                                                struct sg_site *site,
                                                const struct sg_choice *choice)
{
    bool waits = is_met(call, choice);
    struct sg_call part;

    while (sg_unmet_begin(comm, call, waits, &part)) {
        struct sg_call_statistics statistics = {0};

        run_collective(&part, sg_choose(&part, site, comm), &statistics);
        sg_unmet_end(comm, &part);
    }
}

/* ---- the rest of a call's description ---- */

/* Returns the operand's bytes if they are known before the call, which holds for predefined types.
 * Only MPICH can check a derived type's handle. MPICH runs such calls anyway, except broadcasts,
 * which have the same bytes on all ranks whatever their types. */
static uint64_t bytes_before(const struct sg_call *call)
{
    enum sg_element element;

    if (call->count <= 0 || call->operation == SG_OPERATION_BARRIER)
        return 0;
    if (sg_type_is_builtin(call->datatype))
        return (uint64_t)call->count * sg_type_builtin_bytes(call->datatype);
    if (call->operation == SG_OPERATION_BCAST)
        return sg_packed_bytes(call);
    return sg_type_of(call->datatype, &element)
               ? (uint64_t)call->count * sg_element_size_bytes(element)
               : 0;
}

/* Sets the bytes after a call that succeeded. */
static void complete_bytes(struct sg_call *call)
{
    MPI_Count size;

    if (call->operation != SG_OPERATION_BARRIER && call->count > 0 &&
        !sg_type_is_builtin(call->datatype) &&
        sg_real.Type_size_x(call->datatype, &size) == MPI_SUCCESS && size > 0)
        call->bytes = (uint64_t)call->count * (uint64_t)size;
}

static void describe(struct sg_call *call, const struct sg_site *site, const struct sg_comm *comm)
{
    call->bytes = bytes_before(call);
    call->site = &site->rule;
    call->intranode = comm->intranode;
    call->internode = comm->internode;
    call->devices = comm->devices;
}

static bool is_counting(const struct sg_call *call)
{
    return sg_process.log != NULL && sg_call_log_counts(call) &&
           atomic_load_explicit(&sg_process.recording, memory_order_relaxed);
}

/* Ask once a call: counts an event that has no place in the log as dropped. */
static bool is_recording(const struct sg_call *call, const struct sg_comm *comm)
{
    if (!is_counting(call))
        return false;
    if (comm->index != SG_COMM_UNRECORDED)
        return true;
    sg_log_drop_event(sg_process.log);
    return false;
}

/* A failed call does not count as an instance: the argument error may be local to this rank. */
static void count_instance(struct sg_comm *comm, int error)
{
    if (error <= MPI_SUCCESS)
        atomic_store_explicit(&comm->seq,
                              atomic_load_explicit(&comm->seq, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

/* ---- calls that pass through ---- */

/* Runs MPICH's function without a collective record; the call counts among all MPI calls. */
static int pass_counted(const struct sg_call *call, void *return_address)
{
    struct sg_call_log_passing passing;
    int error;

    sg_call_log_pass(&passing, call, return_address);
    error = call->pass(call);
    sg_call_log_passed(&passing, error);
    return error;
}

/* Runs a call on a communicator that stagger does not manage. */
static int pass_unmanaged(const struct sg_call *call, void *return_address)
{
    struct sg_log_header *header = sg_process.log != NULL ? sg_log_header(sg_process.log) : NULL;

    if (header != NULL)
        atomic_fetch_add_explicit(&header->unmanaged_calls, 1, memory_order_relaxed);
    if (header != NULL && call->request != NULL)
        atomic_fetch_add_explicit(&header->unmanaged_nonblocking, 1, memory_order_relaxed);
    return pass_counted(call, return_address);
}

/* Runs a barrier or allreduce on a communicator that is not set up: MPICH goes first, so that its
 * argument checks do. The communicator is set up after one of these calls. */
static int run_first(struct sg_call *call, void *return_address)
{
    static const struct sg_call_statistics nothing;
    bool is_noted = is_counting(call);
    uint64_t begin_ns = sg_tick_ns(), end_ns;
    struct sg_comm *comm = NULL;
    int error;

    if (is_noted)
        sg_call_log_enter(call, sg_site_of(return_address), sg_profile_comm_asked(call->comm),
                          begin_ns);
    error = call->pass(call);
    end_ns = sg_tick_ns();
    if (error == MPI_SUCCESS && sg_comm_is_due(call->comm))
        comm = sg_comm_set_up(call->comm, -1);
    if (is_noted)
        sg_call_log_leave(end_ns);
    if (comm == NULL || !comm->managed) {
        sg_call_log_first(call, return_address, error, begin_ns, end_ns);
        return error;
    }
    if (is_recording(call, comm)) {
        struct sg_site *site = sg_site_of(return_address);
        struct sg_record_call *record;

        call->bytes = bytes_before(call);
        complete_bytes(call);
        record = sg_call_log_begin(call, site, comm, begin_ns);
        sg_call_log_end(record, call, site, comm, &nothing, error, begin_ns, end_ns);
    }
    count_instance(comm, error);
    return error;
}

/* ---- calls that stagger manages ---- */

/* Starts a nonblocking call. If MPICH runs it, MPICH also completes it, and there is nothing to
 * record. */
static int start_nonblocking(struct sg_call *call, const struct sg_choice *choice,
                             struct sg_site *site, struct sg_comm *comm, uint64_t begin_ns,
                             void *return_address)
{
    struct sg_call_statistics statistics = {0};
    struct sg_internode_plan plan;
    int error;

    sg_request_reap();
    if (is_left_to_mpich(call) || !plan_between_nodes(call, &choice, &plan)) {
        error = pass_unmanaged(call, return_address);
        /* The trial's candidate takes no such call; the blocks still advance. */
        if (choice->arm != 0)
            count_instance(comm, error);
        return error;
    }
    if (is_recording(call, comm))
        error = sg_call_log_nonblocking(call, &plan, site, comm, begin_ns);
    else
        error = sg_request_start(&plan, NULL, NULL, &statistics);
    count_instance(comm, error);
    /* Last: the error handler need not return. */
    if (error != MPI_SUCCESS)
        sg_real.Comm_call_errhandler(call->comm, error);
    return error;
}

/* A thread times one of its blocking calls in OVERHEAD_EVERY as a whole, so that a run reports
 * stagger's own share of the time. */
#define OVERHEAD_EVERY 128u
static __thread struct {
    uint32_t calls;
    uint64_t inside_ns; /* last recorded call, from begin to end */
} timed;

static inline bool is_timed(void)
{
    return __builtin_expect(++timed.calls % OVERHEAD_EVERY == 0, 0);
}

static __attribute__((noinline)) void add_overhead(uint64_t entered_ns)
{
    struct sg_log_header *header = sg_log_header(sg_process.log);
    uint64_t own_ns = sg_tick_ns() - entered_ns - timed.inside_ns;

    if (own_ns > SG_OVERHEAD_LONG_NS) {
        atomic_fetch_add_explicit(&header->overhead_long_calls, 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&header->overhead_calls, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&header->overhead_ns, own_ns, memory_order_relaxed);
    }
    sg_recording_waiting(sg_process.log);
}

static int run_recorded(struct sg_call *call, const struct sg_choice *choice, struct sg_site *site,
                        const struct sg_comm *comm, struct sg_between_call *between)
{
    struct sg_call_statistics statistics = {0};
    struct sg_record_call *record;
    uint64_t begin_ns = sg_tick_ns();
    uint64_t end_ns;
    int error;

    sg_account_mark(SG_ACCOUNT_BEGUN);
    call->arrival_ns = begin_ns;
    sg_call_log_enter(call, site, comm->profile, begin_ns);
    record = sg_call_log_begin(call, site, comm, begin_ns);
    sg_account_mark(SG_ACCOUNT_RECORD);
    error = run_collective(call, choice, &statistics);
    end_ns = sg_tick_ns();
    sg_call_log_leave(end_ns);
    sg_account_mark(SG_ACCOUNT_ENDED);
    timed.inside_ns = end_ns - begin_ns;
    between->end_ns = end_ns;
    if (error == MPI_SUCCESS)
        complete_bytes(call);
    sg_call_log_end(record, call, site, comm, &statistics, error, begin_ns, end_ns);
    return error;
}

static int run_unrecorded(const struct sg_call *call, const struct sg_choice *choice)
{
    struct sg_call_statistics statistics = {0};

    return run_collective(call, choice, &statistics);
}

/* ---- all calls ---- */

/* between: receives what dispatch already knows of the call. */
static inline int dispatch(struct sg_call *call, void *return_address,
                           struct sg_between_call *between)
{
    bool nonblocking = __builtin_expect(call->request != NULL, 0), records;
    const struct sg_choice *choice;
    struct sg_comm *comm;
    struct sg_site *site;
    uint64_t entered_ns;
    int error;

    comm = sg_comm_find(call->comm);
    /* Set-up waits for all ranks. A program need not expect that of a broadcast or reduce: another
     * rank may call two of them on two communicators in the other order, and a reduce may fail at
     * its root alone. */
    if (comm == NULL && !sg_operation_synchronises(call->operation))
        return pass_counted(call, return_address);
    if (comm == NULL && !nonblocking)
        return run_first(call, return_address);
    if (comm == NULL || !comm->managed || (nonblocking && comm->internode == NULL))
        return pass_unmanaged(call, return_address);
    /* A nonblocking call reads the clock, as does the thread that completes its request, perhaps
     * another. */
    entered_ns = nonblocking ? sg_clock_ns() : is_timed() ? sg_tick_ns() : 0;
    sg_account_mark(SG_ACCOUNT_COMM);
    between->site = site = sg_site_of(return_address);
    sg_account_mark(SG_ACCOUNT_SITE);
    between->comm = comm->profile;
    describe(call, site, comm);
    choice = sg_choose(call, site, comm);
    sg_account_mark(SG_ACCOUNT_CHOICE);
    if (__builtin_expect(comm->unmet != NULL, 0))
        run_unmet(comm, call, site, choice);
    if (nonblocking)
        return start_nonblocking(call, choice, site, comm, entered_ns, return_address);
    records = is_recording(call, comm);
    error =
        records ? run_recorded(call, choice, site, comm, between) : run_unrecorded(call, choice);
    count_instance(comm, error);
    if (__builtin_expect(entered_ns != 0, 0) && records)
        add_overhead(entered_ns);
    return error;
}

int sg_dispatch(struct sg_call *call, void *return_address)
{
    struct sg_between_call between = {.caller = return_address};
    void *frame = __builtin_frame_address(0);
    bool is_between;
    int error;

    sg_account_enter();
    if (sg_stack_is_held(&sg_stack_ending, frame))
        return call->pass(call);
    is_between = sg_between_enter(frame, __builtin_return_address(0));
    sg_events_settle(frame);
    error = dispatch(call, return_address, &between);
    if (is_between) {
        if (error != MPI_SUCCESS)
            between.comm = NULL;
        else if (between.comm == NULL)
            between.comm = sg_profile_comm_of(call->comm);
        sg_between_leave(&between);
    }
    sg_account_mark(SG_ACCOUNT_RETURN);
    if (__builtin_expect(error < 0, 0)) {
        error = -error;
        sg_real.Comm_call_errhandler(call->comm, error); /* last: the handler need not return */
    }
    return error;
}
