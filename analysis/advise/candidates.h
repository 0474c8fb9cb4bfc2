/* The algorithms that advice chooses from, spelled as in rules and in the simulator. */
#ifndef SG_ADVISE_CANDIDATES_H
#define SG_ADVISE_CANDIDATES_H

#include "core/operation.h"

#include <stdbool.h>
#include <stddef.h>

/* "adaptive(predict=1)"; the first of a name is the algorithm with its defaults. For MPICH's own
 * the simulator runs another protocol, see sg_candidate_stock. */
extern const char *const sg_candidates[];
extern const int sg_candidate_count;
#define SG_CANDIDATES_MAX 16

/* Index of the candidate that is this algorithm with its defaults; -1: none. */
int sg_candidate_find(const char *algorithm);

/* Whether rules may name it for the operation, inside a node or between nodes. */
bool sg_candidate_runs(int candidate, enum sg_operation operation, bool inside);

/* The protocol between single ranks that models MPICH for small operands. */
const char *sg_candidate_stock(enum sg_operation operation);

#endif
