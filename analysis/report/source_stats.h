/* Source: the statistics that every rank keeps in its log, whether events are recorded or not.
 *
 * They contain calls, bytes, time blocked and counters of each call site, but not who waited for
 * whom.
 */
#ifndef SG_REPORT_SOURCE_STATS_H
#define SG_REPORT_SOURCE_STATS_H

#include "core/status.h"
#include "output/progress_line.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/learned.h"
#include "trace/export/logread.h"
#include "trace/export/symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* Names of the call sites in a run's logs: those that a log tells, else the aggregate's own, else
 * those that the symbols of their modules give.
 *
 * Zero-initialised is empty. Functions that return a status: SG_ERR_MEMORY only, not logged. Not
 * thread-safe.
 */

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

struct sg_log_set {
    struct sg_logread **logs;
    int count;
    int world_size;
    int missing; /* ranks whose log is missing or cannot be read */
    /* Names of call sites, kept from one reading to the next; NULL: each reading finds its own. */
    struct sg_log_names *names;
};

/* From the logs' headers. */
struct sg_log_facts {
    const char *program; /* owned by the logs; NULL: not known */
    bool any_otf2;       /* some rank recorded events */
    int living;          /* ranks that still write their logs */
    bool complete;       /* all ranks' logs are there and complete, and reached MPI_Finalize */
    uint64_t unmanaged_calls, unmanaged_nonblocking;
    uint64_t overhead_calls, overhead_ns, overhead_long_calls; /* as in struct sg_report */
    struct sg_run_waiting waiting;
};

/* Errors are logged (one line), as by sg_logread_open_all. */
enum sg_status sg_log_set_open(const char *directory, struct sg_log_set *out);
void sg_log_set_close(struct sg_log_set *set);
void sg_log_set_facts(const struct sg_log_set *set, struct sg_log_facts *out);
/* What auto has learned. SG_ERR_MEMORY, logged. */
enum sg_status sg_log_set_learned(const struct sg_log_set *set, struct sg_learned *learned);
/* Adds all logs' statistics and run times to an aggregate of at least world_size ranks. Names of
 * sites come from the logs, or else from the symbols of their modules. Errors are logged. */
enum sg_status sg_source_stats(const struct sg_log_set *set, struct sg_progress_line *progress,
                               struct sg_aggregate *aggregate);

#endif
