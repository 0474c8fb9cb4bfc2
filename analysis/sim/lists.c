/* The lists that the simulator's options take: protocols with parameters, numbers, late ranks. */
#include "core/text.h"
#include "sim/options.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 160
#define RANK_MAX SG_ENDPOINTS_MAX

static const char *complain(char *room, const char *what, const char *text, size_t length)
{
    char excerpt[SG_EXCERPT_BYTES];

    snprintf(room, ROOM, "%s: '%s'", what, sg_text_excerpt(text, length, excerpt, sizeof excerpt));
    return room;
}

/* ---- protocols */

static const struct parameter {
    const char *name;
    uint8_t offset, size;
    uint32_t least, most;
    uint32_t unit; /* what the text counts */
} parameters[] = {
#define FIELD(field)                                                                               \
    offsetof(struct sg_algo_parameters, field), sizeof((struct sg_algo_parameters *)0)->field
    {"degree", FIELD(degree), 1, 32, 1},
    {"tokens", FIELD(tokens), 1, 4, 1},
    {"predict", FIELD(predict), 0, 1, 1},
    {"arrival_order", FIELD(arrival_order), 0, 1, 1},
    {"credits", FIELD(credits), 2, 64, 1},
    {"linger_auto", FIELD(linger_auto), 0, 1, 1},
    {"split", FIELD(split), 0, 1, 1},
    {"linger_us", FIELD(linger_ns), 0, 1000000, 1000},
    {"eager", FIELD(eager_bytes), 1, UINT32_MAX, 1},
    {"chunk", FIELD(chunk_bytes), 1, UINT32_MAX, 1},
    {"pool", FIELD(pool), 1, 64, 1},
    {"timeout_us", FIELD(timeout_ns), 1, 1000000, 1000},
#undef FIELD
};

static bool set_parameter(struct sg_algo_parameters *into, const char *name, size_t length,
                          uint64_t value)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        const struct parameter *one = &parameters[i];
        unsigned char *field = (unsigned char *)into + one->offset;

        if (strlen(one->name) != length || memcmp(one->name, name, length) != 0)
            continue;
        if (value < one->least || value > one->most)
            return false;
        if (one->size == 1) {
            *field = (uint8_t)value;
        } else {
            uint32_t scaled = (uint32_t)value * one->unit;

            memcpy(field, &scaled, sizeof scaled);
        }
        return true;
    }
    return false;
}

/* "(name=value,...)" at text; returns what follows, or NULL. */
static const char *parse_parameters(const char *text, struct sg_algo_parameters *into)
{
    do {
        const char *name = text + 1;
        size_t length = strcspn(name, "=,)");
        const char *after;
        uint64_t value;

        if (name[length] != '=')
            return NULL;
        after = sg_text_number(name + length + 1, text + strlen(text), true, &value);
        if (after == NULL || !set_parameter(into, name, length, value))
            return NULL;
        text = after;
    } while (*text == ',');
    return *text == ')' ? text + 1 : NULL;
}

static const struct sg_algo *find_algo(const char *name, size_t length)
{
    for (size_t i = 0; sg_algos[i] != NULL; i++) {
        if (strlen(sg_algos[i]->name) == length && memcmp(sg_algos[i]->name, name, length) == 0)
            return sg_algos[i];
    }
    return NULL;
}

/* One protocol; NULL, or what is wrong. *end is behind it. */
static const char *parse_algo(const char *text, struct sg_sim_algo *algo, const char **end,
                              char *room)
{
    size_t length = strcspn(text, "(,");

    *algo = (struct sg_sim_algo){.algo = find_algo(text, length)};
    if (algo->algo == NULL)
        return complain(room, "no such algorithm", text, length);
    *end = text + length;
    if (text[length] == '(') {
        *end = parse_parameters(text + length, &algo->parameters);
        if (*end == NULL || (**end != ',' && **end != '\0'))
            return complain(room, "no such parameter, or not in its range", text, strlen(text));
    }
    if ((size_t)(*end - text) >= sizeof algo->text)
        return complain(room, "too many parameters", text, strlen(text));
    memcpy(algo->text, text, (size_t)(*end - text));
    return NULL;
}

const char *sg_sim_parse_algos(const char *text, struct sg_sim_algos *algos, char room[ROOM])
{
    algos->count = 0;
    for (;;) {
        const char *wrong;

        if (algos->count == SG_SIM_LIST_MAX)
            return complain(room, "too many algorithms", text, strlen(text));
        wrong = parse_algo(text, &algos->list[algos->count++], &text, room);
        if (wrong != NULL || *text == '\0')
            return wrong;
        text++;
    }
}

struct sg_sim_algo sg_sim_algo_of(const char *text)
{
    struct sg_sim_algo algo;
    const char *end;
    char room[ROOM];

    if (parse_algo(text, &algo, &end, room) != NULL)
        abort();
    return algo;
}

/* ---- numbers */

static const char *number_end(const char *text, double *value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    *value = strtod(text, &end);
    return isfinite(*value) ? end : NULL;
}

const char *sg_sim_parse_numbers(const char *text, double least, double most, bool whole,
                                 struct sg_sim_numbers *numbers, char room[ROOM])
{
    numbers->count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        double value;

        if (number_end(text, &value) != text + length || value < least || value > most ||
            (whole && value != floor(value))) {
            char what[64];

            snprintf(what, sizeof what, "not a %snumber from %.0f to %.0f", whole ? "whole " : "",
                     least, most);
            return complain(room, what, text, length);
        }
        if (numbers->count == SG_SIM_LIST_MAX)
            return complain(room, "too many numbers", text, strlen(text));
        numbers->list[numbers->count++] = value;
        if (text[length] == '\0')
            return NULL;
        text += length + 1;
    }
}

/* ---- late ranks */

static bool starts(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* "RANK", "RANK-RANK", "last" or "deepest" at text; returns the colon behind it. */
static const char *parse_who(const char *text, struct sg_sim_late *late)
{
    const char *all = text + strlen(text);
    uint64_t first, last;

    if (starts(text, "last:") || starts(text, "deepest:")) {
        late->who = *text == 'l' ? SG_LATE_LAST : SG_LATE_DEEPEST;
        return strchr(text, ':');
    }
    text = sg_text_number(text, all, false, &first);
    last = first;
    if (text != NULL && *text == '-')
        text = sg_text_number(text + 1, all, false, &last);
    if (text == NULL || first > last || last >= RANK_MAX)
        return NULL;
    late->who = SG_LATE_RANKS;
    late->first = (int32_t)first;
    late->last = (int32_t)last;
    return text;
}

const char *sg_sim_parse_late(const char *text, struct sg_sim_late *late, uint32_t *count,
                              char room[ROOM])
{
    *count = 0;
    for (;;) {
        struct sg_sim_late one = {0};
        size_t length = strcspn(text, ",");
        const char *at = parse_who(text, &one);

        if (at != NULL && *at == ':')
            at = number_end(at + 1, &one.amount);
        else
            at = NULL;
        one.latencies = at != NULL && *at == 'x';
        if (at == NULL || at + one.latencies != text + length || one.amount > 1e9)
            return complain(room, "not RANKS:US or RANKS:FACTORx", text, length);
        if (*count == SG_LATE_MAX)
            return complain(room, "too many late ranks", text, strlen(text));
        late[(*count)++] = one;
        if (text[length] == '\0')
            return NULL;
        text += length + 1;
    }
}
