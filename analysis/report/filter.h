/* The part of a run that a report is of: call sites and communicators in the words of rules
 * (rule/rule.h), ranks, and a span of time. Instances are measured among all their members; what is
 * counted of them are the calls that the filter takes.
 */
#ifndef SG_REPORT_FILTER_H
#define SG_REPORT_FILTER_H

#include "core/status.h"
#include "rule/rule.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_FILTER_RANGES 32

struct sg_report_site;

/* Zeroed: everything. Texts are the caller's. */
struct sg_filter {
    const char *site, *comm, *ranks, *time;
    struct sg_rule *rule; /* of site and comm; NULL: any */
    uint32_t range_count; /* of ranks; 0: all */
    struct {
        uint32_t first, last;
    } ranges[SG_FILTER_RANGES];
    int64_t from_ns, to_ns; /* where time: the first arrival is not before from and before to */
};

/* Reads the texts. False: the message says what is wrong with which. */
bool sg_filter_parse(struct sg_filter *filter, char message[], size_t message_bytes);
void sg_filter_clear(struct sg_filter *filter);

static inline bool sg_filter_is_set(const struct sg_filter *filter)
{
    return filter != NULL && (filter->site != NULL || filter->comm != NULL ||
                              filter->ranks != NULL || filter->time != NULL);
}

/* A row's call site as rules see it. */
struct sg_rule_site sg_filter_rule_site(const struct sg_report_site *row);

/* NULL takes everything. */
bool sg_filter_takes_row(const struct sg_filter *filter, const struct sg_report_site *row);
bool sg_filter_takes_rank(const struct sg_filter *filter, uint32_t rank);
bool sg_filter_takes_time(const struct sg_filter *filter, int64_t time_ns);

#endif
