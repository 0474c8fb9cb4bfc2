/* What is shown of a job as one object on one line. */
#include "watch/print.h"

#include "output/json.h"
#include "report/columns.h"
#include "report/profile/columns.h"
#include "report/profile/print.h"
#include "watch/columns.h"

#include <math.h>

#define VERSION 1
#define DIGITS 9

static json_t *outside_of(const struct sg_outside_spent *spent)
{
    if (!spent->is_known)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s}", "out_ns", (json_int_t)spent->out_ns,
                     "time_ns", (json_int_t)spent->ns, "cpu_ns", (json_int_t)spent->cpu_ns,
                     "runnable_ns", (json_int_t)spent->runnable_ns, "off_ns",
                     (json_int_t)spent->off_ns, "cause", sg_cause_names[spent->cause]);
}

static json_t *why_now_of(const struct sg_live_rank *awaited)
{
    json_t *object = outside_of(&awaited->outside);

    sg_json_set(&object, "rank", json_integer(awaited->rank));
    return object;
}

static json_t *row_of(const struct sg_live_view *view, const struct sg_live_row *row)
{
    json_t *object = json_object(), *now = NULL;

    sg_columns_set(&object, sg_call_columns, &row->call, view->report.calls);
    sg_columns_set(&object, sg_live_run_columns, &row->run, NULL);
    sg_columns_set(&object, sg_live_why_columns, row, NULL);
    sg_json_set(&object, "why_now", row->awaited != NULL ? why_now_of(row->awaited) : json_null());
    sg_json_set(&object, "open_calls", json_integer(row->open_calls));
    sg_json_set(&object, "open_ns", json_integer((json_int_t)row->open_ns));
    if (row->now.is_known) {
        now = json_object();
        sg_columns_set(&now, sg_live_now_columns, &row->now, NULL);
    }
    sg_json_set(&object, "now", row->now.is_known ? now : json_null());
    return object;
}

static json_t *rows_of(const struct sg_live_view *view, const struct sg_live_print *print)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < sg_live_print_count(print, view->row_count) && rows != NULL; i++)
        sg_json_append(&rows, row_of(view, &view->rows[i]));
    return rows;
}

static json_t *open_of(const struct sg_live_rank *rank)
{
    const struct sg_call_row call = {.function = rank->open_function, .place = rank->open_site};
    json_t *open = json_object();

    sg_columns_set(&open, sg_call_function_columns, &call, NULL);
    sg_columns_set(&open, sg_call_site_columns, &call, NULL);
    sg_json_set(&open, "open_ns", json_integer((json_int_t)rank->open_ns));
    return open;
}

static json_t *ranks_of(const struct sg_live_view *view)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < view->rank_count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_live_rank_columns, &view->per_rank[i], NULL);
        sg_json_set(&row, "in",
                    view->per_rank[i].open_function != NULL ? open_of(&view->per_rank[i])
                                                            : json_null());
        sg_json_set(&row, "outside", outside_of(&view->per_rank[i].outside));
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *refused_of(const struct sg_live_job *job)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < job->refused_count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_json_set(&row, "rank", json_integer(job->refused[i].rank));
        sg_json_set(&row, "reason", sg_json_text(job->refused[i].why.reason));
        sg_json_append(&rows, row);
    }
    return rows;
}

enum sg_status sg_live_print_json(const struct sg_live_job *job, const struct sg_live_view *view,
                                  const struct sg_live_print *print, FILE *out)
{
    json_t *root = json_object();

    sg_json_set(&root, "version", json_integer(VERSION));
    sg_json_set(&root, "path", sg_json_text(job->directory));
    sg_json_set(&root, "program", sg_json_text(view->report.program));
    sg_json_set(&root, "ranks", json_integer(view->ranks));
    sg_json_set(&root, "living_ranks", json_integer(view->living));
    sg_json_set(&root, "run_ns", json_integer((json_int_t)view->run_ns));
    sg_json_set(&root, "interval_ns", sg_json_count(view->interval_ns > 0, view->interval_ns));
    sg_json_set(&root, "mpi",
                view->report.calls != NULL ? sg_calls_json_share(view->report.calls) : json_null());
    sg_json_set(&root, "now_share", sg_json_real(!isnan(view->now_share), view->now_share));
    sg_json_set(&root, "per_rank", ranks_of(view));
    sg_json_set(&root, "unreadable_logs", refused_of(job));
    sg_json_set(&root, "calls", rows_of(view, print));
    sg_json_set(&root, "call_count", json_integer(view->row_count));
    sg_json_set(&root, "left_out_calls", json_integer((json_int_t)view->left_out));
    return sg_json_print_line(root, DIGITS, "watch", out);
}
