/* stagger sim cpu: processor use of a reduction, as paper 000 measures it in section VI. */
#include "sim/commands.h"
#include "sim/output.h"

#include <stdlib.h>

enum {
    USAGE = 2,
    KEY_ALGO = 'a',
    KEY_NODES = 'n',
    KEY_SKEW = 's',
    KEY_ELEMENTS = 'e',
    KEY_ROOT = 'r'
};

#define ELEMENT_BYTES 8

static const char documentation[] =
    "Simulates reductions under process skew and prints the average processor use of a node (us), "
    "for the algorithm, for the blocking binomial reduction, and their factor.\v"
    "An algorithm is a name with parameters as in rules: bypass, or 'bypass(linger_us=20)'. "
    "Elements are doubles. Exit status: 0, 1 on bad input, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"algo", KEY_ALGO, "A,...", 0, "algorithms (bypass)", 0},
    {"nodes", KEY_NODES, "N,...", 0, "nodes (2,4,8,16,32)", 0},
    {"skew-us", KEY_SKEW, "US,...", 0, "largest skews (0,200,400,600,800,1000)", 0},
    {"elements", KEY_ELEMENTS, "N,...", 0, "elements of an operand (4,32,128)", 0},
    {"root", KEY_ROOT, "NODE", 0, "the root (0)", 0},
    {0},
};

struct options {
    struct sg_sim_common common;
    struct sg_sim_algos algos;
    struct sg_sim_numbers nodes, skews, elements, root;
};

static void fail_on(struct argp_state *state, const char *option, const char *wrong)
{
    if (wrong != NULL)
        argp_error(state, "--%s: %s", option, wrong);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char room[160];

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case KEY_ALGO:
        fail_on(state, "algo", sg_sim_parse_algos(argument, &options->algos, room));
        return 0;
    case KEY_NODES:
        fail_on(state, "nodes",
                sg_sim_parse_numbers(argument, 1, SG_ENDPOINTS_MAX, true, &options->nodes, room));
        return 0;
    case KEY_SKEW:
        fail_on(state, "skew-us",
                sg_sim_parse_numbers(argument, 0, 1e6, false, &options->skews, room));
        return 0;
    case KEY_ELEMENTS:
        fail_on(state, "elements",
                sg_sim_parse_numbers(argument, 1, 1 << 24, true, &options->elements, room));
        return 0;
    case KEY_ROOT:
        fail_on(
            state, "root",
            sg_sim_parse_numbers(argument, 0, SG_ENDPOINTS_MAX - 1, true, &options->root, room));
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is taken: '%s'", argument);
        return USAGE;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void set_defaults(struct options *options)
{
    char room[160];

    sg_sim_common_init(&options->common, "myrinet2000", 1000);
    sg_sim_parse_algos("bypass", &options->algos, room);
    sg_sim_parse_numbers("2,4,8,16,32", 1, 32, true, &options->nodes, room);
    sg_sim_parse_numbers("0,200,400,600,800,1000", 0, 1000, true, &options->skews, room);
    sg_sim_parse_numbers("4,32,128", 1, 128, true, &options->elements, room);
    sg_sim_parse_numbers("0", 0, 0, true, &options->root, room);
}

static json_t *row_of(const struct options *options, const struct sg_sim_case *one,
                      const struct sg_world_result *result, const struct sg_world_result *baseline)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "algo", one->algo->text,
        "op", sg_operation_names[one->operation], "nodes", (int)one->nodes, "skew_us",
        sg_sim_real((double)one->skew_ns * 1e-3), "elements", (int)(one->bytes / ELEMENT_BYTES),
        "cpu_us", sg_sim_real(result->cpu_ns * 1e-3), "baseline_cpu_us",
        sg_sim_real(baseline->cpu_ns * 1e-3), "factor",
        sg_sim_real(result->cpu_ns > 0 ? baseline->cpu_ns / result->cpu_ns : 0), "signals",
        sg_sim_real(result->signals), "late", sg_sim_real(result->late), "early",
        sg_sim_real(result->early), "fitted", sg_sim_fitted(&options->common.options.network));

    if (row != NULL && options->common.stats)
        sg_sim_add_stats(row, result);
    return row;
}

static enum sg_status run_case(struct options *options, const struct sg_sim_case *one,
                               json_t *output)
{
    struct sg_sim_algo blocking = sg_sim_algo_of("tree(degree=1)");
    struct sg_sim_case baseline_case = *one;
    struct sg_world_result result, baseline;
    enum sg_status status = sg_measure_cpu(&options->common.options, one, &result);

    baseline_case.algo = &blocking;
    if (status == SG_OK)
        status = sg_measure_cpu(&options->common.options, &baseline_case, &baseline);
    if (status == SG_OK)
        status = sg_sim_output_add(output, row_of(options, one, &result, &baseline));
    return status;
}

/* Case number i, the algorithm varying slowest and the elements fastest. */
static struct sg_sim_case case_of(const struct options *options, int i)
{
    int elements = i % options->elements.count;
    int skews = i / options->elements.count % options->skews.count;
    int nodes = i / options->elements.count / options->skews.count % options->nodes.count;
    int algos = i / options->elements.count / options->skews.count / options->nodes.count;

    return (struct sg_sim_case){
        .algo = &options->algos.list[algos],
        .operation = SG_OPERATION_REDUCE,
        .nodes = (int32_t)options->nodes.list[nodes],
        .skew_ns = sg_network_ns(options->skews.list[skews]),
        .bytes = (uint32_t)options->elements.list[elements] * ELEMENT_BYTES,
    };
}

static enum sg_status check_root(struct options *options)
{
    options->common.options.root = (int32_t)options->root.list[0];
    for (int i = 0; i < options->nodes.count; i++) {
        if (options->root.list[0] >= options->nodes.list[i]) {
            sg_log("sim: no root %.0f among %.0f nodes", options->root.list[0],
                   options->nodes.list[i]);
            return SG_ERR_ARGUMENT;
        }
    }
    return SG_OK;
}

int sg_sim_cpu_command(int argc, char **argv)
{
    static const struct argp_child children[] = {{&sg_sim_common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {option_table, parse_option, NULL, documentation,
                                     children,     NULL,         NULL};
    static char name[] = "stagger sim cpu";
    struct options options;
    enum sg_status status;
    json_t *output;
    int total;

    argv[0] = name;
    argp_err_exit_status = USAGE;
    set_defaults(&options);
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return USAGE;
    if (sg_sim_common_finish(&options.common) != SG_OK || check_root(&options) != SG_OK)
        return 1;
    output = sg_sim_output_new("cpu", &options.common);
    total =
        options.algos.count * options.nodes.count * options.skews.count * options.elements.count;
    status = output != NULL ? SG_OK : SG_ERR_MEMORY;
    for (int i = 0; i < total && status == SG_OK; i++) {
        struct sg_sim_case one = case_of(&options, i);

        sg_sim_progress("processor use", i, total);
        status = run_case(&options, &one, output);
    }
    sg_sim_progress(NULL, 0, 0);
    if (status != SG_OK) {
        json_decref(output);
        return 1;
    }
    return sg_sim_output_print(output, options.common.format, stdout) == SG_OK ? 0 : 1;
}
