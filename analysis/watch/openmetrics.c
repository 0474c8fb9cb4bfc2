/* The view of a job in the OpenMetrics 1.0 text format (prometheus.io/docs/specs/om), for the
 * textfile collector of a node exporter.
 *
 * The collector reads the older format of Prometheus, which knows none of the types `info` and
 * `stateset` and takes no time stamps: all families are gauges and counters, which mean the same in
 * both formats. The number of series is bounded: figures of ranks are sums or the greatest, and
 * only the call sites with the most time have series. */
#include "watch/watch_print.h"

#include "core/text.h"
#include "output/format.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct exposition {
    const struct sg_live_view *view;
    const char *run;                /* the output directory; identifies the job in each series */
    const struct sg_live_row **top; /* call sites with the most time in the run */
    uint32_t top_count;
    FILE *out;
};

/* A figure of the job or of a call site (else NULL). NAN: unknown, and the series is left out. */
struct family {
    const char *name; /* without the counter's suffix */
    const char *unit; /* the end of the name; "": none */
    const char *help;
    void (*put)(const struct exposition *to, const struct family *family);
    double (*job)(const struct sg_live_view *view);
    double (*site)(const struct sg_live_row *row);
    bool is_counter;
};

/* ---- samples --------------------------------------------------------------------------------- */

/* Writes a label; the text may have any bytes. */
static void put_label(const char *before, const char *name, const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);

    fprintf(out, "%s%s=\"", before, name);
    for (const char *at = clean != NULL ? clean : "?"; *at != '\0'; at++)
        fprintf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fputc('"', out);
    free(clean);
}

static void begin(const struct exposition *to, const struct family *family)
{
    fprintf(to->out, "%s%s", family->name, family->is_counter ? "_total" : "");
    put_label("{", "run", to->run, to->out);
}

static void end(const struct exposition *to, double value)
{
    fprintf(to->out, "} %.15g\n", value);
}

static void put_job(const struct exposition *to, const struct family *family)
{
    double value = family->job(to->view);

    if (isnan(value))
        return;
    begin(to, family);
    end(to, value);
}

static void begin_site(const struct exposition *to, const struct family *family,
                       const struct sg_live_row *row)
{
    char *site = sg_site_text("site", &to->view->report, &row->call.place);
    char id[16] = "";

    if (row->call.place.has_id)
        snprintf(id, sizeof id, "%08" PRIx32, row->call.place.id);
    begin(to, family);
    put_label(",", "function", row->call.function, to->out);
    put_label(",", "site", site != NULL ? site : "?", to->out);
    put_label(",", "id", id, to->out);
    free(site);
}

static void put_sites(const struct exposition *to, const struct family *family)
{
    for (uint32_t i = 0; i < to->top_count; i++) {
        double value = family->site(to->top[i]);

        if (isnan(value))
            continue;
        begin_site(to, family, to->top[i]);
        end(to, value);
    }
}

/* ---- the job --------------------------------------------------------------------------------- */

static void put_info(const struct exposition *to, const struct family *family)
{
    const char *program = to->view->report.program;
    const char *slash = strrchr(to->run, '/');

    begin(to, family);
    put_label(",", "program", program != NULL ? program : "", to->out);
    put_label(",", "name", slash != NULL ? slash + 1 : to->run, to->out);
    put_label(",", "version", SG_VERSION, to->out);
    end(to, 1);
}

static uint32_t count_of(const struct sg_live_view *view, enum sg_live_state state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->rank_count; i++)
        count += view->per_rank[i].state == state;
    return count;
}

static void put_ranks(const struct exposition *to, const struct family *family)
{
    for (enum sg_live_state state = SG_LIVE_RUNS; state <= SG_LIVE_DAMAGED; state++) {
        begin(to, family);
        put_label(",", "state", sg_live_state_names[state], to->out);
        end(to, count_of(to->view, state));
    }
}

/* A job whose logs are gone or damaged has ended in a way that is not known. */
static void put_state(const struct exposition *to, const struct family *family)
{
    static const char *const names[] = {"running", "finished", "failed", "unknown"};
    const struct sg_live_view *view = to->view;
    bool has_failed = count_of(view, SG_LIVE_DIED) + count_of(view, SG_LIVE_ABORTED) > 0;
    unsigned state = view->living > 0                                  ? 0
                     : has_failed                                      ? 2
                     : count_of(view, SG_LIVE_FINISHED) == view->ranks ? 1
                                                                       : 3;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        begin(to, family);
        put_label(",", "state", names[i], to->out);
        end(to, i == state);
    }
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static double ranks_of(const struct sg_live_view *view)
{
    return view->ranks;
}

static double run_seconds(const struct sg_live_view *view)
{
    return seconds(view->run_ns);
}

