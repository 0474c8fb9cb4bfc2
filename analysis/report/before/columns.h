/* The columns of a rank's intervals between two places (struct sg_before_row). */
#ifndef SG_REPORT_BEFORE_COLUMNS_H
#define SG_REPORT_BEFORE_COLUMNS_H

#include "output/column.h"

extern const struct sg_columns sg_before_columns;

#endif
