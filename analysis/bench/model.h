/* What a call on one machine should take by the formulas of the level inside a node
 * (sim/model/node.h; paper 003's "future work"), with the costs that the limits have. Free of MPI;
 * a pure function.
 */
#ifndef SG_BENCH_MODEL_H
#define SG_BENCH_MODEL_H

#include "bench/limits.h"

#include <stdint.h>

/* All ranks enter at once; until the last leaves, in ns. NaN: one rank, a collective without
 * formulas, or a cost that is not known. */
double sg_bench_model_ns(const struct sg_bench_limits *limits, int operation, int ranks,
                         uint64_t bytes);

#endif
