/* The built-in rules, in the users' grammar. The last one matches every call: on
 * communicators over several nodes it is the only one that does. The thresholds are measured:
 * docs/decisions/0005-thresholds.md. */
#include "rule/ruleset.h"

const char sg_rule_defaults[] = "*~2-8[0-1024]=srm;" /* one exchange of lines */
                                "*[0-4096]=handoff;" /* a climb */
                                "*=srm;"             /* pipelined chunks */
                                "*=mpich";
