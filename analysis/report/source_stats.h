/* Source: the statistics that every rank keeps in its log, whether or not it records events.
 *
 * They contain calls, bytes, time blocked and counters of each call site, but no information about
 * which rank waited for which. The header also declares the set of a run's logs.
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

/* Names of the call sites in a run's logs. A name comes from the logs, else from the aggregate,
 * else from the symbols of the site's module.
 *
 * All zero: empty. Functions that return a status return SG_OK or SG_ERR_MEMORY, which they do not
 * log. Not thread-safe.
 */

struct sg_log_names {
    struct sg_log_name *names;
    uint32_t name_count;
    struct sg_map name_by_id;
    struct sg_symbols *symbols; /* opened on first use */
    struct sg_map tried;        /* sites whose symbols were looked up, by module and id */
};

/* Takes the name of a site from any rank's log. All names are taken before sites are looked up. */
enum sg_status sg_log_names_take(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site_name *record);
/* Finds the index of a log's call site in the aggregate, and adds its names. */
enum sg_status sg_log_names_site(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site *record,
                                 struct sg_aggregate *aggregate, uint32_t *out);
void sg_log_names_clear(struct sg_log_names *names);

struct sg_log_set {
    struct sg_logread **logs;
    int count;
    int world_size;
    int missing; /* ranks whose log is missing or unreadable */
    /* Names of call sites, kept from one reading to the next; NULL: each reading collects its
     * own. */
    struct sg_log_names *names;
};

/* Facts from the logs' headers. */
struct sg_log_facts {
    const char *program; /* owned by the logs; NULL: unknown */
    bool any_otf2;       /* some rank recorded events */
    int living;          /* ranks that are still writing their logs */
    bool complete;       /* all logs are present and complete, and reached MPI_Finalize */
    uint64_t unmanaged_calls, unmanaged_nonblocking, unmanaged_full;
    uint64_t off_ns, overhead_calls, overhead_ns, overhead_long_calls; /* as in struct sg_report */
    struct sg_run_waiting waiting;
};

/* Threads of the log's rank that called MPI. */
uint32_t sg_log_threads(const struct sg_logread *log);
/* Logs errors in one line, like sg_logread_open_all. */
enum sg_status sg_log_set_open(const char *directory, struct sg_log_set *out);
void sg_log_set_close(struct sg_log_set *set);
void sg_log_set_facts(const struct sg_log_set *set, struct sg_log_facts *out);
/* Collects what the algorithm auto learned. Returns SG_OK or SG_ERR_MEMORY, which is logged. */
enum sg_status sg_log_set_learned(const struct sg_log_set *set, struct sg_learned *learned);
/* Adds the statistics and run times of all logs to an aggregate of at least world_size ranks. Names
 * of sites come from the logs, or else from the symbols of their modules. Errors are logged. */
enum sg_status sg_source_stats(const struct sg_log_set *set, struct sg_progress_line *progress,
                               struct sg_aggregate *aggregate);

#endif
