/* The trials of a set: their candidates, where they apply, whose turn it is, and their parser. */
#include "rule/trial.h"

#include "core/hash.h"
#include "rule/ruleset.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- contents ------------------------------------------------------------------------------- */

int sg_trial_count(const struct sg_ruleset *rules)
{
    return rules->trial_count;
}

int sg_trial_arms(const struct sg_ruleset *rules)
{
    const struct sg_trial *last;

    if (rules->trial_count == 0)
        return 0;
    last = &rules->trials[rules->trial_count - 1];
    return last->first + last->count - 1;
}

int sg_trial_of(const struct sg_ruleset *rules, int arm)
{
    int trial = 0;

    while (arm >= rules->trials[trial].first + rules->trials[trial].count)
        trial++;
    return trial;
}

const char *sg_trial_pattern(const struct sg_ruleset *rules, int trial)
{
    return rules->trials[trial].pattern;
}

const char *sg_trial_arm_text(const struct sg_ruleset *rules, int arm)
{
    return rules->arm_texts[arm - 1];
}

void sg_trial_range(const struct sg_ruleset *rules, int trial, int *first, int *count)
{
    *first = rules->trials[trial].first;
    *count = rules->trials[trial].count;
}

/* ---- communicators that have the trial ------------------------------------------------------ */

static unsigned taken(const struct sg_trial *trial, const struct sg_rule_comm *comm)
{
    return trial->takes[comm->nonblocking][comm->reach];
}

bool sg_trial_takes(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm)
{
    const struct sg_trial *trial = &rules->trials[sg_trial_of(rules, arm)];

    return (taken(trial, comm) & 1u << (arm - trial->first)) != 0;
}

bool sg_trial_runs(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm)
{
    const struct sg_choice *choice = &rules->rules[arm - 1].choice;
    unsigned reach =
        sg_algorithm_reach(&rules->table.entries[choice->algorithm], choice->parameters);

    if (comm->nonblocking && choice->algorithm == SG_ALGORITHM_MPICH)
        return false;
    return reach == 0 || (reach & comm->reach) != 0;
}

/* ---- turns -----------------------------------------------------------------------------------*/

int sg_trial_order(uint32_t seed, int trial, uint64_t block, int arms)
{
    uint64_t round = block / (uint64_t)arms;
    uint64_t random = sg_hash_mix((uint64_t)seed << 8 | (uint64_t)trial);
    int order[SG_TRIAL_ARMS_MAX];

    assert(arms > 0 && arms <= SG_TRIAL_ARMS_MAX);
    random = sg_hash_mix(random ^ round);
    for (int i = 0; i < arms; i++)
        order[i] = i;
    for (int last = arms - 1; last > 0; last--) {
        int other, arm = order[last];

        random = sg_hash_mix(random + UINT64_C(0x9e3779b97f4a7c15));
        other = (int)((random >> 32) * (uint64_t)(last + 1) >> 32);
        order[last] = order[other];
        order[other] = arm;
    }
    return order[block % (uint64_t)arms];
}

const struct sg_choice *sg_trial_turn(const struct sg_ruleset *rules,
                                      const struct sg_choice *matched,
                                      const struct sg_rule_comm *comm, uint32_t seed,
                                      uint64_t block)
{
    int number = sg_trial_of(rules, matched->arm);
    const struct sg_trial *trial = &rules->trials[number];
    unsigned takes = taken(trial, comm);
    int turn = sg_trial_order(seed, number, block, __builtin_popcount(takes));
    int arm = trial->first;

    for (; turn > 0 || (takes & 1) == 0; takes >>= 1, arm++)
        turn -= takes & 1;
    return &rules->rules[arm - 1].choice;
}

/* ---- parsing: a rule's left side, then candidates separated by bars ---- */

/* State of parsing one trial. */
struct parsing {
    const struct sg_algorithm_table *table;
    const char *begin, *equals, *end; /* of the trial's text */
    struct sg_rule arms[SG_TRIAL_ARMS_MAX];
    char *texts[SG_TRIAL_ARMS_MAX];
    int count, room;
    struct sg_rule_fault fault; /* position within the trial's text */
};

/* Numbers identical candidates: a trial of an algorithm against itself shows the noise. */
static char *arm_text(const struct parsing *parsing, const char *begin, const char *end)
{
    size_t length = (size_t)(end - begin);
    int like = 1;
    char *text;

    for (int i = 0; i < parsing->count; i++)
        like += strncmp(parsing->texts[i], begin, length) == 0 &&
                (parsing->texts[i][length] == '\0' ||
                 strncmp(parsing->texts[i] + length, " #", 2) == 0);
    if (like == 1)
        return strndup(begin, length);
    return asprintf(&text, "%.*s #%d", (int)length, begin, like) < 0 ? NULL : text;
}

/* Parses "left=candidate" as a rule. */
static enum sg_status parse_arm(struct parsing *parsing, const char *begin, const char *end)
{
    int left_bytes = (int)(parsing->equals + 1 - parsing->begin);
    enum sg_status status = SG_ERR_MEMORY;
    struct sg_rule rule = {.any_bytes = true};
    char *text, *rule_text;

