/* When messages go in slices: agreed in MPI_Init by all ranks, else they are MPICH's, and one line
 * says why.
 */
#include "intercept/sliced.h"
#include "intercept/sliced_imports.h"
#include "internode/messages.h"
#include "intranode/placement.h"
#include "mpi/bytes.h"
#include "mpi/device.h"
#include "progress/progress.h"
#include "rule/rule.h"
#include "runtime/process.h"
#include "wait/wait.h"
#include "wait/yielding.h"

#include <stdio.h>

#define NODES_MAX 64
#define RANKS_PER_NODE_MAX 16
#define WHY_BYTES 640

static int rule = -1;
static MPI_Comm self = MPI_COMM_NULL; /* for messages of the process to itself */

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

/* False: why not. */
static bool is_possible(const struct sg_choice *choice, char *why)
{
    struct extent extent = find_extent();
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    if (extent.machines > 1)
        snprintf(why, WHY_BYTES, "MPI_COMM_WORLD is on several machines");
    else if (extent.nodes < 2)
        snprintf(why, WHY_BYTES,
                 "MPI_COMM_WORLD is on one node (STAGGER_RANKS_PER_NODE makes more of it)");
    else if (extent.nodes > NODES_MAX || extent.most_ranks > RANKS_PER_NODE_MAX)
        snprintf(why, WHY_BYTES, "MPI_COMM_WORLD is on more than %d nodes, or %d ranks on a node",
                 NODES_MAX, RANKS_PER_NODE_MAX);
    else if (level == MPI_THREAD_MULTIPLE)
        snprintf(why, WHY_BYTES, "threads may call MPI at a time (MPI_THREAD_MULTIPLE)");
    else if (sg_progress_asked(choice, false) != SG_PROGRESS_THREAD ||
             !sg_progress_comes(SG_PROGRESS_THREAD))
        snprintf(why, WHY_BYTES, "it needs progress=thread");
    else if (sg_device_look())
        snprintf(why, WHY_BYTES, "buffers may be in a GPU's memory (%s)", sg_device_driver());
    else if (sg_real.x_Grequest_start == NULL)
        snprintf(why, WHY_BYTES, "this MPI has no MPIX_Grequest_start");
    else
        return sg_sliced_can_carry(why, WHY_BYTES);
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

int sg_sliced_choose(void)
{
    char why[WHY_BYTES] = "";
    int found = sg_ruleset_messages(sg_process.rules, sg_process.size);
    bool possible;

    rule = -1;
    if (found < 0)
        return -1;
    possible = is_possible(sg_ruleset_choice(sg_process.rules, found), why);
    if (agree(possible, why))
        rule = found;
    return rule;
}

static bool is_named(const struct sg_choice *choice, const char *parameter)
{
    int index = sg_parameter_find(choice->algorithm, parameter);

    return index >= 0 && choice->parameters[index] > 0;
}

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

void sg_sliced_start(struct sg_internode *internode)
{
    bool opened;

    if (rule < 0)
        return;
    opened = internode != NULL && open_bytes() && sg_messages_are_carried(internode);
    if (!agree(opened, "no shared memory for it")) {
        close_bytes();
        return;
    }
    sg_sliced.internode = internode;
    sg_sliced.size = sg_process.size;
    sg_sliced.is_rendezvous = is_named(sg_ruleset_choice(sg_process.rules, rule), "send");
    sg_messages_begin(internode);
    atomic_store(&sg_sliced.is_on, true);
}

/* ---- the end ---- */

static bool is_complete(MPI_Request *request)
{
    int done = 0;

    sg_progress_poll();
    return sg_real.Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
}

void sg_sliced_stop(void)
{
    MPI_Request request;
    struct sg_wait wait = {0};

    if (!atomic_exchange(&sg_sliced.is_on, false))
        return;
    /* Others may still wait for what this rank has sent, or take part in its collectives. */
    if (sg_real.Ibarrier(sg_process.world, &request) == MPI_SUCCESS) {
        while (!is_complete(&request))
            sg_wait_brief(&wait);
    }
    sg_messages_stop(sg_sliced.internode);
    close_bytes();
}
