/* The results of trials, with the cost of each candidate and the winner, and of what auto has
 * learned.
 */
#include "core/text.h"
#include "output/format.h"
#include "report/report_section.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const what[SG_TRIED_COUNT] = {
    [SG_TRIED_BLOCKED] = "time blocked",
    [SG_TRIED_PROCESSOR] = "time in and outside of calls",
    [SG_TRIED_SKEW] = "skew",
};

/* Prints "at residual (cg.c:91)", as far as known. */
static void put_site(const struct sg_report_trial *trial, FILE *out)
{
    fprintf(out, "  %s at ", sg_trial_operation(trial));
    if (trial->function != NULL)
        sg_format_put(trial->function, out);
    if (trial->file != NULL && trial->line > 0) {
        fputs(trial->function != NULL ? " " : "", out);
        sg_format_put(sg_text_base_name(trial->file), out);
        fprintf(out, ":%" PRIu32, trial->line);
    }
    if (trial->function == NULL && trial->file == NULL)
        fprintf(out, trial->has_id ? "%08" PRIx32 : "an unknown call site", trial->id);
}

static void put_head(const struct sg_report_trial *trial, FILE *out)
{
    fputs("trial ", out);
    sg_format_put(trial->place, out);
    fputc('\n', out);
    put_site(trial, out);
    fprintf(out, ": %" PRIu32 " algorithms in turn, blocks of %" PRIu64 " collectives",
            trial->arm_count, trial->block);
    if (trial->verdict[SG_TRIED_BLOCKED] != SG_TRIED_UNKNOWN)
        fprintf(out, ", %" PRIu64 " round%s", trial->rounds, trial->rounds == 1 ? "" : "s");
    fputs("\n\n", out);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* plus: the prefix of a positive figure. */
static void add_interval(struct sg_table *table, const struct sg_estimate *estimate,
                         const char *plus)
{
    sg_table_addf(table, "%s .. %s", sg_format_signed(estimate->low, plus, SG_ROOM),
                  sg_format_signed(estimate->high, plus, SG_ROOM));
}

static void add_above(struct sg_table *table, const struct sg_report_trial *trial,
                      const struct sg_report_arm *arm, int tried)
{
    const struct sg_estimate *above = &arm->above[tried];
    double least_ns = trial->arms[trial->least[tried]].cost[tried].mean;
    bool known = tried != SG_TRIED_SKEW && trial->rounds > 0;
    bool least = arm == &trial->arms[trial->least[tried]];

    if (!known || least)
        sg_table_addf(table, "%s", known ? "least" : "");
    else if (least_ns > 0)
        sg_table_addf(table, "%s (%+.1f%%)", SG_SIGNED(above->mean), 100 * above->mean / least_ns);
    else
        sg_table_addf(table, "%s", SG_SIGNED(above->mean));
    if (!known || least || !sg_trial_has_intervals(trial)) {
        sg_table_addf(table, "%s", known && !least ? "-" : "");
        sg_table_addf(table, "%s", "");
        return;
    }
    add_interval(table, above, "+");
    sg_table_addf(table, "%s", arm->like_least[tried] ? "within the noise" : "more");
}

static void add_arm(struct sg_table *table, const struct sg_report_trial *trial,
                    const struct sg_report_arm *arm, int tried)
{
    bool first = tried == 0;
    bool known =
        trial->rounds > 0 || (first && trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN);

    if (first) {
        sg_table_add(table, sg_format_clean(arm->text, true));
        sg_table_addf(table, "%" PRIu64, arm->calls);
        sg_table_addf(table, "%" PRIu64, arm->declined_calls);
    }
    for (int i = 0; i < 3 && !first; i++)
        sg_table_addf(table, "%s", "");
    sg_table_addf(table, "%s", sg_tried_names[tried]);
    sg_table_addf(table, "%s", known ? SG_UNSIGNED(arm->cost[tried].mean) : "-");
    if (sg_trial_has_intervals(trial))
        add_interval(table, &arm->cost[tried], "");
    else
        sg_table_addf(table, "-");
    add_above(table, trial, arm, tried);
}

/* False: the processor figures repeat the time blocked. */
static bool has_time_outside(const struct sg_report_trial *trial)
{
    bool has = false;

    for (uint32_t i = 0; i < trial->arm_count; i++)
        has |= trial->arms[i].cost[SG_TRIED_PROCESSOR].mean >
               trial->arms[i].cost[SG_TRIED_BLOCKED].mean;
    return has;
}

static enum sg_status put_table(const struct sg_report_trial *trial, FILE *out)
{
    static const struct sg_column columns[] = {
        {.header = "algorithm", .left = true, .max_width = 24},
        {.header = "calls"},
        {.header = "declined"},
        {.header = "per call", .left = true},
        {.header = "mean"},
        {.header = "95% interval"},
        {.header = "above least"},
        {.header = "interval"},
        {.header = "", .left = true},
    };
    int count = trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN ? 1 : SG_TRIED_COUNT;
    struct sg_table table = {0};

    sg_table_show(&table, (struct sg_columns)SG_COLUMNS(columns), NULL);
    for (uint32_t i = 0; i < trial->arm_count; i++) {
        for (int tried = 0; tried < count; tried++) {
            if (tried != SG_TRIED_PROCESSOR || has_time_outside(trial))
                add_arm(&table, trial, &trial->arms[i], tried);
        }
    }
    return sg_table_finish(&table, "report", out);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void put_verdict(const struct sg_report_trial *trial, int tried, FILE *out)
{
    const struct sg_report_arm *least = &trial->arms[trial->least[tried]];
    bool first = true;

    fprintf(out, "  %s: ", what[tried]);
    if (trial->verdict[tried] == SG_TRIED_WINNER) {
        sg_format_put(least->text, out);
        fputs(" wins\n", out);
        return;
    }
    fputs("no difference seen between ", out);
    sg_format_put(least->text, out);
    for (uint32_t i = 0; i < trial->arm_count; i++) {
        if (!trial->arms[i].like_least[tried])
            continue;
        fputs(" and ", out);
        sg_format_put(trial->arms[i].text, out);
    }
    for (uint32_t i = 0; i < trial->arm_count; i++) {
        if (&trial->arms[i] == least || trial->arms[i].like_least[tried])
            continue;
        fputs(first ? "; more: " : ", ", out);
        sg_format_put(trial->arms[i].text, out);
        first = false;
    }
    fputc('\n', out);
}

static void put_result(const struct sg_report_trial *trial, FILE *out)
{
    fputc('\n', out);
    switch (trial->verdict[SG_TRIED_BLOCKED]) {
    case SG_TRIED_UNKNOWN:
        fputs("  no events were recorded: there are means of all calls, no intervals and no"
              " winner\n\n",
              out);
        return;
    case SG_TRIED_FEW:
        fprintf(out, "  no winner: fewer than 10 rounds in which every algorithm had a turn\n");
        break;
    case SG_TRIED_NONE:
    case SG_TRIED_WINNER:
    case SG_TRIED_VERDICTS:
        put_verdict(trial, SG_TRIED_BLOCKED, out);
        if (has_time_outside(trial))
            put_verdict(trial, SG_TRIED_PROCESSOR, out);
        break;
    }
    fprintf(out,
            "  left out: %" PRIu64 " calls that were a block's first, %" PRIu64
            " beyond whole rounds",
            trial->first_calls, trial->loose_calls);
    if (trial->mixed_calls > 0)
        fprintf(out, ", %" PRIu64 " whose ranks ran different algorithms", trial->mixed_calls);
    fputs("\n\n", out);
}

static SG_REPORT_PRINTER(print_text)
{
    enum sg_status status = SG_OK;

    if (report->trial_count > 0)
        sg_report_put_title(&sg_trials_section, report, out);
    for (uint32_t i = 0; i < report->trial_count && status == SG_OK; i++) {
        put_head(&report->trials[i], out);
        status = put_table(&report->trials[i], out);
        put_result(&report->trials[i], out);
    }
    return status;
}

/* An estimate is known only if there are rounds. */
static json_t *estimate_of(const struct sg_report_trial *trial, const struct sg_estimate *estimate)
{
    bool known = trial->rounds > 0;
    bool interval = sg_trial_has_intervals(trial);

    if (!known)
        return json_null();
    return json_pack("{s:f, s:o, s:o}", "mean", estimate->mean, "low",
                     sg_json_real(interval, estimate->low), "high",
                     sg_json_real(interval, estimate->high));
}

static json_t *arm_of(const struct sg_report_trial *trial, const struct sg_report_arm *arm)
{
    json_t *value =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "arm", sg_json_text(arm->text), "calls",
                  (json_int_t)arm->calls, "declined_calls", (json_int_t)arm->declined_calls,
                  "blocks", (json_int_t)arm->blocks, "used_calls", (json_int_t)arm->used_calls,
                  "used_instances", (json_int_t)arm->used_instances);

    for (int tried = 0; tried < SG_TRIED_COUNT; tried++) {
        char name[64];

        snprintf(name, sizeof name, "%s_ns", sg_tried_names[tried]);
        sg_json_set(&value, name, estimate_of(trial, &arm->cost[tried]));
        if (tried == SG_TRIED_SKEW) /* not a cost: it decides no winner */
            continue;
        snprintf(name, sizeof name, "%s_above_least_ns", sg_tried_names[tried]);
        sg_json_set(&value, name, estimate_of(trial, &arm->above[tried]));
    }
    if (trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_UNKNOWN)
        sg_json_set(&value, "mean_blocked_ns", json_real(arm->cost[SG_TRIED_BLOCKED].mean));
    return value;
}

static json_t *verdict_of(const struct sg_report_trial *trial, int tried)
{
    bool known = trial->verdict[tried] == SG_TRIED_WINNER;

    return json_pack("{s:s, s:o}", "verdict", sg_tried_verdict_names[trial->verdict[tried]],
                     "winner",
                     known ? sg_json_text(trial->arms[trial->least[tried]].text) : json_null());
}

const struct sg_report_section sg_trials_section = {
    .part = SG_PART_TRIALS, .title = "Results of trials", .print = print_text};

SG_REPORT_MEMBER(sg_trials_put)
{
    sg_json_begin(writer, "trials", '[');
    for (uint32_t i = 0; i < report->trial_count; i++) {
        const struct sg_report_trial *trial = &report->trials[i];

        sg_json_begin(writer, NULL, '{');
        sg_json_put_members(
            writer,
            json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "trial",
                      sg_json_text(trial->place), "id", sg_json_id(trial->has_id, trial->id), "op",
                      sg_trial_operation(trial), "function", sg_json_text(trial->function), "file",
                      sg_json_text(trial->file), "line",
                      sg_json_count(trial->line > 0, trial->line), "block",
                      (json_int_t)trial->block, "rounds", (json_int_t)trial->rounds, "first_calls",
                      (json_int_t)trial->first_calls, "loose_calls", (json_int_t)trial->loose_calls,
                      "mixed_calls", (json_int_t)trial->mixed_calls));
        sg_json_begin(writer, "arms", '[');
        for (uint32_t arm = 0; arm < trial->arm_count; arm++)
            sg_json_put(writer, NULL, arm_of(trial, &trial->arms[arm]));
        sg_json_end(writer, ']');
        sg_json_put(writer, "blocked", verdict_of(trial, SG_TRIED_BLOCKED));
        sg_json_put(writer, "processor", verdict_of(trial, SG_TRIED_PROCESSOR));
        sg_json_end(writer, '}');
    }
    sg_json_end(writer, ']');
}