    begin = sg_rule_skip_blanks(begin, end);
    end = sg_rule_trim(begin, end);
    if (asprintf(&rule_text, "%.*s%.*s", left_bytes, parsing->begin, (int)(end - begin), begin) < 0)
        return SG_ERR_MEMORY;
    text = arm_text(parsing, begin, end);
    if (text != NULL)
        status = sg_rule_parse(parsing->table, rule_text, rule_text + strlen(rule_text), &rule,
                               &parsing->fault);
    if (status == SG_ERR_SYNTAX && parsing->fault.at - rule_text < left_bytes)
        parsing->fault.at = parsing->begin + (parsing->fault.at - rule_text);
    else if (status == SG_ERR_SYNTAX)
        parsing->fault.at = begin + (parsing->fault.at - rule_text - left_bytes);
    free(rule_text);
    if (status != SG_OK) {
        sg_rule_clear(&rule);
        free(text);
        return status;
    }
    parsing->arms[parsing->count] = rule;
    parsing->texts[parsing->count++] = text;
    return SG_OK;
}

static enum sg_status parse_arms(struct parsing *parsing)
{
    const char *begin = parsing->begin, *end = parsing->end;
    enum sg_status status = SG_OK;

    parsing->equals = sg_rule_find_plain(begin, end, "=");
    if (parsing->equals == end)
        return sg_rule_fail(&parsing->fault, sg_rule_trim(begin, end),
                            "expected '=' and algorithms separated by '|', found the end");
    for (const char *at = parsing->equals + 1; at <= end && status == SG_OK;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));

        if (bar == NULL)
            bar = end;
        if (parsing->count == parsing->room)
            return sg_rule_fail(&parsing->fault, at, "trials have more than %d algorithms in all",
                                SG_TRIAL_ARMS_MAX);
        status = parse_arm(parsing, at, bar);
        at = bar + 1;
    }
    if (status != SG_OK)
        return status;
    if (parsing->arms[0].operation < 0)
        return sg_rule_fail(&parsing->fault, begin, "expected one operation in a trial, found '*'");
    if (parsing->count == 1)
        return sg_rule_fail(&parsing->fault, end,
                            "expected '|' and a second algorithm, found the end");
    return SG_OK;
}

/* With reach 0 only MPICH's own algorithms run, so there is nothing to try. */
static void find_takes(const struct sg_ruleset *rules, struct sg_trial *trial)
{
    memset(trial->takes, 0, sizeof trial->takes);
    for (int nonblocking = 0; nonblocking <= 1; nonblocking++) {
        for (unsigned reach = SG_REACH_NODE; reach <= SG_REACH_INTERNODE; reach++) {
            const struct sg_rule_comm comm = {.reach = reach, .nonblocking = nonblocking};
            unsigned takes = 0;

            for (int i = 0; i < trial->count; i++)
                takes |= (unsigned)sg_trial_runs(rules, trial->first + i, &comm) << i;
            if (__builtin_popcount(takes) > 1)
                trial->takes[nonblocking][reach] = (uint16_t)takes;
        }
    }
}

/* Moves the parsed candidates to the set; on SG_ERR_MEMORY, some may stay with `parsing`. */
static enum sg_status add_trial(struct sg_rule_reader *reader, struct parsing *parsing,
                                struct sg_ruleset *set)
{
    struct sg_trial trial = {.first = set->count + 1, .count = parsing->count};
    const char *place_end = sg_rule_trim(parsing->begin, parsing->equals);

    trial.pattern = strndup(parsing->begin, (size_t)(place_end - parsing->begin));
    if (trial.pattern == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < trial.count; i++) {
        struct sg_choice *choice = &parsing->arms[i].choice;

        choice->arm = (uint16_t)(trial.first + i);
        choice->executed = sg_executed(choice->algorithm, choice->arm);
        if (sg_rule_add(set, reader->source, &parsing->arms[i]) != SG_OK) {
            free(trial.pattern);
            return SG_ERR_MEMORY;
        }
        memset(&parsing->arms[i], 0, sizeof parsing->arms[i]);
        set->arm_texts[trial.first + i - 1] = parsing->texts[i];
        parsing->texts[i] = NULL;
    }
    find_takes(set, &trial);
    set->trials[set->trial_count++] = trial;
    return SG_OK;
}

static enum sg_status parse_trial(struct sg_rule_reader *reader, const char *text,
                                  const char *begin, const char *end, struct sg_ruleset *set)
{
    struct parsing parsing = {.table = &reader->table,
                              .begin = begin,
                              .end = end,
                              .room = SG_TRIAL_ARMS_MAX - sg_trial_arms(set)};
    enum sg_status status = parse_arms(&parsing);

    if (status == SG_OK)
        status = add_trial(reader, &parsing, set);
    for (int i = 0; i < parsing.count; i++) {
        sg_rule_clear(&parsing.arms[i]);
        free(parsing.texts[i]);
    }
    if (status != SG_ERR_SYNTAX)
        return status;
    sg_rule_say(reader, text, begin, end, parsing.fault.at, parsing.fault.message);
    return SG_OK;
}

enum sg_status sg_trial_parse_list(struct sg_rule_reader *reader, const char *text,
                                   struct sg_ruleset *set)
{
    const char *at = text, *end = text + strlen(text), *begin, *stop;
    enum sg_status status = SG_OK;

    while (status == SG_OK && sg_rule_next_item(&at, end, &begin, &stop))
        status = parse_trial(reader, text, begin, sg_rule_trim(begin, stop), set);
    return status;
}

void sg_trials_clear(struct sg_ruleset *set)
{
    for (int i = 0; i < set->trial_count; i++)
        free(set->trials[i].pattern);
    for (int i = 0; i < SG_TRIAL_ARMS_MAX; i++)
        free(set->arm_texts[i]);
}
