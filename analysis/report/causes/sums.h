/* Sums up why ranks were late, by collective and call site (causes.h).
 *
 * Memory grows with sites, and with causes and ranks at each; of a site's instances
 * SG_CAUSE_SAMPLES are remembered one by one, for the intervals. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_CAUSES_SUMS_H
#define SG_REPORT_CAUSES_SUMS_H

#include "report/causes/blame.h"
#include "report/waitstates/places.h"

#define SG_CAUSE_SAMPLES 512

struct sg_cause_sums;

/* The places outlive the sums, and what is found. */
enum sg_status sg_cause_sums_create(const struct sg_places *places, struct sg_cause_sums **out);
void sg_cause_sums_destroy(struct sg_cause_sums *sums);

/* An instance at the place of its last rank, whose blame was found. */
enum sg_status sg_cause_sums_add(struct sg_cause_sums *sums, uint32_t place,
                                 const struct sg_blame *blame);
void sg_cause_sums_unsampled(struct sg_cause_sums *sums);

enum sg_status sg_cause_sums_finish(struct sg_cause_sums *sums, struct sg_causes_found **out);

#endif
