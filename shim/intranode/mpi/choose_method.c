#include "intranode/mpi/choose_method.h"

#include "intranode/forms.h"
#include "mpi/gpu_buffers.h"

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
bool sg_intranode_wants_pool(const struct sg_ruleset *rules)
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

/* ---- one call ---- */

const struct sg_intranode_plan *sg_intranode_choose(struct sg_intranode *intranode,
                                                    const struct sg_call *call,
                                                    const struct sg_choice **choice)
{
    const struct sg_intranode_plan *plan;

    if ((*choice)->algorithm == SG_ALGORITHM_MPICH && call->rules == NULL)
        return NULL;
    plan =
        sg_intranode_plan_call(sg_intranode_node(intranode), sg_intranode_planner(intranode), call);
    if (plan == NULL)
        return NULL;
    if (call->devices && call->operation != SG_OPERATION_BARRIER &&
        sg_intranode_any(intranode, call, sg_device_has_buffer(call))) {
        sg_device_say_mpich(call);
        return NULL;
    }
    if (call->rules != NULL)
        *choice = sg_intranode_agree(intranode, call, *choice);
    if ((*choice)->algorithm == SG_ALGORITHM_MPICH) {
        sg_node_skip(sg_intranode_node(intranode));
        return NULL;
    }
    return plan;
}

/* In MPI, either all ranks pass MPI_IN_PLACE or none. */
static bool can_read(const struct sg_call *call, const struct sg_intranode_plan *plan)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send != MPI_IN_PLACE &&
           plan->copy == NULL && sg_intranode_node(call->intranode)->access != NULL;
}

static enum sg_node_method method_of_broadcast(const struct sg_node *node,
                                               const struct sg_intranode_plan *plan,
                                               enum sg_srm_form form)
{
    if (form == SG_SRM_AUTO || form == SG_SRM_GROUPS)
        form = sg_form_of_broadcast(plan->size_bytes);
    return form == SG_SRM_SINGLE && node->access != NULL ? SG_NODE_PULL : SG_NODE_BROADCAST;
}

static enum sg_node_method method_of(const struct sg_call *call,
                                     const struct sg_intranode_plan *plan,
                                     const struct sg_choice *choice)
{
    const struct sg_node *node = sg_intranode_node(call->intranode);
    enum sg_srm_form form;

    if (call->operation == SG_OPERATION_BCAST)
        return method_of_broadcast(node, plan, (enum sg_srm_form)choice->parameters[SG_SRM_FORM]);

    if (choice->algorithm == SG_ALGORITHM_HANDOFF)
        return SG_NODE_HANDOFF;
    form = (enum sg_srm_form)choice->parameters[SG_SRM_FORM];
    if (form == SG_SRM_GROUPS && sg_form_may_group(plan->size_bytes, node->ranks))
        return SG_NODE_GROUPS;
    if (form == SG_SRM_AUTO || form == SG_SRM_GROUPS)
        form = sg_form_of(plan->size_bytes, plan->shape.size);
    if (form == SG_SRM_FLAT && plan->size_bytes <= sg_form_flat_bytes(node->ranks))
        return SG_NODE_FLAT;
    if (form == SG_SRM_SINGLE && can_read(call, plan))
        return SG_NODE_SINGLE;
    if (form >= SG_SRM_CHUNKS && node->pool != NULL && plan->size_bytes > 0)
        return SG_NODE_CHUNKS;
    return SG_NODE_HANDOFF;
}

/* Without a rule or known caches, uses the limit of flat exchanges. */
static int group_of(const struct sg_node *node, const struct sg_choice *choice)
{
    int64_t wanted = choice->algorithm == SG_ALGORITHM_SRM ? choice->parameters[SG_SRM_GROUP] : 0;

    if (wanted >= 2)
        return (int)wanted;
    if (node->header->group != 0)
        return (int)node->header->group;
    return sg_form_group(SG_FLAT_RANKS_MAX, node->ranks);
}

int sg_intranode_run_chosen(struct sg_intranode *intranode, const struct sg_call *call,
                            const struct sg_choice *choice, const struct sg_intranode_plan *plan,
                            struct sg_call_statistics *statistics)
{
    enum sg_node_method method = method_of(call, plan, choice);
    int group = method == SG_NODE_GROUPS ? group_of(sg_intranode_node(intranode), choice) : 0;

    statistics->executed = (uint8_t)choice->executed;
    return sg_intranode_run(intranode, call, plan, method, group, statistics);
}
