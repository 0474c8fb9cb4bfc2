/* The history of a run: the calls of each thread (location), their times, the location that each
 * waited for, and all calls without whose begin it could not end. A temporary file keeps it until
 * the last event is known, because a path through the run can only be traced from its end.
 *
 * Resident memory does not grow with the number of calls: the file is mapped, and written pages are
 * released. If there is no disk space for the file, the history is given up; one log line says so,
 * and the rest of the analysis continues. Not thread-safe.
 *
 * Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not log.
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
    int64_t until_ns; /* end of the wait for the other location */
    uint32_t place;   /* a number that the caller chose */
    uint32_t other;   /* SG_HISTORY_NOBODY: the call did not wait */
    uint32_t needs;   /* a list of links (below) */
};

/* Lists of calls are made of links. A list is the number of its first link; 0: empty. Lists may
 * share their ends. */
struct sg_history_link {
    int64_t begin_ns;  /* of the call; SG_HISTORY_LIST: the number of another list */
    uint32_t location; /* or one of the two below */
    uint32_t next;
};

#define SG_HISTORY_LIST UINT32_MAX
#define SG_HISTORY_TIME (UINT32_MAX - 1) /* a moment, which takes the place of a list */

enum sg_status sg_history_create(uint32_t locations, struct sg_history **out);
void sg_history_destroy(struct sg_history *history);
/* Adds a call that has returned. Calls of a location come in time order and do not overlap; a call
 * that begins before the previous one ends is left out. */
enum sg_status sg_history_add(struct sg_history *history, uint32_t location, int64_t begin_ns,
                              int64_t end_ns, uint32_t place);
/* Records that the location's call that contains at_ns waited for the other location until
 * until_ns. Of several waits in one call, the last to end counts. Without such a call, nothing is
 * recorded. */
void sg_history_wait(struct sg_history *history, uint32_t location, int64_t at_ns, int64_t until_ns,
                     uint32_t other);
/* Puts the location's call that begins at begin_ns, or another list, before a list. A list that
 * does not fit into memory or the file is lost, and all others with it. */
void sg_history_link(struct sg_history *history, uint32_t *list, uint32_t location,
                     int64_t begin_ns);
void sg_history_join(struct sg_history *history, uint32_t *list, uint32_t other);
/* Records that the location's call that contains at_ns cannot end before the calls of the list
 * begin. Without such a call, nothing is recorded. */
void sg_history_need(struct sg_history *history, uint32_t location, int64_t at_ns, uint32_t list);
/* NULL for 0. Valid until the history is destroyed. */
struct sg_history_link *sg_history_link_at(struct sg_history *history, uint32_t number);
/* True if the history or its lists were given up. */
bool sg_history_has_lost_links(const struct sg_history *history);
/* True if the history was given up; then it has no calls. */
bool sg_history_is_lost(const struct sg_history *history);
uint64_t sg_history_count(const struct sg_history *history, uint32_t location);
/* The call with this number, counted from 0 in time order; the number is below the location's
 * count. Valid until the history is destroyed. */
struct sg_history_call *sg_history_at(struct sg_history *history, uint32_t location,
                                      uint64_t number);
/* Number of the location's calls that begin before the moment. */
uint64_t sg_history_before(struct sg_history *history, uint32_t location, int64_t time_ns);
/* The same of its first calls; quick if the moment is near the last of these. */
uint64_t sg_history_before_among(struct sg_history *history, uint32_t location, uint64_t count,
                                 int64_t time_ns);

#endif
