#include "report/learned.h"

#include "core/room.h"
#include "output/format.h"
#include "report/report_print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one text --------------------------------------------------------------------------------*/

/* Searches from the end, because names of functions and communicators may contain anything. */
static char *find_last(char *text, const char *what)
{
    char *last = NULL;

    for (char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        last = at;
    return last;
}

static bool take_arm(struct sg_learned_place *place, char *word)
{
    char *equals = strrchr(word, '='), *end;
    double cost_ns;

    if (equals == NULL || equals == word || place->arm_count == SG_LEARNED_ARMS_MAX ||
        !isdigit((unsigned char)equals[1]))
        return false;
    cost_ns = strtod(equals + 1, &end);
    if (*end != '\0' || !(cost_ns >= 0 && cost_ns < 1e18))
        return false;
    *equals = '\0';
    place->arms[place->arm_count++] = (struct sg_learned_arm){word, cost_ns};
    return true;
}

/* Returns the last "=" that is not in parentheses; the best candidate follows it. */
static char *find_choice(char *text)
{
    size_t at = strlen(text);
    int depth = 0;

    while (at-- > 0) {
        depth += (text[at] == ')') - (text[at] == '(');
        if (depth == 0 && text[at] == '=')
            return text + at;
    }
    return NULL;
}

/* Parses place->rule, which it cuts into pieces. False: malformed. */
static bool parse(struct sg_learned_place *place)
{
    static const char counts_begin[] = "; calls=";
    char *counts = find_last(place->rule, counts_begin), *arms, *choice, *rest = NULL;
    int used = 0;

    if (counts == NULL)
        return false;
    if (sscanf(counts, "; calls=%20" SCNu64 " learnings=%10" SCNu64 " changes=%10" SCNu64 ";%n",
               &place->calls, &place->learnings, &place->changes, &used) != 3 ||
        used == 0)
        return false;
    *counts = '\0';
    choice = find_choice(place->rule);
    if (choice == NULL || choice == place->rule || choice[1] == '\0')
        return false;
    *choice = '\0';
    place->arm = choice + 1;
    arms = counts + used;
    for (char *word = strtok_r(arms, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (!take_arm(place, word))
            return false;
    }
    return place->arm_count > 0;
}

/* ---- all of them -----------------------------------------------------------------------------*/

enum sg_status sg_learned_add(struct sg_learned *learned, uint32_t rank, const char *text)
{
    struct sg_learned_place place = {.rank = rank, .rule = strdup(text)};

    if (place.rule == NULL)
        return SG_ERR_MEMORY;
    if (!parse(&place)) {
        free(place.rule);
        return SG_OK;
    }
    for (uint32_t i = 0; i < learned->count; i++) {
        struct sg_learned_place *known = &learned->places[i];

        if (known->rank != rank || strcmp(known->rule, place.rule) != 0)
            continue;
        free(known->rule);
        *known = place;
        return SG_OK;
    }
    if (SG_APPEND(learned->places, learned->count, place))
        return SG_OK;
    free(place.rule);
    return SG_ERR_MEMORY;
}

void sg_learned_clear(struct sg_learned *learned)
{
    for (uint32_t i = 0; i < learned->count; i++)
        free(learned->places[i].rule);
    free(learned->places);
    *learned = (struct sg_learned){0};
}

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

/* ---- printing -------------------------------------------------------------------------------- */

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
static const struct sg_columns all = {columns, sizeof columns / sizeof *columns};

static struct sg_rows rows_of(const struct sg_report *report,
                              const struct sg_print_options *options)
{
    return SG_ROWS(report->learned.places, report->learned.count, NULL);
}

const struct sg_report_section sg_learned_section = {
    .limit = SG_ROWS_ALL,
    .rows = rows_of,
    .table = {.member = "learned", .json = {&all}, .text = {&all}}};

SG_REPORT_MEMBER(sg_learned_put)
{
    sg_report_put(&sg_learned_section, report, options, writer);
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
