/* All calls of MPI in a run: functions, call sites, messages, and MPI's share of the run time.
 *
 * What the library carried out itself (barrier, reduce, allreduce, bcast) is taken from the
 * report's rows, everything else from the statistics of all calls: in the logs, or beside an
 * archive (trace/export/calls_file.h). No call is in both.
 */
#ifndef SG_REPORT_PROFILE_CALLS_H
#define SG_REPORT_PROFILE_CALLS_H

#include "bcs/recorded_slices.h"
#include "core/bins.h"
#include "core/status.h"
#include "output/column.h"
#include "report/between_calls_tables.h"
#include "report/filter.h"
#include "report/report.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What MMDS kept (docs/decisions/0038): of each process computation granularity and communication
 * overhead, and of chosen functions the distributions of latency and bytes. Sums over the ranks
 * that kept them.
 */

struct sg_mmds_points {
    uint64_t count, sum, min, max; /* ns or bytes; with a count of 0 all are 0 */
};

struct sg_mmds_distribution {
    uint8_t of;            /* enum sg_distribution */
    bool is_first_thread;  /* the others are apart in granularity and overhead */
    uint32_t function;     /* number in the table; where sg_mmds_is_of_function() */
    const char *primitive; /* "MPI_Send", or of sg_mmds_names; once the table is finished */
    struct sg_mmds_points points;
    uint32_t to_doubling; /* bins */
    uint64_t *bins;       /* sg_bins_count() counts; owned */
};

/* Zeroed: nothing was kept. */
struct sg_mmds {
    uint32_t rank_count; /* that kept it */
    uint64_t run_ns;     /* of their first threads, as far as these were followed */
    struct sg_mmds_distribution *distributions;
    uint32_t distribution_count;
};

/* By enum sg_distribution: "Comp Granularity" and "Comm Overhead". */
extern const char *const sg_mmds_names[];

static inline bool sg_mmds_is_kind(uint8_t of)
{
    return of >= SG_DISTRIBUTION_GRANULARITY && of <= SG_DISTRIBUTION_BYTES;
}

static inline bool sg_mmds_is_of_function(uint8_t of)
{
    return of == SG_DISTRIBUTION_LATENCY || of == SG_DISTRIBUTION_BYTES;
}

/* Adds to the distribution of the same thing; a copy where there is none yet. One with other bins
 * than those so far is left out. SG_ERR_MEMORY only. */
enum sg_status sg_mmds_add(struct sg_mmds *mmds, const struct sg_mmds_distribution *more);
void sg_mmds_clear(struct sg_mmds *mmds);
/* Granularity and overhead: all 0 where there are none. */
struct sg_mmds_points sg_mmds_points_of(const struct sg_mmds *mmds, enum sg_distribution of,
                                        bool is_first_thread);
/* Of the first threads. */
uint64_t sg_mmds_sum_ns(const struct sg_mmds *mmds);
/* Run time that is in neither of the two, as while recording is off. */
int64_t sg_mmds_gap_ns(const struct sg_mmds *mmds);

/* One-sided operations by origin and target, as their origins counted: what MPI_Put and its kin
 * moved. MPI_Get_accumulate, MPI_Fetch_and_op and MPI_Compare_and_swap put and get.
 *
 * Memory grows with pairs of ranks. Not thread-safe.
 */

/* Ranks are of MPI_COMM_WORLD. */
struct sg_call_target {
    uint32_t origin, target;
    uint64_t puts, put_bytes; /* accumulates, too */
    uint64_t gets, got_bytes;
};

/* Zeroed: there are none. */
struct sg_call_targets {
    struct sg_call_target *rows;
    uint32_t count;
    struct sg_call_target others; /* sums, on communicators whose members are not known */
    struct sg_map row_by_pair;
};

/* Adds to the row of origin and target. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_call_targets_add(struct sg_call_targets *targets,
                                   const struct sg_call_target *more);
void sg_call_targets_add_others(struct sg_call_targets *targets, const struct sg_call_target *more);
/* The most bytes first. */
void sg_call_targets_sort(struct sg_call_targets *targets);
void sg_call_targets_clear(struct sg_call_targets *targets);

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

/* The summary of paper 001 (table 5.3): a row for each MPI function that was called, with the
 * shortest, longest, total and mean latency; and the rows of the distributions that MMDS kept.
 *
 * A latency is the time in a call; of a function whose requests are followed, from the begin of
 * what was posted or started to its completion as the program sees it.
 */

struct sg_primitive {
    const char *name;
    uint64_t min_ns, max_ns, total_ns;
    uint64_t count; /* of latencies; with 0 the other figures are not known */
    double mean_ns;
    uint64_t open; /* posted, and not known to be complete */
};

/* Rows in the paper's order, functions that it has not by their total; malloc'ed. calls: NULL: none
 * are known. SG_ERR_MEMORY only. */
enum sg_status sg_primitives_make(const struct sg_calls *calls, struct sg_primitive **out,
                                  uint32_t *count);

/* Of struct sg_primitive. */
extern const struct sg_columns sg_primitive_columns;

/* A bin: values from `from` to below `below`. */
struct sg_primitive_bin {
    const char *primitive;
    const char *what; /* "latency_ns", "bytes" */
    uint64_t from, below, count, all;
};

/* The bins of a distribution that have values, in their order; malloc'ed. SG_ERR_MEMORY only. */
enum sg_status sg_primitive_bins(const struct sg_mmds_distribution *distribution,
                                 struct sg_primitive_bin **out, uint32_t *count);

/* Of struct sg_primitive_bin: for JSON and CSV, and as text of times and of bytes. */
extern const struct sg_columns sg_bin_columns, sg_bin_time_columns, sg_bin_bytes_columns;

#endif
