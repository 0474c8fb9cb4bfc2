/* Gathers the cost of each block of each communicator while a run is read, and reports on it.
 *
 * Memory grows with blocks, not with calls. Functions that return a status return SG_OK or
 * SG_ERR_MEMORY, which they do not log. Not thread-safe.
 */
#ifndef SG_REPORT_TRIALS_H
#define SG_REPORT_TRIALS_H

#include "report/result.h"
#include "report/watched.h"

struct sg_trials;

enum sg_status sg_trials_create(struct sg_trials **out);
void sg_trials_destroy(struct sg_trials *trials);
/* Sets the number of collectives in a block, before any call is added. */
void sg_trials_set_block(struct sg_trials *trials, uint64_t block);
/* Returns the number of a candidate, from 1, in *out; texts are copied. */
enum sg_status sg_trials_arm(struct sg_trials *trials, const char *place, const char *text,
                             uint32_t *out);
/* site: the call site that the instance counts for. algorithms: names by index. */
enum sg_status sg_trials_instance(struct sg_trials *trials, const struct sg_seen_instance *seen,
                                  uint32_t site, char *const *algorithms);
enum sg_status sg_trials_late(struct sg_trials *trials, const struct sg_late_cost *late);
enum sg_status sg_trials_totals(struct sg_trials *trials, const struct sg_totals *totals,
                                char *const *algorithms);
/* The caller owns *out; texts of call sites are not filled in. */
enum sg_status sg_trials_finish(struct sg_trials *trials, struct sg_report_trial **out,
                                uint32_t *count);
void sg_report_trial_clear(struct sg_report_trial *trial);

#endif
