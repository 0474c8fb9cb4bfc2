/* The data of a comparison: all MPI calls and wait states on the two sides, the figures of the call
 * sites, and the call sites of one side.
 *
 * All MPI calls: the time in each function and at each of its call sites, per run and over all
 * ranks. These statistics have no single calls, so with one run a side there is no interval. With
 * several runs the interval comes from the runs' times (sg_run_spread).
 */
#ifndef SG_COMPARE_COMPARE_CALLS_H
#define SG_COMPARE_COMPARE_CALLS_H

#include "compare/compared_runs.h"
#include "output/section.h"
#include "report/profile_calls.h"
#include "report/report.h"
#include "report/wait_sums.h"

/* The tables of a comparison. */
enum sg_compare_table {
    SG_COMPARE_SITES,
    SG_COMPARE_FUNCTIONS,
    SG_COMPARE_CALLS,
    SG_COMPARE_WAITS,
    SG_COMPARE_RUNS, /* whole runs */
    SG_COMPARE_TABLES
};

/* sum / count, rounded to nearest. */
static inline uint64_t sg_mean_of(uint64_t sum, uint64_t count)
{
    return (sum + count / 2) / count;
}

/* Means over the runs that have the call. */
struct sg_call_side {
    uint32_t run_count;
    uint64_t calls, time_ns, sent_bytes, received_bytes;
};

struct sg_compared_call {
    struct sg_call_row row; /* first, because its columns take it; names, from the first run */
    const char *state;      /* a wait's; NULL: a call */
    bool by_place;          /* ids differ; function, file and line match */
    const char *matched_by; /* "id", "place"; NULL: one side only */
    struct sg_call_side side[2];
    struct sg_run_means times[2]; /* per run */
    struct sg_measured_row time;
    uint32_t run; /* the run added last */
};

struct sg_compared_call_list {
    struct sg_compared_call *of; /* sorted by time on the side with more, longest first */
    uint32_t count;
};

struct sg_compared_calls {
    bool is_known; /* in all runs */
    struct sg_compared_call_list functions, sites;
    uint32_t top; /* rows to show of each list; 0: all */
    uint64_t time_ns[2], processor_ns[2];
};

/* Adds the runs of a side. SG_ERR_MEMORY only (not logged); the caller clears it in any case. */
enum sg_status sg_compared_calls_add(struct sg_compared_calls *calls, int side,
                                     const struct sg_report *runs, uint32_t run_count);
/* Call after both sides have been added. several: a side has several runs. */
void sg_compared_calls_finish(struct sg_compared_calls *calls, bool several);
void sg_compared_calls_clear(struct sg_compared_calls *calls);

/* Wait states on the two sides: number and time of the waits of each kind at each call site, per
 * run and over all ranks. The intervals are those of sg_compared_calls.
 */

struct sg_compared_waits {
    bool is_known;                                       /* in all runs */
    struct sg_compared_call_list of[SG_WAITSTATE_KINDS]; /* calls and time_ns count waits */
};

/* Adds the runs of a side; call it for side 0, then side 1. SG_ERR_MEMORY only (not logged); the
 * caller clears it in any case. */
enum sg_status sg_compared_waits_add(struct sg_compared_waits *waits, int side,
                                     const struct sg_report *runs, uint32_t run_count);
/* Call after both sides have been added. several: a side has several runs. */
void sg_compared_waits_finish(struct sg_compared_waits *waits, bool several);
void sg_compared_waits_clear(struct sg_compared_waits *waits);

/* The figures of a comparison: the cost of each call site on the two sides, and the certainty of
 * the difference. With several runs a side every figure of a side is a mean over its runs.
 */

/* One side's figures: means over those of its runs that have the call site. Totals are the report's
 * (from the statistics if events were left out). */
struct sg_side {
    bool present;
    bool has_wait;      /* every run has events of it */
    uint32_t run_count; /* runs that have the call site */
    uint64_t calls, event_calls, instances, bytes;
    uint64_t ns[SG_MEASURED_COUNT];
    /* per call: over the calls in the events if every run has some */
    double mean_ns[SG_MEASURED_COUNT];
    const char *algorithm; /* of the communicator that blocked longest */
};

struct sg_compared {
    /* First, because its columns take it; names, from side a if it has the call site. */
    struct sg_report_site site;
    bool by_place;          /* ids differ; function, file and line match */
    const char *matched_by; /* "id", "place"; NULL: one side only */
    struct sg_side side[2];
    struct sg_difference difference[SG_MEASURED_COUNT]; /* if both are present */
    struct sg_measured_row per_call[SG_MEASURED_COUNT];
};

