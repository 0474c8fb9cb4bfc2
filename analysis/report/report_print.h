/* Prints a report: text for people, JSON (docs/report-json.md) and CSV for programs. Results are as
 * in report/report_section.h. The caller checks the stream for write errors (ferror, fclose).
 */
#ifndef SG_REPORT_REPORT_PRINT_H
#define SG_REPORT_REPORT_PRINT_H

#include "report/report_section.h"

/* In the order of the text; ends with NULL. */
extern const struct sg_report_section *const sg_report_sections[];

enum sg_status sg_report_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_json(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out);
enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* Checks that the run has a call site, a communicator and a rank that match those of the filter. If
 * not, logs one line that names those there are and returns SG_ERR_MISSING. */
enum sg_status sg_report_check_filter(const struct sg_report *report,
                                      const struct sg_filter *filter);

#endif
