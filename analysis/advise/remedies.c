#include "advise/remedies.h"

#include "core/room.h"
#include "output/format.h"
#include "output/json_output.h"
#include "report/between_calls_tables.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Rows with less than this share of the total are left out. */
#define LEAST_SHARE 0.01

const char *const sg_remedy_names[SG_REMEDIES] = {
    [SG_REMEDY_NONE] = "not told apart",
    [SG_REMEDY_PROGRAM] = "program",
    [SG_REMEDY_ALGORITHM] = "algorithm",
};

/* ---- advice by cause ------------------------------------------------------------------------- */

static const struct {
    enum sg_remedy remedy;
    const char *advice;
} by_cause[SG_CAUSES] = {
    [SG_CAUSE_COMPUTING] = {SG_REMEDY_PROGRAM, "balance the work"},
    [SG_CAUSE_WORK] = {SG_REMEDY_PROGRAM, "balance the work"},
    [SG_CAUSE_SLOWER] = {SG_REMEDY_PROGRAM,
                         "fewer instructions per cycle: place its memory, bind it to its own core, "
                         "check for a slower clock or a neighbor on the core"},
    [SG_CAUSE_FAULTS] =
        {SG_REMEDY_PROGRAM,
         "page faults: keep memory instead of reallocating it, touch it earlier, use huge pages"},
    [SG_CAUSE_KERNEL] = {SG_REMEDY_PROGRAM, "fewer system calls there, or balance them"},
    [SG_CAUSE_PREEMPTED] = {SG_REMEDY_PROGRAM,
                            "another process or thread uses its processor: bind each rank to its "
                            "own processor, look for other programs"},
    [SG_CAUSE_PREEMPTED_THREADS] =
        {SG_REMEDY_PROGRAM,
         "its own threads use its processor: bind them elsewhere, or start fewer"},
    [SG_CAUSE_PREEMPTED_OTHERS] = {SG_REMEDY_PROGRAM,
                                   "another process uses its processor: bind each rank to its own "
                                   "processor, look for other programs"},
    [SG_CAUSE_THROTTLED] =
        {SG_REMEDY_PROGRAM,
         "its control group has used up its quota: raise it, or start fewer ranks and threads"},
    [SG_CAUSE_IO] =
        {SG_REMEDY_PROGRAM,
         "it reads or writes: spread the I/O over the ranks, or overlap it with computing"},
    [SG_CAUSE_ASLEEP] = {SG_REMEDY_PROGRAM,
                         "it sleeps, for a timer, a lock or a device: look at its calls there"},
    [SG_CAUSE_CALLS_BUSY] = {SG_REMEDY_ALGORITHM,
                             "it computes longer in MPI calls: another algorithm may fix that"},
    [SG_CAUSE_CALLS_PREEMPTED] =
        {SG_REMEDY_PROGRAM, "another process or thread uses its processor during its MPI calls: "
                            "bind each rank to its own processor, look for other programs"},
    [SG_CAUSE_CALLS_PREEMPTED_THREADS] = {SG_REMEDY_PROGRAM,
                                          "its own threads use its processor during its MPI calls: "
                                          "bind them elsewhere, or start fewer"},
    [SG_CAUSE_CALLS_PREEMPTED_OTHERS] =
        {SG_REMEDY_PROGRAM, "another process uses its processor during its MPI calls: bind each "
                            "rank to its own processor, look for other programs"},
    [SG_CAUSE_CALLS_THROTTLED] = {SG_REMEDY_PROGRAM,
                                  "its control group used up its quota during its MPI calls: raise "
                                  "it, or start fewer ranks and threads"},
    [SG_CAUSE_CALLS_ASLEEP] =
        {SG_REMEDY_ALGORITHM,
         "it sleeps in MPI calls: another algorithm, or progress, may fix that"},
    [SG_CAUSE_CALLS] =
        {SG_REMEDY_ALGORITHM,
         "it spends longer in MPI calls: another algorithm, or progress, may fix that"},
    [SG_CAUSE_LEFT] =
        {SG_REMEDY_ALGORITHM,
         "it leaves the previous collective later: another algorithm there may fix that"},
    [SG_CAUSE_UNKNOWN] =
        {SG_REMEDY_NONE,
         "the figures do not show the cause; STAGGER_CAUSES=all samples all intervals"},
};

/* If ranks keep the processors from each other, the remedy is fewer ranks, or a wait mode of
 * stagger that yields. */
