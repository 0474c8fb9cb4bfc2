/* Writes advice as rules, and finds advice that rules cannot express.
 *
 * A rule names the operation, the call site, the communicator's number of ranks and, if the call
 * site has operands of several sizes, the bytes. Communicators of the same size at one call site
 * share a rule. On several machines a rule that names a call site costs two round trips a call and
 * works for at most 64 nodes; there one rule is for all call sites of an operation.
 */
#include "advise/advise.h"

#include "output/format.h"
#include "trace/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The left side of a rule. */
struct side {
    enum sg_operation operation;
    bool has_id;
    uint32_t id, size;
    uint8_t size_class;
};

#define RANGE_BYTES 48

/* Formats the bytes of the group's size class, "[8-15]"; "" for a barrier. */
static void range_of(const struct sg_group *group, char text[RANGE_BYTES])
{
    uint64_t low = UINT64_C(1) << (group->size_class > 0 ? group->size_class - 1 : 0);

    text[0] = '\0';
    if (group->operation == SG_OPERATION_BARRIER)
        return;
    if (group->size_class == 0)
        snprintf(text, RANGE_BYTES, "[0]");
    else
        snprintf(text, RANGE_BYTES, "[%" PRIu64 "-%" PRIu64 "]", low, 2 * low - 1);
}

static struct side side_of(const struct sg_advice *advice, const struct sg_group *group, int site)
{
    const struct sg_report_site *from = sg_advice_site(advice, group->site_rows[site]);

    return (struct side){.operation = group->operation,
                         .has_id = from != NULL && from->has_id && !group->several_machines,
                         .id = from != NULL ? from->id : 0,
                         .size = group->size,
                         .size_class = group->size_class};
}

/* Returns true if a's rule may also match calls of b. */
static bool covers(const struct side *a, const struct side *b)
{
    return a->operation == b->operation && a->size == b->size && a->size_class == b->size_class &&
           (!a->has_id || !b->has_id || a->id == b->id);
}

static bool share_a_rule(const struct sg_advice *advice, const struct sg_group *a,
                         const struct sg_group *b)
{
    for (int i = 0; i < a->site_count; i++) {
        for (int j = 0; j < b->site_count; j++) {
            struct side left = side_of(advice, a, i), right = side_of(advice, b, j);

            if (covers(&left, &right))
                return true;
        }
    }
    return false;
}

static const struct sg_advise_estimate *estimate_of(const struct sg_advice_item *item,
                                                    int candidate)
{
    for (int i = 0; i < item->estimate_count; i++) {
        if (item->estimates[i].candidate == candidate)
            return &item->estimates[i];
    }
    return NULL;
}

/* Returns true if the advice for the first item is wrong for the other. */
static bool disagree(const struct sg_advice_item *advised, const struct sg_advice_item *other)
{
    int candidate = advised->estimates[advised->best].candidate;
    const struct sg_advise_estimate *there = estimate_of(other, candidate);

    if (other->verdict == SG_ADVICE_CHANGE)
        return other->estimates[other->best].candidate != candidate;
    return there != NULL && other->executed >= 0 &&
           there->processor_ns > other->estimates[other->executed].processor_ns + other->error_ns;
}

/* Sorts groups by the left sides they may share, so that each is compared with only a few. */
static int compare_groups(const void *left, const void *right)
{
    const struct sg_group *a = (*(struct sg_advice_item *const *)left)->group;
    const struct sg_group *b = (*(struct sg_advice_item *const *)right)->group;

    if (a->operation != b->operation)
        return a->operation < b->operation ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->size_class - b->size_class;
}

