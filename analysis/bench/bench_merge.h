/* Merges several runs of stagger-bench: pools the rows that measure the same thing.
 *
 * The samples of all launches together give a distribution. The launches' medians, each one value,
 * give the spread between launches, which is often larger: the placement of ranks and memory is
 * decided once per launch. Free of MPI.
 */
#ifndef SG_BENCH_BENCH_MERGE_H
#define SG_BENCH_BENCH_MERGE_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* paths: outputs of `stagger-bench --json --samples` with the same command and number of ranks.
 * *out is an object (docs/bench-json.md), freed with json_decref. SG_ERR_MISSING, SG_ERR_FORMAT,
 * SG_ERR_MEMORY (logged). */
enum sg_status sg_bench_merge(char *const *paths, int count, json_t **out);
/* A table of it. */
void sg_bench_merge_print(const json_t *merged, FILE *stream);

#endif
