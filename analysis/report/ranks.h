/* The ranks of a report as rows: one table of columns for text and JSON. */
#ifndef SG_REPORT_RANKS_H
#define SG_REPORT_RANKS_H

#include "output/column.h"
#include "report/report.h"

struct sg_ranked {
    uint32_t rank;
    bool has_events;
    uint64_t elsewhere_ns;
    struct sg_report_rank of;
};

static inline struct sg_ranked sg_ranked_of(const struct sg_report *report, uint32_t rank)
{
    return (struct sg_ranked){rank, report->has_events, sg_rank_elsewhere_ns(&report->ranks[rank]),
                              report->ranks[rank]};
}

extern const struct sg_columns sg_rank_columns;

#endif
