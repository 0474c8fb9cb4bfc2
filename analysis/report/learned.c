#include "report/learned.h"

#include "core/room.h"

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
