/* Prints wait states: nothing if they are not known. As in report/print.h; there,
 * report->waitstates may be NULL.
 */
#ifndef SG_REPORT_WAITSTATES_PRINT_H
#define SG_REPORT_WAITSTATES_PRINT_H

#include "report/print.h"

#include <jansson.h>

/* How far apart the members of the collectives arrive that MPICH carried out. */
enum sg_status sg_waitstates_print_skews(const struct sg_report *report,
                                         const struct sg_print_options *options, FILE *out);
/* Where ranks wait, and for whom. */
enum sg_status sg_waitstates_print(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* How many of the rows the text leaves out, and what is not reliable. */
void sg_waitstates_print_notes(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out);

/* Sets the report's members about skews and wait states; null where they are not known. */
void sg_waitstates_json(json_t **root, const struct sg_report *report,
                        const struct sg_print_options *options);

/* SG_PRINT_WAITS, SG_PRINT_PAIRS or SG_PRINT_COLLECTIVES. */
enum sg_status sg_waitstates_print_csv(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out);

#endif
