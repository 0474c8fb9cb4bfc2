/* Prints what `auto` has learned: as text, as rules and as JSON (docs/report-json.md). */
#ifndef SG_REPORT_LEARNED_PRINT_H
#define SG_REPORT_LEARNED_PRINT_H

#include "report/report.h"

#include <jansson.h>
#include <stdio.h>

/* Prints nothing if nothing was learned. SG_ERR_MEMORY (logged) or SG_OK. */
enum sg_status sg_learned_print(const struct sg_report *report, FILE *out);
/* Prints rules for STAGGER_RULES, one a line. SG_ERR_MISSING, logged: there are none. */
enum sg_status sg_learned_print_rules(const struct sg_report *report, FILE *out);
/* NULL: out of memory. */
json_t *sg_learned_json(const struct sg_report *report);

#endif
