/* Merges several runs of stagger-bench: pools the rows that measure the same thing.
 *
 * The samples of all launches together give a distribution. The launches' medians, each one value,
 * give the spread between launches, which is often larger, because ranks and memory are placed once
 * per launch. Free of MPI.
 */
#ifndef SG_BENCH_BENCH_MERGE_H
#define SG_BENCH_BENCH_MERGE_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Merges outputs of `stagger-bench --json --samples` with the same command and number of ranks.
 * *out is an object (docs/bench-json.md), which the caller frees with json_decref. SG_ERR_MISSING,
 * SG_ERR_FORMAT, SG_ERR_MEMORY (logged). */
enum sg_status sg_bench_merge(char *const *paths, int count, json_t **out);
/* Prints the merged rows as a table. */
void sg_bench_merge_print(const json_t *merged, FILE *stream);

#endif
