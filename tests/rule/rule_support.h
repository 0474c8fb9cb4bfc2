/* Makes rule sets over a table of algorithms with features that the built-in one may lack:
 * parameters of every kind and algorithms that take some operations only. */
#ifndef SG_TESTS_RULE_RULE_SUPPORT_H
#define SG_TESTS_RULE_RULE_SUPPORT_H

#include "core/capture.h"
#include "lib/unit.h"
#include "rule/ruleset.h"

enum { MPICH, BYPASS, ADAPTIVE };
enum { DEGREE, WAIT, LIMIT };

static const struct sg_parameter adaptive_parameters[] = {
    {"degree", SG_PARAMETER_INTEGER, 2, 64, "auto|none", "auto", NULL, "children of a node", NULL,
     0, 0, 0},
    {"wait", SG_PARAMETER_CHOICE, 0, 0, "spin|block", "block", NULL, "how to wait", NULL, 0, 0, 0},
    {"limit", SG_PARAMETER_INTEGER, -8, 1 << 20, NULL, "4k", NULL, "largest message", NULL, 0, 0,
     0},
    {NULL, SG_PARAMETER_INTEGER, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0},
};
static const struct sg_algorithm test_algorithms[] = {
    [MPICH] = {"mpich", 7, sg_parameters_none, "passes through", 0},
    [BYPASS] = {"bypass", 1u << SG_OPERATION_REDUCE, sg_parameters_none, "returns early", 0},
    [ADAPTIVE] = {"adaptive", 1u << SG_OPERATION_REDUCE | 1u << SG_OPERATION_ALLREDUCE,
                  adaptive_parameters, "adapts", 0},
};
static const struct sg_algorithm_table test_table = {test_algorithms, 3, "*=mpich"};

/* Makes the set of one variable's value, and returns its log. */
static inline struct sg_ruleset *rules_from(enum sg_config_rule_kind kind, const char *variable,
                                            const char *text, char **log)
{
    struct sg_config_rule rule = {kind, (char *)variable, (char *)variable, (char *)text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};
    struct sg_ruleset *rules = NULL;
    struct capture capture;

    capture_begin(&capture);
    ASSERT(sg_ruleset_create_with(&test_table, &config, true, &rules) == SG_OK);
    *log = capture_end(&capture);
    return rules;
}

static inline struct sg_ruleset *rules_of(const char *text, char **log)
{
    return rules_from(SG_CONFIG_RULE_RULES, "STAGGER_RULES", text, log);
}

/* Prints the set without the built-in rule; malloc'ed. */
static inline char *printed(const struct sg_ruleset *rules)
{
    char *text = PRINTED(sg_ruleset_print(rules, stream));
    char *last = strstr(text, "*=mpich # default\n");
    ASSERT(last != NULL);
    EXPECT(text_is(last, "*=mpich # default\n"));
    *last = '\0';
    return text;
}

#endif
