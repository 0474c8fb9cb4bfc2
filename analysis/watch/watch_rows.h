/* Makes the view of a job (watch_print.h) again and again, each time with the figures of the
 * interval since the previous view. */
#ifndef SG_WATCH_WATCH_ROWS_H
#define SG_WATCH_WATCH_ROWS_H

#include "watch/job.h"
#include "watch/watch_print.h"

#include <stdint.h>

struct sg_live_rows; /* state kept from one view to the next */

enum sg_status sg_live_rows_create(uint32_t ranks, struct sg_live_rows **out);
void sg_live_rows_destroy(struct sg_live_rows *rows);
/* Makes the view of a job that has just been looked at, and begins the next interval. Call sites
 * with the most time in the interval, or at first in the run, come first. Errors are logged. */
enum sg_status sg_live_rows_make(struct sg_live_rows *rows, struct sg_live_job *job,
                                 struct sg_live_view *out);
void sg_live_view_clear(struct sg_live_view *view);

#endif
