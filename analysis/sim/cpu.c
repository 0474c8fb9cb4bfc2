/* stagger sim cpu: processor use of a reduction, as paper 000 measures it in section VI. */
#include "sim/commands.h"
#include "sim/output.h"

enum { KEY_SKEW = 's', KEY_ELEMENTS = 'e', KEY_ROOT = 'r' };

static const char documentation[] =
    "Simulates reductions under process skew and prints the average processor use of a node (us), "
    "for the algorithm, for the blocking binomial reduction, and their factor.\v"
    "An algorithm is a name with parameters as in rules: bypass, or 'bypass(linger=20)'; bypass "
    "unless told, among 2,4,8,16,32 nodes. "
    "Elements are doubles. Exit status: 0, 1 on bad input, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"skew-us", KEY_SKEW, "US,...", 0, "largest skews (0,200,400,600,800,1000)", 0},
    {"elements", KEY_ELEMENTS, "N,...", 0, "elements of an operand (4,32,128)", 0},
    {"root", KEY_ROOT, "NODE", 0, "the root (0)", 0},
    {0},
};

struct options {
    struct sg_sim_common common;
    struct sg_sim_numbers skews, elements;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char room[SG_SIM_COMPLAINT_BYTES];

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case KEY_SKEW:
        sg_sim_check_option(state, "skew-us",
                            sg_sim_parse_numbers(argument, 0, 1e6, false, &options->skews, room));
        return 0;
    case KEY_ELEMENTS:
        sg_sim_check_option(
            state, "elements",
            sg_sim_parse_numbers(argument, 1, 1 << 24, true, &options->elements, room));
        return 0;
    case KEY_ROOT:
        options->common.options.root =
            (int32_t)sg_sim_parse_count(state, "root", argument, 0, SG_ENDPOINTS_MAX - 1);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void set_defaults(struct options *options)
{
    char room[SG_SIM_COMPLAINT_BYTES];

    sg_sim_common_init(&options->common, "myrinet2000", 1000);
    sg_sim_parse_algos("bypass", &options->common.algos, room);
    sg_sim_parse_numbers("2,4,8,16,32", 1, 32, true, &options->common.nodes, room);
    sg_sim_parse_numbers("0,200,400,600,800,1000", 0, 1000, true, &options->skews, room);
    sg_sim_parse_numbers("4,32,128", 1, 128, true, &options->elements, room);
}

static json_t *row_of(const struct options *options, const struct sg_sim_case *one,
                      const struct sg_world_result *result, const struct sg_world_result *baseline)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "algo", one->algo->text,
        "op", sg_operation_names[one->operation], "nodes", (int)one->nodes, "skew_us",
        sg_sim_real((double)one->skew_ns * 1e-3), "elements",
        (int)(one->bytes / SG_SIM_ELEMENT_BYTES), "cpu_us", sg_sim_real(result->cpu_ns * 1e-3),
        "baseline_cpu_us", sg_sim_real(baseline->cpu_ns * 1e-3), "factor",
        sg_sim_real(result->cpu_ns > 0 ? baseline->cpu_ns / result->cpu_ns : 0), "signals",
        sg_sim_real(result->signals), "late", sg_sim_real(result->late), "early",
        sg_sim_real(result->early), "fitted", sg_sim_fitted(&options->common.options.network));

    if (row != NULL && options->common.stats)
        sg_sim_add_stats(row, result);
    return row;
}

/* Case number i, the algorithm varying slowest and the elements fastest. */
static struct sg_sim_case case_of(const struct options *options, int i)
{
    int elements = i % options->elements.count;
    int skews = i / options->elements.count % options->skews.count;
    int nodes = i / options->elements.count / options->skews.count % options->common.nodes.count;
    int algos = i / options->elements.count / options->skews.count / options->common.nodes.count;

    return (struct sg_sim_case){
        .algo = &options->common.algos.list[algos],
        .operation = SG_OPERATION_REDUCE,
        .nodes = (int32_t)options->common.nodes.list[nodes],
        .skew_ns = sg_network_ns(options->skews.list[skews]),
        .bytes = (uint32_t)options->elements.list[elements] * SG_SIM_ELEMENT_BYTES,
    };
}

static enum sg_status measure_row(const void *of, int i, json_t **row)
{
    const struct options *options = of;
    struct sg_sim_algo blocking = sg_sim_algo_of("tree(degree=1)");
    struct sg_sim_case one = case_of(options, i), baseline_case = one;
    struct sg_world_result result, baseline;
    enum sg_status status = sg_measure_cpu(&options->common.options, &one, &result);

    baseline_case.algo = &blocking;
    if (status == SG_OK)
        status = sg_measure_cpu(&options->common.options, &baseline_case, &baseline);
    if (status == SG_OK)
        *row = row_of(options, &one, &result, &baseline);
    return status;
}

static enum sg_status check_root(const struct options *options)
{
    int32_t root = options->common.options.root;

    for (int i = 0; i < options->common.nodes.count; i++) {
        if (root >= options->common.nodes.list[i]) {
            sg_log("sim: no root %d among %.0f nodes", root, options->common.nodes.list[i]);
            return SG_ERR_ARGUMENT;
        }
    }
    return SG_OK;
}

int sg_sim_cpu_command(int argc, char **argv)
{
    static const struct argp argp = {option_table,           parse_option, NULL, documentation,
                                     sg_sim_common_children, NULL,         NULL};
    static char name[] = "stagger sim cpu";
    struct options options;

    set_defaults(&options);
    if (!sg_sim_read_arguments(&argp, name, argc, argv, &options))
        return SG_SIM_USAGE;
    if (sg_sim_common_finish(&options.common) != SG_OK || check_root(&options) != SG_OK)
        return 1;
    return sg_sim_print_rows("cpu", "processor use", &options.common,
                             options.common.algos.count * options.common.nodes.count *
                                 options.skews.count * options.elements.count,
                             measure_row, &options);
}
