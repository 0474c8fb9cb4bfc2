/* Prints wait states: nothing if they are not known. As in report/print.h; there,
 * report->waitstates may be NULL.
 */
#ifndef SG_REPORT_WAITSTATES_PRINT_H
#define SG_REPORT_WAITSTATES_PRINT_H

#include "report/print.h"

#include <jansson.h>

/* Where ranks wait, and for whom. */
enum sg_status sg_waitstates_print(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* How many of the rows the text leaves out, and what is not reliable. */
void sg_waitstates_print_notes(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);

/* Sets the report's member about wait states; null where they are not known. */
void sg_waitstates_json(json_t **root, const struct sg_report *report,
                        const struct sg_print_options *options);

/* SG_PRINT_WAITS or SG_PRINT_PAIRS. */
enum sg_status sg_waitstates_print_csv(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out);

#endif
