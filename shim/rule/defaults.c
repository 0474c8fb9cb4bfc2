/* The built-in rules, in the users' grammar. The last one matches every call. */
#include "rule/ruleset.h"

const char sg_rule_defaults[] = "*=mpich";
