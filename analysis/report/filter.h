/* Which part of a run a report covers: call sites and communicators as rules write them
 * (rule/rule.h), ranks, and a time interval. Skew and wait of an instance are measured among all
 * its members; of its calls only those that match the filter are counted.
 */
#ifndef SG_REPORT_FILTER_H
#define SG_REPORT_FILTER_H

#include "core/rank_list.h"
#include "core/status.h"
#include "rule/rule.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_report_site;

/* Zeroed: everything. The caller owns the texts. */
struct sg_filter {
    const char *site, *comm, *ranks, *time;
    struct sg_rule *rule;       /* for site and comm; NULL: any */
    struct sg_rank_list ranges; /* if `ranks` */
    int64_t from_ns, to_ns;     /* if `time`: the first arrival is in [from, to) */
};

/* Parses the texts. False: the message says which one is wrong and why. */
bool sg_filter_parse(struct sg_filter *filter, char message[], size_t message_bytes);
void sg_filter_clear(struct sg_filter *filter);

static inline bool sg_filter_is_set(const struct sg_filter *filter)
{
    return filter != NULL && (filter->site != NULL || filter->comm != NULL ||
                              filter->ranks != NULL || filter->time != NULL);
}

/* A row's call site as rules match it. */
struct sg_rule_site sg_filter_rule_site(const struct sg_report_site *row);

/* NULL takes everything. */
bool sg_filter_takes_row(const struct sg_filter *filter, const struct sg_report_site *row);
bool sg_filter_takes_rank(const struct sg_filter *filter, uint32_t rank);
bool sg_filter_takes_time(const struct sg_filter *filter, int64_t time_ns);

#endif
