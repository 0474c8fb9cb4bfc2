/* Prints the rows of a report's section as far as options allow; the sections of the call sites of
 * barrier, reduce, allreduce and bcast, and of ranks.
 */
#include "report/report_section.h"

#include "output/format.h"
#include "report/filter.h"
#include "report/report_columns.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <stdlib.h>

/* The number of rows in the text. */
static uint32_t shown_of(const struct sg_report_section *section,
                         const struct sg_print_options *options, uint32_t count)
{
    return section->limit == SG_ROWS_ALL   ? count
           : section->limit == SG_ROWS_TOP ? sg_print_count(options, count)
                                           : sg_print_count_of_long(options, count);
}

static bool is_shown(const struct sg_report_section *section, const struct sg_report *report)
{
    return section->is_shown == NULL || section->is_shown(report);
}

const char *sg_report_coverage(const struct sg_report *report, char text[SG_COVERAGE_BYTES])
{
    if (report->recorded_ns == 0 || report->recorded_ns >= report->run_ns)
        return NULL;
    snprintf(text, SG_COVERAGE_BYTES, "the first %s of %s", SG_NS(report->recorded_ns),
             SG_NS(report->run_ns));
    return text;
}

void sg_report_put_title(const struct sg_report_section *section, const struct sg_report *report,
                         FILE *out)
{
    char covered[SG_COVERAGE_BYTES];

    fprintf(out, "%s%s%s", sg_style(SG_BOLD, out), section->title, sg_style(SG_PLAIN, out));
    if (sg_filter_is_set(report->filter))
        fputs(" (in the chosen part)", out);
    if (section->is_of_events && sg_report_coverage(report, covered) != NULL)
        fprintf(out, " (events cover %s)", covered);
    fputc('\n', out);
}

enum sg_status sg_report_print_table(const struct sg_report_section *section,
                                     const struct sg_report *report,
                                     const struct sg_print_options *options, FILE *out)
{
    struct sg_rows rows = section->rows(report, options);

    if (rows.count == 0 || !is_shown(section, report))
        return SG_OK;
    rows.count = shown_of(section, options, rows.count);
    if (section->title != NULL)
        sg_report_put_title(section, report, out);
    if (section->lead != NULL)
        section->lead(report, rows.count, out);
    return sg_section_print(&section->table, &rows, "report", out);
}

void sg_report_put_left_out(const struct sg_report_section *section, const struct sg_report *report,
                            const struct sg_print_options *options, FILE *out)
{
    const struct sg_rows rows =
        section->rows_are != NULL ? section->rows(report, options) : (struct sg_rows){0};
    uint32_t shown = shown_of(section, options, rows.count);

    if (shown == rows.count || !is_shown(section, report))
        return;
    fprintf(out, "note: %" PRIu32 " of %" PRIu32 " %s are shown%s\n", shown, rows.count,
            options->comms && section->comm_rows_are != NULL ? section->comm_rows_are
                                                             : section->rows_are,
            section->limit == SG_ROWS_FEW ? " (--top)" : "");
}

void sg_report_put(const struct sg_report_section *section, const struct sg_report *report,
                   const struct sg_print_options *options, struct sg_json_writer *writer)
{
    struct sg_rows rows = section->rows(report, options);

    if (section->limit != SG_ROWS_ALL)
        rows.count = sg_print_count(options, rows.count);
    sg_section_put(&section->table, &rows, writer);
}

enum sg_status sg_report_section_csv(const struct sg_report_section *section,
                                     const struct sg_report *report,
                                     const struct sg_print_options *options, FILE *out)
{
    struct sg_print_options each = *options;
    struct sg_rows rows;

    if (section->csv != NULL)
        return section->csv(report, options, out);
    each.comms = true;
    rows = section->rows(report, &each);
    rows.count = sg_print_count(options, rows.count);
    return sg_section_csv(&section->table, &rows, "report", out);
}

#define RANKS_SHOWN 32 /* for more ranks, only the two ends of the list are shown */
#define RANKS_EACH_END 8

/* ---- rows ------------------------------------------------------------------------------------ */

struct rows {
    const struct sg_report *report;
    const struct sg_report_site *sites;
    uint32_t count;
};

