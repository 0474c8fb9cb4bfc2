/* Finds the shared memory that a node's calls need, by the rules, and makes the buffers for large
 * operands. See pool.h.
 */
#include "intranode/mpi/pool.h"

#include "intranode/forms.h"
#include "intranode/memory.h"
#include "mpi/real.h"

#include <errno.h>
#include <stddef.h>

/* ---- resources that rules can ask for ---- */

/* A trial counts its rounds in a segment, whatever its candidates. */
static bool runs_here(const struct sg_choice *choice)
{
    return choice->algorithm != SG_ALGORITHM_MPICH || choice->arm != 0;
}

static bool takes_form(const struct sg_choice *choice, enum sg_srm_form form)
{
    return choice->algorithm == SG_ALGORITHM_SRM && choice->parameters[SG_SRM_FORM] == form;
}

/* True for srm's default form, also used if it has no groups. */
static bool takes_any_form(const struct sg_choice *choice)
{
    return takes_form(choice, SG_SRM_AUTO) || takes_form(choice, SG_SRM_GROUPS);
}

static bool is_auto(const struct sg_choice *choice)
{
    return choice->algorithm == SG_ALGORITHM_AUTO;
}

static bool takes_pool(const struct sg_choice *choice)
{
    return takes_form(choice, SG_SRM_CHUNKS) || takes_form(choice, SG_SRM_SINGLE);
}

static bool may_take_pool(const struct sg_choice *choice)
{
    return takes_pool(choice) || takes_any_form(choice) || is_auto(choice);
}

static bool reads(const struct sg_choice *choice)
{
    return takes_form(choice, SG_SRM_SINGLE);
}

/* True if an allreduce may read other ranks' memory. */
static bool may_read(const struct sg_choice *choice)
{
    return reads(choice) || is_auto(choice);
}

static bool may_read_broadcast(const struct sg_choice *choice)
{
    return may_read(choice) || takes_any_form(choice);
}

/* An element's extent may be twice its size. */
#define SIZE_OF_EXTENT(bytes) ((bytes) / 2)

bool sg_intranode_wants_segment(const struct sg_ruleset *rules, const char *name, int size)
{
    const struct sg_rule_comm comm = {.name = name, .size = size, .reach = SG_REACH_NODE};
    bool wants = false;

    for (int operation = 0; operation < SG_OPERATION_COUNT && !wants; operation++)
        wants = sg_ruleset_may_choose(rules, (enum sg_operation)operation, &comm, 0, runs_here);
    return wants;
}

/* A broadcast needs the pool only if a rule asks for reading: it has the slots otherwise. */
static bool wants_pool(const struct sg_ruleset *rules)
{
    static const enum sg_operation with_data[] = {SG_OPERATION_REDUCE, SG_OPERATION_ALLREDUCE};
    const struct sg_rule_comm any = {.reach = SG_REACH_NODE};
    bool wants = sg_ruleset_may_choose(rules, SG_OPERATION_BCAST, &any, 1, reads);

    for (int i = 0; i < 2 && !wants; i++)
        wants = sg_ruleset_may_choose(rules, with_data[i], &any, SIZE_OF_EXTENT(SG_CLIMB_BYTES_MAX),
                                      may_take_pool) ||
                sg_ruleset_may_choose(rules, with_data[i], &any, 1, takes_pool);
    return wants;
}

bool sg_intranode_wants_reading(const struct sg_ruleset *rules)
{
    const struct sg_rule_comm any = {.reach = SG_REACH_NODE};

    return sg_ruleset_may_choose(rules, SG_OPERATION_BCAST, &any,
                                 SIZE_OF_EXTENT(SG_SINGLE_BYTES_MIN), may_read_broadcast) ||
           sg_ruleset_may_choose(rules, SG_OPERATION_BCAST, &any, 1, reads) ||
           sg_ruleset_may_choose(rules, SG_OPERATION_ALLREDUCE, &any, 1, may_read);
}

/* ---- the node's buffers ---- */

static struct sg_pool_rank *pool; /* this node's, by rank in the node; NULL: none */
static int own_rank;

/* Returns a rank's number among those of its node. */
static int number_of(int world_rank)
{
    int node = sg_placement_node(world_rank);
    int number = 0;

    for (int other = node; other < world_rank; other++)
        number += sg_placement_node(other) == node;
    return number;
}

static bool can_have_pool(const struct sg_exchange *exchange)
{
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE &&
           sg_placement_node_size(sg_placement_node(exchange->rank), exchange->size) > 1;
}

enum sg_status sg_pool_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules)
{
    int node = sg_placement_node(exchange->rank);
    void *segment = NULL;
    int first;
    enum sg_status status;

    own_rank = exchange->rank;
    if (!wants_pool(rules) || !sg_memory_is_shared())
        return SG_OK;
    status = sg_exchange_agree(exchange, can_have_pool(exchange), &first);
    if (status != SG_OK || first >= 0)
        return status;
    status = sg_memory_map(exchange, node,
                           (size_t)sg_placement_node_size(node, exchange->size) * sizeof *pool,
                           "large operands", &segment, &first);
    if (status == SG_OK)
        pool = segment;
    if (status == SG_ERR_MISSING && first == exchange->rank && errno != 0)
        sg_log("rank %d: no shared buffers for large messages (%m): using small ones",
               exchange->rank);
    return status == SG_ERR_MISSING ? SG_OK : status;
}

bool sg_pool_is_there(void)
{
    return pool != NULL;
}

struct sg_pool_rank *sg_pool_of(int world_rank)
{
    if (pool == NULL || sg_placement_node(world_rank) != sg_placement_node(own_rank))
        return NULL;
    return &pool[number_of(world_rank)];
}
