#include "sim/options.h"

#include "core/text.h"

#include <errno.h>
#include <string.h>

enum {
    KEY_ALGO = 'a',
    KEY_NODES = 'n',
    KEY_JSON = 'j',
    KEY_CSV = 'c',
    KEY_NETWORK = 0x100,
    KEY_SET,
    KEY_SEED,
    KEY_ITERATIONS,
    KEY_MODE,
    KEY_RANKS,
    KEY_STATS
};

static const struct argp_option option_table[] = {
    {"algo", KEY_ALGO, "A,...", 0, "algorithms", 1},
    {"nodes", KEY_NODES, "N,...", 0, "nodes", 1},
    {"network", KEY_NETWORK, "NAME", 0, "a network's name, or the path of its file", 1},
    {"set", KEY_SET, "KEY=VALUE", 0, "change one value of the network", 1},
    {"mode", KEY_MODE, "MODE", 0, "progress while computing: signal, thread or poll", 1},
    {"ranks-per-node", KEY_RANKS, "K", 0, "processes on each node (1)", 1},
    {"iterations", KEY_ITERATIONS, "N", 0, "calls that are measured", 1},
    {"seed", KEY_SEED, "SEED", 0, "of all random numbers (1)", 1},
    {"json", KEY_JSON, NULL, 0, "print JSON", 2},
    {"csv", KEY_CSV, NULL, 0, "print CSV", 2},
    {"stats", KEY_STATS, NULL, 0, "events, events a second, bytes a process, history, requests", 2},
    {0},
};

bool sg_sim_read_arguments(const struct argp *argp, char *name, int argc, char **argv, void *input)
{
    argv[0] = name;
    argp_err_exit_status = SG_SIM_USAGE;
    return argp_parse(argp, argc, argv, 0, NULL, input) == 0;
}

void sg_sim_check_option(struct argp_state *state, const char *option, const char *wrong)
{
    if (wrong != NULL)
        argp_error(state, "--%s: %s", option, wrong);
}

uint64_t sg_sim_parse_count(struct argp_state *state, const char *option, const char *text,
                            uint64_t least, uint64_t most)
{
    const char *end = text + strlen(text);
    uint64_t value;

    if (sg_text_number(text, end, false, &value) != end || value < least || value > most)
        argp_error(state, "--%s wants a number from %llu to %llu, not '%s'", option,
                   (unsigned long long)least, (unsigned long long)most, text);
    return value;
}

static enum sg_sim_mode parse_mode(struct argp_state *state, const char *text)
{
    if (strcmp(text, "thread") == 0)
        return SG_SIM_THREAD;
    if (strcmp(text, "poll") == 0)
        return SG_SIM_POLL;
    if (strcmp(text, "signal") != 0)
        argp_error(state, "--mode is signal, thread or poll, not '%s'", text);
    return SG_SIM_SIGNAL;
}

static void set_format(struct argp_state *state, enum sg_sim_format format)
{
    struct sg_sim_common *common = state->input;

    if (common->format != SG_SIM_TEXT && common->format != format)
        argp_error(state, "--json and --csv exclude each other");
    common->format = format;
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    struct sg_sim_common *common = state->input;
    struct sg_sim_options *options = &common->options;
    char room[SG_SIM_COMPLAINT_BYTES];

    switch (key) {
    case KEY_ALGO:
        sg_sim_check_option(state, "algo", sg_sim_parse_algos(argument, &common->algos, room));
        return 0;
    case KEY_NODES:
        sg_sim_check_option(
            state, "nodes",
            sg_sim_parse_numbers(argument, 1, SG_ENDPOINTS_MAX, true, &common->nodes, room));
        return 0;
    case KEY_NETWORK:
        common->network_name = argument;
        return 0;
    case KEY_SET:
        if (common->settings_count == SG_SIM_LIST_MAX)
            argp_error(state, "at most %d --set", SG_SIM_LIST_MAX);
        common->settings[common->settings_count++] = argument;
        return 0;
    case KEY_SEED:
        options->seed = sg_sim_parse_count(state, "seed", argument, 0, UINT64_MAX);
        return 0;
    case KEY_ITERATIONS:
        options->iterations =
            (uint32_t)sg_sim_parse_count(state, "iterations", argument, 1, 10000000);
        return 0;
    case KEY_MODE:
        options->mode = parse_mode(state, argument);
        return 0;
    case KEY_RANKS:
        options->ranks_per_node =
            (int32_t)sg_sim_parse_count(state, "ranks-per-node", argument, 1, 64);
        return 0;
    case KEY_JSON:
        set_format(state, SG_SIM_JSON);
        return 0;
    case KEY_CSV:
        set_format(state, SG_SIM_CSV);
        return 0;
    case KEY_STATS:
        common->stats = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is taken: '%s'", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common_argp = {option_table, parse_common, NULL, NULL, NULL, NULL, NULL};

const struct argp_child sg_sim_common_children[] = {{&common_argp, 0, NULL, 0}, {0}};

void sg_sim_common_init(struct sg_sim_common *common, const char *network, uint32_t iterations)
{
    *common = (struct sg_sim_common){
        .network_name = network,
        .options = {.seed = 1,
                    .iterations = iterations,
                    .ranks_per_node = 1,
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
