/* Prints why ranks were late: nothing if it is not known. As in report/print.h; there,
 * report->causes may be NULL.
 */
#ifndef SG_REPORT_CAUSES_PRINT_H
#define SG_REPORT_CAUSES_PRINT_H

#include "report/print.h"

#include <jansson.h>

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