struct sg_comparison {
    struct sg_report *runs[2];
    uint32_t run_count[2];
    /* rows in both first, by the time blocked on the side with more of it */
    struct sg_compared *rows;
    uint32_t row_count;
    uint32_t both_shown;     /* rows kept of those in both */
    uint32_t both_count;     /* rows found in both sides */
    uint32_t only_count[2];  /* rows found in one side only */
    uint32_t by_place_count; /* rows in both that were matched by place */
    struct sg_whole_row whole[SG_WHOLE_COUNT];
    struct sg_gate gate;
    uint32_t verdict_count[SG_VERDICT_COUNT]; /* over the sites in both, by time blocked */
    struct sg_comparison_series *series;
    struct sg_compared_calls calls; /* all MPI calls */
    struct sg_compared_waits waits; /* wait states in those calls */
};

/* Figures of whole runs: means over a side's runs. */
struct sg_run_figures {
    uint64_t run_ns, ranks_run_ns, blocked_ns, wait_ns;
    bool has_events; /* all runs have events */
    bool partial;    /* at least one run is partial */
};

extern const char *const sg_measured_names[SG_MEASURED_COUNT];

/* "less", ...: the JSON values. */
extern const char *const sg_verdict_names[SG_VERDICT_COUNT];

static inline bool sg_compared_in_both(const struct sg_compared *row)
{
    return row->side[0].present && row->side[1].present;
}

static inline bool sg_comparison_has_several(const struct sg_comparison *comparison)
{
    return comparison->run_count[0] > 1 || comparison->run_count[1] > 1;
}

/* Words for people; several: a side has several runs. */
const char *sg_verdict_words(enum sg_verdict verdict, bool several);
bool sg_side_knows(const struct sg_side *side, enum sg_measured measured);
struct sg_run_figures sg_comparison_figures(const struct sg_comparison *comparison, int side);

/* The call sites of one side's runs: one for each call site and operation, over its communicators
 * and over the runs. They are matched by id, or else by function, file and line.
 */

/* A call site in one run. */
struct sg_entry {
    const struct sg_report_site *site;
    const struct sg_collected *collected; /* NULL: nothing in the events */
    struct sg_side side;
    uint64_t longest_ns;   /* most time blocked of its rows */
    struct sg_entry *next; /* the same call site in a later run */
};

struct sg_entries {
    struct sg_entry *items;
    uint32_t count;
};

/* A call site over all runs of a side. */
struct sg_call_site {
    const struct sg_report_site *site; /* of the first run that has it */
    struct sg_entry *first;
    bool by_place; /* ids differ among the runs */
    bool matched;
};

struct sg_call_sites {
    struct sg_call_site *items;
    uint32_t count;
    struct sg_collection *collections; /* one for each run, as are the entries */
    struct sg_entries *entries;
};

typedef bool sg_same_site(const struct sg_report_site *a, const struct sg_report_site *b);

sg_same_site sg_same_id, sg_same_source_line;

/* The matching call site that has not been matched yet. NULL if there are several: the match is
 * then ambiguous. */
struct sg_call_site *sg_call_sites_find(struct sg_call_sites *sites,
                                        const struct sg_report_site *of, sg_same_site *same);
/* Lists the call sites of the runs, none of them matched. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_call_sites_list(struct sg_call_sites *sites, const struct sg_report *runs,
                                  uint32_t run_count);
void sg_call_sites_clear(struct sg_call_sites *sites, uint32_t run_count);

/* The columns of a comparison: of its rows, which --sort uses; and of the figures compared in a
 * row. Text, JSON, CSV and the page use these tables.
 */

/* Columns of struct sg_compared. A column that the report has too has the same name and header. */
extern const struct sg_columns sg_compared_columns;

/* Columns of struct sg_measured_row. Their context is a bool: a side has several runs. */
extern const struct sg_columns sg_measured_columns;

/* The sections of a comparison, by enum sg_compare_table; with the same context. */
extern const struct sg_section sg_compare_sections[SG_COMPARE_TABLES];

#define SG_COMPARED_COLUMN_DEFAULT "blocked"

/* Rows in both stay before those in one only; equal rows are sorted by time blocked, then id and
 * operation. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_comparison_sort(struct sg_comparison *comparison, const struct sg_column *column);
/* Keeps the first `top` rows of those in both, and of those in each side only; 0: all. The counts
 * do not change. */
void sg_comparison_keep(struct sg_comparison *comparison, uint32_t top);
/* The rows of one side only that were kept. */
struct sg_rows sg_comparison_only(const struct sg_comparison *comparison, int side);

#endif
