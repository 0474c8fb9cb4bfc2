#include "sim/lists.h"

#include "core/status.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM SG_OPTION_FAULT_BYTES
#define RANK_MAX SG_ENDPOINTS_MAX

static const char *complain(char *room, const char *what, const char *text, size_t length)
{
    char excerpt[SG_EXCERPT_BYTES];

    snprintf(room, ROOM, ": %s: '%s'", what,
             sg_text_excerpt(text, length, excerpt, sizeof excerpt));
    return room;
}

/* ---- protocols */

/* Spellings that are accepted until the next release; documentation: the present spelling. */
#define FIELD(field, scale) SG_PARAMETER_FIELD(field, scale)
static const struct sg_parameter old_spellings[] = {
    {"arrival_order", SG_PARAMETER_INTEGER, 0, 1, NULL, NULL, NULL, "deterministic, the opposite,",
     sg_parameter_put_number, FIELD(arrival_order, 1)},
    {"linger_auto", SG_PARAMETER_INTEGER, 0, 1, NULL, NULL, NULL, "linger=auto",
     sg_parameter_put_number, FIELD(linger_auto, 1)},
    {"linger_us", SG_PARAMETER_INTEGER, 0, 1000000, NULL, NULL, NULL, "linger",
     sg_parameter_put_number, FIELD(linger_ns, 1000)},
    {"timeout_us", SG_PARAMETER_INTEGER, 1, 1000000, NULL, NULL, NULL, "timeout",
     sg_parameter_put_number, FIELD(timeout_ns, 1000)},
    {"chunk", SG_PARAMETER_INTEGER, 65, UINT32_MAX, NULL, NULL, NULL, "chunk in KiB, 64 at most,",
     sg_parameter_put_number, FIELD(chunk_bytes, 1)},
    {"degree", SG_PARAMETER_INTEGER, 1, 1, NULL, NULL, NULL, "a degree of 2 or more",
     sg_parameter_put_number, FIELD(degree, 1)},
    {NULL, SG_PARAMETER_INTEGER, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0},
};
#undef FIELD

struct setting {
    const char *name, *value, *end;
    size_t length; /* of the name */
};

/* The parameter of a list that the setting names, or NULL. */
static const struct sg_parameter *find_parameter(const struct sg_parameter *list,
                                                 const struct setting *setting, int64_t *value)
{
    for (; list != NULL && list->name != NULL; list++) {
        if (list->put != NULL && strlen(list->name) == setting->length &&
            memcmp(list->name, setting->name, setting->length) == 0 &&
            sg_parameter_parse(list, setting->value, setting->end, value))
            return list;
    }
    return NULL;
}

static const struct sg_parameter *find_own(const struct sg_algo *algo,
                                           const struct setting *setting, int64_t *value)
{
    const struct sg_parameter *found = find_parameter(algo->parameters, setting, value);

    if (found == NULL && algo->parameters != NULL)
        found = find_parameter(sg_parameters_simulated(algo->parameters), setting, value);
    return found;
}

static bool put_setting(const struct sg_algo *algo, const struct setting *setting,
                        struct sg_algo_parameters *into)
{
    int64_t value = 0;
    const struct sg_parameter *found = find_own(algo, setting, &value);

    if (found == NULL) {
        found = find_parameter(old_spellings, setting, &value);
        if (found != NULL)
            sg_log("sim: %s takes the place of %.*s, which the next release will refuse",
                   found->documentation, (int)(setting->end - setting->name), setting->name);
    }
    for (size_t i = 0; found == NULL && sg_algos[i] != NULL; i++) {
        found = find_own(sg_algos[i], setting, &value);
        if (found != NULL)
            sg_log("sim: %s has no parameter %s, which the next release will refuse", algo->name,
                   found->name);
    }
    if (found != NULL)
        found->put(found, value, into);
    return found != NULL;
}

/* "(name=value,...)" at text; returns what follows, or NULL. */
static const char *parse_parameters(const char *text, const struct sg_algo *algo,
                                    struct sg_algo_parameters *into)
{
    do {
        struct setting setting = {.name = text + 1, .length = strcspn(text + 1, "=,)")};

        setting.value = setting.name + setting.length + 1;
        if (setting.value[-1] != '=')
            return NULL;
        setting.end = setting.value + strcspn(setting.value, ",)");
        if (!put_setting(algo, &setting, into))
            return NULL;
        text = setting.end;
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

/* "no such algorithm: 'magic'; there are bypass, tree". */
static const char *refuse_algo(const char *text, size_t length, char *room)
{
    size_t used;

    complain(room, "no such algorithm", text, length);
    used = strlen(room);
    for (size_t i = 0; sg_algos[i] != NULL && used < ROOM; i++)
        used += (size_t)snprintf(room + used, ROOM - used, "%s%s", i > 0 ? ", " : "; there are ",
                                 sg_algos[i]->name);
    return room;
}

/* One protocol; NULL, or what is wrong. *end points past it. */
static const char *parse_algo(const char *text, struct sg_sim_algo *algo, const char **end,
                              char *room)
{
    size_t length = strcspn(text, "(,");

    *algo = (struct sg_sim_algo){.algo = find_algo(text, length)};
    if (algo->algo == NULL)
        return refuse_algo(text, length, room);
    *end = text + length;
    if (text[length] == '(') {
        *end = parse_parameters(text + length, algo->algo, &algo->parameters);
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

/* ---- late ranks */

static const char *number_end(const char *text, double *value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    *value = strtod(text, &end);
    return isfinite(*value) ? end : NULL;
}

static bool starts(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* "RANK", "RANK-RANK", "last" or "deepest" at text; returns a pointer to the colon that follows. */
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
