/* A set of rules: from the configuration's sources in their order, and then the built-in ones. */
#include "rule/ruleset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The built-in rules, in the grammar: first those inside a node, then those between nodes; the last
 * one matches every call. The thresholds: docs/decisions/03. */
const char sg_rule_defaults[] = "*~2-8[0-1024]=srm(where=inside);" /* one exchange of lines */
                                "*~2[0-4096]=srm(where=inside);"
                                "*[0-4096]=handoff(where=inside);" /* a climb */
                                "*=srm(where=inside);"             /* pipelined chunks */
                                "reduce[0-1024]=bypass;"
                                "barrier=adaptive;"
                                "allreduce[0-1024]=adaptive;"
                                "*=mpich";

/* The algorithms of these rules are the candidates of `auto` between nodes. */
static const char arms_of_auto[] =
    "*=adaptive;*=bypass;*=dissemination;*=handoff;*=pairwise;*=srm;*=tree";

static struct sg_algorithm_table own_table(void)
{
    return (struct sg_algorithm_table){sg_algorithms, sg_algorithm_count, sg_rule_defaults};
}

/* "STAGGER_ALLREDUCE" -> SG_OPERATION_ALLREDUCE; the names come from the configuration table. */
static int operation_of(const char *variable)
{
    for (int i = 0; i < SG_OPERATION_COUNT; i++) {
        if (strcasecmp(variable + strlen("STAGGER_"), sg_operation_names[i]) == 0)
            return i;
    }
    assert(!"a short variable names an operation");
    return -1;
}

static enum sg_status parse_config_rule(struct sg_rule_reader *reader,
                                        const struct sg_config_rule *rule, struct sg_ruleset *set)
{
    struct sg_rule left = {.operation = -1, .any_bytes = true};

    switch (rule->kind) {
    case SG_CONFIG_RULE_TRIAL:
        return sg_trial_parse_list(reader, rule->text, set);
    case SG_CONFIG_RULE_SITE:
        left.site_kind = SG_RULE_SITE_ID;
        left.id = (uint32_t)strtoul(rule->name + strlen("STAGGER_SITE_"), NULL, 16);
        return sg_rule_parse_algorithm(reader, rule->text, &left, set);
    case SG_CONFIG_RULE_SHORT:
        left.operation = operation_of(rule->name);
        return sg_rule_parse_algorithm(reader, rule->text, &left, set);
    case SG_CONFIG_RULE_RULES:
    case SG_CONFIG_RULE_FILE:
    case SG_CONFIG_RULE_NONE:
        break;
    }
    return sg_rule_parse_list(reader, rule->text, set);
}

static enum sg_status add_defaults(struct sg_ruleset *set)
{
    struct sg_rule_reader reader = {.table = set->table, .source = SG_RULE_DEFAULT};
    enum sg_status status = sg_rule_parse_list(&reader, set->table.defaults, set);

    assert(reader.faults == 0);
    return status;
}

/* True if the rule lets `auto` choose between nodes. */
static bool chooses(const struct sg_ruleset *set, const struct sg_rule *rule)
{
    const struct sg_choice *choice = &rule->choice;

    return choice->algorithm == SG_ALGORITHM_AUTO &&
           (sg_algorithm_reach(&set->table.entries[choice->algorithm], choice->parameters) &
            SG_REACH_INTERNODE) != 0;
}

/* Adds one set of candidates for all rules with `auto`, after all rules: engines find them by
 * index. */
static enum sg_status add_arms(struct sg_ruleset *set, const char *arms)
{
    struct sg_rule_reader reader = {.table = set->table, .source = SG_RULE_DEFAULT};
    int rules = set->count;
    enum sg_status status = SG_OK;
    bool any = false;

    for (int i = 0; i < rules && arms != NULL; i++)
        any = any || chooses(set, &set->rules[i]);
    if (any)
        status = sg_rule_parse_list(&reader, arms, set);
    assert(reader.faults == 0);
    for (int i = rules; i < set->count; i++)
        set->rules[i].operation = SG_RULE_OF_AUTO;
    return status;
}

static enum sg_status create(const struct sg_algorithm_table *table, const char *arms,
                             const struct sg_config *config, bool speak, struct sg_ruleset **out)
{
    struct sg_rule_reader reader = {.table = *table, .speak = speak};
    struct sg_ruleset *set = calloc(1, sizeof *set);
    enum sg_status status = SG_OK;

    if (set == NULL)
        return SG_ERR_MEMORY;
    set->table = *table;
    for (int i = 0; i < config->rule_count && status == SG_OK; i++) {
        reader.source = config->rules[i].source;
        status = parse_config_rule(&reader, &config->rules[i], set);
    }
    if (status == SG_OK)
        status = add_defaults(set);
    if (status == SG_OK)
        status = add_arms(set, arms);
    if (status == SG_OK) {
        set->seen = calloc((size_t)set->count, sizeof *set->seen);
        status = set->seen != NULL ? SG_OK : SG_ERR_MEMORY;
    }
    if (status != SG_OK) {
        sg_ruleset_destroy(set);
        return status;
    }
    sg_rule_say_rest(&reader);
    *out = set;
    return SG_OK;
}

