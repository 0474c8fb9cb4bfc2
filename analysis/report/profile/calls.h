/* All calls of MPI in a run: functions, call sites, messages, and MPI's share of the run time.
 *
 * What the library carried out itself (barrier, reduce, allreduce, bcast) is taken from the
 * report's rows, everything else from the statistics of all calls: in the logs, or beside an
 * archive (trace/export/calls_file.h). No call is in both.
 */
#ifndef SG_REPORT_PROFILE_CALLS_H
#define SG_REPORT_PROFILE_CALLS_H

#include "report/before/before.h"
#include "report/profile/mmds.h"
#include "report/profile/targets.h"
#include "report/report.h"
#include "report/slices/slices.h"

#include <stdbool.h>
#include <stdint.h>

/* What figures are of. */
struct sg_call_place {
    uint32_t site;           /* index in the aggregate */
    uint32_t function, comm; /* numbers in the table (table.h) */
};

struct sg_call_figures {
    uint64_t calls, failed;
    uint64_t carried_out; /* calls, among them, that the library carried out or recorded */
    uint64_t time_ns, min_ns, max_ns;
    double square; /* sum of squares of the times, in ns^2 */
    uint64_t sent_bytes, received_bytes;
    uint64_t completed; /* posted operations that are known to be complete */
    uint64_t latency_ns, latency_min_ns, latency_max_ns;
};

/* A function, at a call site, on a communicator; or the sum of such rows. */
struct sg_call_row {
    /* First: columns of report/columns.h take it. Call site and communicator only, and `comms`: 0
     * where there is no communicator; without a site in a sum over all of them. */
    struct sg_report_site place;
    const char *function; /* "MPI_Send" */
    bool is_carried_out;  /* by the library, all calls: the report's own rows have them */
    struct sg_call_figures of;
    /* Of a call; NAN: not known. Latency is from the begin of what was posted to its completion. */
    double mean_ns, deviation_ns, latency_ns;
};

/* Messages from one rank of MPI_COMM_WORLD to another, as each of them counted. */
struct sg_call_pair {
    uint32_t from, to;
    uint64_t sent_messages, sent_bytes;
    uint64_t received_messages, received_bytes;
    /* The greater of both: what a freed request received is counted by its sender only. */
    uint64_t messages, bytes;
};

struct sg_calls {
    struct sg_call_row *functions; /* the most time first, as are the other two */
    struct sg_call_row *sites;     /* a row for each function and call site */
    struct sg_call_row *rows;      /* likewise, and communicator */
    uint32_t function_count, site_count, row_count;
    struct sg_call_pair *pairs; /* the most bytes first */
    uint32_t pair_count;
    struct sg_call_targets one_sided;
    struct sg_mmds mmds;
    struct sg_slice_set slices;
    uint64_t other_messages, other_bytes; /* to ranks not known, as their senders counted */
    uint32_t rank_count;
    uint64_t time_ns;      /* in MPI, of all ranks that are reported */
    uint64_t processor_ns; /* their run times, a rank's once for each thread that called MPI */
    uint32_t least_rank, greatest_rank; /* by share */
    double least_share, greatest_share;
    struct sg_before *before;    /* before/before.h; NULL: nothing was sampled */
    struct sg_call_table *table; /* owns the texts; NULL: nobody does */
};

void sg_calls_free(struct sg_calls *calls);

/* Whether there are other calls than those that the report's own rows have. */
static inline bool sg_calls_has_others(const struct sg_calls *calls)
{
    bool has = false;

    for (uint32_t i = 0; i < calls->site_count && !has; i++)
        has = !calls->sites[i].is_carried_out;
    return has;
}

#endif
