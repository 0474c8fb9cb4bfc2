/* When messages go in slices: agreed in MPI_Init by all ranks, and by those of a communicator
 * behind its creation; else they are MPICH's. One line says why it is so in MPI_COMM_WORLD.
 */
#include "core/clock.h"
#include "intercept/comm_setup.h"
#include "intercept/sliced.h"
#include "intercept/sliced_imports.h"
#include "internode/internode.h"
#include "internode/messages.h"
#include "intranode/placement.h"
#include "mpi/bytes.h"
#include "mpi/device.h"
#include "profile/comms.h"
#include "progress/progress.h"
#include "rule/rule.h"
#include "runtime/process.h"
#include "runtime/rdma.h"
#include "wait/wait.h"
#include "wait/yielding.h"

#include <stdio.h>
#include <stdlib.h>

#define WHY_BYTES 640
#define PATIENCE_SLICES 64 /* in which nothing happens: what is left is not received */
/* MPI_Comm_free may have callbacks of attributes to call, which come late where it gives up. */
#define PATIENCE_FREED_NS UINT64_C(1000000000)
/* Between machines: longer than an adapter repeats what gets lost, before it says so. */
#define PATIENCE_BETWEEN_NS UINT64_C(10000000000)

static MPI_Comm self = MPI_COMM_NULL; /* for messages of the process to itself */

/* ---- conditions ---- */

/* Of the process, for any communicator. False: why not. */
static bool is_possible(char *why)
{
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE)
        snprintf(why, WHY_BYTES, "threads may call MPI at a time (MPI_THREAD_MULTIPLE)");
    else if (sg_device_look())
        snprintf(why, WHY_BYTES, "buffers may be in a GPU's memory (%s)", sg_device_driver());
    else if (sg_real.x_Grequest_start == NULL)
        snprintf(why, WHY_BYTES, "this MPI has no MPIX_Grequest_start");
    else
        return sg_sliced_can_carry(why, WHY_BYTES);
    return false;
}

static bool has_thread(int rule, bool between_machines)
{
    return sg_progress_asked(sg_ruleset_choice(sg_process.rules, rule), between_machines) ==
               SG_PROGRESS_THREAD &&
           sg_progress_comes(SG_PROGRESS_THREAD);
}

struct extent {
    int nodes, machines, most_ranks;
};

/* Nodes, and machines, are numbered from 0 on. */
static struct extent find_extent(void)
{
    struct extent extent = {0};

    for (int rank = 0; rank < sg_process.size; rank++) {
        int node = sg_placement_node(rank), machine = sg_placement_machine(rank);
        int ranks = sg_placement_node_size(node, sg_process.size);

        extent.nodes = node + 1 > extent.nodes ? node + 1 : extent.nodes;
        extent.machines = machine + 1 > extent.machines ? machine + 1 : extent.machines;
        extent.most_ranks = ranks > extent.most_ranks ? ranks : extent.most_ranks;
    }
    return extent;
}

/* In MPI_COMM_WORLD. False: why not. */
static bool is_possible_for_all(int rule, char *why)
{
    struct extent extent = find_extent();
    bool between = extent.machines > 1;

    if (between && sg_rdma_ops() == NULL)
        snprintf(why, WHY_BYTES, "MPI_COMM_WORLD is on several machines, without RDMA");
    else if (extent.nodes < 2)
        snprintf(why, WHY_BYTES,
                 "MPI_COMM_WORLD is on one node (STAGGER_RANKS_PER_NODE makes more of it)");
    else if (extent.nodes > SG_MESSAGES_ENDPOINTS_MAX || extent.most_ranks > SG_MESSAGES_LOCALS_MAX)
        snprintf(why, WHY_BYTES, "MPI_COMM_WORLD is on more than %d nodes, or %d ranks on a node",
                 SG_MESSAGES_ENDPOINTS_MAX, SG_MESSAGES_LOCALS_MAX);
    else if (between && extent.most_ranks > sg_process.config.verbs_senders)
        snprintf(why, WHY_BYTES, "a node has ranks that others send for (STAGGER_VERBS_SENDERS=%d)",
                 sg_process.config.verbs_senders);
    else if (!has_thread(rule, between))
        snprintf(why, WHY_BYTES, "it needs progress=thread");
    else
        return true;
    return false;
}

