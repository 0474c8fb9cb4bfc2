/* Computes a report's efficiencies from statistics, where events do not give them, and the division
 * of its rank time; prints details and JSON. Statistics give a rank's time in MPI, events also
 * that of each thread.
 */
#include "report/efficiency.h"

#include "output/format.h"
#include "report/between_calls_tables.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/report.h"
#include "report/report_section.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN (-1.0)
/* The least part of the time in MPI that events must have to count. */
#define EVENTS_WHOLE 0.99
/* Readings at both ends of an interval are not in its processor time. */
#define ON_TOLD 0.9

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : UNKNOWN;
}

static uint64_t less(uint64_t from, uint64_t by)
{
    return from > by ? from - by : 0;
}

static uint64_t lesser_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- from the statistics --------------------------------------------------------------------- */

static bool is_at_the_ends(const char *function)
{
    return function != NULL &&
           (strncmp(function, "MPI_Init", 8) == 0 || strcmp(function, "MPI_Finalize") == 0);
}

/* Divides the rank time that is not useful among waits, the ends and MPI itself. ends_ns
 * includes its waits. */
static void divide(const struct sg_report *report, uint64_t ends_ns,
                   struct sg_efficiency *efficiency)
{
    const struct sg_waitstates *states = report->waitstates;
    uint64_t waits_ns = 0, ends_waits_ns = 0, all_ns;

    for (uint32_t i = 0; states != NULL && i < states->row_count; i++)
        *(is_at_the_ends(states->rows[i].at.function) ? &ends_waits_ns : &waits_ns) +=
            states->rows[i].of.wait_ns;
    efficiency->work_ns = lesser_of(efficiency->useful_ns, report->ranks_run_ns);
    all_ns = report->ranks_run_ns - efficiency->work_ns;
    efficiency->off_ns = lesser_of(efficiency->off_ns, all_ns);
    all_ns -= efficiency->off_ns;
    ends_ns = lesser_of(ends_ns, all_ns);
    ends_waits_ns = lesser_of(ends_waits_ns, ends_ns);
    waits_ns = lesser_of(waits_ns, all_ns - ends_ns);
    efficiency->ends_ns = ends_ns - ends_waits_ns;
    efficiency->waiting_ns = waits_ns + ends_waits_ns;
    efficiency->mpi_ns = all_ns - ends_ns - waits_ns;
}

/* Statistics' sums. */
struct sums {
    uint64_t useful_ns, mpi_ns, ends_ns;
    bool is_known; /* all ranks' time in MPI is */
};

static struct sums sum_ranks(const struct sg_report *report, struct sg_efficiency_rank *ranks)
{
    struct sums sums = {.is_known = report->rank_count > 0};

    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct sg_report_rank *rank = &report->ranks[i];
        uint64_t ends_ns = lesser_of(rank->ends_ns, rank->run_ns);
        uint64_t mpi_ns = lesser_of(rank->mpi_ns, less(rank->thread_ns, ends_ns));

        ranks[i] = (struct sg_efficiency_rank){
            .rank = i,
            .node = SG_EFFICIENCY_NO_NODE,
            .useful_ns = rank->thread_ns - ends_ns - mpi_ns,
            .threads = rank->run_ns > 0 ? (double)rank->thread_ns / (double)rank->run_ns : 1};
        sums.is_known = sums.is_known && rank->has_mpi;
        sums.ends_ns += ends_ns;
        sums.mpi_ns += mpi_ns;
        sums.useful_ns += ranks[i].useful_ns;
    }
    return sums;
}

/* Events count if they have all of the run: statistics may know of calls that were left out. */
static bool are_events_whole(const struct sg_report *report, const struct sums *sums)
{
    uint64_t in_events_ns = less(report->ranks_run_ns, report->efficiency.useful_ns);

    return report->efficiency.is_known && !report->partial &&
           (!sums->is_known ||
            (double)in_events_ns > EVENTS_WHOLE * (double)(sums->mpi_ns + sums->ends_ns));
}

static double share_of(const struct sg_before *before, enum sg_figure figure)
{
    uint64_t ns = 0, all_ns = 0;

    for (uint32_t i = 0; before != NULL && i < before->row_count; i++) {
        const struct sg_before_figures *own = &before->rows[i].own;

        if ((own->mask & 1u << figure) == 0)
            continue;
        ns += lesser_of(own->of[figure], own->time_ns);
        all_ns += own->time_ns;
    }
    return ratio((double)ns, (double)all_ns);
}

/* Sums up the waits by call site. */
static enum sg_status set_waiting(struct sg_calls *calls, const struct sg_waitstates *states)
{
    enum sg_status status = SG_OK;
    struct sg_names functions = {0};
    struct sg_map rows = {0};
    uint32_t function;

