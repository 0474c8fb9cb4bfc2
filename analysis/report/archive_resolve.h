/* Resolves the references in an archive's definitions: ranks and threads of locations, kinds of
 * regions, members of communicators, and the references of stagger's attributes and metrics. Also
 * turns events into the calls and messages that watchers see (struct sg_archive_seen). */
#ifndef SG_REPORT_ARCHIVE_RESOLVE_H
#define SG_REPORT_ARCHIVE_RESOLVE_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/wait_skews.h"
#include "report/wait_sums.h"
#include "report/watched.h"

#include <stdbool.h>
#include <stdint.h>

/* Call after all definitions have been read. path is for messages. SG_ERR_MISSING (logged): no
 * ranks or no clock; SG_ERR_MEMORY. */
enum sg_status sg_archive_defs_resolve(struct sg_archive_defs *defs, const char *path);
/* Adds all call sites that the archive defines to the aggregate, also those without events.
 * SG_ERR_MEMORY only (not logged). */
enum sg_status sg_archive_defs_name_sites(const struct sg_archive_defs *defs,
                                          struct sg_aggregate *aggregate);

/* Reports calls of MPI and messages to a watcher (struct sg_seen_call, struct sg_seen_message).
 * Reports a call when it has returned.
 *
 * location is an index in the definitions, and must have a rank; comm is an index in them, too.
 * Keeps only the call that each location is in. Statuses are those of watchers. Not thread-safe.
 */

struct sg_archive_seen;

/* Definitions, aggregate and watch must outlive it. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_archive_seen_create(const struct sg_archive_defs *defs,
                                      const struct sg_aggregate *aggregate,
                                      const struct sg_watch *watch, struct sg_archive_seen **out);
void sg_archive_seen_destroy(struct sg_archive_seen *seen);
/* function: its number; name must live as long as the definitions. A call within a call is part of
 * the outer one. */
void sg_archive_seen_enter(struct sg_archive_seen *seen, uint32_t location, int64_t time_ns,
                           uint32_t function, const char *name, uint32_t site);
/* is_instance: the call is reported as part of an instance instead. */
enum sg_status sg_archive_seen_leave(struct sg_archive_seen *seen, uint32_t location,
                                     int64_t time_ns, bool is_instance);
/* Adds a message to the location's call; outside of calls it is left out. */
enum sg_status sg_archive_seen_message(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind,
                                       const struct sg_waitstate_message *message, uint64_t bytes,
                                       uint64_t request);
/* kind: SG_SEEN_POST, SG_SEEN_SENT or SG_SEEN_CANCELLED. */
enum sg_status sg_archive_seen_request(struct sg_archive_seen *seen, uint32_t location,
                                       enum sg_seen_part_kind kind, uint64_t request);
/* root: rank in MPI_COMM_WORLD; -1: none, or not known. */
void sg_archive_seen_collective(struct sg_archive_seen *seen, uint32_t location, uint32_t comm,
                                int64_t root, uint64_t sent_bytes, uint64_t received_bytes);
/* Listeners for sg_waitstate_tracker_listen(); context: a struct sg_archive_seen. */
enum sg_status sg_archive_seen_matched(void *context, const struct sg_waitstate_matched *matched);
enum sg_status sg_archive_seen_waited(void *context, const struct sg_waitstate *wait);

#endif
