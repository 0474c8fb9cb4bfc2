#include "intercept/choose.h"

#include "intercept/trial.h"
#include "internode/internode.h"
#include "runtime/process.h"

/* Whether the choice may depend on the call site. Where ranks cannot agree, what they choose by is
 * known to all. */
static bool is_by_site(const struct sg_call *call, const struct sg_comm *comm)
{
    return sg_process.by_site[call->operation] &&
           (comm->internode == NULL || sg_internode_agrees(comm->internode));
}

static struct sg_rule_comm rule_comm_of(const struct sg_call *call, const struct sg_comm *comm)
{
    struct sg_rule_comm rule_comm = {
        .name = comm->name, .size = comm->size, .nonblocking = call->request != NULL};

    if (comm->intranode != NULL)
        rule_comm.reach = SG_REACH_NODE;
    else if (comm->internode != NULL)
        rule_comm.reach = SG_REACH_INTERNODE;
    return rule_comm;
}

static bool is_last(const struct sg_comm_choice *last, const struct sg_comm_choice *call)
{
    return last->choice != NULL && last->bytes == call->bytes && last->site == call->site;
}

/* By the rules: kept out of line, off the path of calls that repeat themselves. */
static __attribute__((noinline)) const struct sg_choice *
match(const struct sg_call *call, struct sg_site *site, struct sg_comm *comm, bool by_site)
{
    const struct sg_rule_comm rule_comm = rule_comm_of(call, comm);
    /* What holds for a call site on every communicator of one node that has an engine. */
    bool by_site_alone = by_site && comm->intranode != NULL;
    const struct sg_rule_site *from = by_site || comm->internode == NULL ? &site->rule : NULL;
    struct sg_comm_choice found = {.bytes = call->bytes, .site = by_site ? site : NULL};
    bool fixed;

    if (is_last(&comm->trial[call->operation], &found) && !rule_comm.nonblocking)
        return sg_trial_now(comm, &rule_comm, comm->trial[call->operation].choice);
    found.choice =
        sg_ruleset_match(sg_process.rules, call->operation, from, &rule_comm, call->bytes, &fixed);
    if (sg_process.has_trials)
        sg_trial_look(call, from, &rule_comm);
    /* Turns are not kept; nor is what blocking calls may find in a trial. */
    if (found.choice->arm != 0 && !rule_comm.nonblocking)
        comm->trial[call->operation] = found;
    if (found.choice->arm != 0 || (sg_process.has_trials && rule_comm.nonblocking))
        return sg_trial_now(comm, &rule_comm, found.choice);
    if (!by_site_alone)
        comm->last[call->operation] = found;
    else if (fixed) /* release: pairs with choose */
        atomic_store_explicit(&site->fixed[call->operation], found.choice, memory_order_release);
    return found.choice;
}

static inline const struct sg_choice *choose(const struct sg_call *call, struct sg_site *site,
                                             struct sg_comm *comm, bool by_site)
{
    const struct sg_comm_choice *last = &comm->last[call->operation];
    const struct sg_choice *choice = NULL;

    if (by_site && comm->intranode != NULL) /* acquire: the choice itself is immutable */
        choice = atomic_load_explicit(&site->fixed[call->operation], memory_order_acquire);
    else if (last->bytes == call->bytes && last->site == (by_site ? site : NULL))
        choice = last->choice;
    return choice != NULL ? choice : match(call, site, comm, by_site);
}

static const struct sg_choice *choose_alike(const struct sg_call *call)
{
    return choose(call, NULL, sg_comm_find(call->comm), false);
}

const struct sg_choice *sg_choose(struct sg_call *call, struct sg_site *site, struct sg_comm *comm)
{
    bool by_site = is_by_site(call, comm);

    if (by_site && (call->intranode != NULL || call->internode != NULL)) {
        call->rules = sg_process.rules;
        call->choose_alike = choose_alike;
    }
    return choose(call, site, comm, by_site);
}