    for (uint32_t i = 0; i < calls->site_count && status == SG_OK; i++) {
        struct sg_call_row *row = &calls->sites[i];

        row->has_waiting = true;
        status = sg_names_number(&functions, row->function, &function);
        if (status == SG_OK)
            status = sg_map_put(&rows, (uint64_t)function << 32 | row->place.site, i);
    }
    for (uint32_t i = 0; i < states->row_count && status == SG_OK; i++) {
        const struct sg_waitstate_row *wait = &states->rows[i];
        int64_t found = sg_names_find(&functions, wait->at.function);

        if (found >= 0)
            found = sg_map_get(&rows, (uint64_t)found << 32 | wait->at.site.site);
        if (found >= 0)
            calls->sites[found].waiting_ns += wait->of.wait_ns;
    }
    for (uint32_t i = 0; i < calls->site_count; i++)
        calls->sites[i].waiting_ns =
            lesser_of(calls->sites[i].waiting_ns, calls->sites[i].of.time_ns);
    sg_names_clear(&functions);
    sg_map_clear(&rows);
    return status;
}

/* ---- time on a processor --------------------------------------------------------------------- */

struct sampled {
    uint64_t cpu_ns, time_ns, intervals;
};

/* Fewer intervals count if they are most of the rank's useful time. */
#define SAMPLES_LEAST 10

static void add_sampled(const struct sg_before_figures *figures, struct sampled *to)
{
    if ((figures->mask & 1u << SG_FIGURE_CPU) == 0)
        return;
    to->cpu_ns += lesser_of(figures->of[SG_FIGURE_CPU], figures->time_ns);
    to->time_ns += figures->time_ns;
    to->intervals += figures->intervals;
}

/* Takes from the useful time of each rank the part without a processor, as far as sampled intervals
 * show it. Returns the rest. */
static uint64_t take_off_samples(struct sg_efficiency *efficiency, const struct sg_before *before,
                                 const struct sampled *sampled)
{
    uint64_t useful_ns = 0;

    for (uint32_t i = 0; i < efficiency->rank_count; i++) {
        struct sg_efficiency_rank *rank = &efficiency->ranks[i];
        const struct sampled *of = &sampled[rank->rank];

        if (before != NULL && of->time_ns > 0 &&
            (of->intervals >= SAMPLES_LEAST || of->time_ns > rank->useful_ns / 2))
            rank->useful_ns =
                (uint64_t)((double)rank->useful_ns * (double)of->cpu_ns / (double)of->time_ns);
        useful_ns += rank->useful_ns;
    }
    return useful_ns;
}

static void scale_slices(struct sg_efficiency *efficiency, double by)
{
    for (int i = 0; i < SG_EFFICIENCY_SLICES; i++) {
        struct sg_efficiency_slice *slice = &efficiency->slices[i];

        slice->useful_ns = (uint64_t)((double)slice->useful_ns * by);
        slice->useful_max_ns = (uint64_t)ceil((double)slice->useful_max_ns * by);
    }
}

/* With more ranks than processors, useful time is time on a processor: by sampled intervals, and in
 * all no more than the processors had. */
static enum sg_status bound_by_processors(struct sg_report *report, const struct sg_before *before)
{
    struct sg_efficiency *efficiency = &report->efficiency;
    const struct sg_run_waiting *waiting = &report->waiting;
    struct sampled *sampled = calloc((size_t)report->rank_count + 1, sizeof *sampled);
    const struct sg_efficiency outside = *efficiency;
    uint64_t useful_ns, limit_ns = sg_waiting_processors(waiting) * efficiency->run_ns;

    if (sampled == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; before != NULL && i < before->row_count; i++) {
        if (before->rows[i].rank < report->rank_count)
            add_sampled(&before->rows[i].own, &sampled[before->rows[i].rank]);
    }
    useful_ns = take_off_samples(efficiency, before, sampled);
    free(sampled);
    /* Other machines' processors are not known. */
    for (uint32_t i = 0; i < efficiency->rank_count && waiting->ranks >= report->rank_count; i++) {
        if (useful_ns > limit_ns)
            efficiency->ranks[i].useful_ns = (uint64_t)((double)efficiency->ranks[i].useful_ns *
                                                        (double)limit_ns / (double)useful_ns);
    }
    sg_efficiency_set_ranks(efficiency, outside.run_ns);
    if (outside.has_ideal)
        sg_efficiency_set_ideal(efficiency, outside.ideal_ns);
    efficiency->has_slices = outside.has_slices;
    efficiency->off_ns = outside.useful_ns - efficiency->useful_ns;
    scale_slices(efficiency, ratio((double)efficiency->useful_ns, (double)outside.useful_ns));
    return SG_OK;
}

