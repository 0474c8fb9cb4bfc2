/* Prints causes of lateness (cause_table.h) as text, JSON and CSV, with the columns of struct
 * sg_cause_row. A column's context is the site (struct sg_cause_site) if its rows are printed below
 * each other, or NULL.
 *
 * Results are as in report/text_tables.h; report->causes may be NULL: causes are not known.
 */
#ifndef SG_REPORT_CAUSE_PRINT_H
#define SG_REPORT_CAUSE_PRINT_H

#include "output/column.h"
#include "report/text_tables.h"

#include <jansson.h>

extern const struct sg_columns sg_cause_columns;

/* ---- printers -------------------------------------------------------------------------------- */

struct sg_filter;

/* Prints the line of the summary; nothing if causes are not known. */
void sg_causes_print_summary(const struct sg_report *report, FILE *out);
/* Prints the main causes at the sites where others waited longest; nothing if they are not known.
 */
enum sg_status sg_causes_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);
/* Prints all causes at the call sites that the filter takes, and their meaning. SG_ERR_MISSING
 * (logged): none are known there. */
enum sg_status sg_causes_print_why(const struct sg_report *report, const struct sg_filter *sites,
                                   FILE *out);
/* Sets the report's member `causes`; null if they are not known. */
void sg_causes_json(json_t **root, const struct sg_report *report,
                    const struct sg_print_options *options);
enum sg_status sg_causes_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);

#endif
