/* Why a rank's intervals are longer than the others', from sums of their figures. Pure. */
#ifndef SG_REPORT_BEFORE_WHY_H
#define SG_REPORT_BEFORE_WHY_H

#include "report/before/before.h"

/* Sets all that follows from the sums: means, and what the rank has more of. */
void sg_before_judge(struct sg_before_row *row);

#endif
