/* What each thread (location) called, when, and for whom it waited there: kept in a temporary file
 * until the last event is known, because a path through the run can only be found from its end.
 *
 * Memory that stays in use does not grow with the number of calls: the file is mapped, and pages
 * that are written are given back. Where there is no room for the file, the history is given up,
 * which is logged once, and everything else goes on. Not thread-safe.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged.
 */
#ifndef SG_REPORT_PATH_HISTORY_H
#define SG_REPORT_PATH_HISTORY_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_history;

#define SG_HISTORY_NOBODY UINT32_MAX

struct sg_history_call {
    int64_t begin_ns, end_ns;
    int64_t until_ns; /* it waited until then for the other location */
    uint32_t place;   /* a number of the caller's */
    uint32_t other;   /* SG_HISTORY_NOBODY: it did not wait */
};

enum sg_status sg_history_create(uint32_t locations, struct sg_history **out);
void sg_history_destroy(struct sg_history *history);
/* A call that has returned. Calls of a location come in the order of time and do not overlap; what
 * begins before the end of the one before is left out. */
enum sg_status sg_history_add(struct sg_history *history, uint32_t location, int64_t begin_ns,
                              int64_t end_ns, uint32_t place);
/* The location's call that contains the moment waited for the other location until then. Of
 * several waits the last to end counts. No such call: left out. */
void sg_history_wait(struct sg_history *history, uint32_t location, int64_t at_ns, int64_t until_ns,
                     uint32_t other);
/* Whether it was given up: no call is known. */
bool sg_history_is_lost(const struct sg_history *history);
uint64_t sg_history_count(const struct sg_history *history, uint32_t location);
/* The call of this number, from 0 in the order of time; below the count. Valid until the history is
 * destroyed. */
const struct sg_history_call *sg_history_at(struct sg_history *history, uint32_t location,
                                            uint64_t number);
/* How many calls of the location begin before the moment. */
uint64_t sg_history_before(struct sg_history *history, uint32_t location, int64_t time_ns);

#endif
