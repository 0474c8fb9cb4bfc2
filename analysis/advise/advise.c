#include "advise/advise.h"

#include "advise/replay.h"
#include "compare/compared_samples.h"
#include "output/progress_line.h"
#include "report/filter.h"
#include "rule/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits the replay time: beyond this many groups, those that cost least are left out. */
#define ITEMS_REPLAYED 1000u

struct work {
    struct sg_advice *advice;
    struct sg_config config; /* configuration of the recorded run */
    struct sg_ruleset *rules;
    struct sg_replay replay;
    struct sg_world_cost *costs[2]; /* of the algorithm that ran, and of a candidate */
    double *gains;
};

/* ---- call sites and rules */

static const struct sg_choice *choice_of(const struct work *work, const struct sg_group *group,
                                         const struct sg_report_site *site)
{
    struct sg_rule_site of = sg_filter_rule_site(site);
    struct sg_rule_comm comm = {.name = site->comm,
                                .size = (int)group->size,
                                .reach = group->nodes == 1 ? SG_REACH_NODE : SG_REACH_INTERNODE};
    bool fixed;

    return sg_ruleset_match(work->rules, group->operation, site->has_id ? &of : NULL, &comm,
                            group->least_bytes, &fixed);
}

/* Returns true if ranks of one instance call from sites whose rules choose differently. */
static bool rules_differ(const struct work *work, const struct sg_group *group)
{
    const struct sg_choice *first = NULL;

    for (int i = 0; i < group->site_count; i++) {
        const struct sg_report_site *site = sg_advice_site(work->advice, group->site_rows[i]);
        const struct sg_choice *choice = site != NULL ? choice_of(work, group, site) : NULL;

        if (choice == NULL)
            continue;
        if (first == NULL)
            first = choice;
        if (choice->algorithm != first->algorithm ||
            memcmp(choice->parameters, first->parameters, sizeof first->parameters) != 0)
            return true;
    }
    return group->many_sites && sg_ruleset_depends_on_site(work->rules, group->operation);
}

/* ---- estimates */

static void estimate_of(const struct sg_advice_item *item, const struct sg_world_cost *costs,
                        struct sg_advise_estimate *out)
{
    double calls = (double)item->replayed * item->group->size;

    for (uint32_t i = 0; i < item->replayed; i++) {
        out->blocked_ns += (double)costs[i].blocked_ns / calls;
        out->processor_ns += (double)costs[i].processor_ns / calls;
    }
}

static void measure(struct sg_advice_item *item)
{
    const struct sg_group *group = item->group;
    double calls = (double)item->replayed * group->size;

    for (uint32_t i = 0; i < item->replayed; i++)
        item->measured_blocked_ns += (double)sg_replay_sample(group, i)->blocked_ns / calls;
    item->measured_processor_ns =
        item->measured_blocked_ns +
        (double)group->handler_ns / ((double)group->instances * group->size);
}

/* Computes the gain over the algorithm that ran, instance by instance. */
static void weigh(struct work *work, const struct sg_advice_item *item,
                  struct sg_advise_estimate *out)
{
    for (uint32_t i = 0; i < item->replayed; i++)
        work->gains[i] =
            ((double)work->costs[0][i].processor_ns - (double)work->costs[1][i].processor_ns) /
            item->group->size;
    for (uint32_t i = 0; i < item->replayed; i++)
        out->gain_ns += work->gains[i] / item->replayed;
    if (!sg_bootstrap_mean(work->gains, item->replayed, item->group->row, &out->low_ns,
                           &out->high_ns))
        out->low_ns = out->high_ns = out->gain_ns;
}

static int compare_estimates(const void *left, const void *right)
{
    const struct sg_advise_estimate *a = left, *b = right;

    if (a->processor_ns != b->processor_ns)
        return a->processor_ns < b->processor_ns ? -1 : 1;
    return a->candidate - b->candidate;
}

static enum sg_status estimate_others(struct work *work, struct sg_advice_item *item, int executed)
{
    bool inside = item->group->nodes == 1;
    enum sg_status status = SG_OK;

