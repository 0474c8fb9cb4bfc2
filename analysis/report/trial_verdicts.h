/* Trials as JSON (docs/report-json.md), a part of the report. */
#ifndef SG_REPORT_TRIAL_VERDICTS_H
#define SG_REPORT_TRIAL_VERDICTS_H

#include "report/report.h"

#include <jansson.h>

/* NULL: out of memory. */
json_t *sg_report_trials_json(const struct sg_report *report);

#endif
