/* Source: the statistics of all calls that each rank keeps, in its log or in a file beside the
 * archive.
 *
 * The input is untrusted: records with an unknown function, communicator or rank are left out.
 */
#ifndef SG_REPORT_PROFILE_SOURCE_H
#define SG_REPORT_PROFILE_SOURCE_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/profile_table.h"
#include "report/source_stats.h"

/* Adds the statistics to a table of that aggregate. Filtered ranks are not read. Returns SG_OK or
 * SG_ERR_MEMORY, which is logged. */
enum sg_status sg_call_source_logs(const struct sg_log_set *set, struct sg_aggregate *aggregate,
                                   const struct sg_filter *filter, struct sg_call_table *table);
/* Adds the files of an archive. If some exist and others are missing, damaged or from another run,
 * one log line says so, and the good files count. */
enum sg_status sg_call_source_files(const char *anchor, struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table *table);

#endif
