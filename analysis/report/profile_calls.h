/* All MPI calls of a run: functions, call sites, messages, and MPI's share of the run time.
 *
 * Collectives that the library carried out itself (barrier, reduce, allreduce, bcast) come from the
 * report's rows. All other calls come from the statistics of all calls, in the logs or beside an
 * archive (trace/export/calls_file.c). No call is in both.
 *
 * The header also holds the figures of MMDS, one-sided operations by pair of ranks, and the summary
 * of paper 001.
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

/* Figures that MMDS kept (docs/decisions/02): computation granularity and communication overhead
 * of each process, and the distributions of latency and bytes for chosen functions. All are summed
 * over the ranks that kept them.
 */

struct sg_mmds_points {
    uint64_t count, sum, min, max; /* ns or bytes; all 0 if count is 0 */
};

struct sg_mmds_distribution {
    uint8_t of;            /* enum sg_distribution */
    bool is_first_thread;  /* granularity and overhead keep other threads separate */
    uint32_t function;     /* number in the table; valid if sg_mmds_is_of_function() */
    const char *primitive; /* "MPI_Send" or a name from sg_mmds_names; set at the end */
    struct sg_mmds_points points;
    uint32_t to_doubling; /* bins per doubling of the value */
    uint64_t *bins;       /* sg_bins_count() counts; owned */
};

/* All zero: nothing was kept. */
struct sg_mmds {
    uint32_t rank_count; /* ranks that kept figures */
    uint64_t run_ns;     /* time for which MMDS followed their first threads */
    struct sg_mmds_distribution *distributions;
    uint32_t distribution_count;
};

/* Names by enum sg_distribution: "Comp Granularity" and "Comm Overhead". */
extern const char *const sg_mmds_names[];

static inline bool sg_mmds_is_kind(uint8_t of)
{
    return of >= SG_DISTRIBUTION_GRANULARITY && of <= SG_DISTRIBUTION_BYTES;
}

static inline bool sg_mmds_is_of_function(uint8_t of)
{
    return of == SG_DISTRIBUTION_LATENCY || of == SG_DISTRIBUTION_BYTES;
}

/* Adds to the distribution of the same quantity, or copies it if there is none yet. Leaves out a
 * distribution with a different number of bins per doubling. Returns SG_OK or SG_ERR_MEMORY. */
enum sg_status sg_mmds_add(struct sg_mmds *mmds, const struct sg_mmds_distribution *more);
void sg_mmds_clear(struct sg_mmds *mmds);
/* Granularity or overhead; all 0 if it was not kept. */
struct sg_mmds_points sg_mmds_points_of(const struct sg_mmds *mmds, enum sg_distribution of,
                                        bool is_first_thread);
/* Granularity and overhead of the first threads together. */
uint64_t sg_mmds_sum_ns(const struct sg_mmds *mmds);
/* Run time of the first threads outside both, for example while recording is off. */
int64_t sg_mmds_gap_ns(const struct sg_mmds *mmds);

/* One-sided operations by origin and target, as counted by the origin: the data that MPI_Put,
 * MPI_Get and the other operations moved. MPI_Get_accumulate, MPI_Fetch_and_op and
 * MPI_Compare_and_swap both put and get.
 *
 * Memory grows with the number of pairs of ranks. Not thread-safe.
 */

/* Ranks in MPI_COMM_WORLD. */
struct sg_call_target {
    uint32_t origin, target;
    uint64_t puts, put_bytes; /* includes accumulates */
    uint64_t gets, got_bytes;
};

/* All zero: empty. */
struct sg_call_targets {
    struct sg_call_target *rows;
    uint32_t count;
    struct sg_call_target others; /* sums for communicators whose members are unknown */
    struct sg_map row_by_pair;
};

/* Adds to the row of its origin and target. Returns SG_OK or SG_ERR_MEMORY, not logged. */
enum sg_status sg_call_targets_add(struct sg_call_targets *targets,
                                   const struct sg_call_target *more);
void sg_call_targets_add_others(struct sg_call_targets *targets, const struct sg_call_target *more);
/* Sorts the rows by bytes, the largest first. */
void sg_call_targets_sort(struct sg_call_targets *targets);
void sg_call_targets_clear(struct sg_call_targets *targets);

/* The row that figures belong to. */
struct sg_call_place {
    uint32_t site;           /* call site: index in the aggregate */
    uint32_t function, comm; /* numbers in the table (profile_table.h) */
};

struct sg_call_figures {
    uint64_t calls, failed;
    uint64_t carried_out; /* those that the library carried out or recorded */
    uint64_t time_ns, min_ns, max_ns;
    double square; /* sum of the squared times, in ns^2 */
    uint64_t sent_bytes, received_bytes;
    uint64_t completed; /* posted operations known to be complete */
    uint64_t latency_ns, latency_min_ns, latency_max_ns;
};

