/* The list of rules as users wrote them, kept in order of precedence: by kind, within a kind in
 * the order of reading; call sites by id, so that the order of the environment, which differs
 * between ranks, does not show.
 */
#include "core/config_impl.h"

#include <stdlib.h>
#include <string.h>

static void clear_rule(struct sg_config_rule *rule)
{
    free(rule->name);
    free(rule->source);
    free(rule->text);
}

void sg_config_clear(struct sg_config *config)
{
    for (int i = 0; i < config->rule_count; i++)
        clear_rule(&config->rules[i]);
    free(config->rules);
    free(config->directory);
    free(config->config_file);
    free(config->verbs_device);
    *config = (struct sg_config){0};
}

const struct sg_config_rule *sg_config_find_rule(const struct sg_config *config, const char *name)
{
    for (int i = 0; i < config->rule_count; i++) {
        if (strcmp(config->rules[i].name, name) == 0)
            return &config->rules[i];
    }
    return NULL;
}

/* "STAGGER_RULES", "stagger.conf:12" or "stagger.conf:12 STAGGER_RULES"; NULL: no memory. */
static char *source_text(const struct sg_config_reader *reader, const char *name)
{
    char *source;

    if (reader->path == NULL)
        return strdup(name);
    if (asprintf(&source, "%s:%d%s%s", reader->path, reader->line, *name ? " " : "", name) < 0)
        return NULL;
    return source;
}

static bool stands_behind(const struct sg_config_rule *rule, const struct sg_config_rule *other)
{
    if (rule->kind != other->kind)
        return rule->kind > other->kind;
    return rule->kind != SG_CONFIG_RULE_SITE || strcmp(rule->name, other->name) > 0;
}

/* The array doubles where its count is a power of two, so that no capacity need be kept. */
static bool grow(struct sg_config *config)
{
    int count = config->rule_count;
    struct sg_config_rule *rules;

    if (count > 0 && (count & (count - 1)) != 0)
        return true;
    rules = realloc(config->rules, (count > 0 ? 2 * (size_t)count : 1) * sizeof *rules);
    if (rules == NULL)
        return false;
    config->rules = rules;
    return true;
}

void sg_config_add_rule(struct sg_config_reader *reader, enum sg_config_rule_kind kind,
                        const char *name, const char *text)
{
    struct sg_config *config = reader->config;
    struct sg_config_rule rule = {.kind = kind};
    int at = config->rule_count;

    if (config->rule_count == SG_CONFIG_RULES) {
        sg_config_complain(reader, "more than %d rules; this one is left out", SG_CONFIG_RULES);
        return;
    }
    rule.name = strdup(name);
    rule.source = source_text(reader, name);
    rule.text = strdup(text);
    if (rule.name == NULL || rule.source == NULL || rule.text == NULL || !grow(config)) {
        clear_rule(&rule);
        reader->status = SG_ERR_MEMORY;
        return;
    }
    while (at > 0 && !stands_behind(&rule, &config->rules[at - 1]))
        at--;
    memmove(&config->rules[at + 1], &config->rules[at],
            (size_t)(config->rule_count - at) * sizeof *config->rules);
    config->rules[at] = rule;
    config->rule_count++;
}