static double mpi_seconds(const struct sg_live_view *view)
{
    uint64_t sum_ns = 0;

    for (uint32_t i = 0; i < view->rank_count; i++)
        sum_ns += view->per_rank[i].time_ns;
    return seconds(sum_ns);
}

static double useful_seconds(const struct sg_live_view *view)
{
    uint64_t sum_ns = 0;

    for (uint32_t i = 0; i < view->rank_count; i++)
        sum_ns += view->per_rank[i].useful_ns;
    return seconds(sum_ns);
}

static double wait_seconds(const struct sg_live_view *view)
{
    uint64_t sum_ns = 0;
    bool is_known = false;

    for (uint32_t i = 0; i < view->row_count; i++) {
        const struct sg_live_figures *run = &view->rows[i].run;

        is_known = is_known || run->has_arrivals;
        sum_ns += run->has_arrivals ? run->wait_ns : 0;
    }
    return is_known ? seconds(sum_ns) : NAN;
}

static double late_seconds(const struct sg_live_view *view)
{
    uint64_t sum_ns = 0;

    for (uint32_t i = 0; i < view->row_count; i++)
        sum_ns += view->rows[i].run.late_ns;
    return seconds(sum_ns);
}

static double longest_seconds(const struct sg_live_view *view)
{
    uint64_t longest_ns = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct sg_live_rank *rank = &view->per_rank[i];

        if (rank->open_function != NULL && rank->open_ns > longest_ns)
            longest_ns = rank->open_ns;
    }
    return seconds(longest_ns);
}

static double sites_of(const struct sg_live_view *view)
{
    return view->row_count;
}

#define EFFICIENCY(of, member)                                                                     \
    static double of##_##member(const struct sg_live_view *view)                                   \
    {                                                                                              \
        return view->of.member >= 0 ? view->of.member : NAN;                                       \
    }
EFFICIENCY(efficiency, parallel)
EFFICIENCY(efficiency, load_balance)
EFFICIENCY(efficiency, communication)
EFFICIENCY(now_efficiency, parallel)
EFFICIENCY(now_efficiency, load_balance)
EFFICIENCY(now_efficiency, communication)

/* ---- call sites ------------------------------------------------------------------------------ */

static double site_calls(const struct sg_live_row *row)
{
    return (double)row->run.calls;
}

static double site_seconds(const struct sg_live_row *row)
{
    return seconds(row->run.time_ns);
}

static double site_wait_seconds(const struct sg_live_row *row)
{
    return row->run.has_arrivals ? seconds(row->run.wait_ns) : NAN;
}

static double site_late_seconds(const struct sg_live_row *row)
{
    return row->run.samples > 0 ? seconds(row->run.late_ns) : NAN;
}

static double site_median_seconds(const struct sg_live_row *row)
{
    return row->run.instances > 0 ? seconds(row->run.skew_p50_ns) : NAN;
}

static double site_greatest_seconds(const struct sg_live_row *row)
{
    return row->run.instances > 0 ? seconds(row->run.skew_max_ns) : NAN;
}

static double site_late_rank(const struct sg_live_row *row)
{
    const struct sg_live_figures *run = &row->run;
    int64_t rank = run->last_rank >= 0   ? run->last_rank
                   : run->late_rank >= 0 ? run->late_rank
                                         : run->least_rank;

    return rank >= 0 ? (double)rank : NAN;
}

static double site_late_share(const struct sg_live_row *row)
{
    const struct sg_live_figures *run = &row->run;

    if (run->last_rank >= 0 && run->instances > 0)
        return (double)run->last_count / (double)run->instances;
    return run->late_rank >= 0 ? (double)run->late_count / (double)run->samples : NAN;
}

static double site_open_calls(const struct sg_live_row *row)
{
    return row->open_calls;
}

/* ---- families -------------------------------------------------------------------------------- */

#define JOB .put = put_job, .job
#define SITE .put = put_sites, .site
#define TOTAL .is_counter = true

