/* The columns of rows of the critical path (struct sg_path_row); the context is the path. */
#ifndef SG_REPORT_PATH_COLUMNS_H
#define SG_REPORT_PATH_COLUMNS_H

#include "output/column.h"

extern const struct sg_columns sg_path_columns;

#endif