/* Collective; said by the first rank where it is not possible. */
static bool agree(bool is_here, const char *why)
{
    int first = -1;

    if (sg_exchange_agree(&sg_process.exchange, is_here, &first) != SG_OK)
        return false;
    if (first == sg_process.rank)
        sg_log("p2p=bcs: %s; messages are MPICH's", why);
    return first < 0;
}

/* ---- MPI_Init ---- */

static bool open_bytes(void)
{
    if (sg_yielding_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS)
        return false;
    sg_real.Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    sg_bytes_start(self);
    return true;
}

static void close_bytes(void)
{
    if (self != MPI_COMM_NULL)
        sg_real.Comm_free(&self);
}

/* Alike on all ranks from here on. */
static bool may_carry;

int sg_sliced_choose(void)
{
    char why[WHY_BYTES] = "";
    bool possible;
    int rule;

    may_carry = false;
    if (!sg_ruleset_has_messages(sg_process.rules))
        return -1;
    possible = is_possible(why);
    if (!agree(possible, why))
        return -1;
    may_carry = true;
    rule = sg_ruleset_messages(sg_process.rules, "MPI_COMM_WORLD", sg_process.size);
    if (rule < 0)
        return -1;
    possible = is_possible_for_all(rule, why);
    return agree(possible, why) ? rule : -1;
}

static bool is_named(const struct sg_choice *choice, const char *parameter)
{
    int index = sg_parameter_find(choice->algorithm, parameter);

    return index >= 0 && choice->parameters[index] > 0;
}

static bool is_ready(const struct sg_comm *comm)
{
    return comm->internode != NULL && sg_messages_are_carried(comm->internode);
}

/* When all its ranks are ready. */
static void begin(struct sg_comm *comm)
{
    comm->is_rendezvous =
        is_named(sg_ruleset_choice(sg_process.rules, comm->messages_rule), "send");
    sg_messages_begin(comm->internode);
    comm->is_sliced = true;
}

void sg_sliced_start(void)
{
    struct sg_comm *world = sg_comm_find(MPI_COMM_WORLD);

    if (!may_carry)
        return;
    if (!agree(open_bytes(), "no communicator for it")) {
        close_bytes();
        return;
    }
    atomic_store(&sg_sliced_on, true);
    if (world->messages_rule >= 0 &&
        agree(is_ready(world), sg_rdma_ops() != NULL ? "no connections for it, or no memory"
                                                     : "no shared memory for it"))
        begin(world);
}

/* ---- other communicators ---- */

static bool is_complete(MPI_Request *request)
{
    int done = 0;

    sg_progress_poll();
    return sg_real.Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
}

static void complete(MPI_Request request)
{
    struct sg_wait wait = {0};

    while (!is_complete(&request))
        sg_wait_brief(&wait);
}

static uint64_t patience_ns(const struct sg_comm *comm)
{
    const struct sg_choice *choice = sg_ruleset_choice(sg_process.rules, comm->messages_rule);
    uint64_t ns = (uint64_t)choice->parameters[sg_parameter_find(choice->algorithm, "slice")] *
                  1000u * PATIENCE_SLICES;
    uint64_t least_ns = sg_internode_is_linked(comm->internode) ? PATIENCE_BETWEEN_NS : 0;

    return ns > least_ns ? ns : least_ns;
}

/* How long nothing has moved here. */
struct quiet {
    uint64_t steps, ns, looked_ns;
};

/* A process that has stood still between two looks, or whose others have, could not see it move: it
 * counts a slice at most. */
static bool is_still_patient(struct quiet *quiet, uint64_t steps, uint64_t patience_ns)
{
    uint64_t now_ns = sg_clock_ns(), passed_ns = now_ns - quiet->looked_ns;
    uint64_t most_ns = patience_ns / PATIENCE_SLICES;

    quiet->ns += passed_ns < most_ns ? passed_ns : most_ns;
    if (steps != quiet->steps)
        quiet->ns = 0;
    quiet->steps = steps;
    quiet->looked_ns = now_ns;
    return quiet->ns < patience_ns;
}

/* The end of a communicator's messages: rounds in which its ranks tell each other what they have
 * left. The first begins when a rank frees it: nothing is posted any more once all have. */
enum { PENDING, MOVING, FLAGS };
struct ending {
    MPI_Comm handle;
    struct sg_comm *comm;
    struct quiet quiet;
    MPI_Request request;
    int own[FLAGS], all[FLAGS];
    struct ending *next;
};

