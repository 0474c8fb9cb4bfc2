/* The columns of a job's call sites and ranks. */
#ifndef SG_WATCH_COLUMNS_H
#define SG_WATCH_COLUMNS_H

#include "output/column.h"

/* Of struct sg_live_figures: of an interval; what the run has besides the report's columns. */
extern const struct sg_columns sg_live_now_columns, sg_live_run_columns;

/* Of struct sg_live_row: why its rank comes late. */
extern const struct sg_columns sg_live_why_columns;

/* Of struct sg_live_rank. */
extern const struct sg_columns sg_live_rank_columns;

/* By enum sg_live_state: "runs", "died", ... */
extern const char *const sg_live_state_names[];

#endif
