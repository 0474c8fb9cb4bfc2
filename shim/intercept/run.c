#include "intercept/run.h"

#include "intercept/unmet.h"
#include "internode/internode.h"
#include "intranode/mpi/choose.h"
#include "mpi/device.h"
#include "mpi/device_call.h"
#include "mpi/packed.h"
#include "mpi/types.h"

/* ---- buffers in a GPU's memory ---- */

/* Buffers of a thread's last call without a driver: what was the host's stays so, and most calls
 * are of buffers that were in the call before. */
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

/* Whether the call's buffers are to be looked at. */
static inline bool is_near_devices(const struct sg_call *call)
{
    if (call->operation == SG_OPERATION_BARRIER)
        return false;
    return call->devices || ((call->send != of_host.send || call->receive != of_host.receive) &&
                             is_driver_there(call));
}

/* True, alike on all ranks: a nonblocking call is MPICH's, because it cannot wait for a word of the
 * others. */
static bool is_left_to_mpich(const struct sg_call *call)
{
    if (!is_near_devices(call))
        return false;
    if (sg_device_has_buffer(call) && !call->devices)
        sg_device_end_job(call);
    return call->devices;
}

/* ---- running ---- */

/* MPICH's own, by choice or because what was chosen does not take the call. */
static int pass(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_call_statistics *statistics)
{
    statistics->executed = sg_executed(SG_ALGORITHM_MPICH, choice->arm);
    return choice->algorithm == SG_ALGORITHM_MPICH ? call->pass(call) : sg_unmet_pass(call);
}

/* A buffer is in a GPU's memory, and nobody can wait for the others' word. */
static int pass_from_devices(const struct sg_call *call, const struct sg_choice *choice,
                             struct sg_call_statistics *statistics)
{
    sg_device_has_buffer(call); /* counts it */
    sg_device_say_mpich(call);
    return pass(call, choice, statistics);
}

static int run_between_nodes(const struct sg_call *call, const struct sg_choice *choice,
                             struct sg_call_statistics *statistics)
{
    struct sg_internode_plan plan;
    bool runs = sg_internode_plan_call(call->internode, call, &choice, &plan);
    int error = runs ? sg_internode_run(call->internode, call, &plan, statistics)
                     : pass(call, choice, statistics);

    if (choice->algorithm == SG_ALGORITHM_AUTO)
        sg_internode_end_turn(call->internode, statistics);
    return error;
}

/* The arm runs, and so does the record say; a trial's arm is the choice's. */
static __attribute__((noinline)) int run_automatic(const struct sg_call *call,
                                                   const struct sg_choice *choice,
                                                   const struct sg_intranode_plan *plan,
                                                   struct sg_call_statistics *statistics)
{
    struct sg_auto_turn turn;
    int error;

    sg_intranode_begin_auto(call->intranode, call, choice, &turn);
    if (turn.choice->algorithm == SG_ALGORITHM_MPICH) {
        sg_node_skip(sg_intranode_node(call->intranode));
        error = pass(call, turn.choice, statistics);
    } else {
        error = sg_intranode_run_chosen(call->intranode, call, turn.choice, plan, statistics);
    }
    sg_auto_end(&turn);
    statistics->executed = sg_executed(sg_executed_algorithm(statistics->executed), choice->arm);
    return error;
}

static int run_in_node(const struct sg_call *call, const struct sg_choice *choice,
                       struct sg_call_statistics *statistics)
{
    const struct sg_intranode_plan *plan = sg_intranode_choose(call->intranode, call, &choice);

    if (plan == NULL)
        return pass(call, choice, statistics);
    if (choice->algorithm == SG_ALGORITHM_AUTO)
        return run_automatic(call, choice, plan, statistics);
    return sg_intranode_run_chosen(call->intranode, call, choice, plan, statistics);
}

/* On buffers of the host, or with ranks that tell each other whose are not. */
static int run(const struct sg_call *call, const struct sg_choice *choice,
               struct sg_call_statistics *statistics)
{
    if (call->internode != NULL)
        return run_between_nodes(call, choice, statistics);
    return call->intranode != NULL ? run_in_node(call, choice, statistics)
                                   : pass(call, choice, statistics);
}

/* A derived type, or a buffer in a GPU's memory whose driver the other ranks do not know of. */
static int run_broadcast(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_call_statistics *statistics)
{
    bool passes = call->internode != NULL && is_near_devices(call) && call->devices;
    bool managed = call->internode != NULL || call->intranode != NULL;
    bool is_derived = !sg_type_is_builtin(call->datatype);
    bool is_plain = is_derived && call->bytes > 0 && managed && sg_packed_is_plain(call);
    bool packs = (is_derived && !is_plain) ||
                 (managed && is_near_devices(call) && !call->devices && sg_device_has_buffer(call));

    if (passes)
        return pass_from_devices(call, choice, statistics);
    if (!managed || call->bytes == 0 || !(packs || is_plain) ||
        (choice->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL))
        return run(call, choice, statistics);
    if (!packs)
        return sg_packed_run_plain(call, choice, statistics, run);
    return sg_packed_run(call, choice, statistics, run);
}

/* MPICH returns from these at once, on all ranks. */
static bool moves_nothing(const struct sg_call *call)
{
    return (call->operation == SG_OPERATION_REDUCE && call->count == 0) ||
           (call->operation == SG_OPERATION_BCAST && call->count >= 0 && call->bytes == 0);
}

int sg_call_run(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_call_statistics *statistics)
{
    if (__builtin_expect(moves_nothing(call), 0))
        return pass(call, choice, statistics);
    if (call->operation == SG_OPERATION_BCAST)
        return run_broadcast(call, choice, statistics);
    if (__builtin_expect(!is_near_devices(call), 1) ||
        (call->internode == NULL && call->intranode == NULL))
        return run(call, choice, statistics);
    if (!call->devices)
        return sg_device_has_buffer(call) ? sg_device_run_staged(call, choice, statistics, run)
                                          : run(call, choice, statistics);
    if (call->internode == NULL)
        return run(call, choice, statistics);
    return pass_from_devices(call, choice, statistics);
}

/* Its buffer is where packed data will be; the application's may be MPI_BOTTOM. */
static struct sg_call packed_of(const struct sg_call *call)
{
    static char anywhere;
    struct sg_call packed = *call;

    if (sg_packed_wants(call))
        packed.send = packed.receive = &anywhere;
    return packed;
}

bool sg_call_is_met(const struct sg_call *call, const struct sg_choice *choice)
{
    struct sg_call packed = packed_of(call);

    if (call->request != NULL || call->rules != NULL || choice->algorithm == SG_ALGORITHM_MPICH ||
        choice->algorithm == SG_ALGORITHM_AUTO)
        return false;
    if (call->internode != NULL)
        return sg_internode_takes(call->internode, &packed);
    return call->intranode != NULL &&
           sg_intranode_plan_call(sg_intranode_node(call->intranode),
                                  sg_intranode_planner(call->intranode), &packed) != NULL;
}

bool sg_call_plan_nonblocking(const struct sg_call *call, const struct sg_choice **choice,
                              struct sg_internode_plan *plan)
{
    struct sg_call packed = packed_of(call);

    return call->internode != NULL && !is_left_to_mpich(call) &&
           sg_internode_plan_call(call->internode, &packed, choice, plan);
}
