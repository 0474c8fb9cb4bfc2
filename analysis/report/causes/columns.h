/* The columns of a cause at a call site (struct sg_cause_row). The context is the site (struct
 * sg_cause_site) whose rows stand below each other, or NULL. */
#ifndef SG_REPORT_CAUSES_COLUMNS_H
#define SG_REPORT_CAUSES_COLUMNS_H

#include "output/column.h"

extern const struct sg_columns sg_cause_columns;

#endif