enum sg_status sg_ruleset_create(const struct sg_config *config, bool speak,
                                 struct sg_ruleset **out)
{
    struct sg_algorithm_table table = own_table();

    return create(&table, arms_of_auto, config, speak, out);
}

enum sg_status sg_ruleset_create_with(const struct sg_algorithm_table *table,
                                      const struct sg_config *config, bool speak,
                                      struct sg_ruleset **out)
{
    return create(table, NULL, config, speak, out);
}

void sg_ruleset_destroy(struct sg_ruleset *rules)
{
    if (rules == NULL)
        return;
    for (int i = 0; i < rules->count; i++)
        sg_rule_clear(&rules->rules[i]);
    sg_trials_clear(rules);
    free(rules->rules);
    free(rules->seen);
    free(rules);
}

bool sg_ruleset_needs_names(const struct sg_ruleset *rules)
{
    return rules->needs_names;
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

const struct sg_choice *sg_ruleset_arm(const struct sg_ruleset *rules, int algorithm)
{
    for (int i = rules->count - 1; i >= 0 && rules->rules[i].operation == SG_RULE_OF_AUTO; i--) {
        if (rules->rules[i].choice.algorithm == algorithm)
            return &rules->rules[i].choice;
    }
    return NULL;
}

/* A candidate covers the calls of every rule with `auto`. */
bool sg_ruleset_concerns(const struct sg_ruleset *rules, int index, const struct sg_rule_comm *comm)
{
    bool concerns = false;

    if (rules->rules[index].operation != SG_RULE_OF_AUTO)
        return sg_rule_concerns(rules, &rules->rules[index], comm);
    for (int i = 0; i < rules->count && !concerns; i++)
        concerns =
            chooses(rules, &rules->rules[i]) && sg_rule_concerns(rules, &rules->rules[i], comm);
    return concerns;
}

static uint64_t most_bytes(const struct sg_rule *rule)
{
    return rule->any_bytes ? UINT64_MAX : rule->byte_high;
}

uint64_t sg_ruleset_most_bytes(const struct sg_ruleset *rules, int index)
{
    uint64_t most = 0;

    if (rules->rules[index].operation != SG_RULE_OF_AUTO)
        return most_bytes(&rules->rules[index]);
    for (int i = 0; i < rules->count; i++) {
        if (chooses(rules, &rules->rules[i]) && most_bytes(&rules->rules[i]) > most)
            most = most_bytes(&rules->rules[i]);
    }
    return most;
}

typedef enum sg_status (*parse_function)(struct sg_rule_reader *reader, const char *text,
                                         struct sg_ruleset *set);

/* what: the kind of item of which the text needs at least one. */
static enum sg_status check(const char *source, const char *text, parse_function parse,
                            const char *what)
{
    struct sg_ruleset set = {.table = own_table()};
    struct sg_rule_reader reader = {
        .table = set.table, .source = source, .speak = true, .checking = true};
    enum sg_status status = parse(&reader, text, &set);
    int found = set.count + set.trial_count;

    for (int i = 0; i < set.count; i++)
        sg_rule_clear(&set.rules[i]);
    free(set.rules);
    sg_trials_clear(&set);
    if (status == SG_OK && reader.faults == 0 && found == 0) {
        sg_log("%s, column 1: expected a %s, found the end", source, what);
        return SG_ERR_SYNTAX;
    }
    return status == SG_OK && reader.faults > 0 ? SG_ERR_SYNTAX : status;
}

enum sg_status sg_rule_check(const char *source, const char *text)
{
    return check(source, text, sg_rule_parse_list, "rule");
}

enum sg_status sg_trial_check(const char *source, const char *text)
{
    return check(source, text, sg_trial_parse_list, "trial");
}

bool sg_ruleset_has_slices(const struct sg_ruleset *rules)
{
    bool has = false;

    for (int i = 0; i < rules->count; i++)
        has = has || sg_parameter_find(rules->rules[i].choice.algorithm, "slice") >= 0;
    return has;
}

bool sg_ruleset_is_slice_short(const struct sg_ruleset *rules, double wake_us, int64_t *slice_us)
{
    bool is_any_short = false;

    for (int i = 0; i < rules->count; i++) {
        const struct sg_choice *choice = &rules->rules[i].choice;
        int at = sg_parameter_find(choice->algorithm, "slice");
        int64_t slice = at < 0 ? 0 : choice->parameters[at];

        if (at < 0 || (double)slice >= SG_SLICE_WAKES * wake_us ||
            (is_any_short && slice >= *slice_us))
            continue;
        is_any_short = true;
        *slice_us = slice;
    }
    return is_any_short;
}
