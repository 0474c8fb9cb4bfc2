/* Matching a call against the rules, first to last. */
#include "rule/ruleset.h"

#include <assert.h>
#include <fnmatch.h>
#include <string.h>

/* "solver.c" and "src/solver.c" both match "/home/me/src/solver.c": the glob is tried on the path
 * and on what follows each of its slashes. */
static bool matches_file(const char *glob, const char *path)
{
    const char *slash;

    do {
        if (fnmatch(glob, path, FNM_PATHNAME) == 0)
            return true;
        slash = strchr(path, '/');
        path = slash != NULL ? slash + 1 : NULL;
    } while (path != NULL);
    return false;
}

static bool matches_site(const struct sg_rule *rule, const struct sg_rule_site *site)
{
    if (site == NULL)
        return rule->site_kind == SG_RULE_SITE_ANY;
    switch (rule->site_kind) {
    case SG_RULE_SITE_ANY:
        return true;
    case SG_RULE_SITE_ID:
        return site->id == rule->id;
    case SG_RULE_SITE_OFFSET:
        return site->module != NULL && site->offset == rule->offset &&
               fnmatch(rule->site, site->module, 0) == 0;
    case SG_RULE_SITE_LINE:
        return site->file != NULL && site->line == rule->line &&
               matches_file(rule->site, site->file);
    case SG_RULE_SITE_FUNCTION:
        return site->function != NULL && fnmatch(rule->site, site->function, 0) == 0;
    }
    return false;
}

static bool matches_comm(const struct sg_rule *rule, const struct sg_rule_comm *comm)
{
    switch (rule->comm_kind) {
    case SG_RULE_COMM_ANY:
        return true;
    case SG_RULE_COMM_SIZE:
        return comm->size >= rule->size_low && comm->size <= rule->size_high;
    case SG_RULE_COMM_NAME:
        return comm->name != NULL && fnmatch(rule->comm, comm->name, 0) == 0;
    }
    return false;
}

static bool matches_operation(const struct sg_ruleset *rules, const struct sg_rule *rule,
                              enum sg_operation operation)
{
    if (rule->operation >= 0)
        return rule->operation == (int)operation;
    return (rules->table.entries[rule->choice.algorithm].operations & 1u << operation) != 0;
}

static unsigned reach_of(const struct sg_ruleset *rules, const struct sg_rule *rule)
{
    return sg_algorithm_reach(&rules->table.entries[rule->choice.algorithm],
                              rule->choice.parameters);
}

static bool reaches(const struct sg_ruleset *rules, const struct sg_rule *rule,
                    const struct sg_rule_comm *comm)
{
    unsigned reach = reach_of(rules, rule);

    if (rule->choice.arm != 0)
        return sg_trial_takes(rules, rule->choice.arm, comm);
    return reach == 0 || comm->reach == 0 || (reach & comm->reach) != 0;
}

static bool runs_everywhere(const struct sg_ruleset *rules, const struct sg_rule *rule)
{
    unsigned reach = reach_of(rules, rule);

    return rule->choice.arm == 0 && (reach == 0 || reach == (SG_REACH_NODE | SG_REACH_SPAN));
}

static bool same_choice(const struct sg_choice *a, const struct sg_choice *b)
{
    return a->algorithm == b->algorithm && a->arm == b->arm &&
           memcmp(a->parameters, b->parameters, sizeof a->parameters) == 0;
}

/* Bytes as conditions go: a barrier has none, so for it a range holds always or never. */
static bool depends_on_bytes(const struct sg_rule *rule, enum sg_operation operation)
{
    return !rule->any_bytes && operation != SG_OPERATION_BARRIER;
}

static bool matches_bytes(const struct sg_rule *rule, uint64_t bytes)
{
    return rule->any_bytes || (bytes >= rule->byte_low && bytes <= rule->byte_high);
}

bool sg_rule_matches(const struct sg_rule *rule, const struct sg_rule_site *site,
                     const struct sg_rule_comm *comm, uint64_t bytes)
{
    return matches_site(rule, site) && matches_comm(rule, comm) && matches_bytes(rule, bytes);
}

/* Every rule for the operation and site counts up to the first that takes all communicators and
 * sizes: where they all choose the same, the choice is fixed. */
const struct sg_choice *sg_ruleset_match(const struct sg_ruleset *rules,
                                         enum sg_operation operation,
                                         const struct sg_rule_site *site,
                                         const struct sg_rule_comm *comm, uint64_t bytes,
                                         bool *fixed)
{
    const struct sg_choice *chosen = NULL;
    const struct sg_choice *first = NULL;
    bool agreed = true;

    for (int i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];
        bool by_bytes = depends_on_bytes(rule, operation);

        if (!matches_operation(rules, rule, operation) || !matches_site(rule, site) ||
            (!by_bytes && !matches_bytes(rule, bytes)))
            continue;
        if (!reaches(rules, rule, comm)) { /* on another communicator it may be the choice */
            agreed = false;
            continue;
        }
        if (first == NULL)
            first = &rule->choice;
        agreed = agreed && same_choice(first, &rule->choice);
        if (chosen == NULL && matches_comm(rule, comm) && matches_bytes(rule, bytes))
            chosen = &rule->choice;
        if (chosen != NULL && (!agreed || (rule->comm_kind == SG_RULE_COMM_ANY && !by_bytes)))
            break;
    }
    /* The last built-in rule matches every call. */
    assert(chosen != NULL);
    *fixed = agreed;
    return chosen;
}

bool sg_ruleset_depends_on_site(const struct sg_ruleset *rules, enum sg_operation operation)
{
    for (int i = 0; i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];

        if (!matches_operation(rules, rule, operation))
            continue;
        if (rule->site_kind != SG_RULE_SITE_ANY)
            return true;
        if (rule->comm_kind == SG_RULE_COMM_ANY && rule->any_bytes && runs_everywhere(rules, rule))
            return false; /* later rules are not reached */
    }
    return false;
}

int sg_ruleset_count(const struct sg_ruleset *rules)
{
    return rules->count;
}

int sg_ruleset_index(const struct sg_ruleset *rules, const struct sg_choice *choice)
{
    for (int i = 0; i < rules->count; i++) {
        if (&rules->rules[i].choice == choice)
            return i;
    }
    return -1;
}

const struct sg_choice *sg_ruleset_choice(const struct sg_ruleset *rules, int index)
{
    return &rules->rules[index].choice;
}

bool sg_ruleset_concerns(const struct sg_ruleset *rules, int index, const struct sg_rule_comm *comm)
{
    return reaches(rules, &rules->rules[index], comm) && matches_comm(&rules->rules[index], comm);
}