/* A function at a call site on a communicator, or a sum of such rows. */
struct sg_call_row {
    /* First member: the columns of report/report_columns.h read the row through it. Only the call
     * site, the communicator and comms are set. comms is 0 for calls without a communicator. A sum
     * over all call sites has no site. */
    struct sg_report_site place;
    const char *function; /* "MPI_Send" */
    bool is_carried_out; /* the library carried out all calls, so the report's own rows have them */
    struct sg_call_figures of;
    bool has_waiting;    /* with events, in a row of a function and call site */
    uint64_t waiting_ns; /* the part of the time that is waiting for other ranks */
    /* Means per call; NAN: unknown. A latency lasts from the begin of the posting call to
     * completion. */
    double mean_ns, deviation_ns, latency_ns;
};

/* Messages from one rank of MPI_COMM_WORLD to another; sender and receiver count separately. */
struct sg_call_pair {
    uint32_t from, to;
    uint64_t sent_messages, sent_bytes;
    uint64_t received_messages, received_bytes;
    /* The larger of both counts: for a freed request, only the sender counts the message. */
    uint64_t messages, bytes;
};

struct sg_calls {
    struct sg_call_row *functions; /* by time, the longest first, like the other two */
    struct sg_call_row *sites;     /* one row for each function and call site */
    struct sg_call_row *rows;      /* one row for each function, call site and communicator */
    uint32_t function_count, site_count, row_count;
    struct sg_call_pair *pairs; /* by bytes, the largest first */
    uint32_t pair_count;
    struct sg_call_targets one_sided;
    struct sg_mmds mmds;
    struct sg_slice_set slices;
    uint64_t other_messages, other_bytes; /* to unknown ranks, as counted by the senders */
    uint32_t rank_count;
    uint64_t time_ns;                   /* time in MPI, summed over the reported ranks */
    uint64_t ends_ns;                   /* part of it in MPI_Init and MPI_Finalize */
    uint64_t processor_ns;              /* sum of the ranks' thread_ns */
    uint32_t least_rank, greatest_rank; /* ranks with the smallest and the largest share */
    double least_share, greatest_share;
    struct sg_before *before;    /* report/between_calls_tables.h; NULL: nothing was sampled */
    struct sg_before *starts;    /* likewise: each rank's interval before MPI_Init */
    struct sg_call_table *table; /* owns the texts; NULL: no texts */
};

/* Sums up rows with calls of a function in one line of a file; by_comm: only those of one
 * communicator. Without lines, call sites remain apart. Updates the count. malloc'ed; the texts are
 * those of the rows. NULL: out of memory. */
struct sg_call_row *sg_call_rows_by_line(const struct sg_call_row *rows, uint32_t *count,
                                         bool by_comm);

void sg_calls_free(struct sg_calls *calls);

/* True if there are calls that the report's own rows do not have. */
static inline bool sg_calls_has_others(const struct sg_calls *calls)
{
    bool has = false;

    for (uint32_t i = 0; i < calls->site_count && !has; i++)
        has = !calls->sites[i].is_carried_out;
    return has;
}

/* Columns for struct sg_call_row, with struct sg_calls as context: all of them in JSON order, then
 * the function, and the call site without its communicator. */
extern const struct sg_columns sg_call_columns, sg_call_function_columns, sg_call_site_columns;

/* The summary of paper 001 (table 5.3): a row for each MPI function that was called, with the
 * shortest, longest, total and mean latency, and the distributions that MMDS kept.
 *
 * A latency is the time in a call. For a function whose requests are followed, it lasts from the
 * begin of the call that posts or starts the request to its completion as the program sees it.
 */

struct sg_primitive {
    const char *name;
    uint64_t min_ns, max_ns, total_ns;
    uint64_t count; /* number of latencies; if 0, the other figures are unknown */
    double mean_ns;
    uint64_t open; /* posted, not known to be complete */
};

/* Makes the rows, malloc'ed: in the paper's order, then other functions by total time. calls may be
 * NULL for unknown. Returns SG_OK or SG_ERR_MEMORY. */
enum sg_status sg_primitives_make(const struct sg_calls *calls, struct sg_primitive **out,
                                  uint32_t *count);

/* Columns for struct sg_primitive. */
extern const struct sg_columns sg_primitive_columns;

/* A bin holds values from `from` up to, not including, `below`. */
struct sg_primitive_bin {
    const char *primitive;
    const char *what; /* "latency_ns", "bytes" */
    uint64_t from, below, count, all;
    bool is_of_thread, is_first_thread; /* the latter: if it is of a thread, not of a function */
};

/* Makes the non-empty bins of a distribution, in order; malloc'ed. Returns SG_OK or
 * SG_ERR_MEMORY. */
enum sg_status sg_primitive_bins(const struct sg_mmds_distribution *distribution,
                                 struct sg_primitive_bin **out, uint32_t *count);

/* Columns for struct sg_primitive_bin: for JSON and CSV, and for text of times and of bytes. */
extern const struct sg_columns sg_bin_columns, sg_bin_time_columns, sg_bin_bytes_columns;

#endif
