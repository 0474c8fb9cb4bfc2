/* The critical path of an archive (path/path.h), and why ranks were late (causes/causes.h): what
 * the two need to be told beyond what the tracker of wait states tells them.
 *
 * In all functions paths may be NULL: nothing is looked for. Functions that return a status:
 * SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_PATHS_H
#define SG_REPORT_ARCHIVE_PATHS_H

#include "report/archive_definitions.h"
#include "report/report.h"

struct sg_archive_paths;
struct sg_places;
struct sg_waitstate_tracker;

/* The archive's clocks are known. The tracker tells them of calls and collectives from now on; it
 * goes first. */
enum sg_status sg_archive_paths_create(const struct sg_archive_defs *defs,
                                       struct sg_waitstate_tracker *tracker,
                                       struct sg_places *places, struct sg_archive_paths **out);
void sg_archive_paths_destroy(struct sg_archive_paths *paths);

/* As sg_archive_waits_metrics(). */
enum sg_status sg_archive_paths_metrics(struct sg_archive_paths *paths, uint32_t location,
                                        int64_t time_ns, const struct sg_def_metric_class *class,
                                        uint8_t count, const uint64_t *values);

/* A collective that the library carried out; function: its number among those of the wait states.
 */
enum sg_status sg_archive_paths_instance(struct sg_archive_paths *paths,
                                         const struct sg_instance *instance, uint32_t function);
/* A member of it waited for another one. */
void sg_archive_paths_wait(struct sg_archive_paths *paths, const struct sg_instance *instance,
                           uint32_t member, uint32_t last);

/* After the last event; the report has its wait states. */
enum sg_status sg_archive_paths_finish(struct sg_archive_paths *paths, struct sg_report *report);

#endif
