/* Several runs of stagger-bench as one: rows of the same thing are pooled.
 *
 * Samples of all launches together give a distribution; the launches' medians, each one value, the
 * spread between launches, which is often the larger: where ranks and memory come to lie is settled
 * once a launch. Free of MPI.
 */
#ifndef SG_BENCH_MERGE_H
#define SG_BENCH_MERGE_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* paths: outputs of `stagger-bench --json --samples` of one command on as many ranks. *out is an
 * object (docs/bench-json.md), to be json_decref'ed. SG_ERR_MISSING, SG_ERR_FORMAT, SG_ERR_MEMORY
 * (logged). */
enum sg_status sg_bench_merge(char *const *paths, int count, json_t **out);

/* A table of it. */
void sg_bench_merge_print(const json_t *merged, FILE *stream);

#endif