static enum sg_status set_figures(struct sg_report *report)
{
    const struct sg_before *before = report->calls != NULL ? report->calls->before : NULL;
    struct sg_efficiency *efficiency = &report->efficiency;
    struct sg_efficiency_rank *ranks;
    enum sg_status status = SG_OK;
    struct sums sums;

    if (sg_filter_is_set(report->filter)) {
        sg_efficiency_set(efficiency, 0, 0, 0, 0);
        return SG_OK;
    }
    ranks = calloc((size_t)report->rank_count + 1, sizeof *ranks);
    if (ranks == NULL)
        return SG_ERR_MEMORY;
    sums = sum_ranks(report, ranks);
    if (are_events_whole(report, &sums)) {
        free(ranks);
    } else {
        sg_efficiency_clear(efficiency);
        efficiency->ranks = ranks;
        efficiency->rank_count = sums.is_known ? report->rank_count : 0;
        sg_efficiency_set_ranks(efficiency, report->run_ns);
        efficiency->useful_ns = sums.useful_ns;
    }
    if (sg_report_is_oversubscribed(report) && efficiency->is_known)
        status = bound_by_processors(report, before);
    efficiency->on_processor = share_of(before, SG_FIGURE_CPU);
    efficiency->runnable = share_of(before, SG_FIGURE_RUNNABLE);
    divide(report, sums.ends_ns, efficiency);
    return status;
}

enum sg_status sg_report_set_efficiency(struct sg_report *report)
{
    enum sg_status status = set_figures(report);

    return status == SG_OK && report->calls != NULL && report->waitstates != NULL
               ? set_waiting(report->calls, report->waitstates)
               : status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put_share(const char *name, double share, FILE *out)
{
    if (share < 0)
        fprintf(out, "%s -", name);
    else
        fprintf(out, "%s %.0f %%", name, 100 * share);
}

#define OF_PART(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_efficiency_part, member)

static const struct sg_column part_columns[] = {
    {"begin_ns", "from", "from", OF_PART(NS, begin_ns)},
    {"end_ns", "to", "to", OF_PART(NS, end_ns)},
    {"parallel", "parallel", "parallel efficiency", OF_PART(SHARE, parallel)},
    {"load_balance", "balance", "load balance", OF_PART(SHARE, load_balance)},
    {"communication", "communication", "communication", OF_PART(SHARE, communication)},
};
static const struct sg_columns all_part_columns = SG_COLUMNS(part_columns);

static const struct sg_report_section over_time = {
    .title = "How efficiencies change over the run",
    .table = {.member = "over_time", .json = {&all_part_columns}, .text = {&all_part_columns}}};

/* Sets the parts, which are the rows. */
static struct sg_rows slices_of(const struct sg_efficiency *efficiency,
                                struct sg_efficiency_part parts[SG_EFFICIENCY_SLICES])
{
    if (!efficiency->has_slices)
        return (struct sg_rows){0};
    for (int i = 0; i < SG_EFFICIENCY_SLICES; i++)
        parts[i] = sg_efficiency_part_of(efficiency, i);
    return SG_ROWS(parts, SG_EFFICIENCY_SLICES, NULL);
}

/* Prints what qualifies the figures of the first screen. */
static void print_details(const struct sg_report *report, FILE *out)
{
    const struct sg_efficiency *efficiency = &report->efficiency;
    bool has_machines = efficiency->machines > 1;
    bool has_processors = efficiency->on_processor >= 0 && (sg_report_is_oversubscribed(report) ||
                                                            efficiency->on_processor < ON_TOLD);
    bool is_bound = efficiency->has_ideal && efficiency->unmatched > 0;

    if (has_machines) {
        sg_style_put_label("load balance", out);
        put_share("between machines", efficiency->between_machines, out);
        put_share(" x inside machines", efficiency->inside_machines, out);
        fputc('\n', out);
    }
    if (has_processors) {
        sg_style_put_label("outside MPI", out);
        put_share("on a processor for", efficiency->on_processor, out);
        fputs(" of the time, by sampled intervals\n", out);
    }
    if (is_bound)
        fprintf(out,
                "note: transfer is too low, and serialization too high, by at most %" PRIu64
                " messages without a known send\n",
                efficiency->unmatched);
    if (has_machines || has_processors || is_bound)
        fputc('\n', out);
}

static SG_REPORT_PRINTER(print)
{
    struct sg_efficiency_part parts[SG_EFFICIENCY_SLICES];
    const struct sg_rows rows = slices_of(&report->efficiency, parts);

    if (!report->efficiency.is_known)
        return SG_OK;
    print_details(report, out);
    if (!rows.is_known)
        return SG_OK;
    sg_report_put_title(&over_time, report, out);
    return sg_section_print(&over_time.table, &rows, "report", out);
}

const struct sg_report_section sg_efficiency_section = {.part = SG_PART_RANKS, .print = print};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *share_json(double share)
{
    return sg_json_real(share >= 0, share);
}

/* The time in a function of MPI at a call site, and its part that is waiting for other ranks. */
struct site {
    struct sg_waitstate_place at;
    uint64_t time_ns, waiting_ns, mpi_ns;
};

#define OF_SITE(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct site, member)

static json_t *waiting_json(const void *row, const void *context)
{
    const struct sg_report *report = context;
    const struct site *site = row;

    return sg_json_count(report->waitstates != NULL, site->waiting_ns);
}

static json_t *lost_json(const void *row, const void *context)
{
    const struct sg_report *report = context;
    const struct site *site = row;

    return sg_json_share(site->time_ns, report->ranks_run_ns);
}

static const struct sg_column site_columns[] = {
    {"time_ns", OF_SITE(NS, time_ns)},
    {"waiting_ns", .json = waiting_json},
    {"mpi_ns", OF_SITE(NS, mpi_ns)},
    {"run_share", .json = lost_json},
};
static const struct sg_columns all_site_columns = SG_COLUMNS(site_columns);

static void put_sites(const struct sg_report *report, const struct sg_print_options *options,
                      struct sg_json_writer *writer)
{
    static const struct sg_section section = {
        .json = {&sg_waitstate_place_columns, &all_site_columns}};

