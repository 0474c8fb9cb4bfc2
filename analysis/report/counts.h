/* What ranks count in their calls beside time: one line each in one table, for every source and
 * every output.
 */
#ifndef SG_REPORT_COUNTS_H
#define SG_REPORT_COUNTS_H

#include "trace/export/vocabulary.h"

#include <stdint.h>

enum sg_count {
    SG_COUNT_EARLY,
    SG_COUNT_LATE,
    SG_COUNT_SIGNALS,
    SG_COUNT_IGNORED,
    SG_COUNT_STALLS,
    SG_COUNT_MOVES,
    SG_COUNT_REPEATS,
    SG_COUNT_OUTSTANDING,
    SG_COUNT_COUNT
};

struct sg_counts {
    uint64_t of[SG_COUNT_COUNT];
};

struct sg_count_name {
    const char *field;         /* in JSON and CSV */
    enum sg_metric_ref metric; /* in the archive */
};

extern const struct sg_count_name sg_count_names[SG_COUNT_COUNT];

/* Sums; of what is a level, not a number of events, the greater one. */
void sg_counts_add(struct sg_counts *into, enum sg_count count, uint64_t value);
void sg_counts_add_all(struct sg_counts *into, const struct sg_counts *more);

#endif