/* Counters of messages: each gets a column if some row has it. The last one alone does not make a
 * row, because members run ahead in any reduce or broadcast. */
static const char *const messages[] = {"avoided",   "exposed", "hidden",      "early",   "late",
                                       "by_signal", "handler", "outstanding", "signals", "ignored",
                                       "stalls",    "moves",   "repeats",     "ahead"};
#define MESSAGES (sizeof messages / sizeof *messages)

static bool has_any(const struct rows *rows, uint32_t row, size_t message)
{
    return sg_column_figure(sg_column_find(sg_site_columns, messages[message]), &rows->sites[row],
                            rows->report) > 0;
}

/* The parent column is shown only if communicators have their own rows. */
static bool has_parents(const struct rows *rows, bool comms)
{
    for (uint32_t row = 0; comms && row < rows->count; row++) {
        if (rows->sites[row].comm_parent != NULL)
            return true;
    }
    return false;
}

static void put_subtitle(const char *title, FILE *out)
{
    fprintf(out, "%s%s%s\n", sg_style(SG_BOLD, out), title, sg_style(SG_PLAIN, out));
}

static enum sg_status put_messages(const struct rows *rows, FILE *out)
{
    struct sg_table table = {0};

    sg_table_show(&table, sg_site_columns, "id op comm");
    for (size_t i = 0; i < MESSAGES; i++) {
        uint32_t row = 0;

        while (row < rows->count && !has_any(rows, row, i))
            row++;
        if (row < rows->count)
            sg_table_show(&table, sg_site_columns, messages[i]);
    }
    for (uint32_t row = 0; row < rows->count; row++) {
        size_t i = 0;

        while (i < MESSAGES - 1 && !has_any(rows, row, i))
            i++;
        if (i < MESSAGES - 1)
            sg_table_row(&table, &rows->sites[row], rows->report);
    }
    if (table.cell_count == 0 && !table.failed)
        return SG_OK;
    put_subtitle("How these calls received their messages", out);
    return sg_print_finish(&table, out);
}

static SG_REPORT_PRINTER(print_rows)
{
    const struct rows rows = {
        .report = report,
        .sites = options->comms ? report->sites : report->sums,
        .count = sg_print_count(options, options->comms ? report->site_count : report->sum_count)};
    const char *const shown[][3] = {
        {"op site comm algorithm calls instances bytes p50 p95 max wait blocked run last",
         report->causes != NULL ? "why" : "", ""},
        {"id op comm", has_parents(&rows, options->comms) ? "parent" : "", "where worst at"}};
    enum sg_status status = SG_OK;

    if (report->site_count == 0)
        return SG_OK;
    sg_report_put_title(&sg_rows_section, report, out);
    for (int i = 0; i < 2 && status == SG_OK; i++) {
        struct sg_table table = {0};

        if (i == 1)
            put_subtitle("The places of these calls, and their worst instances", out);
        for (int part = 0; part < 3; part++)
            sg_table_show(&table, sg_site_columns, shown[i][part]);
        for (uint32_t row = 0; row < rows.count; row++)
            sg_table_row(&table, &rows.sites[row], report);
        status = sg_print_finish(&table, out);
    }
    return status == SG_OK ? put_messages(&rows, out) : status;
}

static struct sg_rows rows_of(const struct sg_report *report,
                              const struct sg_print_options *options)
{
    return options->comms ? SG_ROWS(report->sites, report->site_count, report)
                          : SG_ROWS(report->sums, report->sum_count, report);
}

const struct sg_report_section sg_rows_section = {
    .name = "sites",
    .part = SG_PART_COLLECTIVES,
    .title = "How late ranks come to barriers, reductions and broadcasts",
    .is_of_events = true,
    .rows = rows_of,
    .rows_are = "call sites",
    .comm_rows_are = "rows",
    .limit = SG_ROWS_TOP,
    .print = print_rows,
    .table = {.member = "sites",
              .json = {&sg_site_columns},
              .csv = "id op function file line module offset comm comm_size algorithm calls bytes "
                     "skew_p50_ns=skew_ns.p50 skew_p95_ns=skew_ns.p95 skew_max_ns=skew_ns.max "
                     "wait_ns blocked_ns last_rank last_rank_share early late signals event_calls "
                     "instances wait_avoided_ns completion_ns run_share worst.seq worst.time_ns "
                     "signals_ignored stalls token_moves releases_repeated outstanding_max "
                     "handler_ns exposed_ns hidden_ns skew_mean_ns=skew_ns.mean comm_parent "
                     "ran_ahead late_by_signal",
              .text = {&sg_site_columns}}};

