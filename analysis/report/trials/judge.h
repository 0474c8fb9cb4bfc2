/* From rounds to intervals and winners. */
#ifndef SG_REPORT_TRIALS_JUDGE_H
#define SG_REPORT_TRIALS_JUDGE_H

#include "core/status.h"
#include "report/trials/blocks.h"

/* Fills costs, verdicts and least of a report whose arms are known and counted. Each round has the
 * sums of all arms, arm_count in a row. Neighbouring rounds may be merged. */
enum sg_status sg_trials_judge(struct sg_report_trial *trial, struct sg_tried_sums *rounds,
                               uint32_t round_count);

/* Sorts arms by cost, and updates the indices of the least. */
void sg_trials_sort(struct sg_report_trial *trial);

#endif