/* ---- learned by auto ------------------------------------------------------------------------- */

static void print_costs(const void *row, const void *context, FILE *out)
{
    const struct sg_learned_place *place = row;

    for (uint32_t i = 0; i < place->arm_count; i++)
        fprintf(out, "%s%s %s", i > 0 ? ", " : "", place->arms[i].text,
                SG_UNSIGNED(place->arms[i].cost_ns));
}

static json_t *json_arms(const void *row, const void *context)
{
    const struct sg_learned_place *place = row;
    json_t *arms = json_array();

    for (uint32_t i = 0; i < place->arm_count; i++)
        sg_json_append(&arms,
                       json_pack("{s:o, s:f}", "algorithm", sg_json_text(place->arms[i].text),
                                 "cost_ns", place->arms[i].cost_ns));
    return arms;
}

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_learned_place, member)

static const struct sg_column columns[] = {
    {"rule", "rule", "learned by auto", .left = true, IS(TEXT, rule)},
    {"algorithm", "algorithm", "best", .left = true, IS(TEXT, arm)},
    {"rank", IS(COUNT32, rank)},
    {"calls", "calls", "calls", IS(COUNT, calls)},
    {"learnings", "learnings", "learned", IS(COUNT, learnings)},
    {"changes", "changes", "changes", IS(COUNT, changes)},
    {"arms", "arms", "cost of a call on a rank", .left = true, .print = print_costs,
     .json = json_arms},
};
static const struct sg_columns all = SG_COLUMNS(columns);

