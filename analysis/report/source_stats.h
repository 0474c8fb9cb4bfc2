/* Source: the statistics that every rank keeps in its log, whether events are recorded or not.
 *
 * They contain calls, bytes, time blocked and counters of each call site, but not who waited for
 * whom.
 */
#ifndef SG_REPORT_SOURCE_STATS_H
#define SG_REPORT_SOURCE_STATS_H

#include "core/status.h"
#include "output/progress.h"
#include "report/aggregate.h"
#include "report/learned/learned.h"
#include "report/log_names.h"
#include "trace/export/logread.h"

#include <stdbool.h>
#include <stdint.h>

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
