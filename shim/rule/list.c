/* Adds rules to a set: lists of rules, and variables that give one algorithm. */
#include "core/text.h"
#include "rule/ruleset.h"

#include <stdlib.h>
#include <string.h>

enum { FAULTS_SAID = 20 };

void sg_rule_clear(struct sg_rule *rule)
{
    free(rule->site);
    free(rule->comm);
    free(rule->comm_bare);
    free(rule->source);
}

/* The array doubles when its count is a power of two. The set takes ownership of the rule. */
enum sg_status sg_rule_add(struct sg_ruleset *set, const char *source, struct sg_rule *rule)
{
    int count = set->count;
    struct sg_rule *rules;

    rule->source = strdup(source);
    if (rule->source == NULL)
        return SG_ERR_MEMORY;
    if ((count & (count - 1)) == 0) {
        rules = realloc(set->rules, (count > 0 ? 2 * (size_t)count : 1) * sizeof *rules);
        if (rules == NULL)
            return SG_ERR_MEMORY;
        set->rules = rules;
    }
    set->rules[set->count++] = *rule;
    if (rule->site_kind == SG_RULE_SITE_LINE || rule->site_kind == SG_RULE_SITE_FUNCTION)
        set->needs_names = true;
    return SG_OK;
}

void sg_rule_say(struct sg_rule_reader *reader, const char *text, const char *begin,
                 const char *end, const char *at, const char *message)
{
    int column = sg_text_column(text, (size_t)(at - text));
    char excerpt[SG_EXCERPT_BYTES];

    if (++reader->faults > (reader->checking ? 1 : FAULTS_SAID) || !reader->speak)
        return;
    begin = sg_rule_skip_blanks(begin, end);
    end = sg_rule_trim(begin, end);
    sg_text_excerpt(begin, (size_t)(end - begin), excerpt, sizeof excerpt);
    if (reader->checking)
        sg_log("%s, column %d: %s", reader->source, column, message);
    else
        sg_log("%s, column %d: %s; ignored: %s", reader->source, column, message, excerpt);
}

void sg_rule_say_rest(const struct sg_rule_reader *reader)
{
    if (reader->speak && reader->faults > FAULTS_SAID)
        sg_log("%d more invalid rules are ignored", reader->faults - FAULTS_SAID);
}

/* Ends the reading of one rule: adds it, or reports its fault. */
static enum sg_status finish(struct sg_rule_reader *reader, const char *text, const char *begin,
                             const char *end, enum sg_status status, struct sg_rule *rule,
                             const struct sg_rule_fault *fault, struct sg_ruleset *set)
{
    if (status == SG_OK)
        status = sg_rule_add(set, reader->source, rule);
    if (status == SG_OK)
        return SG_OK;
    sg_rule_clear(rule);
    if (status != SG_ERR_SYNTAX)
        return status;
    sg_rule_say(reader, text, begin, end, fault->at, fault->message);
    return SG_OK;
}

bool sg_rule_next_item(const char **at, const char *end, const char **begin, const char **stop)
{
    while (*at < end) {
        *stop = sg_rule_find_plain(*at, end, ";\n");
        *begin = sg_rule_skip_blanks(*at, *stop);
        *at = *stop + 1;
        if (*begin < *stop)
            return true;
    }
    return false;
}

enum sg_status sg_rule_parse_list(struct sg_rule_reader *reader, const char *text,
                                  struct sg_ruleset *set)
{
    const char *at = text, *end = text + strlen(text), *begin, *stop;
    enum sg_status status = SG_OK;

    while (status == SG_OK && sg_rule_next_item(&at, end, &begin, &stop)) {
        struct sg_rule rule = {.any_bytes = true};
        struct sg_rule_fault fault = {.at = begin};

        status = (sg_rule_is_of_messages(begin, stop) ? sg_rule_parse_messages : sg_rule_parse)(
            &reader->table, begin, stop, &rule, &fault);
        status = finish(reader, text, begin, stop, status, &rule, &fault, set);
    }
    return status;
}

enum sg_status sg_rule_parse_algorithm(struct sg_rule_reader *reader, const char *text,
                                       const struct sg_rule *left, struct sg_ruleset *set)
{
    const char *end = text + strlen(text);
    struct sg_rule rule = *left;
    struct sg_rule_fault fault;
    enum sg_status status =
        sg_rule_parse_target(&reader->table, rule.operation, text, end, &rule.choice, &fault);

    return finish(reader, text, text, end, status, &rule, &fault, set);
}
