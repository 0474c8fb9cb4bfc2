#include "sim/explore_options.h"

#include "core/text.h"
#include "sim/explore_shrink.h"

#include <argp.h>
#include <string.h>

#define USAGE_STATUS 2
#define SEEDS_DEFAULT 1000
#define NODES_DEFAULT 9
#define EXHAUSTIVE_NODES_LOW 2
#define EXHAUSTIVE_NODES_HIGH 4

enum { KEY_EXHAUSTIVE = 256, KEY_NODES, KEY_MAX_NODES, KEY_ONLY, KEY_UNREDUCED };

static const char documentation[] =
    "Looks for errors of the protocols: each seed draws processes, communicators, instances, "
    "parameters and faults and runs them in one random order; after every event what the "
    "protocols promise is checked. A violation is printed with the command that repeats it and "
    "with the steps of the shortest case found.\v"
    "Faults: loss, repeat, reorder, delay, timers, slow, interrupt, poll.\n\n"
    "Exit status: 0, 1 on a violation or when a rare state was never reached (looked at from 1000 "
    "seeds a protocol up, with all faults), 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"algo", 'a', "LIST", 0, "protocols, with commas, or all (default: all)", 0},
    {"seeds", 's', "N", 0, "seeds to run (default: 1000)", 0},
    {"first", 'f', "SEED", 0, "the first of them (default: 1)", 0},
    {"faults", 'F', "LIST", 0, "faults to draw from: a list, all or none (default: all)", 0},
    {"max-nodes", KEY_MAX_NODES, "N", 0, "processes at most, to 64 (default: 9)", 0},
    {"trace", 't', NULL, 0, "print every step of every seed", 0},
    {"only", KEY_ONLY, "CUT", 0, "cut the scenario down, as a violation's replay command says", 0},
    {"exhaustive", KEY_EXHAUSTIVE, NULL, 0,
     "walk every order of two instances with at most one fault instead", 0},
    {"unreduced", KEY_UNREDUCED, NULL, 0, "... those that are equivalent to others, too", 0},
    {"nodes", KEY_NODES, "LOW..HIGH", 0, "... of so many processes (default: 2..3)", 0},
    {0},
};

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most,
                       struct argp_state *state)
{
    const char *end = text + strlen(text);
    uint64_t value = 0;

    if (sg_text_number(text, end, false, &value) != end || value < least || value > most)
        argp_error(state, "%s wants a number from %llu to %llu, not '%s'", option,
                   (unsigned long long)least, (unsigned long long)most, text);
    return value;
}

static void add_algo(struct sg_explore_options *options, const char *name, size_t length,
                     struct argp_state *state)
{
    bool all = length == 3 && memcmp(name, "all", 3) == 0;
    bool found = false;

    for (uint32_t i = 0; sg_algos[i] != NULL; i++) {
        const char *known = sg_algos[i]->name;
        bool listed = false;

        if (!all && (strlen(known) != length || memcmp(known, name, length) != 0))
            continue;
        found = true;
        for (uint32_t j = 0; j < options->algos_count; j++)
            listed |= options->algos[j] == sg_algos[i];
        if (!listed && options->algos_count < SG_EXPLORE_ALGOS_MAX)
            options->algos[options->algos_count++] = sg_algos[i];
    }
    if (!found)
        argp_error(state, "there is no protocol '%.*s'", (int)length, name);
}

static void set_algos(struct sg_explore_options *options, const char *text,
                      struct argp_state *state)
{
    options->algos_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");

        add_algo(options, text, length, state);
        if (text[length] == '\0')
            return;
        text += length + 1;
    }
}

static void set_faults(struct sg_explore_options *options, const char *text,
                       struct argp_state *state)
{
    const char *wrong;

    if (!sg_explore_faults_read(text, ',', &options->faults, &wrong))
        argp_error(state, "there is no fault '%.*s'", (int)strcspn(wrong, ","), wrong);
}

static void set_nodes(struct sg_explore_options *options, const char *text,
                      struct argp_state *state)
{
    const char *dots = strstr(text, "..");
    char low[16];

    if (dots != NULL && (size_t)(dots - text) < sizeof low) {
        memcpy(low, text, (size_t)(dots - text));
        low[dots - text] = '\0';
        options->nodes_low =
            (int32_t)number("--nodes", low, EXHAUSTIVE_NODES_LOW, EXHAUSTIVE_NODES_HIGH, state);
        text = dots + 2;
    } else {
        options->nodes_low = EXHAUSTIVE_NODES_LOW;
    }
    options->nodes_high = (int32_t)number("--nodes", text, (uint64_t)options->nodes_low,
                                          EXHAUSTIVE_NODES_HIGH, state);
    if (dots == NULL)
        options->nodes_low = options->nodes_high;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct sg_explore_options *options = state->input;
    const char *wrong;

    switch (key) {
    case 'a':
        set_algos(options, argument, state);
        return 0;
    case 's':
        options->seeds = number("--seeds", argument, 1, UINT32_MAX, state);
        return 0;
    case 'f':
        options->first = number("--first", argument, 0, UINT64_MAX / 2, state);
        return 0;
    case 'F':
        set_faults(options, argument, state);
        return 0;
    case KEY_MAX_NODES:
        options->max_nodes =
            (int32_t)number("--max-nodes", argument, 1, SG_EXPLORE_NODES_MAX, state);
        return 0;
    case 't':
        options->trace = true;
        return 0;
    case KEY_ONLY:
        if (!sg_explore_cut_read(argument, &options->cut, &wrong))
            argp_error(state, "--only does not know '%.*s'", (int)strcspn(wrong, ","), wrong);
        return 0;
    case KEY_EXHAUSTIVE:
        options->exhaustive = true;
        return 0;
    case KEY_UNREDUCED:
        options->unreduced = true;
        return 0;
    case KEY_NODES:
        set_nodes(options, argument, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected '%s'", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

bool sg_explore_options_read(int argc, char **argv, struct sg_explore_options *options)
{
    static const struct argp argp = {option_table, parse_option, "",  documentation,
                                     NULL,         NULL,         NULL};
    static char name[] = "stagger sim explore";

    *options = (struct sg_explore_options){
        .seeds = SEEDS_DEFAULT,
        .first = 1,
        .faults = SG_FAULTS_ALL,
        .max_nodes = NODES_DEFAULT,
        .nodes_low = EXHAUSTIVE_NODES_LOW,
        .nodes_high = EXHAUSTIVE_NODES_HIGH - 1,
        .cut = SG_EXPLORE_UNCUT,
    };
    while (sg_algos[options->algos_count] != NULL && options->algos_count < SG_EXPLORE_ALGOS_MAX) {
        options->algos[options->algos_count] = sg_algos[options->algos_count];
        options->algos_count++;
    }
    argv[0] = name;
    argp_err_exit_status = USAGE_STATUS;
    return argp_parse(&argp, argc, argv, 0, NULL, options) == 0;
}
