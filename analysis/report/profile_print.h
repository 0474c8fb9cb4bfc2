/* Columns of the tables of all calls: functions and call sites, messages, and one-sided operations.
 * Their context is struct sg_calls.
 */
#ifndef SG_REPORT_PROFILE_PRINT_H
#define SG_REPORT_PROFILE_PRINT_H

#include "output/column.h"

/* Columns for struct sg_call_row: all of them in JSON order, then three parts: the function, the
 * call site with its communicator, and the figures. */
extern const struct sg_columns sg_call_columns;

extern const struct sg_columns sg_call_function_columns, sg_call_place_columns,
    sg_call_figure_columns;

/* The call site without its communicator. */
extern const struct sg_columns sg_call_site_columns;

/* Columns for struct sg_call_pair. */
extern const struct sg_columns sg_call_pair_columns;

/* Columns for struct sg_call_target. */
extern const struct sg_columns sg_call_target_columns;

#endif
