/* stagger sim delay: synchronization delay, as paper 002 defines it in section 5.3. */
#include "sim/commands.h"
#include "sim/output.h"

static const char documentation[] =
    "Simulates collectives and prints the synchronization delay, last exit minus last entry (us), "
    "and its multiple of one multicast latency.\v"
    "RANKS is a rank, a range FIRST-LAST, 'last' or 'deepest' (the rank furthest down in the "
    "algorithm's tree); US may be FACTORx, in latencies of the same call without skew. "
    "An algorithm is a name with parameters as in rules: 'adaptive(tokens=2)'; by "
    "default adaptive,tree (of reduce and bcast bypass,tree), among 16 nodes. "
    "Elements are doubles. Exit status: 0, 1 on bad input, 2 on bad usage.";

static const enum sg_operation operations[] = {SG_OPERATION_BARRIER, SG_OPERATION_ALLREDUCE,
                                               SG_OPERATION_REDUCE, SG_OPERATION_BCAST};
static const char *const operation_words[] = {"barrier", "allreduce", "reduce", "bcast", NULL};

struct options {
    struct sg_sim_common common;
    int operation; /* of operations */
    bool exact;
    uint32_t elements, skew_us;
    struct sg_sim_late late[SG_LATE_MAX];
    uint32_t late_count;
    const char *late_text;
};

#define AT(member) offsetof(struct options, member)

static const char *read_late(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    struct options *options = into;

    options->late_text = text;
    return sg_sim_parse_late(text, options->late, &options->late_count, fault);
}

static const struct sg_option option_table[] = {
    {"op", 'o', "OP", "barrier, allreduce, reduce or bcast (default: barrier)", sg_option_word,
     AT(operation), .words = operation_words},
    {"root", 'r', "NODE", "the root of a reduce or bcast (default: 0)", sg_option_u32,
     AT(common.options.root), .most = SG_ENDPOINTS_MAX - 1},
    {"late", 'l', "RANKS:US,...", "which ranks are late, and by how much (default: deepest:2x)",
     .read = read_late},
    {"skew-us", 's', "US", "largest additional random delay of every rank (default: 0)",
     sg_option_u32, AT(skew_us), .most = 1000000},
    {"elements", 'e', "N", "elements in an operand (default: 128)", sg_option_u32, AT(elements),
     .least = 1, .most = 1 << 24},
    {"warmup", 'w', "N", "calls before the measured ones (default: 8)", sg_option_u32,
     AT(common.options.warmup), .most = 1000000},
    {"exact", 'x', NULL, "an operation that gives the same result in any order", sg_option_flag,
     .at = AT(exact)},
    {0}};

static json_t *row_of(const struct options *options, const struct sg_sim_case *one,
                      const struct sg_world_result *result)
{
    const struct sg_network *network = &options->common.options.network;
    bool barrier = one->operation == SG_OPERATION_BARRIER;
    uint64_t multicast_ns = sg_network_multicast_ns(network, barrier ? 0 : one->bytes);
    json_t *row = json_pack(
        "{s:s, s:s, s:i, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "algo", one->algo->text, "op",
        sg_operation_names[one->operation], "nodes", (int)one->nodes, "elements",
        barrier ? 0 : (int)(one->bytes / SG_SIM_ELEMENT_BYTES), "late", options->late_text,
        "delay_us", sg_sim_real(result->delay_ns * 1e-3), "worst_us",
        sg_sim_real(result->worst_delay_ns * 1e-3), "multicast_us",
        sg_sim_real((double)multicast_ns * 1e-3), "multicasts",
        sg_sim_real(result->delay_ns / (double)multicast_ns), "fitted", sg_sim_fitted(network));

    if (row != NULL && options->common.stats)
        sg_sim_add_stats(row, result);
    return row;
}

/* Case number i: the algorithm varies more slowly than the nodes. */
static enum sg_status measure_row(const void *of, int i, json_t **row)
{
    const struct options *options = of;
    struct sg_sim_case one = {
        .algo = &options->common.algos.list[i / options->common.nodes.count],
        .operation = operations[options->operation],
        .nodes = (int32_t)options->common.nodes.list[i % options->common.nodes.count],
        .bytes = options->elements * SG_SIM_ELEMENT_BYTES,
        .skew_ns = sg_network_ns(options->skew_us),
        .late = options->late,
        .late_count = options->late_count,
    };
    struct sg_world_result result;
    enum sg_status status = sg_measure_delay(&options->common.options, &one, &result);

    if (status == SG_OK)
        *row = row_of(options, &one, &result);
    return status;
}

int sg_sim_delay_command(int argc, char **argv)
{
    static char name[] = "stagger sim delay";
    struct options options = {.common = sg_sim_common_of("infiniband-sdr", 4), .elements = 128};
    const struct sg_command_line line = {
        name,
        NULL,
        documentation,
        {{option_table, &options}, {sg_sim_common_options, &options.common}},
        NULL};
    char fault[SG_OPTION_FAULT_BYTES];

    options.common.options.warmup = 8;
    options.common.nodes = (struct sg_numbers){{16}, 1};
    read_late(NULL, "deepest:2x", &options, fault);
    if (!sg_options_read(&line, argc, argv))
        return SG_OPTIONS_USAGE;
    if (options.exact)
        options.common.options.flags |= SG_CALL_EXACT;
    if (options.common.algos.count == 0)
        options.common.algos = (struct sg_sim_algos){
            {sg_sim_algo_of(sg_operation_has_root(operations[options.operation]) ? "bypass"
                                                                                 : "adaptive"),
             sg_sim_algo_of("tree")},
            2};
    if (sg_sim_common_finish(&options.common) != SG_OK ||
        (sg_operation_has_root(operations[options.operation]) &&
         sg_sim_check_root(&options.common) != SG_OK))
        return 1;
    return sg_sim_print_rows("delay", "synchronization delays", &options.common,
                             options.common.algos.count * options.common.nodes.count, measure_row,
                             &options);
}
