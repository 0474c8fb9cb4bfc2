/* What is shown of a job for people: its head, what is to be said of ranks, its call sites. */
#include "watch/print.h"

#include "core/text.h"
#include "output/format.h"
#include "output/table.h"
#include "report/columns.h"
#include "report/profile/columns.h"
#include "watch/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_SHOWN 4
#define STATES_SHOWN 8
#define LONG_NS UINT64_C(1000000000)
#define LABEL "%-18s "

/* ---- the head -------------------------------------------------------------------------------- */

static void put_title(const struct sg_live_job *job, const struct sg_live_view *view, FILE *out)
{
    sg_format_put(view->report.program != NULL ? view->report.program : "program", out);
    fprintf(out, ", %" PRIu32 " rank%s, ", view->ranks, view->ranks == 1 ? "" : "s");
    if (view->living == 0)
        fprintf(out, "ended after %s", SG_NS(view->run_ns));
    else
        fprintf(out, "running %s", SG_NS(view->run_ns));
    if (view->living > 0 && view->living < view->ranks)
        fprintf(out, ", %" PRIu32 " of them running", view->living);
    fputs(", ", out);
    sg_format_put(job->directory, out);
    fputc('\n', out);
}

static const char *percent(double share, char text[SG_FORMAT_BYTES])
{
    snprintf(text, SG_FORMAT_BYTES, "%.1f%%", 100 * share);
    return text;
}
#define PERCENT(share) percent(share, SG_ROOM)

static void put_share(const struct sg_live_view *view, FILE *out)
{
    const struct sg_calls *calls = view->report.calls;

    if (calls == NULL || calls->processor_ns == 0)
        return;
    fprintf(out, LABEL, "in MPI");
    if (!isnan(view->now_share))
        fprintf(out, "%s now, ", PERCENT(view->now_share));
    fprintf(out, "%s of the run\n", SG_SHARE(calls->time_ns, calls->processor_ns));
}

static double rank_share(const struct sg_live_rank *rank)
{
    return rank->has_now ? rank->now_share : rank->share;
}

static int by_share(const void *left, const void *right)
{
    const struct sg_live_rank *a = *(const struct sg_live_rank *const *)left;
    const struct sg_live_rank *b = *(const struct sg_live_rank *const *)right;

    if (rank_share(a) != rank_share(b))
        return rank_share(a) > rank_share(b) ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Those for whom the others wait. */
static enum sg_status put_least(const struct sg_live_view *view, FILE *out)
{
    const struct sg_live_rank **ranks = calloc((size_t)view->rank_count + 1, sizeof *ranks);
    uint32_t count = 0;

    if (ranks == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (!isnan(rank_share(rank)) && (rank->state == SG_LIVE_RUNS || view->living == 0))
            ranks[count++] = rank;
    }
    if (count > 1) {
        qsort(ranks, count, sizeof *ranks, by_share);
        fprintf(out, LABEL, "least in MPI");
        for (uint32_t i = 0; i < count && i < LEAST_SHOWN; i++)
            fprintf(out, "%srank %" PRIu32 " %s", i > 0 ? ", " : "", ranks[i]->rank,
                    PERCENT(rank_share(ranks[i])));
        fputc('\n', out);
    }
    free(ranks);
    return SG_OK;
}

/* A call that goes on for long may hang. */
static void put_longest(const struct sg_live_view *view, FILE *out)
{
    const struct sg_live_rank *longest = NULL;
    char *site;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->open_function != NULL && rank->open_ns >= LONG_NS &&
            (longest == NULL || rank->open_ns > longest->open_ns))
            longest = rank;
    }
    if (longest == NULL)
        return;
    site = sg_site_text("site", &view->report, &longest->open_site);
    fprintf(out, LABEL "rank %" PRIu32 " in %s at %s for %s\n", "longest call", longest->rank,
            longest->open_function, site != NULL ? site : "?", SG_NS(longest->open_ns));
    free(site);
}

/* Those that do something else while others are in calls, and what it is. */
static void put_outside(const struct sg_live_view *view, FILE *out)
{
    uint32_t in_calls = 0, shown = 0;

    for (uint32_t i = 0; i < view->rank_count; i++)
        in_calls += view->per_rank[i].open_function != NULL;
    for (uint32_t i = 0; i < view->rank_count && in_calls > 0 && shown < LEAST_SHOWN; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->outside.is_known) {
            fprintf(out, LABEL "rank %" PRIu32 " for %s or more: %s\n", "out of MPI", rank->rank,
                    SG_NS(rank->outside.out_ns), sg_cause_names[rank->outside.cause]);
            shown++;
        }
    }
}