static const struct family families[] = {
    {"stagger_job_info", "", "A job, with its output directory as run; always 1.", .put = put_info},
    {"stagger_job_state", "", "1 for the state that the job is in.", .put = put_state},
    {"stagger_job_ranks", "", "Ranks of MPI_COMM_WORLD.", JOB = ranks_of},
    {"stagger_ranks", "", "Ranks with a log, by state.", .put = put_ranks},
    {"stagger_run_seconds", "seconds", "Time since MPI_Init.", JOB = run_seconds},
    {"stagger_parallel_efficiency_ratio", "ratio", "Load balance x communication efficiency.",
     JOB = efficiency_parallel},
    {"stagger_load_balance_ratio", "ratio", "Mean / greatest time of a thread outside MPI.",
     JOB = efficiency_load_balance},
    {"stagger_communication_efficiency_ratio", "ratio",
     "Greatest time of a thread outside MPI / run time.", JOB = efficiency_communication},
    {"stagger_interval_parallel_efficiency_ratio", "ratio",
     "Parallel efficiency since the figures before.", JOB = now_efficiency_parallel},
    {"stagger_interval_load_balance_ratio", "ratio", "Load balance since the figures before.",
     JOB = now_efficiency_load_balance},
    {"stagger_interval_communication_efficiency_ratio", "ratio",
     "Communication efficiency since the figures before.", JOB = now_efficiency_communication},
    {"stagger_useful_seconds", "seconds", "Time outside MPI, over all ranks.",
     JOB = useful_seconds},
    {"stagger_mpi_seconds", "seconds", "Time in MPI calls that have ended, over all ranks.",
     JOB = mpi_seconds, TOTAL},
    {"stagger_wait_seconds", "seconds",
     "Time lost waiting in the collectives that stagger runs, over all ranks, by events.",
     JOB = wait_seconds, TOTAL},
    {"stagger_late_seconds", "seconds",
     "Time in calls that wait for a message of a rank outside MPI, or for such a rank to receive, "
     "over all ranks, by samples.",
     JOB = late_seconds, TOTAL},
    {"stagger_longest_open_call_seconds", "seconds",
     "Time that a rank has been in its present call; the greatest of all ranks.",
     JOB = longest_seconds},
    {"stagger_sites", "", "Call sites, those without series included.", JOB = sites_of},
    {"stagger_site_calls", "", "Calls that have ended.", SITE = site_calls, TOTAL},
    {"stagger_site_mpi_seconds", "seconds", "Time in these calls, over all ranks.",
     SITE = site_seconds, TOTAL},
    {"stagger_site_wait_seconds", "seconds",
     "Time lost waiting in this collective, if stagger runs it, by events.",
     SITE = site_wait_seconds, TOTAL},
    {"stagger_site_late_seconds", "seconds",
     "Time in these calls while the rank whose message they wait for, or that has to receive, was "
     "outside MPI, by samples.",
     SITE = site_late_seconds, TOTAL},
    {"stagger_site_skew_median_seconds", "seconds", "Median skew of this collective.",
     SITE = site_median_seconds},
    {"stagger_site_skew_greatest_seconds", "seconds", "Greatest skew of this collective.",
     SITE = site_greatest_seconds},
    {"stagger_site_late_rank", "",
     "Rank that arrived last most often; of messages the rank that was outside MPI in most "
     "samples; "
     "else the rank with the least time there.",
     SITE = site_late_rank},
    {"stagger_site_late_rank_ratio", "ratio",
     "Share of the instances where it arrived last, or of the samples.", SITE = site_late_share},
    {"stagger_site_open_calls", "", "Ranks that are in such a call.", SITE = site_open_calls},
};

/* The order of the rows is that of the last interval; series of the run have to last. */
static int by_run_time(const void *left, const void *right)
{
    const struct sg_live_row *a = *(const struct sg_live_row *const *)left;
    const struct sg_live_row *b = *(const struct sg_live_row *const *)right;

    if (a->run.time_ns != b->run.time_ns)
        return a->run.time_ns < b->run.time_ns ? 1 : -1;
    if (a->call.place.id != b->call.place.id)
        return a->call.place.id > b->call.place.id ? 1 : -1;
    return strcmp(a->call.function, b->call.function);
}

enum sg_status sg_live_print_openmetrics(const struct sg_live_job *job,
                                         const struct sg_live_view *view,
                                         const struct sg_live_print *print, FILE *out)
{
    struct exposition to = {.view = view, .out = out};
    char *run = realpath(job->directory, NULL);

    to.run = run != NULL ? run : job->directory;
    to.top = calloc((size_t)view->row_count + 1, sizeof *to.top);
    if (to.top == NULL) {
        free(run);
        sg_log("watch: %s", sg_status_text(SG_ERR_MEMORY));
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < view->row_count; i++)
        to.top[i] = &view->rows[i];
    qsort(to.top, view->row_count, sizeof *to.top, by_run_time);
    to.top_count = sg_live_print_count(print, view->row_count);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *family = &families[i];

        fprintf(out, "# TYPE %s %s\n", family->name, family->is_counter ? "counter" : "gauge");
        if (family->unit[0] != '\0')
            fprintf(out, "# UNIT %s %s\n", family->name, family->unit);
        fprintf(out, "# HELP %s %s\n", family->name, family->help);
        family->put(&to, family);
    }
    fputs("# EOF\n", out);
    free(to.top);
    free(run);
    return SG_OK;
}
