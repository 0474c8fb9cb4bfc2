/* Prints what ranks did before calls: nothing if it is not known. As in report/print.h; there,
 * report->calls, and in it what was done before them, may be NULL.
 */
#ifndef SG_REPORT_BEFORE_PRINT_H
#define SG_REPORT_BEFORE_PRINT_H

#include "report/print.h"

#include <jansson.h>

/* The table, where events do not tell more. */
enum sg_status sg_before_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);

/* One line of the sources that no rank has had; nothing where all are there. */
void sg_before_print_missing(const struct sg_report *report, FILE *out);

/* Sets the report's member about it; null where it is not known. */
void sg_before_json(json_t **root, const struct sg_report *report,
                    const struct sg_print_options *options);
enum sg_status sg_before_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);

#endif
