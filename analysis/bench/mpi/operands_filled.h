/* Operands of a case whose results are known, and the check of a result.
 *
 * Every block of an operand begins and ends with an element that depends on the round; the others
 * are the same in each call, so that the check of a long result between two calls is short. All
 * ranks of the case's communicator call each function together, with the same values.
 */
#ifndef SG_BENCH_MPI_OPERANDS_FILLED_H
#define SG_BENCH_MPI_OPERANDS_FILLED_H

#include "bench/mpi/measure_calls.h"

#include <stdbool.h>
#include <stdint.h>

/* Fill the operands of a call whose result is checked. fill_whole comes first, once, and fills all
 * elements; fill sets the first and the last element of each block for the round. */
void sg_bench_fill_whole(const struct sg_bench_case *bench_case);
void sg_bench_fill(const struct sg_bench_case *bench_case, uint64_t round);
/* Returns true if this rank's result is right; of long results, checks a sample of elements. */
bool sg_bench_holds(const struct sg_bench_case *bench_case, uint64_t round);
/* Makes some calls with known results and checks on every rank: all elements, that operands and the
 * buffers of ranks without a result are unchanged, and that no rank of this machine leaves a
 * barrier before all have entered it. Returns the number of ranks with an error, the same on all
 * ranks. */
int sg_bench_verify(const struct sg_bench_case *bench_case, enum sg_bench_side side);

#endif
