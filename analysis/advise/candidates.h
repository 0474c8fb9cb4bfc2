/* The algorithms that advice chooses from: each as a rule spells it, and as the simulator's
 * protocol between nodes.
 */
#ifndef SG_ADVISE_CANDIDATES_H
#define SG_ADVISE_CANDIDATES_H

#include "core/operation.h"

#include <stdbool.h>
#include <stddef.h>

struct sg_candidate {
    const char *rule;     /* "adaptive(predict=1)" */
    const char *protocol; /* the simulator's; NULL: MPICH's own, see sg_candidate_stock */
};

/* The first of a name is the algorithm with its defaults. */
extern const struct sg_candidate sg_candidates[];
extern const int sg_candidate_count;
#define SG_CANDIDATES_MAX 16

/* Number of the candidate that is this algorithm with its defaults; -1: none. */
int sg_candidate_find(const char *algorithm);

/* Whether rules may name it for the operation, inside a node or between nodes. */
bool sg_candidate_runs(int candidate, enum sg_operation operation, bool inside);

/* What MPICH does for small operands, as a protocol between single ranks. */
const char *sg_candidate_stock(enum sg_operation operation);

#endif