bool sg_advice_find_conflicts(struct sg_advice *advice)
{
    struct sg_advice_item **sorted = calloc(advice->item_count + 1, sizeof *sorted);
    bool *bad = calloc(advice->item_count + 1, sizeof *bad);
    bool has_memory = sorted != NULL && bad != NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < advice->item_count && has_memory; i++) {
        if (advice->items[i].replayed > 0)
            sorted[count++] = &advice->items[i];
    }
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, compare_groups);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count && compare_groups(&sorted[i], &sorted[j]) == 0; j++) {
            if (!share_a_rule(advice, sorted[i]->group, sorted[j]->group))
                continue;
            bad[i] |= sorted[i]->verdict == SG_ADVICE_CHANGE && disagree(sorted[i], sorted[j]);
            bad[j] |= sorted[j]->verdict == SG_ADVICE_CHANGE && disagree(sorted[j], sorted[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (bad[i])
            sorted[i]->verdict = SG_ADVICE_CONFLICT;
    }
    free(bad);
    free(sorted);
    return has_memory;
}

/* ---- printing */

/* Returns true if any site with this left side has operands of several size classes. */
static bool has_several_sizes(const struct sg_advice *advice, const struct side *side)
{
    for (uint32_t i = 0; i < advice->item_count; i++) {
        const struct sg_group *group = advice->items[i].group;

        for (int j = 0; j < group->site_count; j++) {
            struct side other = side_of(advice, group, j);

            if (other.size_class != side->size_class && !group->nonblocking) {
                other.size_class = side->size_class;
                if (covers(side, &other))
                    return true;
            }
        }
    }
    return false;
}

/* algorithms: right side of the rule. malloc'ed; NULL: no memory. */
static char *rule_for(const struct sg_advice *advice, const struct sg_advice_item *item, int site,
                      const char *algorithms)
{
    struct side side = side_of(advice, item->group, site);
    char range[RANGE_BYTES] = "", id[16] = "";
    char *rule;

    if (has_several_sizes(advice, &side))
        range_of(item->group, range);
    if (side.has_id)
        snprintf(id, sizeof id, "@%08" PRIx32, side.id);
    if (asprintf(&rule, "%s%s~%" PRIu32 "%s=%s", sg_operation_names[side.operation], id, side.size,
                 range, algorithms) < 0)
        return NULL;
    return rule;
}

static char *rule_of(const struct sg_advice *advice, const struct sg_advice_item *item, int site)
{
    return rule_for(advice, item, site, sg_candidates[item->estimates[item->best].candidate]);
}

char *sg_advice_trial(const struct sg_advice *advice, const struct sg_advice_item *item)
{
    int rival = item->verdict == SG_ADVICE_MISSED ? sg_advice_rival(item) : -1;
    char algorithms[128];

    if (rival < 0 || item->group->site_count == 0)
        return NULL;
    snprintf(algorithms, sizeof algorithms, "%s|%s",
             sg_candidates[item->estimates[item->executed].candidate],
             sg_candidates[item->estimates[rival].candidate]);
    return rule_for(advice, item, 0, algorithms);
}

static const char *show(double ns, char text[SG_FORMAT_BYTES])
{
    return sg_format_ns(ns > 0 ? (uint64_t)(ns + 0.5) : 0, text);
}

static void put_why(const struct sg_advice_item *item, FILE *out)
{
    const struct sg_advise_estimate *best = &item->estimates[item->best];
    const struct sg_advise_estimate *executed = &item->estimates[item->executed];
    const struct sg_report_site *site = item->site;

    fprintf(out, "\n# %s", sg_operation_names[item->group->operation]);
    if (site->function != NULL || site->file != NULL) {
        fputs(" at ", out);
        sg_format_put(site->function != NULL ? site->function : "", out);
        fputs(site->function != NULL && site->file != NULL ? " " : "", out);
        sg_format_put(site->file != NULL ? site->file : "", out);
    }
    if (site->file != NULL && site->line > 0)
        fprintf(out, ":%" PRIu32, site->line);
    fputs(" on ", out);
    sg_format_put(site->comm, out);
    fprintf(out,
            "\n# %s measured %s a call, estimated %s; this one estimated %s: %s less (%s .. %s), "
            "error %s; %" PRIu32 " of %" PRIu64 " instances\n",
            sg_candidates[executed->candidate], show(item->measured_processor_ns, SG_ROOM),
            show(executed->processor_ns, SG_ROOM), show(best->processor_ns, SG_ROOM),
            show(best->gain_ns, SG_ROOM), show(best->low_ns, SG_ROOM), show(best->high_ns, SG_ROOM),
            show(item->error_ns, SG_ROOM), item->replayed, item->group->instances);
}

/* Returns true if an earlier item, on a communicator of the same size, has printed the rule. */
static bool is_printed(const struct sg_advice *advice, uint32_t before, const char *rule)
{
    bool found = false;

    for (uint32_t i = 0; i < before && !found; i++) {
        for (int j = 0; j < advice->items[i].group->site_count && !found; j++) {
            char *other = advice->items[i].verdict == SG_ADVICE_CHANGE
                              ? rule_of(advice, &advice->items[i], j)
                              : NULL;

            found = other != NULL && strcmp(other, rule) == 0;
            free(other);
        }
    }
    return found;
}

/* Prints the number of stack frames that ids of call sites hash. */
static void put_depth(const struct sg_advice *advice, FILE *out)
{
    if (advice->depth > 1 && advice->counts[SG_ADVICE_CHANGE] > 0)
        fprintf(out,
                "\n# Call sites were distinguished by this number of frames.\nSTAGGER_DEPTH=%d\n",
                advice->depth);
}

uint32_t sg_advice_print_rules(const struct sg_advice *advice, FILE *out)
{
    uint32_t rules = 0;

    fputs("# Written by stagger advise from ", out);
    sg_format_put(advice->report.path, out);
    fputs("\n# For STAGGER_CONFIG. Times are the ranks' means per call.\n", out);
    put_depth(advice, out);
    for (uint32_t i = 0; i < advice->item_count; i++) {
        const struct sg_advice_item *item = &advice->items[i];
        bool explained = false;

        for (int j = 0; item->verdict == SG_ADVICE_CHANGE && j < item->group->site_count; j++) {
            char *rule = rule_of(advice, item, j);

            if (rule != NULL && !is_printed(advice, i, rule)) {
                if (!explained)
                    put_why(item, out);
                explained = true;
                fprintf(out, "%s\n", rule);
                rules++;
            }
            free(rule);
        }
    }
    if (rules == 0)
        fputs("# There is nothing to advise.\n", out);
    return rules;
}

/* ---- verdicts and call sites */

const char *const sg_advice_verdict_names[SG_ADVICE_VERDICTS] = {
    [SG_ADVICE_CHANGE] = "change",
    [SG_ADVICE_BEST] = "best already",
    [SG_ADVICE_WITHIN_ERROR] = "within the error",
    [SG_ADVICE_MISSED] = "missed by the model",
    [SG_ADVICE_FEW] = "too few instances",
    [SG_ADVICE_SITES] = "different rules in one instance",
    [SG_ADVICE_CONFLICT] = "conflict",
    [SG_ADVICE_OBSTACLE] = "not simulated",
    [SG_ADVICE_LEFT_OUT] = "left out",
};

/* The algorithm without parameters is preferred if it has at least this share of the gain. */
#define NEARLY 0.9

int sg_advice_plain(const struct sg_advice_item *item, int best)
{
    const struct sg_advise_estimate *one = &item->estimates[best];
    size_t length = strcspn(sg_candidates[one->candidate], "(");

    for (int i = 0; i < item->estimate_count; i++) {
        const char *rule = sg_candidates[item->estimates[i].candidate];

        if (i != item->executed && strlen(rule) == length &&
            memcmp(rule, sg_candidates[one->candidate], length) == 0 &&
            item->estimates[i].gain_ns >= NEARLY * one->gain_ns)
            return i;
    }
    return best;
}

double sg_advice_miss(const struct sg_advice_item *item)
{
    return item->measured_processor_ns / item->estimates[item->executed].processor_ns;
}

double sg_advice_saved_ns(const struct sg_advice_item *item)
{
    const struct sg_advise_estimate *executed = &item->estimates[item->executed];
    double spent_ns = (double)item->group->blocked_ns + (double)item->group->handler_ns;

    return spent_ns * item->estimates[item->best].gain_ns / executed->processor_ns;
}

int sg_advice_rival(const struct sg_advice_item *item)
{
    if (item->best != item->executed)
        return item->best;
    return item->estimate_count > 1 ? sg_advice_plain(item, item->executed == 0) : -1;
}

static int compare_sites(const void *left, const void *right)
{
    const struct sg_report_site *a = left, *b = right;

    return (a->row > b->row) - (a->row < b->row);
}

void sg_advice_sort_sites(struct sg_advice *advice)
{
    qsort(advice->report.sites, advice->report.site_count, sizeof *advice->report.sites,
          compare_sites);
}

const struct sg_report_site *sg_advice_site(const struct sg_advice *advice, uint32_t row)
{
    struct sg_report_site key = {.row = row};

    return advice->report.site_count == 0
               ? NULL
               : bsearch(&key, advice->report.sites, advice->report.site_count, sizeof key,
                         compare_sites);
}

void sg_advice_clear(struct sg_advice *advice)
{
    free(advice->items);
    sg_remedies_clear(&advice->remedies);
    sg_sampling_clear(&advice->sampling);
    sg_report_clear(&advice->report);
    *advice = (struct sg_advice){.items = NULL};
}