/* ---- what is to be said ---------------------------------------------------------------------- */

const char *sg_live_state_text(const struct sg_live_log *log, char text[SG_LIVE_STATE_BYTES])
{
    switch (log->state) {
    case SG_LIVE_DIED:
        snprintf(text, SG_LIVE_STATE_BYTES, "rank %d ended without MPI_Finalize", log->rank);
        break;
    case SG_LIVE_ABORTED:
        snprintf(text, SG_LIVE_STATE_BYTES, "rank %d called MPI_Abort", log->rank);
        break;
    case SG_LIVE_QUIET:
        snprintf(text, SG_LIVE_STATE_BYTES,
                 "rank %d makes no progress; whether it lives cannot be told from here", log->rank);
        break;
    case SG_LIVE_GONE:
        snprintf(text, SG_LIVE_STATE_BYTES, "rank %d: its log was removed", log->rank);
        break;
    case SG_LIVE_DAMAGED:
        snprintf(text, SG_LIVE_STATE_BYTES,
                 SG_LOG_NAME_FORMAT ": %s; its figures are those until then", log->rank,
                 log->refusal.reason);
        break;
    default:
        text[0] = '\0';
    }
    return text;
}

static void put_states(const struct sg_live_job *job, const struct sg_live_view *view, FILE *out)
{
    uint32_t told = 0, missing = job->ranks - job->log_count - job->refused_count;

    for (uint32_t i = 0; i < job->log_count; i++) {
        char text[SG_LIVE_STATE_BYTES];

        if (sg_live_state_text(&job->logs[i], text)[0] != '\0' && told++ < STATES_SHOWN)
            fprintf(out, "%s\n", text);
    }
    if (told > STATES_SHOWN)
        fprintf(out, "... and so for %" PRIu32 " further ranks\n", told - STATES_SHOWN);
    for (uint32_t i = 0; i < job->refused_count && i < STATES_SHOWN; i++)
        fprintf(out, SG_LOG_NAME_FORMAT ": %s\n", job->refused[i].rank, job->refused[i].why.reason);
    if (missing > 0)
        fprintf(out, "note: no log of %" PRIu32 " of %" PRIu32 " ranks is here\n", missing,
                job->ranks);
    if (view->living == 0 && sg_live_job_has_archive(job))
        fprintf(out, "note: the archive of the whole run is there; stagger report shows it\n");
}

/* ---- call sites ------------------------------------------------------------------------------ */

static enum sg_status put_rows(const struct sg_live_view *view, const struct sg_live_print *print,
                               FILE *out)
{
    uint32_t count = sg_live_print_count(print, view->row_count);
    struct sg_table table = {.width = print->width};
    bool is_first = view->interval_ns == 0;
    size_t figures;

    if (count == 0)
        return SG_OK;
    sg_table_show(&table, sg_call_columns, "function");
    sg_table_show(&table, sg_site_columns, "site");
    figures = table.column_count;
    sg_table_show(&table, sg_live_now_columns,
                  is_first ? "calls time share wait p50 max last least"
                           : "calls/s time share wait p50 max last least");
    figures = table.column_count - figures;
    if (!is_first)
        sg_table_show(&table, sg_live_now_columns, "total run");
    sg_table_show(&table, sg_live_why_columns, NULL);
    fputc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        const struct sg_live_row *row = &view->rows[i];

        sg_table_cells(&table, 2, &row->call, view->report.calls);
        sg_table_cells(&table, figures, is_first ? &row->run : &row->now, NULL);
        if (!is_first)
            sg_table_cells(&table, 2, &row->run, NULL);
        sg_table_row(&table, row, NULL);
    }
    return sg_table_finish(&table, "watch", out);
}

enum sg_status sg_live_print_text(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out)
{
    enum sg_status status;

    put_title(job, view, out);
    put_share(view, out);
    status = put_least(view, out);
    if (status != SG_OK) {
        sg_log("watch: %s", sg_status_text(status));
        return status;
    }
    put_longest(view, out);
    put_outside(view, out);
    put_states(job, view, out);
    return put_rows(view, print, out);
}
