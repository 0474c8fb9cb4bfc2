/* Source: the statistics that every rank keeps of all calls, in its log or in a file beside the
 * archive.
 *
 * Nothing in them is trusted: what belongs to no function, communicator or rank is left out.
 */
#ifndef SG_REPORT_PROFILE_SOURCE_H
#define SG_REPORT_PROFILE_SOURCE_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/profile_table.h"
#include "report/source_stats.h"

/* Add to a table of that aggregate. Ranks that are filtered out are not read. SG_ERR_MEMORY only,
 * logged. */
enum sg_status sg_call_source_logs(const struct sg_log_set *set, struct sg_aggregate *aggregate,
                                   const struct sg_filter *filter, struct sg_call_table *table);
/* The files of an archive. Where there are some, and others are missing, damaged or of another run,
 * one line says so, and the others count. */
enum sg_status sg_call_source_files(const char *anchor, struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table *table);

#endif
