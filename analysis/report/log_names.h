/* Names of the call sites in a run's logs: those that a log tells, else the aggregate's own, else
 * those that the symbols of their modules give.
 *
 * Zero-initialised is empty. Functions that return a status: SG_ERR_MEMORY only, not logged. Not
 * thread-safe.
 */
#ifndef SG_REPORT_LOG_NAMES_H
#define SG_REPORT_LOG_NAMES_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/map.h"
#include "trace/export/logread.h"
#include "trace/export/symbols.h"

struct sg_log_names {
    struct sg_log_name *names;
    uint32_t name_count;
    struct sg_map name_by_id;
    struct sg_symbols *symbols; /* opened when first needed */
    struct sg_map tried;        /* sites whose symbols were asked for, by module and id */
};

/* A name that a log tells, of whichever rank's site: before sites are looked for. */
enum sg_status sg_log_names_take(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site_name *record);

/* The index of a log's call site in the aggregate, with its names. */
enum sg_status sg_log_names_site(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site *record,
                                 struct sg_aggregate *aggregate, uint32_t *out);

void sg_log_names_clear(struct sg_log_names *names);

#endif