    if (report->calls == NULL) {
        sg_json_put(writer, "by_site", json_null());
        return;
    }
    sg_json_begin(writer, "by_site", '[');
    for (uint32_t i = 0; i < sg_print_count(options, report->calls->site_count); i++) {
        const struct sg_call_row *row = &report->calls->sites[i];
        const struct site site = {{row->place, row->function},
                                  row->of.time_ns,
                                  row->waiting_ns,
                                  row->of.time_ns - row->waiting_ns};

        sg_section_put_rows(&section, &SG_ROWS(&site, 1, report), writer);
    }
    sg_json_end(writer, ']');
}

static void put_times(const struct sg_report *report, struct sg_json_writer *writer)
{
    const struct sg_efficiency *efficiency = &report->efficiency;

    sg_json_put_members(writer,
                        json_pack("{s:I, s:o, s:I, s:I, s:f, s:o}", "run_ns",
                                  (json_int_t)efficiency->run_ns, "ideal_ns",
                                  sg_json_count(efficiency->has_ideal, efficiency->ideal_ns),
                                  "useful_ns", (json_int_t)efficiency->useful_ns, "useful_max_ns",
                                  (json_int_t)efficiency->useful_max_ns, "threads",
                                  efficiency->threads, "unmatched_receives",
                                  sg_json_count(efficiency->has_ideal, efficiency->unmatched)));
    sg_json_put_members(
        writer,
        json_pack("{s:I, s:I, s:o, s:I, s:I}", "work_ns", (json_int_t)efficiency->work_ns,
                  "off_processor_ns", (json_int_t)efficiency->off_ns, "waiting_ns",
                  sg_json_count(report->waitstates != NULL, efficiency->waiting_ns), "mpi_ns",
                  (json_int_t)efficiency->mpi_ns, "ends_ns", (json_int_t)efficiency->ends_ns));
}

SG_REPORT_MEMBER(sg_efficiency_put)
{
    const struct sg_efficiency *efficiency = &report->efficiency;
    struct sg_efficiency_part parts[SG_EFFICIENCY_SLICES];
    struct sg_rows slices;

    if (!efficiency->is_known) {
        sg_json_put(writer, "efficiency", json_null());
        return;
    }
    sg_json_begin(writer, "efficiency", '{');
    sg_json_put_members(writer,
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "parallel",
                                  share_json(efficiency->parallel), "load_balance",
                                  share_json(efficiency->load_balance), "communication",
                                  share_json(efficiency->communication), "serialization",
                                  share_json(efficiency->serialization), "transfer",
                                  share_json(efficiency->transfer), "machines",
                                  sg_json_count(efficiency->has_slices, efficiency->machines),
                                  "between_machines", share_json(efficiency->between_machines),
                                  "inside_machines", share_json(efficiency->inside_machines),
                                  "on_processor", share_json(efficiency->on_processor)));
    put_times(report, writer);
    put_sites(report, options, writer);
    slices = slices_of(efficiency, parts);
    sg_section_put(&over_time.table, &slices, writer);
    sg_json_end(writer, '}');
}
