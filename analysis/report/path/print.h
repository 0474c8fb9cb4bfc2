/* Prints the critical path: nothing if it is not known. As in report/print.h; there,
 * report->critical_path may be NULL.
 */
#ifndef SG_REPORT_PATH_PRINT_H
#define SG_REPORT_PATH_PRINT_H

#include "report/print.h"

#include <jansson.h>

enum sg_status sg_path_print(const struct sg_report *report, const struct sg_print_options *options,
                             FILE *out);
/* How many of the rows the text leaves out. */
void sg_path_print_notes(const struct sg_report *report, const struct sg_print_options *options,
                         FILE *out);

/* Sets the report's member about the critical path; null where it is not known. */
void sg_path_json(json_t **root, const struct sg_report *report,
                  const struct sg_print_options *options);

enum sg_status sg_path_print_csv(const struct sg_report *report,
                                 const struct sg_print_options *options, FILE *out);

#endif
