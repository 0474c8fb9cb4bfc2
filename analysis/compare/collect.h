/* Reads a run and gathers, in addition to its report, a series of samples for each call site and
 * operation.
 */
#ifndef SG_COMPARE_COLLECT_H
#define SG_COMPARE_COLLECT_H

#include "compare/series.h"
#include "report/report.h"

#include <stdbool.h>

struct sg_collected {
    uint32_t site; /* index in the aggregate, as in the report's rows */
    enum sg_operation operation;
    bool nonblocking;
    struct sg_series series;
    /* For the current instance, and for late contributions since the last one. */
    struct sg_sample pending;
    bool touched;
};

struct sg_collection {
    struct sg_collected *items;
    uint32_t count;
    uint32_t *item_of_row; /* by the aggregate's row, 1 + item; 0: not yet known */
    uint32_t row_room;
    uint32_t *touched; /* items of the current instance */
    uint32_t touched_count;
};

/* On failure one line has been logged; clear both in either case. */
enum sg_status sg_collect(const char *path, bool progress, struct sg_report *report,
                          struct sg_collection *out);
void sg_collection_clear(struct sg_collection *collection);

/* NULL: nothing is in the events. */
const struct sg_collected *sg_collection_find(const struct sg_collection *collection,
                                              const struct sg_report_site *site);

#endif
