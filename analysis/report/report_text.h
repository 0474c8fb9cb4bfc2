/* Prints slices: the table of their metrics, and the series of slices. Conventions as in
 * report/text_tables.h; its options select the slices.
 */
#ifndef SG_REPORT_REPORT_TEXT_H
#define SG_REPORT_REPORT_TEXT_H

#include "bcs/recorded_slices.h"
#include "output/column.h"
#include "report/text_tables.h"

#include <stdio.h>

/* Columns for struct sg_slices_line. */
extern const struct sg_columns sg_slice_columns;

/* Prints a row for each slice and node, with a column for each metric. */
enum sg_status sg_slices_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out);
/* null if no slices were recorded. */
json_t *sg_slices_json(const struct sg_report *report, const struct sg_print_options *options);

#endif
