/* An estimate as a row: one table of columns for text and JSON. */
#ifndef SG_ADVISE_COLUMNS_H
#define SG_ADVISE_COLUMNS_H

#include "advise/advice.h"
#include "output/column.h"

/* ns per call. */
struct sg_estimate_row {
    const char *what, *algorithm;
    bool executed;
    double blocked_ns, processor_ns;
    double less_ns, low_ns, high_ns; /* 0 for the algorithm that ran */
};
struct sg_estimate_row sg_estimate_row_of(const struct sg_advice_item *item, int i);

extern const struct sg_columns sg_estimate_columns;

#endif
