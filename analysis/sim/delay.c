/* stagger sim delay: synchronization delay, as paper 002 defines it in section 5.3. */
#include "sim/commands.h"
#include "sim/output.h"

#include <stdlib.h>
#include <string.h>

enum {
    USAGE = 2,
    KEY_OP = 'o',
    KEY_ALGO = 'a',
    KEY_NODES = 'n',
    KEY_LATE = 'l',
    KEY_ELEMENTS = 'e',
    KEY_SKEW = 's',
    KEY_WARMUP = 'w',
    KEY_EXACT = 'x'
};

#define ELEMENT_BYTES 8

static const char documentation[] =
    "Simulates barriers or allreduces and prints the synchronization delay, last exit minus last "
    "entry (us), and its multiple of one multicast latency.\v"
    "RANKS is a rank, a range FIRST-LAST, 'last' or 'deepest' (the rank furthest down in the "
    "algorithm's tree); US may be FACTORx, in latencies of the same call without skew. "
    "An algorithm is a name with parameters as in rules: 'adaptive(tokens=2)'. "
    "Elements are doubles. Exit status: 0, 1 on bad input, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"op", KEY_OP, "OP", 0, "barrier or allreduce (barrier)", 0},
    {"algo", KEY_ALGO, "A,...", 0, "algorithms (adaptive,tree)", 0},
    {"nodes", KEY_NODES, "N,...", 0, "nodes (16)", 0},
    {"late", KEY_LATE, "RANKS:US,...", 0, "who is late (deepest:2x)", 0},
    {"skew-us", KEY_SKEW, "US", 0, "largest random delay of every rank on top (0)", 0},
    {"elements", KEY_ELEMENTS, "N", 0, "elements of an operand (128)", 0},
    {"warmup", KEY_WARMUP, "N", 0, "calls before those measured (8)", 0},
    {"exact", KEY_EXACT, NULL, 0, "an operation that any order gives the same result", 0},
    {0},
};

struct options {
    struct sg_sim_common common;
    enum sg_operation operation;
    struct sg_sim_algos algos;
    struct sg_sim_numbers nodes, skew, elements, warmup;
    struct sg_sim_late late[SG_LATE_MAX];
    uint32_t late_count;
    const char *late_text;
};

static enum sg_operation parse_operation(struct argp_state *state, const char *text)
{
    if (strcmp(text, "allreduce") == 0)
        return SG_OPERATION_ALLREDUCE;
    if (strcmp(text, "barrier") != 0)
        argp_error(state, "--op is barrier or allreduce, not '%s'", text);
    return SG_OPERATION_BARRIER;
}

static void one_number(struct argp_state *state, const char *option, const char *text, double least,
                       double most, struct sg_sim_numbers *number)
{
    char room[160];
    const char *wrong = sg_sim_parse_numbers(text, least, most, true, number, room);

    if (wrong != NULL)
        argp_error(state, "--%s: %s", option, wrong);
    if (number->count > 1)
        argp_error(state, "--%s takes one number", option);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    const char *wrong = NULL;
    char room[160];

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case KEY_OP:
        options->operation = parse_operation(state, argument);
        return 0;
    case KEY_ALGO:
        wrong = sg_sim_parse_algos(argument, &options->algos, room);
        break;
    case KEY_NODES:
        wrong = sg_sim_parse_numbers(argument, 1, SG_ENDPOINTS_MAX, true, &options->nodes, room);
        break;
    case KEY_LATE:
        options->late_text = argument;
        wrong = sg_sim_parse_late(argument, options->late, &options->late_count, room);
        break;
    case KEY_SKEW:
        one_number(state, "skew-us", argument, 0, 1e6, &options->skew);
        return 0;
    case KEY_ELEMENTS:
        one_number(state, "elements", argument, 1, 1 << 24, &options->elements);
        return 0;
    case KEY_WARMUP:
        one_number(state, "warmup", argument, 0, 1e6, &options->warmup);
        return 0;
    case KEY_EXACT:
        options->common.options.flags |= SG_CALL_EXACT;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is taken: '%s'", argument);
        return USAGE;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (wrong != NULL)
        argp_error(state, "%s", wrong);
    return 0;
}

