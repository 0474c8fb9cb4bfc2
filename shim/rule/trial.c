/* The trials of a set: what there is, where it is one, and whose turn it is. */
#include "rule/trial.h"

#include "core/hash.h"
#include "rule/ruleset.h"

#include <assert.h>

/* ---- what there is ---------------------------------------------------------------------------*/

int sg_trial_count(const struct sg_ruleset *rules)
{
    return rules->trial_count;
}

int sg_trial_arms(const struct sg_ruleset *rules)
{
    const struct sg_trial *last;

    if (rules->trial_count == 0)
        return 0;
    last = &rules->trials[rules->trial_count - 1];
    return last->first + last->count - 1;
}

int sg_trial_of(const struct sg_ruleset *rules, int arm)
{
    int trial = 0;

    while (arm >= rules->trials[trial].first + rules->trials[trial].count)
        trial++;
    return trial;
}

const char *sg_trial_pattern(const struct sg_ruleset *rules, int trial)
{
    return rules->trials[trial].pattern;
}

const char *sg_trial_arm_text(const struct sg_ruleset *rules, int arm)
{
    return rules->arm_texts[arm - 1];
}

void sg_trial_range(const struct sg_ruleset *rules, int trial, int *first, int *count)
{
    *first = rules->trials[trial].first;
    *count = rules->trials[trial].count;
}

/* ---- where it is one -------------------------------------------------------------------------*/

static unsigned taken(const struct sg_trial *trial, const struct sg_rule_comm *comm)
{
    return trial->takes[comm->nonblocking][comm->reach];
}

bool sg_trial_takes(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm)
{
    const struct sg_trial *trial = &rules->trials[sg_trial_of(rules, arm)];

    return (taken(trial, comm) & 1u << (arm - trial->first)) != 0;
}

bool sg_trial_runs(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm)
{
    const struct sg_choice *choice = &rules->rules[arm - 1].choice;
    unsigned reach =
        sg_algorithm_reach(&rules->table.entries[choice->algorithm], choice->parameters);

    if (comm->nonblocking && choice->algorithm == SG_ALGORITHM_MPICH)
        return false;
    return reach == 0 || (reach & comm->reach) != 0;
}

/* ---- turns -----------------------------------------------------------------------------------*/

int sg_trial_order(uint32_t seed, int trial, uint64_t block, int arms)
{
    uint64_t round = block / (uint64_t)arms;
    uint64_t random = sg_hash_mix((uint64_t)seed << 8 | (uint64_t)trial);
    int order[SG_TRIAL_ARMS_MAX];

    assert(arms > 0 && arms <= SG_TRIAL_ARMS_MAX);
    random = sg_hash_mix(random ^ round);
    for (int i = 0; i < arms; i++)
        order[i] = i;
    for (int last = arms - 1; last > 0; last--) {
        int other, arm = order[last];

        random = sg_hash_mix(random + UINT64_C(0x9e3779b97f4a7c15));
        other = (int)((random >> 32) * (uint64_t)(last + 1) >> 32);
        order[last] = order[other];
        order[other] = arm;
    }
    return order[block % (uint64_t)arms];
}

const struct sg_choice *sg_trial_turn(const struct sg_ruleset *rules,
                                      const struct sg_choice *matched,
                                      const struct sg_rule_comm *comm, uint32_t seed,
                                      uint64_t block)
{
    int number = sg_trial_of(rules, matched->arm);
    const struct sg_trial *trial = &rules->trials[number];
    unsigned takes = taken(trial, comm);
    int turn = sg_trial_order(seed, number, block, __builtin_popcount(takes));
    int arm = trial->first;

    for (; turn > 0 || (takes & 1) == 0; takes >>= 1, arm++)
        turn -= takes & 1;
    return &rules->rules[arm - 1].choice;
}
