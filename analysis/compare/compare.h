/* Compares two sides, of one or more runs each, call site by call site: the cost per call on each
 * side, and which differences exceed the noise.
 *
 * A call site is compared per operation, over all its communicators. It is matched across runs by
 * its id, or if the id is missing there (the program was rebuilt) by function, file and line.
 *
 * With one run a side the noise is the variation within the runs (compared_samples.h). With several
 * it is the variation from run to run (compared_runs.h), and every figure of a side is a mean over
 * its runs.
 */
#ifndef SG_COMPARE_COMPARE_H
#define SG_COMPARE_COMPARE_H

#include "compare/compare_calls.h"

#include <jansson.h>
#include <stdio.h>

struct sg_run_paths {
    const char *const *paths;
    uint32_t count; /* at least 1 */
};

/* gate: its limit and figure; the comparison's has the result. NULL: none. On failure one line has
 * been logged. */
enum sg_status sg_compare(const struct sg_run_paths sides[2], const struct sg_gate *gate,
                          bool progress, struct sg_comparison *out);
void sg_comparison_clear(struct sg_comparison *comparison);

/* SG_ERR_MEMORY (logged) or SG_OK; the caller checks whether the stream took everything. */
enum sg_status sg_comparison_print_text(const struct sg_comparison *comparison, FILE *out);
enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out);
enum sg_status sg_comparison_print_csv(const struct sg_comparison *comparison,
                                       enum sg_compare_table table, FILE *out);

#endif
