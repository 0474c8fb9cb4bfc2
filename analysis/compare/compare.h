/* Two sides, of one run or several each, call site by call site: what each costs per call, and
 * which differences are more than noise.
 *
 * A call site is taken with its operation, over all its communicators, and found in the other runs
 * by its id; where that is not there (the program was built anew), by function, file and line.
 *
 * With one run a side noise is what varies within them (bootstrap.h); with more it is what differs
 * from run to run (run_spread.h), and every figure of a side is a mean over its runs.
 */
#ifndef SG_COMPARE_COMPARE_H
#define SG_COMPARE_COMPARE_H

#include "compare/comparison.h"

#include <stdio.h>

struct sg_run_paths {
    const char *const *paths;
    uint32_t count; /* at least 1 */
};

/* On failure one line has been logged. */
enum sg_status sg_compare(const struct sg_run_paths sides[2], bool progress,
                          struct sg_comparison *out);
void sg_comparison_clear(struct sg_comparison *comparison);

/* SG_ERR_MEMORY (logged) or SG_OK; whether the stream took everything is the caller's to check. */
enum sg_status sg_comparison_print_text(const struct sg_comparison *comparison, FILE *out);
enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out);
enum sg_status sg_comparison_print_csv(const struct sg_comparison *comparison, FILE *out);

#endif
