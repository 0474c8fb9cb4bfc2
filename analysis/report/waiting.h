/* What a report says of how ranks waited, for its text and its page. */
#ifndef SG_REPORT_WAITING_H
#define SG_REPORT_WAITING_H

#include "report/report.h"

#include <stdio.h>

/* Whether some machine had fewer processors than ranks. */
static inline bool sg_report_is_oversubscribed(const struct sg_report *report)
{
    return report->waiting.short_ranks > 0;
}

/* "8 ranks on 2 processors of node1". put: writes a name of any bytes. */
void sg_report_put_oversubscribed(const struct sg_report *report,
                                  void (*put)(const char *text, FILE *out), FILE *out);

/* "yielded 1.20s and slept 3.40s a rank, 4.1% and 12% of the run", or "spun"; nothing where it is
 * not known. */
void sg_report_put_waited(const struct sg_report *report, FILE *out);

#endif
