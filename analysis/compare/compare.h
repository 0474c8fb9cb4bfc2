/* Two runs, call site by call site: what each costs per call, and which differences are more than
 * noise.
 *
 * A call site is taken with its operation, over all its communicators, and found in the other run
 * by its id; where that is not there (the program was built anew), by function, file and line.
 */
#ifndef SG_COMPARE_COMPARE_H
#define SG_COMPARE_COMPARE_H

#include "compare/bootstrap.h"
#include "report/report.h"

#include <stdio.h>

/* One run's part. Totals are the report's (the statistics' where events were left out). */
struct sg_side {
    bool present;
    uint64_t calls, event_calls, instances;
    uint64_t ns[SG_MEASURED_COUNT];
    double mean_ns[SG_MEASURED_COUNT]; /* per call: of the events' calls where the other has some */
    const char *algorithm;             /* of the row that blocked longest */
};

struct sg_compared {
    const struct sg_report_site *site; /* its names: of a where it is there */
    bool by_place;                     /* ids differ, function, file and line are the same */
    struct sg_side side[2];
    struct sg_difference difference[SG_MEASURED_COUNT]; /* where both are present */
};

struct sg_comparison {
    struct sg_report run[2];
    struct sg_compared *rows; /* in both first, by the time blocked in the run with more of it */
    uint32_t row_count;
    uint32_t both_count;                      /* of them in both */
    uint32_t only_count[2];                   /* in one alone */
    uint32_t verdict_count[SG_VERDICT_COUNT]; /* of those in both, by time blocked */
    struct sg_comparison_series *series;
};

extern const char *const sg_measured_names[SG_MEASURED_COUNT];
/* "less", ...: as JSON has them. */
extern const char *const sg_verdict_names[SG_VERDICT_COUNT];

bool sg_side_knows(const struct sg_side *side, enum sg_measured measured);

/* On failure one line has been logged. */
enum sg_status sg_compare(const char *const paths[2], bool progress, struct sg_comparison *out);
void sg_comparison_clear(struct sg_comparison *comparison);

/* SG_ERR_MEMORY (logged) or SG_OK; whether the stream took everything is the caller's to check. */
enum sg_status sg_comparison_print_text(const struct sg_comparison *comparison, FILE *out);
enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out);

#endif
