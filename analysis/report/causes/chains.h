/* The chains (causes.h) of the instances in which others waited longest, of each site the latest.
 *
 * Memory: SG_CAUSE_CHAINS chains. Functions that return a status: SG_ERR_MEMORY only, not logged.
 * Not thread-safe.
 */
#ifndef SG_REPORT_CAUSES_CHAINS_H
#define SG_REPORT_CAUSES_CHAINS_H

#include "report/causes/blame.h"
#include "report/waitstates/places.h"

struct sg_cause_chains;

enum sg_status sg_cause_chains_create(struct sg_cause_chains **out);
void sg_cause_chains_destroy(struct sg_cause_chains *chains);

/* An instance at the place of its last rank, whose blame was found of these members. */
void sg_cause_chains_add(struct sg_cause_chains *chains, uint32_t place,
                         const struct sg_blame *blame, const struct sg_blame_member *members);

/* Ranks by location; names outlive the result. */
enum sg_status sg_cause_chains_finish(const struct sg_cause_chains *chains,
                                      const struct sg_places *places, const uint32_t *ranks,
                                      struct sg_causes_found *out);

#endif
