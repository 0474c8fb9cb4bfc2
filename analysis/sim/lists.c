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

struct setting {
    const char *name, *value, *end;
    size_t length; /* length of the name */
};

/* Finds the parameter in the list that the setting names, or NULL. */
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

static bool put_setting(const struct sg_algo *algo, const struct setting *setting,
                        struct sg_algo_parameters *into)
{
    int64_t value = 0;
    const struct sg_parameter *found = find_parameter(algo->parameters, setting, &value);

    if (found == NULL && algo->parameters != NULL)
        found = find_parameter(sg_parameters_simulated(algo->parameters), setting, &value);
    if (found != NULL)
        found->put(found, value, into);
    return found != NULL;
}

/* Parses "(name=value,...)"; returns the rest of the text, or NULL. */
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

/* Formats "no such algorithm: 'magic'; there are bypass, tree". */
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

/* Parses one protocol; returns NULL, or what is wrong. *end points past it. */
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
            return complain(room, "no such parameter, or its value is out of range", text,
                            strlen(text));
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

/* Parses "RANK", "RANK-RANK", "last" or "deepest"; returns a pointer to the colon that follows. */
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

/* ---- options */

#define AT(member) offsetof(struct sg_sim_common, member)

static const char *read_algos(const struct sg_option *option, const char *text, void *into,
                              char *fault)
{
    return sg_sim_parse_algos(text, sg_option_place(option, into), fault);
}

static const char *read_setting(const struct sg_option *option, const char *text, void *into,
                                char *fault)
{
    struct sg_sim_common *common = into;

    if (common->settings_count == SG_SIM_SETTINGS_MAX)
        return sg_option_fault(fault, "can be given at most %d times", SG_SIM_SETTINGS_MAX);
    common->settings[common->settings_count++] = text;
    return NULL;
}

static const char *const modes[] = {"signal", "thread", "poll", NULL};
static const char *const node_levels[] = {"auto", "climb", "flat", "chunks", NULL};

#define NODES                                                                                      \
    {                                                                                              \
        "nodes", 'n', "N,...", "numbers of nodes", sg_option_wholes, AT(nodes),                    \
            .least = 1, .most = SG_ENDPOINTS_MAX, .group = 1                                       \
    }
#define NETWORK                                                                                    \
    {"network",      0,                                                                            \
     "NAME",         "the name of a network, or the path of its file",                             \
     sg_option_text, AT(network_name),                                                             \
     .group = 1},                                                                                  \
    {                                                                                              \
        "set", 0, "KEY=VALUE", "change one value of the network", read_setting, .group = 1         \
    }
#define SEED                                                                                       \
    {                                                                                              \
        "seed", 0, "SEED", "the seed of all random numbers (default: 1)", sg_option_u64,           \
            AT(options.seed), .most = UINT64_MAX, .group = 1                                       \
    }
#define FORMATS                                                                                    \
    {"json",                                                                                       \
     'j',                                                                                          \
     NULL,                                                                                         \
     "print JSON",                                                                                 \
     sg_option_least,                                                                              \
     AT(format),                                                                                   \
     .least = SG_SIM_JSON,                                                                         \
     .excludes = "csv",                                                                            \
     .group = 2},                                                                                  \
    {                                                                                              \
        "csv", 'c', NULL, "print CSV", sg_option_least, AT(format), .least = SG_SIM_CSV,           \
                                                                    .group = 2                     \
    }

const struct sg_option sg_sim_format_options[] = {FORMATS, {0}};
const struct sg_option sg_sim_program_options[] = {NODES, NETWORK, SEED, FORMATS, {0}};

const struct sg_option sg_sim_common_options[] = {
    {"algo", 'a', "A,...", "algorithms", read_algos, AT(algos), .group = 1},
    NODES,
    NETWORK,
    {"mode", 0, "MODE", "progress during computation: signal, thread or poll", sg_option_word,
     AT(options.mode), .words = modes, .group = 1},
    {"ranks-per-node", 0, "K", "processes on each node (default: 1)", sg_option_u32,
     AT(options.ranks_per_node), .least = 1, .most = 64, .group = 1},
    {"node-level", 0, "WAY", "how they combine: auto (as in the library), climb, flat or chunks",
     sg_option_word, AT(options.node_level), .words = node_levels, .group = 1},
    {"chunk", 0, "BYTES", "cut larger calls into chunks; 0: never (default: as in the library)",
     sg_option_u32, AT(options.chunk_bytes), .most = 1u << 30, .group = 1},
    {"iterations", 0, "N", "calls to measure", sg_option_u32, AT(options.iterations), .least = 1,
     .most = 10000000, .group = 1},
    SEED,
    FORMATS,
    {"stats", 0, NULL, "add events, events a second, bytes a process, history, requests",
     sg_option_flag, AT(stats), .group = 2},
    {0}};

struct sg_sim_common sg_sim_common_of(const char *network, uint32_t iterations)
{
    return (struct sg_sim_common){
        .network_name = network,
        .options = {.seed = 1,
                    .iterations = iterations,
                    .ranks_per_node = 1,
                    .chunk_bytes = SG_WORLD_CHUNKS_AUTO,
                    .flags = SG_CALL_COMMUTATIVE},
    };
}

enum sg_status sg_sim_common_finish(struct sg_sim_common *common)
{
    enum sg_status status = sg_network_read("sim", common->network_name, &common->options.network);

    for (int i = 0; i < common->settings_count && status == SG_OK; i++)
        status = sg_network_set(&common->options.network, common->settings[i]);
    return status;
}

enum sg_status sg_sim_check_root(const struct sg_sim_common *common)
{
    int32_t root = common->options.root;

    for (int i = 0; i < common->nodes.count; i++) {
        if (root >= common->nodes.list[i]) {
            sg_log("sim: no root %d among %.0f nodes", root, common->nodes.list[i]);
            return SG_ERR_ARGUMENT;
        }
    }
    return SG_OK;
}
