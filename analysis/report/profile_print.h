/* The columns of the tables of all calls: of functions and call sites, and of messages. Their
 * context is struct sg_calls.
 */
#ifndef SG_REPORT_PROFILE_PRINT_H
#define SG_REPORT_PROFILE_PRINT_H

#include "output/column.h"

/* Of struct sg_call_row, all of them in the order of JSON; and its three parts: the function, the
 * call site and communicator, the figures. */
extern const struct sg_columns sg_call_columns;

extern const struct sg_columns sg_call_function_columns, sg_call_place_columns,
    sg_call_figure_columns;

/* Of the second part the call site alone. */
extern const struct sg_columns sg_call_site_columns;

/* Of struct sg_call_pair. */
extern const struct sg_columns sg_call_pair_columns;

/* Of struct sg_call_target. */
extern const struct sg_columns sg_call_target_columns;

#endif