static void advise(const struct sg_report *report, struct sg_remedy_row *row)
{
    row->remedy = by_cause[row->cause].remedy;
    row->advice = by_cause[row->cause].advice;
    if (!sg_cause_is_crowding(row->cause) || !sg_report_is_crowded(report))
        return;
    row->advice = report->waiting.mode == SG_WAIT_SPIN
                      ? "more ranks than processors: start fewer; with STAGGER_WAIT=auto waiting "
                        "ranks yield the processor"
                      : "more ranks than processors: start fewer";
}

/* ---- comparison with other ranks
 * -------------------------------------------------------------- */

static bool is_same(const struct sg_waitstate_place *a, const struct sg_waitstate_place *b)
{
    return (a->function == NULL) == (b->function == NULL) &&
           (a->function == NULL || a->site.site == b->site.site);
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static const struct sg_before *before_of(const struct sg_report *report)
{
    return report->calls != NULL ? report->calls->before : NULL;
}

/* Returns the row's mean interval divided by the median of the other ranks' means; NAN: unknown.
 * means: scratch with capacity for every row of sg_before. */
static double find_times(const struct sg_report *report, const struct sg_remedy_row *row,
                         double *means)
{
    const struct sg_before *before = before_of(report);
    double own = NAN;
    uint32_t count = 0;

    for (uint32_t i = 0; before != NULL && i < before->row_count; i++) {
        const struct sg_before_row *other = &before->rows[i];

        if (!is_same(other->after, row->after) || !is_same(other->until, row->until))
            continue;
        if (other->rank == row->rank)
            own = other->mean_ns;
        else
            means[count++] = other->mean_ns;
    }
    if (count == 0 || isnan(own))
        return NAN;
    qsort(means, count, sizeof *means, compare_numbers);
    own /= count % 2 == 1 ? means[count / 2] : (means[count / 2 - 1] + means[count / 2]) / 2;
    return isfinite(own) ? own : NAN;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum sg_status add(const struct sg_report *report, const struct sg_remedy_row *from,
                          struct sg_remedies *out)
{
    struct sg_remedy_row row = *from;

    advise(report, &row);
    out->ns += row.ns;
    out->of_ns[row.remedy] += row.ns;
    return SG_APPEND(out->rows, out->row_count, row) ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status add_causes(const struct sg_report *report, struct sg_remedies *out)
{
    const struct sg_causes_found *found = report->causes;
    enum sg_status status = SG_OK;

    out->has_events = true;
    out->instances = found->instances;
    for (uint32_t i = 0; i < found->site_count; i++) {
        const struct sg_cause_site *site = &found->sites[i];

        for (uint32_t r = 0; r < site->row_count && status == SG_OK; r++)
            status = add(report,
                         &(struct sg_remedy_row){.at = &site->at,
                                                 .after = &site->rows[r].after,
                                                 .until = &site->rows[r].until,
                                                 .rank = site->rows[r].rank,
                                                 .cause = site->rows[r].cause,
                                                 .ns = (double)site->rows[r].ns},
                         out);
    }
    return status;
}

static enum sg_status add_before(const struct sg_report *report, struct sg_remedies *out)
{
    const struct sg_before *before = before_of(report);
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < before->row_count && status == SG_OK; i++) {
        const struct sg_before_row *row = &before->rows[i];

        if (row->has_cause && row->until->function != NULL)
            status = add(report,
                         &(struct sg_remedy_row){.at = row->until,
                                                 .after = row->after,
                                                 .until = row->until,
                                                 .rank = row->rank,
                                                 .cause = row->cause,
                                                 .ns = row->longer_ns},
                         out);
    }
    return status;
}

static int compare_rows(const void *left, const void *right)
{
    const struct sg_remedy_row *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

enum sg_status sg_remedies_find(const struct sg_report *report, struct sg_remedies *out)
{
    const struct sg_before *before = before_of(report);
    double *means = malloc(((before != NULL ? before->row_count : 0) + 1) * sizeof *means);
    enum sg_status status = means != NULL ? SG_OK : SG_ERR_MEMORY;

    *out = (struct sg_remedies){0};
    if (status == SG_OK && report->causes != NULL)
        status = add_causes(report, out);
    else if (status == SG_OK && !report->has_events && before != NULL)
        status = add_before(report, out);
    if (status != SG_OK) {
        free(means);
        sg_remedies_clear(out);
        return status;
    }
    if (out->row_count > 0)
        qsort(out->rows, out->row_count, sizeof *out->rows, compare_rows);
    while (out->row_count > 0 && out->rows[out->row_count - 1].ns < LEAST_SHARE * out->ns)
        out->row_count--;
    for (uint32_t i = 0; i < out->row_count; i++)
        out->rows[i].times = find_times(report, &out->rows[i], means);
    free(means);
    return SG_OK;
}

void sg_remedies_clear(struct sg_remedies *found)
{
    free(found->rows);
    *found = (struct sg_remedies){0};
}

static double percent(const struct sg_remedies *found, double ns)
{
    return found->ns > 0 ? 100 * ns / found->ns : 0;
}

static void put_row(const struct sg_remedies *found, const struct sg_remedy_row *row, FILE *out)
{
    fprintf(out, "  %3.0f%%  %s on rank %" PRIu32 ", late for ", percent(found, row->ns),
            sg_cause_names[row->cause], row->rank);
    sg_waitstate_put_place(row->at, out);
    if (row->until->function != NULL) {
        fputs(sg_cause_is_in_calls(row->cause) ? ": in " : ": between ", out);
        if (!sg_cause_is_in_calls(row->cause)) {
            sg_waitstate_put_place(row->after, out);
            fputs(" and ", out);
        }
        sg_waitstate_put_place(row->until, out);
    }
    if (!isnan(row->times))
        fprintf(out, " it takes %.3g times the median of the others", row->times);
    fprintf(out, "\n        %s%s\n",
            row->remedy == SG_REMEDY_PROGRAM ? "no algorithm fixes that: " : "", row->advice);
}

void sg_remedies_print(const struct sg_remedies *found, uint32_t top, FILE *out)
{
    uint32_t count = top == 0 || top > found->row_count ? found->row_count : top;

    if (found->row_count == 0) {
        fputs("\nwhy ranks are late is unknown: no intervals between calls were sampled, or no "
              "rank was late\n",
              out);
        return;
    }
    if (found->has_events)
        fprintf(out,
                "\nwhy ranks are late: others waited %s for them in %" PRIu64
                " sampled instances\n",
                SG_UNSIGNED(found->ns), found->instances);
    else
        fprintf(out,
                "\nwhat ranks do longer than others before calls: %s in sampled intervals; only "
                "events show whether others wait for it\n",
                SG_UNSIGNED(found->ns));
    for (uint32_t i = 0; i < count; i++)
        put_row(found, &found->rows[i], out);
    fprintf(out,
            "  no algorithm fixes %.0f%% of it, another one may fix %.0f%%, unknown: "
            "%.0f%%\n",
            percent(found, found->of_ns[SG_REMEDY_PROGRAM]),
            percent(found, found->of_ns[SG_REMEDY_ALGORITHM]),
            percent(found, found->of_ns[SG_REMEDY_NONE]));
}

static json_t *row_of(const struct sg_remedies *found, const struct sg_remedy_row *row)
{
    json_t *object = json_object();

    sg_columns_set(&object, sg_waitstate_place_columns, row->at, NULL);
    sg_json_set(&object, "cause", json_string(sg_cause_names[row->cause]));
    sg_json_set(&object, "rank", json_integer(row->rank));
    sg_json_set(&object, "late_ns", json_real(row->ns));
    sg_json_set(&object, "share", json_real(row->ns / found->ns));
    sg_json_set(&object, "times_median", sg_json_real(!isnan(row->times), row->times));
    sg_json_set(&object, "after", sg_waitstate_place_json(row->after));
    sg_json_set(&object, "until", sg_waitstate_place_json(row->until));
    sg_json_set(&object, "mended_by", json_string(sg_remedy_names[row->remedy]));
    sg_json_set(&object, "advice", json_string(row->advice));
    return object;
}

json_t *sg_remedies_json(const struct sg_remedies *found)
{
    json_t *object, *rows;

    if (found->row_count == 0)
        return json_null();
    rows = json_array();
    for (uint32_t i = 0; i < found->row_count; i++)
        sg_json_append(&rows, row_of(found, &found->rows[i]));
    object = json_pack("{s:b, s:f, s:f, s:f, s:f}", "events", found->has_events, "late_ns",
                       found->ns, "program_ns", found->of_ns[SG_REMEDY_PROGRAM], "algorithm_ns",
                       found->of_ns[SG_REMEDY_ALGORITHM], "not_told_apart_ns",
                       found->of_ns[SG_REMEDY_NONE]);
    sg_json_set(&object, "causes", rows);
    return object;
}
