/* Feeds the critical path (critical_path.h) and the cause finder (cause_finder.h) from an archive's
 * events: with what they need beyond what the tracker of wait states passes on.
 *
 * In all functions paths may be NULL: they do nothing. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_PATHS_H
#define SG_REPORT_ARCHIVE_PATHS_H

#include "report/archive_definitions.h"
#include "report/report.h"

struct sg_archive_paths;
struct sg_places;
struct sg_waitstate_tracker;

/* The archive's clock errors must be known. From now on the tracker passes calls and collectives
 * on; destroy the tracker first. */
enum sg_status sg_archive_paths_create(const struct sg_archive_defs *defs,
                                       struct sg_waitstate_tracker *tracker,
                                       struct sg_places *places, struct sg_archive_paths **out);
void sg_archive_paths_destroy(struct sg_archive_paths *paths);

/* As sg_archive_waits_metrics(). */
enum sg_status sg_archive_paths_metrics(struct sg_archive_paths *paths, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values);

/* Adds a collective that the library carried out. function: its number (sg_places_function()). */
enum sg_status sg_archive_paths_instance(struct sg_archive_paths *paths,
                                         const struct sg_instance *instance, uint32_t function);
/* Records that a member of the instance waited for the member `last`. */
void sg_archive_paths_wait(struct sg_archive_paths *paths, const struct sg_instance *instance,
                           uint32_t member, uint32_t last);

/* Call after the last event, when the report has its wait states. */
enum sg_status sg_archive_paths_finish(struct sg_archive_paths *paths, struct sg_report *report);

#endif
