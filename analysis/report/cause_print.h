/* The columns of a cause at a call site (struct sg_cause_row). The context is the site (struct
 * sg_cause_site) whose rows stand below each other, or NULL. */
#ifndef SG_REPORT_CAUSE_PRINT_H
#define SG_REPORT_CAUSE_PRINT_H

#include "output/column.h"
#include "report/text_tables.h"

#include <jansson.h>

extern const struct sg_columns sg_cause_columns;

/* Prints why ranks were late: nothing if it is not known. As in report/print.h; there,
 * report->causes may be NULL.
 */

struct sg_filter;

/* The line of the summary. */
void sg_causes_print_summary(const struct sg_report *report, FILE *out);
/* Of the sites where most was waited the main causes. */
enum sg_status sg_causes_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);
/* Of the call sites that the filter takes all causes, and what they mean. */
enum sg_status sg_causes_print_why(const struct sg_report *report, const struct sg_filter *sites,
                                   FILE *out);
/* Sets the report's member about causes; null where they are not known. */
void sg_causes_json(json_t **root, const struct sg_report *report,
                    const struct sg_print_options *options);
enum sg_status sg_causes_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);

#endif
