/* Makes what is shown of a job (watch/view.h), again and again: each time with the figures of the
 * time since.
 */
#ifndef SG_WATCH_WATCH_ROWS_H
#define SG_WATCH_WATCH_ROWS_H

#include "watch/job.h"
#include "watch/watch_print.h"

#include <stdint.h>

struct sg_live_rows; /* what is remembered from one time to the next */

enum sg_status sg_live_rows_create(uint32_t ranks, struct sg_live_rows **out);
void sg_live_rows_destroy(struct sg_live_rows *rows);
/* Makes the view of a job that has been looked at: call sites with the most time in the interval
 * come first, or in the run at the first time. Begins the next interval. Errors are logged. */
enum sg_status sg_live_rows_make(struct sg_live_rows *rows, struct sg_live_job *job,
                                 struct sg_live_view *out);
void sg_live_view_clear(struct sg_live_view *view);

#endif
