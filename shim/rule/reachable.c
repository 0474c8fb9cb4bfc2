/* Which choices calls may come to. Memory is shared, and processes give each other access to their
 * memory, only if some rule can choose an algorithm that needs it.
 *
 * A rule that names a call site may match or not; its communicator and bytes are compared. The
 * choice by bytes changes only where a rule's range begins or ends, so only these sizes are tried.
 */
#include "rule/ruleset.h"
#include "rule/trial.h"

/* How a rule stands to calls of so many bytes. */
enum match { MATCHES_NONE, MATCHES_SOME, MATCHES_ALL };

static enum match match(const struct sg_ruleset *rules, const struct sg_rule *rule,
                        enum sg_operation operation, const struct sg_rule_comm *comm,
                        uint64_t bytes)
{
    bool any_comm = comm->size == 0;

    if (!sg_rule_takes(rules, rule, operation, comm) ||
        (!rule->any_bytes && (bytes < rule->byte_low || bytes > rule->byte_high)))
        return MATCHES_NONE;
    if (!any_comm && !sg_rule_matches_comm(rule, comm))
        return MATCHES_NONE;
    if (rule->site_kind != SG_RULE_SITE_ANY || (any_comm && rule->comm_kind != SG_RULE_COMM_ANY))
        return MATCHES_SOME;
    return MATCHES_ALL;
}

/* Arms stand one behind another, with one left side. */
static bool is_last_arm(const struct sg_ruleset *rules, const struct sg_rule *rule)
{
    int first, count;

    if (rule->choice.arm == 0)
        return true;
    sg_trial_range(rules, sg_trial_of(rules, rule->choice.arm), &first, &count);
    return rule->choice.arm == first + count - 1;
}

static bool may_choose_at(const struct sg_ruleset *rules, enum sg_operation operation,
                          const struct sg_rule_comm *comm, uint64_t bytes, sg_choice_test test)
{
    bool decided = false;

    for (int i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];
        enum match matches = match(rules, rule, operation, comm, bytes);

        if (matches != MATCHES_NONE && test(&rule->choice))
            return true;
        decided = decided || matches == MATCHES_ALL;
        if (decided && is_last_arm(rules, rule))
            return false;
    }
    return false;
}

bool sg_ruleset_may_choose(const struct sg_ruleset *rules, enum sg_operation operation,
                           const struct sg_rule_comm *comm, uint64_t least_bytes,
                           sg_choice_test test)
{
    if (operation == SG_OPERATION_BARRIER)
        return least_bytes == 0 && may_choose_at(rules, operation, comm, 0, test);
    if (may_choose_at(rules, operation, comm, least_bytes, test))
        return true;
    for (int i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];

        if (rule->any_bytes)
            continue;
        if (rule->byte_low > least_bytes &&
            may_choose_at(rules, operation, comm, rule->byte_low, test))
            return true;
        if (rule->byte_high >= least_bytes && rule->byte_high < UINT64_MAX &&
            may_choose_at(rules, operation, comm, rule->byte_high + 1, test))
            return true;
    }
    return false;
}