    for (int i = 0; i < sg_candidate_count && status == SG_OK; i++) {
        struct sg_advise_estimate estimate = {.candidate = i};
        bool done = false;

        if (i == executed || !sg_candidate_runs(i, item->group->operation, inside))
            continue;
        status = sg_replay_group(&work->replay, item->group, i, work->costs[1], &done);
        if (status != SG_OK)
            continue;
        if (!done) {
            item->not_simulated |= 1U << i;
            continue;
        }
        estimate_of(item, work->costs[1], &estimate);
        weigh(work, item, &estimate);
        item->estimates[item->estimate_count++] = estimate;
    }
    return status;
}

static void sort_estimates(struct sg_advice_item *item, int executed)
{
    qsort(item->estimates, (size_t)item->estimate_count, sizeof item->estimates[0],
          compare_estimates);
    for (int i = 0; i < item->estimate_count; i++) {
        if (item->estimates[i].candidate == executed)
            item->executed = i;
    }
}

/* An archive that names no algorithm was recorded with stock MPICH. */
static int executed_of(const struct sg_group *group)
{
    return sg_candidate_find(group->algorithm[0] != '\0' ? group->algorithm : "mpich");
}

static enum sg_status estimate(struct work *work, struct sg_advice_item *item)
{
    int executed = executed_of(item->group);
    struct sg_advise_estimate own = {.candidate = executed};
    bool done = false;
    enum sg_status status = SG_OK;

    item->replayed = sg_replay_count(item->group);
    measure(item);
    if (executed >= 0)
        status = sg_replay_group(&work->replay, item->group, executed, work->costs[0], &done);
    if (status != SG_OK || !done) {
        item->verdict = SG_ADVICE_OBSTACLE;
        item->why = "the algorithm that ran cannot be simulated";
        return status;
    }
    estimate_of(item, work->costs[0], &own);
    item->estimates[item->estimate_count++] = own;
    item->error_ns = fabs(item->measured_processor_ns - own.processor_ns);
    status = estimate_others(work, item, executed);
    sort_estimates(item, executed);
    return status;
}

/* ---- verdicts */

/* Beyond this factor between the measured and the estimated cost the model leaves out what the call
 * site's cost consists of, and differences of its estimates mean nothing. */
#define MISSED_FACTOR 1.5

static bool is_missed(const struct sg_advice_item *item)
{
    double miss = sg_advice_miss(item);

    return !(miss <= MISSED_FACTOR && miss >= 1 / MISSED_FACTOR);
}

static void judge(const struct work *work, struct sg_advice_item *item)
{
    if (item->verdict == SG_ADVICE_OBSTACLE)
        return;
    item->best = item->executed == 0 ? 0 : sg_advice_plain(item, 0);
    if (is_missed(item))
        item->verdict = SG_ADVICE_MISSED;
    else if (item->best == item->executed)
        item->verdict = SG_ADVICE_BEST;
    else if (item->estimates[item->best].low_ns <= item->error_ns)
        item->verdict = SG_ADVICE_WITHIN_ERROR;
    else
        item->verdict = rules_differ(work, item->group) ? SG_ADVICE_SITES : SG_ADVICE_CHANGE;
}

static enum sg_status look_at(struct work *work, struct sg_advice_item *item, bool left_out)
{
    enum sg_status status;

    item->why = sg_replay_obstacle(item->group);
    if (item->why != NULL) {
        item->verdict = SG_ADVICE_OBSTACLE;
        return SG_OK;
    }
    if (item->group->instances < SG_SAMPLE_MIN) {
        item->verdict = SG_ADVICE_FEW;
        return SG_OK;
    }
    item->verdict = SG_ADVICE_LEFT_OUT;
    if (left_out)
        return SG_OK;
    item->verdict = SG_ADVICE_BEST;
    status = estimate(work, item);
    if (status == SG_OK)
        judge(work, item);
    return status;
}

/* ---- all groups */

