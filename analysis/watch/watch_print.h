/* What is shown of a job: its head, its ranks and its call sites, each with figures of the whole
 * run and of the time since they were made last.
 *
 * Figures of the run are those of `stagger report` of the logs at that moment. A call counts when
 * it ends; what those still open have taken is added to the figures of the last interval, and to no
 * others.
 */
#ifndef SG_WATCH_WATCH_PRINT_H
#define SG_WATCH_WATCH_PRINT_H

#include "core/status.h"
#include "report/profile_calls.h"
#include "report/report.h"
#include "watch/job.h"
#include "watch/watch_log.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of a call site, in the run or in the interval. */
struct sg_live_figures {
    bool is_known; /* of the interval: not at the first time */
    uint64_t calls;
    double calls_per_s; /* NAN in the run */
    uint64_t time_ns;
    double share;      /* of processor time; NAN: not known */
    bool has_arrivals; /* wait_ns is known; where instances > 0, what follows, too */
    uint64_t wait_ns;
    uint64_t instances, skew_p50_ns, skew_p95_ns, skew_max_ns;
    double skew_mean_ns;
    uint64_t last_count; /* instances in which last_rank came last */
    int64_t last_rank;   /* -1: none */
    int64_t least_rank;  /* of several that call, the one with the least time; -1: none */
    uint64_t least_ns;
};

struct sg_live_row {
    struct sg_call_row call; /* first: columns of report take it. Figures of the run */
    uint32_t open_calls;     /* ranks that are in such a call now */
    uint64_t open_ns;        /* since when, summed up */
    struct sg_live_figures run, now;
    /* What makes the rank late that comes last in the run, or has the least time: of its sampled
     * intervals before these calls those that are longest beyond the others' (the report's); NULL:
     * none is so long, or it is not known. */
    const struct sg_before_row *why;
    /* A rank outside of MPI for which others wait in such calls now; of several the one that is out
     * for longest. NULL: none, or it is not known. */
    const struct sg_live_rank *awaited;
};

struct sg_live_rank {
    uint32_t rank;
    enum sg_live_state state;
    uint64_t time_ns; /* in MPI, in the run */
    double share;     /* of its processor time; NAN: not known */
    bool has_now;
    uint64_t now_ns;
    double now_share;
    /* The call that it is in; of several threads the one that it is in for longest. NULL: none. */
    const char *open_function;
    struct sg_report_site open_site;
    uint64_t open_ns;
    struct sg_outside_spent outside; /* where it is in none */
};

struct sg_live_view {
    struct sg_report report;
    uint32_t ranks, living;
    uint64_t run_ns;      /* the longest rank's, up to now */
    uint64_t interval_ns; /* 0: the first time */
    double now_share;     /* of processor time in MPI; NAN: not known */
    struct sg_live_row *rows;
    uint32_t row_count;
    struct sg_live_rank *per_rank; /* those with a log */
    uint32_t rank_count;
    uint64_t left_out; /* calls of collectives that are in no figure of arrivals */
};

/* Prints what is shown of a job: plain text for people, a line of JSON for programs
 * (docs/watch-json.md). SG_OK or SG_ERR_MEMORY, logged; whether the stream takes it is the caller's
 * to see. */

struct sg_live_print {
    uint32_t top; /* call sites, at most; 0: all */
    size_t width; /* of a line; 0: any */
};

enum sg_status sg_live_print_text(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out);
enum sg_status sg_live_print_json(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out);

/* What is to be told of a rank that does not run as it should; "": nothing. Clean text. */
#define SG_LIVE_STATE_BYTES 512

static inline uint32_t sg_live_print_count(const struct sg_live_print *print, uint32_t count)
{
    return print->top != 0 && print->top < count ? print->top : count;
}

#endif
