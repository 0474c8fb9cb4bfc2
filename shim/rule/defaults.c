/* The built-in rules, in the users' grammar: first those that reach inside a node, then those
 * between nodes; the last one matches every call. The thresholds:
 * docs/decisions/0005-thresholds.md. */
#include "rule/ruleset.h"

const char sg_rule_defaults[] = "*~2-8[0-1024]=srm(where=inside);" /* one exchange of lines */
                                "*[0-4096]=handoff(where=inside);" /* a climb */
                                "*=srm(where=inside);"             /* pipelined chunks */
                                "reduce[0-1024]=bypass;"
                                "barrier=adaptive;"
                                "allreduce[0-1024]=adaptive;"
                                "*=mpich";