static void set_defaults(struct options *options)
{
    static const char late[] = "deepest:2x";
    char room[160];

    *options = (struct options){.late_text = late};
    sg_sim_common_init(&options->common, "infiniband-sdr", 4);
    sg_sim_parse_algos("adaptive,tree", &options->algos, room);
    sg_sim_parse_numbers("16", 1, 16, true, &options->nodes, room);
    sg_sim_parse_numbers("0", 0, 0, true, &options->skew, room);
    sg_sim_parse_numbers("128", 1, 128, true, &options->elements, room);
    sg_sim_parse_numbers("8", 0, 8, true, &options->warmup, room);
    sg_sim_parse_late(late, options->late, &options->late_count, room);
}

static json_t *row_of(const struct options *options, const struct sg_sim_case *one,
                      const struct sg_world_result *result)
{
    const struct sg_network *network = &options->common.options.network;
    bool barrier = one->operation == SG_OPERATION_BARRIER;
    uint64_t multicast_ns = sg_network_multicast_ns(network, barrier ? 0 : one->bytes);
    json_t *row = json_pack(
        "{s:s, s:s, s:i, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "algo", one->algo->text, "op",
        sg_operation_names[one->operation], "nodes", (int)one->nodes, "elements",
        barrier ? 0 : (int)(one->bytes / ELEMENT_BYTES), "late", options->late_text, "delay_us",
        sg_sim_real(result->delay_ns * 1e-3), "worst_us",
        sg_sim_real(result->worst_delay_ns * 1e-3), "multicast_us",
        sg_sim_real((double)multicast_ns * 1e-3), "multicasts",
        sg_sim_real(result->delay_ns / (double)multicast_ns), "fitted", sg_sim_fitted(network));

    if (row != NULL && options->common.stats)
        sg_sim_add_stats(row, result);
    return row;
}

static enum sg_status run_all(struct options *options, json_t *output)
{
    int total = options->algos.count * options->nodes.count;
    enum sg_status status = SG_OK;

    for (int i = 0; i < total && status == SG_OK; i++) {
        struct sg_sim_case one = {
            .algo = &options->algos.list[i / options->nodes.count],
            .operation = options->operation,
            .nodes = (int32_t)options->nodes.list[i % options->nodes.count],
            .bytes = (uint32_t)options->elements.list[0] * ELEMENT_BYTES,
            .skew_ns = sg_network_ns(options->skew.list[0]),
            .late = options->late,
            .late_count = options->late_count,
        };
        struct sg_world_result result;

        sg_sim_progress("synchronization delays", i, total);
        status = sg_measure_delay(&options->common.options, &one, &result);
        if (status == SG_OK)
            status = sg_sim_output_add(output, row_of(options, &one, &result));
    }
    sg_sim_progress(NULL, 0, 0);
    return status;
}

int sg_sim_delay_command(int argc, char **argv)
{
    static const struct argp_child children[] = {{&sg_sim_common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {option_table, parse_option, NULL, documentation,
                                     children,     NULL,         NULL};
    static char name[] = "stagger sim delay";
    struct options options;
    json_t *output;

    argv[0] = name;
    argp_err_exit_status = USAGE;
    set_defaults(&options);
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    options.common.options.warmup = (uint32_t)options.warmup.list[0];
    if (sg_sim_common_finish(&options.common) != SG_OK)
        return 1;
    output = sg_sim_output_new("delay", &options.common);
    if (output == NULL || run_all(&options, output) != SG_OK) {
        json_decref(output);
        return 1;
    }
    return sg_sim_output_print(output, options.common.format, stdout) == SG_OK ? 0 : 1;
}
