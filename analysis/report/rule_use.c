#include "report/rule_use.h"

#include "core/config.h"
#include "core/file.h"
#include "core/text.h"
#include "report/filter.h"
#include "rule/ruleset.h"
#include "rule/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIGURATION_BYTES = 65536, RULES_MAX = 1024, PARTS_MAX = 1 << 20 };
enum { SITES_COMPARED = 1000, RULES_COMPARED = 100 }; /* in search of a similar name */

/* The calls of a row that one rule decides. */
struct part {
    uint32_t rule;
    uint64_t calls;
};

/* The parts of a row, in the order of their rules: the first rule that takes a size decides. */
struct divided {
    uint32_t first, count;
};

struct sg_rule_uses {
    struct sg_ruleset *rules;
    unsigned reach; /* of all communicators; 0: not known */
    uint8_t *seen;  /* by rule: enum sg_rule_seen */
    struct divided *rows;
    struct part *parts;
    uint32_t row_count, part_count;
};

char *sg_run_configuration(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    bool directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    int length = directory ? (int)strlen(path) : slash != NULL ? (int)(slash - path) : 0;
    char *name, *text;
    ssize_t bytes;
    int error, file;

    if (asprintf(&name, "%.*s%sstagger.conf", length, path,
                 length > 0 || slash != NULL ? "/" : "") < 0)
        return NULL;
    error = sg_file_open(name, O_NOFOLLOW, &file);
    if (error != 0 && error != ENOENT)
        sg_log("%s: %s", name, sg_file_error(error));
    free(name);
    if (error != 0)
        return NULL;
    text = calloc(1, CONFIGURATION_BYTES);
    bytes = text != NULL ? read(file, text, CONFIGURATION_BYTES - 1) : 0;
    close(file);
    if (bytes > 0)
        return text;
    free(text);
    return NULL;
}

/* ---- the rules ------------------------------------------------------------------------------- */

static enum sg_status read_rules(struct sg_rule_uses *uses, const char *text,
                                 const struct sg_run_waiting *waiting, uint32_t ranks)
{
    struct sg_config config;
    enum sg_status status = sg_config_parse(text, &config);

    if (status != SG_OK)
        return status;
    status = sg_ruleset_create(&config, false, &uses->rules);
    if (waiting->told > 0 && waiting->ranks == ranks && config.ranks_per_node == 0)
        uses->reach = SG_REACH_NODE;
    sg_config_clear(&config);
    if (status == SG_OK)
        uses->seen = calloc((size_t)uses->rules->count, sizeof *uses->seen);
    return status == SG_OK && uses->seen == NULL ? SG_ERR_MEMORY : status;
}

enum sg_status sg_rule_uses_create(const char *path, const struct sg_run_waiting *waiting,
                                   uint32_t ranks, struct sg_rule_uses **out)
{
    char *text = sg_run_configuration(path);
    struct sg_rule_uses *uses;
    enum sg_status status;

    *out = NULL;
    if (text == NULL)
        return SG_OK;
    uses = calloc(1, sizeof *uses);
    status = uses != NULL ? read_rules(uses, text, waiting, ranks) : SG_ERR_MEMORY;
    free(text);
    if (status == SG_OK && uses->rules->count <= RULES_MAX)
        *out = uses;
    else
        sg_rule_uses_destroy(uses);
    return status;
}