/* ---- ranks ----------------------------------------------------------------------------------- */

struct ranked {
    uint32_t rank;
    bool has_events;
    uint64_t elsewhere_ns, in_mpi_ns;
    struct sg_report_rank of;
    const struct sg_waitstate_rank *waits; /* NULL: not known */
};

static struct ranked ranked_of(const struct sg_report *report, uint32_t rank)
{
    const struct sg_report_rank *of = &report->ranks[rank];
    const struct sg_waitstates *states = report->waitstates;

    return (struct ranked){
        .rank = rank,
        .has_events = report->has_events,
        .elsewhere_ns = sg_rank_elsewhere_ns(of),
        .in_mpi_ns = of->mpi_ns + of->ends_ns,
        .of = *of,
        .waits = states != NULL && rank < states->rank_count ? &states->ranks[rank] : NULL};
}

static bool has_events(const void *row)
{
    const struct ranked *ranked = row;

    return ranked->has_events;
}

static bool has_mpi(const void *row)
{
    const struct ranked *ranked = row;

    return ranked->of.has_mpi;
}

static uint64_t waiting_ns(const struct ranked *ranked)
{
    return ranked->waits != NULL ? ranked->waits->waited.wait_ns : 0;
}

static void print_waiting(const void *row, const void *context, FILE *out)
{
    const struct ranked *ranked = row;

    fputs(ranked->waits != NULL ? SG_NS(waiting_ns(ranked)) : "-", out);
}

static void print_caused(const void *row, const void *context, FILE *out)
{
    const struct ranked *ranked = row;

    fputs(ranked->waits != NULL ? SG_NS(ranked->waits->caused.wait_ns) : "-", out);
}

/* The share of waiting; if that is not known, the share of MPI. */
static void print_share(const void *row, const void *context, FILE *out)
{
    const struct ranked *ranked = row;
    uint64_t part_ns = ranked->waits != NULL ? waiting_ns(ranked) : ranked->in_mpi_ns;
    uint64_t all_ns = ranked->of.thread_ns;
    bool is_known = ranked->waits != NULL || ranked->of.has_mpi;

    fputs(is_known ? SG_SHARE(part_ns < all_ns ? part_ns : all_ns, all_ns) : "-", out);
}

#define OF_RANK(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct ranked, member)

/* In JSON order. */
static const struct sg_column rank_columns[] = {
    {"rank", "rank", "rank", OF_RANK(COUNT32, rank)},
    {"run_ns", "run", "run time", OF_RANK(NS, of.run_ns)},
    {"blocked_ns", "blocked", "blocked", OF_RANK(NS, of.blocked_ns)},
    {"elsewhere_ns", OF_RANK(NS, elsewhere_ns)},
    {"compute_ns", OF_RANK(NS, elsewhere_ns)},
    {NULL, "mpi", "in MPI", OF_RANK(NS, in_mpi_ns), .known = has_mpi},
    {NULL, "waiting", "waiting", .print = print_waiting},
    {NULL, "share", "share", .print = print_share},
    {NULL, "caused", "caused", .print = print_caused},
    {"threads", "threads", "threads", OF_RANK(COUNT32, of.threads)},
    {"thread_ns", OF_RANK(NS, of.thread_ns)},
    {"calls", "calls", "calls", OF_RANK(COUNT, of.calls)},
    {"wait_ns", OF_RANK(NS, of.wait_ns), .known = has_events},
    {"last_count", OF_RANK(COUNT, of.last_count), .known = has_events},
};
static const struct sg_columns all_rank_columns = SG_COLUMNS(rank_columns);

