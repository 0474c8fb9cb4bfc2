/* Columns of the tables of wait states. Columns of report/report_columns.h show their call sites. */
#ifndef SG_REPORT_WAIT_PRINT_H
#define SG_REPORT_WAIT_PRINT_H

#include "output/column.h"

#include <jansson.h>
#include <stdio.h>

struct sg_waitstate_place;

/* Columns for struct sg_waitstate_row and struct sg_waitstate_pair. */
extern const struct sg_columns sg_waitstate_row_columns, sg_waitstate_pair_columns;

/* Columns for struct sg_waitstate_place. */
extern const struct sg_columns sg_waitstate_place_columns;

/* Makes an object of a place; null if there is none. */
json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place);
/* Prints function and call site; "start" if there is none. */
void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out);

#endif