static int compare_items(const void *left, const void *right)
{
    const struct sg_advice_item *a = left, *b = right;

    if (a->group->blocked_ns != b->group->blocked_ns)
        return a->group->blocked_ns > b->group->blocked_ns ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static enum sg_status list_items(struct sg_advice *advice)
{
    const struct sg_sampling *sampling = &advice->sampling;

    advice->items = calloc(sampling->group_count + 1, sizeof *advice->items);
    if (advice->items == NULL)
        return SG_ERR_MEMORY;
    sg_advice_sort_sites(advice);
    for (uint32_t i = 0; i < sampling->group_count; i++) {
        const struct sg_report_site *site = sg_advice_site(advice, sampling->groups[i].row);

        if (site != NULL)
            advice->items[advice->item_count++] = (struct sg_advice_item){
                .group = &sampling->groups[i], .site = site, .executed = -1, .best = -1};
    }
    qsort(advice->items, advice->item_count, sizeof *advice->items, compare_items);
    return SG_OK;
}

static enum sg_status look_at_all(struct work *work, bool progress_wanted)
{
    struct sg_advice *advice = work->advice;
    struct sg_progress_line progress;
    enum sg_status status = SG_OK;
    uint32_t replayed = 0;

    sg_progress_line_start(&progress, progress_wanted);
    for (uint32_t i = 0; i < advice->item_count && status == SG_OK; i++) {
        status = look_at(work, &advice->items[i], replayed >= ITEMS_REPLAYED);
        replayed += advice->items[i].replayed > 0;
        sg_progress_line_step(&progress, "call sites replayed", i + 1, advice->item_count);
    }
    sg_progress_line_end(&progress);
    if (status != SG_OK)
        return status;
    if (!sg_advice_find_conflicts(advice))
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < advice->item_count; i++)
        advice->counts[advice->items[i].verdict]++;
    return SG_OK;
}

/* sg_config numbers the words of STAGGER_PROGRESS in the reverse order of enum sg_sim_mode. */
static enum sg_sim_mode mode_of(const struct sg_config *config)
{
    static const enum sg_sim_mode modes[] = {SG_SIM_POLL, SG_SIM_THREAD, SG_SIM_SIGNAL};

    return modes[config->progress];
}

static enum sg_status open_work(struct work *work, const struct sg_advise_options *options)
{
    enum sg_status status = sg_config_parse(
        options->configuration != NULL ? options->configuration : "", &work->config);

    if (status == SG_OK)
        status = sg_ruleset_create(&work->config, false, &work->rules);
    for (int i = 0; i < 2; i++) {
        work->costs[i] = calloc(SG_SAMPLE_MAX, sizeof *work->costs[i]);
        if (work->costs[i] == NULL)
            status = SG_ERR_MEMORY;
    }
    work->gains = calloc(SG_SAMPLE_MAX, sizeof *work->gains);
    if (work->gains == NULL)
        status = SG_ERR_MEMORY;
    work->replay = (struct sg_replay){.machine = &work->advice->machine};
    if (status == SG_OK)
        work->replay.mode = mode_of(&work->config);
    else
        sg_log("advise: out of memory");
    return status;
}

static void close_work(struct work *work)
{
    sg_ruleset_destroy(work->rules);
    sg_config_clear(&work->config);
    free(work->costs[0]);
    free(work->costs[1]);
    free(work->gains);
}

enum sg_status sg_advise(const char *path, const struct sg_advise_options *options,
                         struct sg_advice *out)
{
    struct sg_advice advice = {.items = NULL};
    struct work work = {.advice = &advice};
    enum sg_status status = open_work(&work, options);

    if (status == SG_OK)
        status = sg_sample_run(path, options->progress, (uint32_t)work.config.ranks_per_node,
                               &advice.report, &advice.sampling);
    if (status == SG_OK)
        status = sg_machine_make(&advice.report, options->network, &advice.machine);
    advice.depth = work.config.depth;
    if (status == SG_OK) {
        status = list_items(&advice);
        if (status == SG_OK)
            status = sg_remedies_find(&advice.report, &advice.remedies);
        if (status != SG_OK)
            sg_log("advise: out of memory");
    }
    if (status == SG_OK)
        status = look_at_all(&work, options->progress);
    close_work(&work);
    if (status == SG_OK)
        *out = advice;
    else
        sg_advice_clear(&advice);
    return status;
}
