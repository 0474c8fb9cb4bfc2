/* Finds the critical path (path.h): is told of calls and waits while events are read, and follows
 * the path back at the end.
 *
 * Memory grows with pairs of places and the ranks at each; calls are in a temporary file
 * (history.h). Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_PATH_CRITICAL_H
#define SG_REPORT_PATH_CRITICAL_H

#include "report/path/path.h"
#include "report/waitstates/places.h"

struct sg_critical;
struct sg_history;

/* The places outlive it, and the path. */
enum sg_status sg_critical_create(struct sg_places *places, uint32_t locations,
                                  struct sg_critical **out);
void sg_critical_destroy(struct sg_critical *critical);

/* A call of the location, which is its rank's, has returned. As sg_history_add(). */
enum sg_status sg_critical_call(struct sg_critical *critical, uint32_t location,
                                const struct sg_waitstate_end *who, int64_t begin_ns,
                                int64_t end_ns);
/* The call at that moment waited until then for the other location. */
void sg_critical_wait(struct sg_critical *critical, uint32_t location, int64_t at_ns,
                      int64_t until_ns, uint32_t other);

/* For others that look back. */
struct sg_history *sg_critical_history(struct sg_critical *critical);

/* *out is NULL where nothing is known. */
enum sg_status sg_critical_finish(struct sg_critical *critical, struct sg_path **out);

#endif
