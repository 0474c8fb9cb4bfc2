/* The figures of a comparison: the cost of each call site on the two sides, and how certain the
 * difference is. With several runs a side every figure of a side is a mean over its runs.
 */
#ifndef SG_COMPARE_COMPARISON_H
#define SG_COMPARE_COMPARISON_H

#include "compare/bootstrap.h"
#include "compare/calls.h"
#include "compare/waits.h"
#include "report/report.h"

/* One side's part: means over those of its runs that have the call site. Totals are the report's
 * (from the statistics if events were left out). */
struct sg_side {
    bool present;
    bool has_wait;      /* every run has events of it */
    uint32_t run_count; /* that have it */
    uint64_t calls, event_calls, instances, bytes;
    uint64_t ns[SG_MEASURED_COUNT];
    /* per call: over the calls in the events if every run has some */
    double mean_ns[SG_MEASURED_COUNT];
    const char *algorithm; /* of the communicator that blocked longest */
};

struct sg_compared {
    const struct sg_report_site *site; /* the names: of side a if it has the call site */
    bool by_place;                     /* ids differ, function, file and line are the same */
    struct sg_side side[2];
    struct sg_difference difference[SG_MEASURED_COUNT]; /* where both are present */
};

struct sg_comparison {
    struct sg_report *runs[2];
    uint32_t run_count[2];
    /* those in both first, by the time blocked on the side with more of it */
    struct sg_compared *rows;
    uint32_t row_count;
    uint32_t both_shown;                      /* of them in both */
    uint32_t both_count;                      /* the number found: in both sides */
    uint32_t only_count[2];                   /* and in one alone */
    uint32_t by_place_count;                  /* of those in both */
    uint32_t verdict_count[SG_VERDICT_COUNT]; /* over the sites in both, by time blocked */
    struct sg_comparison_series *series;
    struct sg_compared_calls calls; /* all calls of MPI */
    struct sg_compared_waits waits; /* in them */
};

/* Of whole runs: means over a side's runs. */
struct sg_run_figures {
    uint64_t run_ns, ranks_run_ns, blocked_ns, wait_ns;
    bool has_events; /* all of them */
    bool partial;    /* one of them */
};

extern const char *const sg_measured_names[SG_MEASURED_COUNT];
/* "less", ...: as in JSON. */
extern const char *const sg_verdict_names[SG_VERDICT_COUNT];

static inline bool sg_compared_in_both(const struct sg_compared *row)
{
    return row->side[0].present && row->side[1].present;
}

static inline bool sg_comparison_has_several(const struct sg_comparison *comparison)
{
    return comparison->run_count[0] > 1 || comparison->run_count[1] > 1;
}

/* For people; several: there are several runs a side. */
const char *sg_verdict_words(enum sg_verdict verdict, bool several);

bool sg_side_knows(const struct sg_side *side, enum sg_measured measured);

struct sg_run_figures sg_comparison_figures(const struct sg_comparison *comparison, int side);

#endif
