/* Cells of a comparison's page: times on both sides, their difference, and how certain it is. */
#ifndef SG_PAGE_DIFFERENCES_H
#define SG_PAGE_DIFFERENCES_H

#include "compare/columns.h"

#include <stdbool.h>
#include <stdio.h>

/* From a to b, in words: "+12.3%". */
void sg_page_put_change(double a, double b, FILE *out);

/* A cell; NAN: not known. */
void sg_page_put_time(double ns, FILE *out);
/* Two cells: difference and change. */
void sg_page_put_difference(const struct sg_measured_row *row, FILE *out);
/* Two cells: interval and verdict. */
void sg_page_put_verdict(const struct sg_measured_row *row, bool several, FILE *out);

#endif
