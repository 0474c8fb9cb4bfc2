/* The view of a job that is shown: its head, its ranks and its call sites, each with figures of
 * the whole run and of the interval since the previous look; and its output as text and JSON.
 *
 * Figures of the run are those that `stagger report` computes from the logs at that moment. A
 * call counts when it ends; time spent in open calls is added only to the figures of the last
 * interval. */
#ifndef SG_WATCH_WATCH_PRINT_H
#define SG_WATCH_WATCH_PRINT_H

#include "core/status.h"
#include "report/efficiency.h"
#include "report/profile_calls.h"
#include "report/report.h"
#include "watch/job.h"
#include "watch/watch_log.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Figures of a call site, for the run or the interval. */
struct sg_live_figures {
    bool is_known; /* interval: false at the first look */
    uint64_t calls;
    double calls_per_s; /* NAN for the run */
    uint64_t time_ns;
    double share;      /* of rank time; NAN: unknown */
    bool has_arrivals; /* wait_ns is valid; if instances > 0, so are the fields after it */
    uint64_t wait_ns;
    uint64_t instances, skew_p50_ns, skew_p95_ns, skew_max_ns;
    double skew_mean_ns;
    uint64_t last_count; /* instances in which last_rank arrived last */
    int64_t last_rank;   /* -1: none */
    /* Samples of such calls with one rank that they wait for, and those of them in which it was
     * outside MPI (watch/job.h). */
    uint64_t samples, late_samples, late_ns;
    int64_t late_rank; /* in most of late_samples; -1: none */
    uint64_t late_count;
    int64_t least_rank; /* of several ranks that call, the one with the least time; -1: none */
    uint64_t least_ns;
};

struct sg_live_row {
    struct sg_call_row call; /* first, because report columns take it; figures of the run */
    uint32_t open_calls;     /* ranks now in such a call */
    uint64_t open_ns;        /* sum of their times in it */
    struct sg_live_figures run, now;
    /* Reason for the lateness of the run's last_rank or, if there is none, its least_rank: of the
     * rank's sampled intervals before these calls, those longest beyond the others' (from the
     * report). NULL: none is long enough, or unknown. */
    const struct sg_before_row *why;
    /* A rank outside MPI that others in such calls wait for now; of several, the one outside for
     * longest. NULL: none, or unknown. */
    const struct sg_live_rank *awaited;
};

struct sg_live_rank {
    uint32_t rank;
    enum sg_live_state state;
    uint64_t elapsed_ns; /* from MPI_Init to now, or to its end */
    uint64_t useful_ns;  /* time so far outside MPI, ended calls or open ones, over its threads */
    uint64_t time_ns;    /* in MPI, in the run */
    double share;        /* of its time; NAN: unknown */
    bool has_now;
    uint64_t now_ns;
    double now_share;
    /* The rank's open call; of several threads' the longest. NULL: none. */
    const char *open_function;
    struct sg_report_site open_site;
    uint64_t open_ns;
    struct sg_outside_spent outside; /* if it is in no call */
};

struct sg_live_view {
    struct sg_report report;
    uint32_t ranks, living;
    uint64_t run_ns;                                 /* run time of the longest rank so far */
    uint64_t interval_ns;                            /* 0: first look */
    double now_share;                                /* of rank time in MPI; NAN: unknown */
    struct sg_efficiency efficiency, now_efficiency; /* without transfer and serialization */
    struct sg_live_row *rows;
    uint32_t row_count;
    struct sg_live_rank *per_rank; /* those with a log */
    uint32_t rank_count;
    uint64_t left_out; /* calls of collectives in no arrival figure */
};

/* Prints the view of a job: plain text for people, a line of JSON for programs
 * (docs/watch-json.md). SG_OK or SG_ERR_MEMORY, logged; the caller checks the stream for errors. */

struct sg_live_print {
    uint32_t top; /* maximum number of call sites; 0: all */
    size_t width; /* columns per line; 0: unlimited */
};

enum sg_status sg_live_print_text(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out);
enum sg_status sg_live_print_json(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out);

/* In the OpenMetrics text format, with the figures of the run. */
enum sg_status sg_live_print_openmetrics(const struct sg_live_job *job,
                                         const struct sg_live_view *view,
                                         const struct sg_live_print *print, FILE *out);

extern const char *const sg_live_state_names[]; /* by enum sg_live_state */

/* Size of the text about a rank that does not run normally. */
#define SG_LIVE_STATE_BYTES 512

static inline uint32_t sg_live_print_count(const struct sg_live_print *print, uint32_t count)
{
    return print->top != 0 && print->top < count ? print->top : count;
}

/* Makes the view of a job (watch_print.h) again and again, each time with the figures of the
 * interval since the previous view. */

struct sg_live_rows; /* state kept from one view to the next */

enum sg_status sg_live_rows_create(uint32_t ranks, struct sg_live_rows **out);
void sg_live_rows_destroy(struct sg_live_rows *rows);
/* Makes the view of a job that has just been looked at, and begins the next interval. Call sites
 * with the most time in the interval, or at first in the run, come first. Errors are logged. */
enum sg_status sg_live_rows_make(struct sg_live_rows *rows, struct sg_live_job *job,
                                 struct sg_live_view *out);
void sg_live_view_clear(struct sg_live_view *view);

#endif
