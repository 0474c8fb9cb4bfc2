/* Rounds to intervals and winners. */
#ifndef SG_REPORT_TRIALS_JUDGE_H
#define SG_REPORT_TRIALS_JUDGE_H

#include "core/status.h"
#include "report/trials/blocks.h"

/* Fills costs, verdicts and least of a report whose arms are known and counted, from its rounds: of
 * each, the sums of all arms, arm_count at a time. Neighbouring rounds may be put together. */
enum sg_status sg_trials_judge(struct sg_report_trial *trial, struct sg_tried_sums *rounds,
                               uint32_t round_count);

/* Arms by cost; what is least is found anew. */
void sg_trials_sort(struct sg_report_trial *trial);

#endif
