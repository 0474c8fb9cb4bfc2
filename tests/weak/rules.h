/* A ruleset of one rule, for choices by rules. It is not one of the sources under check, and is
 * made once. */
#ifndef SG_TESTS_WEAK_RULES_H
#define SG_TESTS_WEAK_RULES_H

#include "rule/rule.h"

#include <stddef.h>

static inline const struct sg_ruleset *weak_one_rule(void)
{
    static struct sg_ruleset *rules;
    struct sg_config_rule rule = {SG_CONFIG_RULE_SHORT, (char *)"STAGGER_REDUCE",
                                  (char *)"STAGGER_REDUCE", (char *)"bypass"};
    struct sg_config config = {.rules = &rule, .rule_count = 1};

    if (rules == NULL)
        sg_ruleset_create(&config, true, &rules);
    return rules;
}

#endif
