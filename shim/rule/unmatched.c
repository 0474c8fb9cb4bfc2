/* Reports the user's rules that decided no call, and finds the choices that calls may get. A rule
 * for an operation that the application does not call is no mistake; a rule whose call site,
 * communicator or bytes no call matches is likely to be one. */
#include "rule/ruleset.h"
#include "rule/trial.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAID_MAX = 20 };

bool sg_ruleset_is_own(const struct sg_ruleset *rules, int index)
{
    const struct sg_rule *rule = &rules->rules[index];

    return !sg_rule_is_default(rule) && rule->choice.arm == 0;
}

bool sg_ruleset_has_own(const struct sg_ruleset *rules)
{
    bool own = false;

    for (int i = 0; i < rules->count && !own; i++)
        own = sg_ruleset_is_own(rules, i);
    return own;
}

static bool names_a_site(const struct sg_rule *rule)
{
    return rule->site_kind != SG_RULE_SITE_ANY || rule->comm_kind != SG_RULE_COMM_ANY ||
           !rule->any_bytes;
}

/* True if an earlier rule decided calls that may have been this rule's. */
static bool is_behind(const struct sg_ruleset *rules, int index, const uint8_t *seen)
{
    const struct sg_rule *rule = &rules->rules[index];
    bool behind = false;

    for (int i = 0; i < index && !behind; i++) {
        int operation = rules->rules[i].operation;
        bool are_alike =
            (operation == SG_RULE_OF_MESSAGES) == (rule->operation == SG_RULE_OF_MESSAGES);

        behind = are_alike && (seen[i] & SG_RULE_SEEN_TAKEN) != 0 && sg_ruleset_is_own(rules, i) &&
                 (operation < 0 || rule->operation < 0 || operation == rule->operation);
    }
    return behind;
}

static const char *algorithm_of(const struct sg_ruleset *rules, int index)
{
    return rules->table.entries[rules->rules[index].choice.algorithm].name;
}

void sg_ruleset_print_rule(const struct sg_ruleset *rules, int index, FILE *out)
{
    sg_rule_print_pattern(&rules->rules[index], out);
    fprintf(out, "=%s", algorithm_of(rules, index));
}

bool sg_ruleset_is_unmatched(const struct sg_ruleset *rules, int index, const uint8_t *seen)
{
    return sg_ruleset_is_own(rules, index) && (seen[index] & SG_RULE_SEEN_TAKEN) == 0 &&
           (seen[index] != 0 || names_a_site(&rules->rules[index]));
}

void sg_ruleset_print_unmatched(const struct sg_ruleset *rules, int index, const uint8_t *seen,
                                FILE *out)
{
    if ((seen[index] & SG_RULE_SEEN_NODE) != 0)
        fprintf(out, "%s does not run inside a node, where its calls were",
                algorithm_of(rules, index));
    else if ((seen[index] & SG_RULE_SEEN_INTERNODE) != 0)
        fprintf(out, "%s does not run between nodes, where its calls were",
                algorithm_of(rules, index));
    else
        fprintf(out, "matched no call%s",
                is_behind(rules, index, seen) ? ", or only calls that earlier rules decided" : "");
}

static void say(const struct sg_ruleset *rules, int index, const uint8_t *seen)
{
    char *text = NULL;
    size_t text_bytes;
    FILE *stream = open_memstream(&text, &text_bytes);

    if (stream == NULL)
        return;
    sg_ruleset_print_rule(rules, index, stream);
    fprintf(stream, " (%s): ", rules->rules[index].source);
    sg_ruleset_print_unmatched(rules, index, seen, stream);
    if (fclose(stream) == 0)
        sg_log("rule %s", text);
    free(text);
}

void sg_ruleset_say_unmatched(const struct sg_ruleset *rules, const uint8_t *seen)
{
    int said = 0;

    for (int i = 0; i < rules->count; i++) {
        if (sg_ruleset_is_unmatched(rules, i, seen) && said++ < SAID_MAX)
            say(rules, i, seen);
    }
    if (said > SAID_MAX)
        sg_log("%d more rules matched no call", said - SAID_MAX);
}

/* ---- choices that calls may get ----
 *
 * Memory is shared, and processes give each other access to their memory, only if some rule can
 * choose an algorithm that needs it. A rule that names a call site may match or not; its
 * communicator and bytes are compared. The choice by bytes changes only where a rule's range begins
 * or ends, so only these sizes are tried. */

/* Says which of the calls of one size a rule matches. */
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

/* A trial's candidates are adjacent rules with one left side. */
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
