/* The columns of the metrics of slices (struct sg_slices_line). */
#ifndef SG_BCS_SLICES_PRINT_H
#define SG_BCS_SLICES_PRINT_H

#include "output/column.h"

extern const struct sg_columns sg_slice_columns;

#endif
