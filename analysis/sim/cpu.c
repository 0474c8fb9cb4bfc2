/* stagger sim cpu: processor use of a reduction or broadcast, as paper 000 measures it in section
 * VI. */
#include "sim/commands.h"
#include "sim/output.h"

static const char documentation[] =
    "Simulates reductions or broadcasts under process skew and prints the average processor use of "
    "a node (us), for the algorithm and for MPICH's blocking binomial tree, and their factor.\v"
    "An algorithm is a name with parameters as in rules: bypass, or 'bypass(linger=20)'; by "
    "default bypass, among 2,4,8,16,32 nodes. "
    "Elements are doubles. Exit status: 0, 1 on bad input, 2 on bad usage.";

static const enum sg_operation operations[] = {SG_OPERATION_REDUCE, SG_OPERATION_BCAST};
static const char *const operation_words[] = {"reduce", "bcast", NULL};

struct options {
    struct sg_sim_common common;
    int operation; /* of operations */
    struct sg_numbers skews, elements;
};

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"op", 'o', "OP", "reduce or bcast (default: reduce)", sg_option_word, AT(operation),
     .words = operation_words},
    {"skew-us", 's', "US,...", "largest skews (default: 0,200,400,600,800,1000)", sg_option_reals,
     AT(skews), .most = 1000000},
    {"elements", 'e', "N,...", "elements in an operand (default: 4,32,128)", sg_option_wholes,
     AT(elements), .least = 1, .most = 1 << 24},
    {"root", 'r', "NODE", "the root (default: 0)", sg_option_u32, AT(common.options.root),
     .most = SG_ENDPOINTS_MAX - 1},
    {0}};

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

/* Case number i: the algorithm varies slowest, the elements fastest. */
static struct sg_sim_case case_of(const struct options *options, int i)
{
    int elements = i % options->elements.count;
    int skews = i / options->elements.count % options->skews.count;
    int nodes = i / options->elements.count / options->skews.count % options->common.nodes.count;
    int algos = i / options->elements.count / options->skews.count / options->common.nodes.count;

    return (struct sg_sim_case){
        .algo = &options->common.algos.list[algos],
        .operation = operations[options->operation],
        .nodes = (int32_t)options->common.nodes.list[nodes],
        .skew_ns = sg_network_ns(options->skews.list[skews]),
        .bytes = (uint32_t)options->elements.list[elements] * SG_SIM_ELEMENT_BYTES,
    };
}

static enum sg_status measure_row(const void *of, int i, json_t **row)
{
    const struct options *options = of;
    struct sg_sim_case one = case_of(options, i);
    struct sg_world_result result, baseline;
    enum sg_status status = sg_measure_cpu(&options->common.options, &one, &result);

    if (status == SG_OK)
        status = sg_measure_blocking(&options->common.options, &one, &baseline);
    if (status == SG_OK)
        *row = row_of(options, &one, &result, &baseline);
    return status;
}

int sg_sim_cpu_command(int argc, char **argv)
{
    static char name[] = "stagger sim cpu";
    struct options options = {
        .common = sg_sim_common_of("myrinet2000", 1000),
        .skews = {{0, 200, 400, 600, 800, 1000}, 6},
        .elements = {{4, 32, 128}, 3},
    };
    const struct sg_command_line line = {
        name,
        NULL,
        documentation,
        {{option_table, &options}, {sg_sim_common_options, &options.common}},
        NULL};

    options.common.algos = (struct sg_sim_algos){{sg_sim_algo_of("bypass")}, 1};
    options.common.nodes = (struct sg_numbers){{2, 4, 8, 16, 32}, 5};
    if (!sg_options_read(&line, argc, argv))
        return SG_OPTIONS_USAGE;
    if (sg_sim_common_finish(&options.common) != SG_OK ||
        sg_sim_check_root(&options.common) != SG_OK)
        return 1;
    return sg_sim_print_rows("cpu", "processor use", &options.common,
                             options.common.algos.count * options.common.nodes.count *
                                 options.skews.count * options.elements.count,
                             measure_row, &options);
}
