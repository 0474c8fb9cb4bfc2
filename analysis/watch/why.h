/* Why a row's rank is late: in the run, by the sums of its intervals that have ended; and now,
 * where others wait for a rank that is outside of MPI.
 */
#ifndef SG_WATCH_WHY_H
#define SG_WATCH_WHY_H

#include "watch/arrivals.h"
#include "watch/tally.h"
#include "watch/view.h"

/* Sets the rows' `why`. SG_ERR_MEMORY, not logged. */
enum sg_status sg_live_why_find(struct sg_live_view *view);

/* Sets the rows' `awaited`; the view's ranks are made. */
void sg_live_why_find_awaited(struct sg_live_view *view, const struct sg_live_tally *tally,
                              const struct sg_live_arrivals *arrivals);

#endif