void sg_rule_uses_destroy(struct sg_rule_uses *uses)
{
    if (uses == NULL)
        return;
    sg_ruleset_destroy(uses->rules);
    free(uses->seen);
    free(uses->rows);
    free(uses->parts);
    free(uses);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* True if the rule takes calls of the row, of some size. */
static bool takes(const struct sg_ruleset *rules, const struct sg_rule *rule,
                  const struct sg_report_site *row, unsigned reach)
{
    const struct sg_rule_site site = sg_filter_rule_site(row);
    const struct sg_rule_comm comm = {.name = row->comm,
                                      .size = (int)row->comm_size,
                                      .reach = reach,
                                      .nonblocking = row->nonblocking};
    uint64_t bytes = row->operation == SG_OPERATION_BARRIER ? 0 : rule->byte_low;
    /* A trial has candidates by reach. */
    bool runs = reach == 0 && rule->choice.arm != 0
                    ? rule->operation == (int)row->operation
                    : sg_rule_takes(rules, rule, row->operation, &comm);

    return runs && sg_rule_matches(rule, row->has_id ? &site : NULL, &comm, bytes);
}

static bool takes_all_sizes(const struct sg_ruleset *rules, uint32_t rule,
                            const struct sg_report_site *row)
{
    return rules->rules[rule].any_bytes || row->operation == SG_OPERATION_BARRIER;
}

enum sg_status sg_rule_uses_row(struct sg_rule_uses *uses, const struct sg_report_site *row)
{
    const struct sg_ruleset *rules = uses->rules;
    struct divided divided = {.first = uses->part_count};
    int passed = -1, last = -1;

    for (int i = 0; i < rules->count && uses->part_count < PARTS_MAX; i++) {
        if (!takes(rules, &rules->rules[i], row, 0))
            continue;
        if (!takes(rules, &rules->rules[i], row, uses->reach)) {
            passed = passed < 0 ? i : passed;
            continue;
        }
        if (!SG_APPEND(uses->parts, uses->part_count, (struct part){.rule = (uint32_t)i}))
            return SG_ERR_MEMORY;
        last = i;
        if (takes_all_sizes(rules, (uint32_t)i, row))
            break;
    }
    divided.count = uses->part_count - divided.first;
    if (passed >= 0 && last >= 0 && sg_rule_is_default(&rules->rules[last]))
        uses->seen[passed] |= SG_RULE_SEEN_NODE;
    return SG_APPEND(uses->rows, uses->row_count, divided) ? SG_OK : SG_ERR_MEMORY;
}

void sg_rule_uses_call(struct sg_rule_uses *uses, uint32_t row, uint64_t bytes)
{
    struct part *part = uses->parts + uses->rows[row].first;

    for (uint32_t left = uses->rows[row].count; left > 0; left--, part++) {
        const struct sg_rule *rule = &uses->rules->rules[part->rule];

        if (rule->any_bytes || (bytes >= rule->byte_low && bytes <= rule->byte_high)) {
            part->calls++;
            return;
        }
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Adds the calls of a row. A row has calls of unknown sizes if some are in the statistics only. */
static enum sg_status add_row(const struct sg_rule_uses *uses, const struct sg_report_site *row,
                              struct sg_map *sites, struct sg_rule_use *found)
{
    const struct part *parts = uses->parts + uses->rows[row->row].first;
    uint32_t count = uses->rows[row->row].count;
    bool is_whole = takes_all_sizes(uses->rules, parts[0].rule, row);
    uint64_t sized = 0;

    for (uint32_t i = 0; i < count; i++)
        sized += parts[i].calls;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rule = parts[i].rule;
        uint64_t calls = is_whole ? row->calls : parts[i].calls;
        bool is_new = false;

        found[rule].is_least |= !is_whole && row->calls > sized;
        if (calls == 0)
            continue;
        if (sg_map_number(sites, (uint64_t)rule << 32 | row->site, 1, &is_new) < 0)
            return SG_ERR_MEMORY;
        found[rule].sites += is_new;
        found[rule].calls += calls;
        uses->seen[rule] |= SG_RULE_SEEN_TAKEN;
    }
    return SG_OK;
}

static int distance_of(const char *pattern, const char *name)
{
    char near[SG_DISTANCE_BYTES + 1];

    snprintf(near, sizeof near, "%.*s", SG_DISTANCE_BYTES, name);
    return sg_text_distance(pattern, near);
}

/* The distance to the form of the name that is most like the pattern: the function, the line,
 * or both. */
static int distance_to(const char *pattern, const struct sg_report_site *row)
{
    const char *function = row->function != NULL ? row->function : "";
    char line[2 * SG_DISTANCE_BYTES] = "", both[4 * SG_DISTANCE_BYTES];
    int least = distance_of(pattern, function), other;

    if (row->file == NULL)
        return least;
    snprintf(line, sizeof line, "%s:%" PRIu32, sg_text_base_name(row->file), row->line);
    snprintf(both, sizeof both, "%s %s", function, line);
    if ((other = distance_of(pattern, line)) < least)
        least = other;
    return (other = distance_of(pattern, both)) < least ? other : least;
}

static const char *site_of(const struct sg_rule *rule, char text[SG_DISTANCE_BYTES + 1])
{
    int bytes = rule->site_kind == SG_RULE_SITE_LINE ? SG_DISTANCE_BYTES - 12 : SG_DISTANCE_BYTES;

    snprintf(text, SG_DISTANCE_BYTES + 1, "%.*s", bytes, rule->site != NULL ? rule->site : "");
    if (rule->site_kind == SG_RULE_SITE_LINE)
        snprintf(text + strlen(text), SG_DISTANCE_BYTES + 1 - strlen(text), ":%" PRIu32,
                 rule->line);
    return text;
}

/* Finds the call site, of those with the rule's operation, whose name is most like the rule's.
 * False: the rule names none, or some site matches. */
static bool find_nearest(const struct sg_rule *rule, const struct sg_report *report,
                         struct sg_rule_use *use)
{
    char pattern[SG_DISTANCE_BYTES + 1];
    bool is_name = rule->site_kind == SG_RULE_SITE_LINE || rule->site_kind == SG_RULE_SITE_FUNCTION;
    uint32_t most = is_name && report->rule_count <= RULES_COMPARED ? SITES_COMPARED : 0;
    int least = INT_MAX;
    bool matches = rule->site_kind == SG_RULE_SITE_ANY;

    site_of(rule, pattern);
    for (uint32_t i = 0; i < report->sum_count && !matches; i++) {
        const struct sg_report_site *row = &report->sums[i];
        const struct sg_rule_site site = sg_filter_rule_site(row);
        struct sg_rule place = *rule;
        int distance;

        if (rule->operation >= 0 && (int)row->operation != rule->operation)
            continue;
        place.comm_kind = SG_RULE_COMM_ANY;
        place.any_bytes = true;
        matches = sg_rule_matches(&place, row->has_id ? &site : NULL,
                                  &(struct sg_rule_comm){.name = NULL}, 0);
        distance = row->has_id && i < most ? distance_to(pattern, row) : INT_MAX;
        if (distance < least) {
            least = distance;
            use->nearest = *row;
        }
    }
    use->has_nearest = !matches && least < INT_MAX;
    return !matches;
}

/* The number of the trial whose first candidate the rule is; -1: it is no such rule. */
static int trial_of(const struct sg_ruleset *rules, int index)
{
    int arm = rules->rules[index].choice.arm, first, count;

    if (arm == 0)
        return -1;
    sg_trial_range(rules, sg_trial_of(rules, arm), &first, &count);
    return arm == first ? sg_trial_of(rules, arm) : -1;
}

/* Trials with calls have a section of their own. */
static bool is_listed(const struct sg_rule_uses *uses, int index, bool is_least)
{
    bool is_taken = (uses->seen[index] & SG_RULE_SEEN_TAKEN) != 0 || is_least;

    if (trial_of(uses->rules, index) >= 0)
        return !is_taken;
    return sg_ruleset_is_own(uses->rules, index) &&
           !sg_ruleset_is_of_messages(uses->rules, index) &&
           (is_taken || sg_ruleset_is_unmatched(uses->rules, index, uses->seen));
}

static void print_rule(const struct sg_ruleset *rules, int index, FILE *out)
{
    if (trial_of(rules, index) >= 0)
        fprintf(out, "trial %s", sg_trial_pattern(rules, trial_of(rules, index)));
    else
        sg_ruleset_print_rule(rules, index, out);
}

static enum sg_status finish_rule(const struct sg_rule_uses *uses, int index,
                                  const struct sg_report *report, struct sg_rule_use *use)
{
    const struct sg_rule *rule = &uses->rules->rules[index];
    size_t bytes;
    FILE *out = open_memstream(&use->rule, &bytes);

    if (out == NULL)
        return SG_ERR_MEMORY;
    print_rule(uses->rules, index, out);
    if (fclose(out) != 0)
        return SG_ERR_MEMORY;
    if ((uses->seen[index] & SG_RULE_SEEN_TAKEN) != 0 || use->is_least)
        return SG_OK;
    out = open_memstream(&use->reason, &bytes);
    if (out == NULL)
        return SG_ERR_MEMORY;
    if (uses->seen[index] == 0 && find_nearest(rule, report, use))
        fprintf(out, "matched no %s",
                rule->operation >= 0 ? sg_operation_names[rule->operation] : "call");
    else
        sg_ruleset_print_unmatched(uses->rules, index, uses->seen, out);
    return fclose(out) == 0 ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status finish_all(const struct sg_rule_uses *uses, struct sg_rule_use *found,
                                 struct sg_report *report)
{
    enum sg_status status = SG_OK;

    for (int i = 0; i < uses->rules->count && status == SG_OK; i++) {
        if (!is_listed(uses, i, found[i].is_least))
            continue;
        report->rules[report->rule_count] = found[i];
        status = finish_rule(uses, i, report, &report->rules[report->rule_count++]);
    }
    return status;
}

enum sg_status sg_rule_uses_finish(struct sg_rule_uses *uses, struct sg_report *report)
{
    struct sg_rule_use *found;
    struct sg_map sites = {0};
    enum sg_status status = SG_OK;

    if (uses->part_count == PARTS_MAX) /* some rows may lack theirs */
        return SG_OK;
    found = calloc((size_t)uses->rules->count, sizeof *found);
    report->rules = calloc((size_t)uses->rules->count, sizeof *report->rules);
    if (found == NULL || report->rules == NULL)
        status = SG_ERR_MEMORY;
    for (uint32_t i = 0; i < report->site_count && status == SG_OK; i++)
        status = add_row(uses, &report->sites[i], &sites, found);
    if (status == SG_OK)
        status = finish_all(uses, found, report);
    sg_map_clear(&sites);
    free(found);
    return status;
}

void sg_rule_use_clear(struct sg_rule_use *use)
{
    free(use->rule);
    free(use->reason);
}
