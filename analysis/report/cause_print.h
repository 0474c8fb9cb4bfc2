/* The columns of causes of lateness (struct sg_cause_row). A column's context is the site (struct
 * sg_cause_site) if its rows are printed below each other, or NULL.
 */
#ifndef SG_REPORT_CAUSE_PRINT_H
#define SG_REPORT_CAUSE_PRINT_H

#include "output/column.h"

extern const struct sg_columns sg_cause_columns;

#endif