static int by_waiting(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    uint64_t a_ns = a->waits != NULL ? waiting_ns(a) : a->in_mpi_ns;
    uint64_t b_ns = b->waits != NULL ? waiting_ns(b) : b->in_mpi_ns;

    if (a_ns != b_ns)
        return a_ns < b_ns ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* With a filter: each rank's share of the selected calls. */
static void add_ranks_of_part(struct sg_table *table, const struct sg_report *report)
{
    sg_table_show(table, all_rank_columns,
                  report->waitstates != NULL ? "rank waiting share caused" : "rank calls blocked");
    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct ranked ranked = ranked_of(report, i);

        if (sg_filter_takes_rank(report->filter, i))
            sg_table_row(table, &ranked, NULL);
    }
}

static void add_ranks(struct sg_table *table, const struct sg_report *report, struct ranked *ranks,
                      FILE *out)
{
    bool all = report->rank_count <= RANKS_SHOWN, threaded = false;

    for (uint32_t i = 0; i < report->rank_count; i++) {
        ranks[i] = ranked_of(report, i);
        threaded = threaded || report->ranks[i].threads > 1;
    }
    sg_table_show(table, all_rank_columns,
                  report->waitstates != NULL ? "rank run mpi waiting share caused"
                                             : "rank run mpi share");
    if (threaded)
        sg_table_show(table, all_rank_columns, "threads");
    if (!all) {
        qsort(ranks, report->rank_count, sizeof *ranks, by_waiting);
        fprintf(out, "the %d ranks that %s longest, and the %d shortest, of %" PRIu32 ":\n",
                RANKS_EACH_END, report->waitstates != NULL ? "wait" : "are in MPI", RANKS_EACH_END,
                report->rank_count);
    }
    for (uint32_t i = 0; i < report->rank_count; i++) {
        if (all || i < RANKS_EACH_END || i >= report->rank_count - RANKS_EACH_END)
            sg_table_row(table, &ranks[i], NULL);
    }
}

static const char *ranks_title(const struct sg_report *report)
{
    if (report->waitstates != NULL)
        return sg_ranks_section.title;
    return sg_filter_is_set(report->filter)
               ? "How long each rank is blocked in barriers, reductions and broadcasts"
               : "How long each rank is in MPI; waits are not known without events";
}

static SG_REPORT_PRINTER(print_ranks)
{
    struct sg_report_section section = sg_ranks_section;
    struct ranked *ranks = calloc((size_t)report->rank_count + 1, sizeof *ranks);
    struct sg_table table = {.failed = ranks == NULL};

    section.title = ranks_title(report);
    sg_report_put_title(&section, report, out);
    if (sg_filter_is_set(report->filter))
        add_ranks_of_part(&table, report);
    else if (ranks != NULL)
        add_ranks(&table, report, ranks, out);
    free(ranks);
    return sg_print_finish(&table, out);
}

const struct sg_report_section sg_ranks_section = {
    .part = SG_PART_RANKS,
    .title = "How long each rank waits for others in MPI, and others wait for it",
    .is_of_events = true,
    .print = print_ranks};

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_ranks(const struct sg_report *report, struct sg_json_writer *writer)
{
    static const struct sg_section section = {.json = {&all_rank_columns}};

    sg_json_begin(writer, "per_rank", '[');
    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct ranked ranked = ranked_of(report, i);

        if (sg_filter_takes_rank(report->filter, i))
            sg_section_put_rows(&section, &SG_ROWS(&ranked, 1, NULL), writer);
    }
    sg_json_end(writer, ']');
}

SG_REPORT_MEMBER(sg_rows_put)
{
    static const struct sg_column comms_column = {"comms", .kind = SG_COLUMN_COUNT32,
                                                  .offset = offsetof(struct sg_report_site, comms)};
    static const struct sg_columns comms = {&comms_column, 1};
    static const struct sg_report_section sums = {
        .rows = rows_of,
        .limit = SG_ROWS_TOP,
        .table = {.member = "by_site",
                  .json = {&sg_site_place_columns, &sg_site_row_columns, &comms,
                           &sg_site_count_columns}}};
    const struct sg_print_options each = {.top = options->top, .comms = true};
    const struct sg_print_options all = {.top = options->top};

    sg_report_put(&sg_rows_section, report, &each, writer);
    sg_report_put(&sums, report, &all, writer);
    sg_json_put_count(writer, "by_site_count", report->sum_count);
    put_ranks(report, writer);
}