static struct sg_rows rows_of(const struct sg_report *report,
                              const struct sg_print_options *options)
{
    return SG_ROWS(report->learned.places, report->learned.count, NULL);
}

const struct sg_report_section sg_learned_section = {
    .part = SG_PART_TRIALS,
    .title = "Which algorithms auto has learned to be best",
    .limit = SG_ROWS_ALL,
    .rows = rows_of,
    .is_member = true,
    .table = {.member = "learned", .json = {&all}, .text = {&all}}};

/* True if this rule is the one to print: of the rules with the same left side, the one with the
 * most calls. */
static bool is_first(const struct sg_learned *learned, const struct sg_learned_place *place)
{
    for (uint32_t i = 0; i < learned->count; i++) {
        const struct sg_learned_place *other = &learned->places[i];

        if (other != place && strcmp(other->rule, place->rule) == 0 &&
            (other->calls > place->calls || (other->calls == place->calls && other < place)))
            return false;
    }
    return true;
}

enum sg_status sg_learned_print_rules(const struct sg_report *report, FILE *out)
{
    if (report->learned.count == 0) {
        sg_log("%s: nothing was learned: no rule with auto decided calls, or too few of them",
               report->path);
        return SG_ERR_MISSING;
    }
    for (uint32_t i = 0; i < report->learned.count; i++) {
        const struct sg_learned_place *place = &report->learned.places[i];

        if (is_first(&report->learned, place))
            fprintf(out, "%s=%s\n", place->rule, place->arm);
    }
    return SG_OK;
}
