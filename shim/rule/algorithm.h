/* The table of algorithms: what a rule may name. The index is stored in logs: append only.
 *
 * An algorithm is one line here; its parameters are in algos/parameters.c; how it runs is the
 * table of engines (shim/intercept/run.c), by the same index.
 */
#ifndef SG_RULE_ALGORITHM_H
#define SG_RULE_ALGORITHM_H

#include "algos/parameters.h"
#include "core/operation.h"

#include <stdint.h>

/* Where an algorithm runs: among the ranks of one node, or between nodes. */
enum { SG_REACH_NODE = 1, SG_REACH_INTERNODE = 2 };

struct sg_algorithm {
    const char *name;
    unsigned operations;                   /* bit 1u << enum sg_operation */
    const struct sg_parameter *parameters; /* ends with a NULL name; NULL: none */
    const char *documentation;
    unsigned reach; /* SG_REACH_*; 0: everywhere. Rules that do not reach are passed over */
};

#define SG_ALGORITHM_MPICH 0   /* pass through */
#define SG_ALGORITHM_HANDOFF 1 /* inside a node by shim/intranode, between nodes by shim/algos */
#define SG_ALGORITHM_SRM 2     /* likewise */
#define SG_ALGORITHM_BYPASS 3  /* from here on between nodes alone */
#define SG_ALGORITHM_ADAPTIVE 4
#define SG_ALGORITHM_TREE 5
#define SG_ALGORITHM_DISSEMINATION 6
#define SG_ALGORITHM_PAIRWISE 7
#define SG_ALGORITHM_BCS 8
#define SG_ALGORITHM_AUTO 9 /* a choice among the others; no log names it */

/* Parameters of auto, by index. */
enum { SG_AUTO_BLOCK, SG_AUTO_HOLD, SG_AUTO_WHERE, SG_AUTO_BITS };

extern const struct sg_algorithm sg_algorithms[];
extern const int sg_algorithm_count;

/* Where an algorithm with these parameters (by index; NULL: the defaults) runs: SG_REACH_*. */
unsigned sg_algorithm_reach(const struct sg_algorithm *algorithm, const int64_t *parameters);

/* Index of an algorithm's parameter, or -1. */
int sg_parameter_find(int algorithm, const char *name);

#endif