static struct ending *endings; /* of communicators that this rank has freed, and others have not */

static void begin_round(struct ending *ending)
{
    struct sg_comm *comm = ending->comm;
    uint64_t steps = 0;

    ending->own[PENDING] = !sg_messages_are_over(comm->internode, &steps);
    ending->own[MOVING] = is_still_patient(&ending->quiet, steps, patience_ns(comm));
    if (sg_real.Iallreduce(ending->own, ending->all, FLAGS, MPI_INT, MPI_MAX, ending->handle,
                           &ending->request) != MPI_SUCCESS) {
        ending->request = MPI_REQUEST_NULL;
        ending->all[PENDING] = 0;
    }
}

/* True: they have ended. */
static bool advance(struct ending *ending)
{
    if (!is_complete(&ending->request))
        return false;
    if (ending->all[PENDING] && ending->all[MOVING]) {
        begin_round(ending);
        return false;
    }
    ending->comm->is_sliced = false;
    sg_messages_stop(ending->comm->internode);
    return true;
}

/* Called now and then. A callback of an attribute may free others: it begins anew behind each. */
static void end_freed(void)
{
    for (struct ending **link = &endings, *ending; (ending = *link) != NULL;) {
        if (!advance(ending)) {
            link = &ending->next;
            continue;
        }
        *link = ending->next;
        sg_comm_leave(ending->handle);
        sg_profile_comm_forget(ending->handle);
        sg_real.Comm_free(&ending->handle);
        free(ending);
        link = &endings;
    }
}

bool sg_sliced_end(MPI_Comm handle, bool is_awaited)
{
    struct ending first = {.handle = handle, .quiet.looked_ns = sg_clock_ns()}, *ending = &first;
    struct sg_wait wait = {0};

    if (!sg_sliced_is_on() || handle == MPI_COMM_NULL || handle == MPI_COMM_WORLD)
        return true;
    end_freed();
    first.comm = sg_comm_find(handle);
    if (first.comm == NULL || !first.comm->is_sliced)
        return true;
    /* Between machines MPI_Comm_free waits for others in any case (sg_comm_leave). */
    if (!is_awaited && !sg_internode_is_linked(first.comm->internode)) {
        ending = malloc(sizeof *ending);
        if (ending == NULL)
            ending = &first;
        else
            *ending = first;
    }
    begin_round(ending);
    while (!advance(ending)) {
        if (ending != &first && sg_clock_ns() - first.quiet.looked_ns > PATIENCE_FREED_NS) {
            ending->next = endings;
            endings = ending;
            return false;
        }
        sg_wait_brief(&wait);
    }
    if (ending != &first)
        free(ending);
    return true;
}

/* MPICH carries them, without a line, where we cannot: most programs have communicators inside a
 * node, and any other lack has a line of its own. */
void sg_sliced_begin(MPI_Comm handle)
{
    int size = 0, is_inter = 1, own, all = 0, rule;
    struct sg_comm *comm;

    if (handle == MPI_COMM_NULL || !sg_sliced_is_on())
        return;
    end_freed();
    sg_real.Comm_test_inter(handle, &is_inter);
    sg_real.Comm_size(handle, &size);
    rule = is_inter || size < 2 ? -1 : sg_ruleset_messages(sg_process.rules, "", size);
    if (rule < 0)
        return;
    comm = sg_comm_set_up(handle, rule);
    own = comm != NULL && is_ready(comm) &&
          has_thread(rule, sg_internode_is_linked(comm->internode)) && !sg_device_look();
    if (sg_yielding_allreduce(&own, &all, 1, MPI_INT, MPI_MIN, handle) == MPI_SUCCESS && all)
        begin(comm);
}

/* ---- the end ---- */

static void give_up(struct sg_comm *comm)
{
    if (!comm->is_sliced)
        return;
    comm->is_sliced = false;
    sg_messages_stop(comm->internode);
}

void sg_sliced_stop(void)
{
    MPI_Request request;

    if (!atomic_load(&sg_sliced_on))
        return;
    for (struct sg_wait wait = {0}; endings != NULL; end_freed())
        sg_wait_brief(&wait);
    /* Others may still wait for what this rank has sent, or take part in its collectives. */
    if (sg_real.Ibarrier(sg_process.world, &request) == MPI_SUCCESS)
        complete(request);
    atomic_store(&sg_sliced_on, false);
    sg_comm_each(give_up);
    close_bytes();
}
