/* The columns of the tables of wait states. Columns of report/columns.h show their call sites. */
#ifndef SG_REPORT_WAITSTATES_COLUMNS_H
#define SG_REPORT_WAITSTATES_COLUMNS_H

#include "output/column.h"

struct sg_waitstate_place;

/* Of struct sg_waitstate_row, struct sg_waitstate_pair and struct sg_waitstate_rank. In JSON the
 * last is a part of an object. */
extern const struct sg_columns sg_waitstate_row_columns;
extern const struct sg_columns sg_waitstate_pair_columns;
extern const struct sg_columns sg_waitstate_rank_columns;
/* Of struct sg_waitstate_place. */
extern const struct sg_columns sg_waitstate_place_columns;

/* The place as an object; null where there is none. */
json_t *sg_waitstate_place_json(const struct sg_waitstate_place *place);
/* Function and call site; where there is none, "start". */
void sg_waitstate_put_place(const struct sg_waitstate_place *place, FILE *out);

#endif
