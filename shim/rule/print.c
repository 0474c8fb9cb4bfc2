/* Prints the rules in force in the grammar, so that a user can paste them as rules. */
#include "rule/ruleset.h"
#include "rule/trial.h"

#include <inttypes.h>
#include <string.h>

static void print_site(const struct sg_rule *rule, FILE *out)
{
    switch (rule->site_kind) {
    case SG_RULE_SITE_ANY:
        break;
    case SG_RULE_SITE_ID:
        fprintf(out, "@%08" PRIx32, rule->id);
        break;
    case SG_RULE_SITE_OFFSET:
        fprintf(out, "@%s+0x%" PRIx64, rule->site, rule->offset);
        break;
    case SG_RULE_SITE_LINE:
        fprintf(out, "@%s:%" PRIu32, rule->site, rule->line);
        break;
    case SG_RULE_SITE_FUNCTION:
        fprintf(out, "@%s", rule->site);
        break;
    }
}

static void print_comm(const struct sg_rule *rule, FILE *out)
{
    if (rule->comm_kind == SG_RULE_COMM_NAME)
        fprintf(out, "~%s", rule->comm);
    else if (rule->comm_kind == SG_RULE_COMM_SIZE)
        fprintf(out, "~%d-%d", rule->size_low, rule->size_high);
}

static void print_bytes(uint64_t bytes, FILE *out)
{
    static const char *const units[] = {"", "k", "m", "g"};
    int unit = 0;

    for (; unit < 3 && bytes > 0 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    fprintf(out, "%" PRIu64 "%s", bytes, units[unit]);
}

static void print_range(const struct sg_rule *rule, FILE *out)
{
    if (rule->any_bytes)
        return;
    putc('[', out);
    print_bytes(rule->byte_low, out);
    putc('-', out);
    if (rule->byte_high != UINT64_MAX)
        print_bytes(rule->byte_high, out);
    putc(']', out);
}

/* Prints word number `index` of "auto|off". */
static void print_word(const char *choices, int64_t index, FILE *out)
{
    for (; index > 0; index--)
        choices = strchr(choices, '|') + 1;
    fprintf(out, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void print_choice(const struct sg_algorithm *algorithm, const struct sg_choice *choice,
                         FILE *out)
{
    const struct sg_parameter *parameter = algorithm->parameters;

    fputs(algorithm->name, out);
    if (parameter->name == NULL)
        return;
    for (int i = 0; parameter[i].name != NULL; i++) {
        int64_t value = choice->parameters[i];

        fprintf(out, "%c%s=", i == 0 ? '(' : ',', parameter[i].name);
        if (parameter[i].kind == SG_PARAMETER_CHOICE)
            print_word(parameter[i].choices, value, out);
        else if (value < parameter[i].low)
            print_word(parameter[i].choices, parameter[i].low - 1 - value, out);
        else
            fprintf(out, "%" PRId64, value);
    }
    putc(')', out);
}

void sg_rule_print_pattern(const struct sg_rule *rule, FILE *out)
{
    if (rule->operation == SG_RULE_OF_MESSAGES)
        fputs("p2p", out);
    else
        fputs(rule->operation < 0 ? "*" : sg_operation_names[rule->operation], out);
    print_site(rule, out);
    print_comm(rule, out);
    print_range(rule, out);
}

/* Prints '?', which matches any character, for characters special in a rule or a glob. */
static void print_comm_name(const char *name, FILE *out)
{
    for (; *name != '\0'; name++)
        putc((unsigned char)*name < ' ' || strchr("\\;=~|[]*?", *name) != NULL ? '?' : *name, out);
}

void sg_ruleset_print_place(const struct sg_ruleset *rules, const struct sg_choice *choice,
                            const struct sg_rule_place *place, FILE *out)
{
    const struct sg_rule *rule = &rules->rules[sg_ruleset_index(rules, choice)];
    struct sg_rule range = {.byte_low = place->byte_low, .byte_high = place->byte_high};

    if (!rule->any_bytes && rule->byte_low > range.byte_low)
        range.byte_low = rule->byte_low;
    if (!rule->any_bytes && rule->byte_high < range.byte_high)
        range.byte_high = rule->byte_high;
    fputs(sg_operation_names[place->operation], out);
    print_site(rule, out);
    putc('~', out);
    print_comm_name(place->comm_name, out);
    fprintf(out, place->comm_name[0] != '\0' ? "(%d)" : "%d", place->comm_size);
    if (place->operation != SG_OPERATION_BARRIER)
        print_range(&range, out);
}

/* Prints trials as comments: they are not rules. */
static void print_trials(const struct sg_ruleset *rules, FILE *out)
{
    for (int i = 0; i < rules->trial_count; i++) {
        const struct sg_trial *trial = &rules->trials[i];

        fprintf(out, "# in turn: %s", trial->pattern);
        for (int arm = trial->first; arm < trial->first + trial->count; arm++)
            fprintf(out, "%c%s", arm == trial->first ? '=' : '|', rules->arm_texts[arm - 1]);
        fprintf(out, " # %s\n", rules->rules[trial->first - 1].source);
    }
}

void sg_ruleset_print(const struct sg_ruleset *rules, FILE *out)
{
    print_trials(rules, out);
    for (int i = sg_trial_arms(rules); i < rules->count; i++) {
        const struct sg_rule *rule = &rules->rules[i];

        if (rule->operation == SG_RULE_OF_AUTO)
            continue;
        sg_rule_print_pattern(rule, out);
        putc('=', out);
        print_choice(&rules->table.entries[rule->choice.algorithm], &rule->choice, out);
        fprintf(out, " # %s\n", rule->source);
    }
}
