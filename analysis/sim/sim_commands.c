/* The commands cpu, delay and lines of stagger sim, each with its options and rows.
 *
 * stagger sim cpu: processor use of a reduction or broadcast, measured as in paper 000, section
 * VI. */
#include "sim/sim_commands.h"

#include "sim/clusters.h"
#include "sim/sim_output.h"

#include <stdlib.h>

static const char documentation[] =
    "Simulates reductions or broadcasts under process skew and prints the average processor use of "
    "a node (us), for the algorithm and for MPICH's blocking binomial tree, and their factor.\v"
    "An algorithm is a name with parameters as in rules: bypass, or 'bypass(linger=20)'; by "
    "default bypass, among 2,4,8,16,32 nodes. "
    "Elements are doubles. Exit status: 0; 1 on bad input; 2 on bad usage.";

static const enum sg_operation operations[] = {SG_OPERATION_REDUCE, SG_OPERATION_BCAST};
static const char *const operation_words[] = {"reduce", "bcast", NULL};

struct options {
    struct sg_sim_common common;
    int operation; /* index in operations */
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
    struct options options = {
        .common = sg_sim_common_of("myrinet2000", 1000),
        .skews = {{0, 200, 400, 600, 800, 1000}, 6},
        .elements = {{4, 32, 128}, 3},
    };
    struct sg_command_line line = {
        .name = "stagger sim cpu",
        .documentation = documentation,
        .tables = {{option_table, &options}, {sg_sim_common_options, &options.common}}};

    options.common.algos = (struct sg_sim_algos){{sg_sim_algo_of("bypass")}, 1};
    options.common.nodes = (struct sg_numbers){{2, 4, 8, 16, 32}, 5};
    sg_options_read(&line, argc, argv);
    if (sg_sim_common_finish(&options.common) != SG_OK ||
        sg_sim_check_root(&options.common) != SG_OK)
        return 1;
    return sg_sim_print_rows("cpu", "processor use", &options.common,
                             options.common.algos.count * options.common.nodes.count *
                                 options.skews.count * options.elements.count,
                             measure_row, &options);
}

/* ---- stagger sim delay: synchronization delay, as defined in paper 002, section 5.3 */

static const char delay_documentation[] =
    "Simulates collectives and prints the synchronization delay, last exit minus last entry (us), "
    "and its multiple of one multicast latency.\v"
    "RANKS is a rank, a range FIRST-LAST, 'last' or 'deepest' (the rank furthest down in the "
    "algorithm's tree); US may be FACTORx, in latencies of the same call without skew. "
    "An algorithm is a name with parameters as in rules: 'adaptive(tokens=2)'; by default "
    "adaptive,tree (for reduce and bcast: bypass,tree), among 16 nodes. "
    "Elements are doubles. Exit status: 0; 1 on bad input; 2 on bad usage.";

static const enum sg_operation delay_operations[] = {SG_OPERATION_BARRIER, SG_OPERATION_ALLREDUCE,
                                                     SG_OPERATION_REDUCE, SG_OPERATION_BCAST};
static const char *const delay_operation_words[] = {"barrier", "allreduce", "reduce", "bcast",
                                                    NULL};

struct delay_options {
    struct sg_sim_common common;
    int operation; /* index in delay_operations */
    bool exact;
    uint32_t elements, skew_us;
    struct sg_sim_late late[SG_LATE_MAX];
    uint32_t late_count;
    const char *late_text;
};

#define DELAY_AT(member) offsetof(struct delay_options, member)

static const char *read_late(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    struct delay_options *options = into;

    options->late_text = text;
    return sg_sim_parse_late(text, options->late, &options->late_count, fault);
}

static const struct sg_option delay_option_table[] = {
    {"op", 'o', "OP", "barrier, allreduce, reduce or bcast (default: barrier)", sg_option_word,
     DELAY_AT(operation), .words = delay_operation_words},
    {"root", 'r', "NODE", "the root of a reduce or bcast (default: 0)", sg_option_u32,
     DELAY_AT(common.options.root), .most = SG_ENDPOINTS_MAX - 1},
    {"late", 'l', "RANKS:US,...", "the late ranks and their delays (default: deepest:2x)",
     .read = read_late},
    {"skew-us", 's', "US", "largest additional random delay of every rank (default: 0)",
     sg_option_u32, DELAY_AT(skew_us), .most = 1000000},
    {"elements", 'e', "N", "elements in an operand (default: 128)", sg_option_u32,
     DELAY_AT(elements), .least = 1, .most = 1 << 24},
    {"warmup", 'w', "N", "calls before the measured ones (default: 8)", sg_option_u32,
     DELAY_AT(common.options.warmup), .most = 1000000},
    {"exact", 'x', NULL, "use an operation whose result does not depend on the order",
     sg_option_flag, .at = DELAY_AT(exact)},
    {0}};

static json_t *delay_row_of(const struct delay_options *options, const struct sg_sim_case *one,
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
static enum sg_status delay_measure_row(const void *of, int i, json_t **row)
{
    const struct delay_options *options = of;
    struct sg_sim_case one = {
        .algo = &options->common.algos.list[i / options->common.nodes.count],
        .operation = delay_operations[options->operation],
        .nodes = (int32_t)options->common.nodes.list[i % options->common.nodes.count],
        .bytes = options->elements * SG_SIM_ELEMENT_BYTES,
        .skew_ns = sg_network_ns(options->skew_us),
        .late = options->late,
        .late_count = options->late_count,
    };
    struct sg_world_result result;
    enum sg_status status = sg_measure_delay(&options->common.options, &one, &result);

    if (status == SG_OK)
        *row = delay_row_of(options, &one, &result);
    return status;
}

int sg_sim_delay_command(int argc, char **argv)
{
    struct delay_options options = {.common = sg_sim_common_of("infiniband-sdr", 4),
                                    .elements = 128};
    struct sg_command_line line = {
        .name = "stagger sim delay",
        .documentation = delay_documentation,
        .tables = {{delay_option_table, &options}, {sg_sim_common_options, &options.common}}};
    char fault[SG_OPTION_FAULT_BYTES];

    options.common.options.warmup = 8;
    options.common.nodes = (struct sg_numbers){{16}, 1};
    read_late(NULL, "deepest:2x", &options, fault);
    sg_options_read(&line, argc, argv);
    if (options.exact)
        options.common.options.flags |= SG_CALL_EXACT;
    if (options.common.algos.count == 0)
        options.common.algos = (struct sg_sim_algos){
            {sg_sim_algo_of(sg_operation_has_root(delay_operations[options.operation])
                                ? "bypass"
                                : "adaptive"),
             sg_sim_algo_of("tree")},
            2};
    if (sg_sim_common_finish(&options.common) != SG_OK ||
        (sg_operation_has_root(delay_operations[options.operation]) &&
         sg_sim_check_root(&options.common) != SG_OK))
        return 1;
    return sg_sim_print_rows("delay", "synchronization delays", &options.common,
                             options.common.algos.count * options.common.nodes.count,
                             delay_measure_row, &options);
}

/* ---- stagger sim lines: small collectives among many ranks of a node, as transfers of cache
 * lines */

static const char lines_documentation[] =
    "Computes the time of a barrier or a small allreduce among many ranks of one node from "
    "transfers of cache lines between cores. Prints, for each number of ranks and each shape, the "
    "time (ns) from the last arrival to the last exit: if all ranks arrive at once, and if one "
    "arrives long after the others; and the shape that the library chooses by this model.\v"
    "Exit status: 0; 1 on bad input; 2 on bad usage.";

#define RANKS_MOST 512
#define NODES_MOST 8

struct lines_options {
    struct sg_sim_common common;
    int machine_number, order;
    struct sg_numbers ranks;
    uint32_t nodes, bytes;
    double serve_ns, overlap; /* 0: the machine's value */
    struct sg_lines_machine machine;
    struct sg_lines_costs costs;
};

#define LINES_AT(member) offsetof(struct lines_options, member)

static const struct sg_option lines_option_table[] = {
    {"machine", 'm', "milan|icelake", "machine that the cores belong to (default: milan)",
     sg_option_word, LINES_AT(machine_number), .words = sg_lines_machine_names},
    {"ranks", 'n', "N,...", "numbers of ranks (default: 4,8,16,32,64,128)", sg_option_wholes,
     LINES_AT(ranks), .least = 2, .most = RANKS_MOST},
    {"numa", 0, "N", "NUMA nodes of a socket (default: 1)", sg_option_u32, LINES_AT(nodes),
     .least = 1, .most = NODES_MOST},
    {"order", 0, "core|dealt",
     "ranks on cores in their order, or each on the idlest socket, as unbound ones (default: core)",
     sg_option_word, LINES_AT(order), .words = sg_lines_order_names},
    {"bytes", 'b', "N", "size of an operand (default: 8)", sg_option_u32, LINES_AT(bytes),
     .least = 1, .most = SG_LINES_BYTES_MAX},
    {"serve", 0, "NS", "time that a reader occupies a line (default: 10)", sg_option_real,
     LINES_AT(serve_ns), .most = 1000},
    {"overlap", 0, "N", "available lines that a core fetches at once (default: 4)", sg_option_real,
     LINES_AT(overlap), .most = 64},
    {0}};

/* Shapes without sizes come first, then groups of all sizes. Returns their number for that many
 * ranks. */
static int count_cases(int ranks)
{
    struct sg_nest_sizes sizes;
    int count = SG_LINES_SHAPES - 1;

    for (int i = 0; sg_lines_sizes(ranks, i, &sizes); i++)
        count++;
    return count;
}

/* Case number i: the ranks vary slowest. */
static struct sg_lines_case lines_case_of(const struct lines_options *options, int i)
{
    static const enum sg_lines_shape shapes[] = {SG_LINES_FLAT, SG_LINES_CLIMB, SG_LINES_ROUNDS};
    struct sg_lines_case one = {.costs = &options->costs, .bytes = options->bytes};
    int at = 0;

    while (i >= count_cases((int)options->ranks.list[at]))
        i -= count_cases((int)options->ranks.list[at++]);
    one.ranks = (int)options->ranks.list[at];
    one.shape = i < SG_LINES_SHAPES - 1 ? shapes[i] : SG_LINES_GROUPS;
    if (one.shape == SG_LINES_GROUPS)
        sg_lines_sizes(one.ranks, i - SG_LINES_SHAPES + 1, &one.sizes);
    return one;
}

/* True if the library takes this shape where no rule names one. */
static bool is_chosen(const struct sg_lines_case *one, void *memory)
{
    struct sg_lines_choice choice;

    if (one->ranks <= SG_LINES_FLAT_RANKS)
        return one->shape == SG_LINES_FLAT;
    sg_lines_choose(one->places, one->ranks, memory, &choice);
    if (one->bytes > choice.bytes)
        return one->shape == SG_LINES_CLIMB;
    return one->shape == SG_LINES_GROUPS && one->sizes.group == choice.sizes.group &&
           one->sizes.outer == choice.sizes.outer;
}

static json_t *lines_row_of(const struct lines_options *options, const struct sg_lines_case *one,
                            void *memory)
{
    struct sg_lines_times times = sg_lines_run(one, memory);

    return json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:o, s:o, s:s, s:f, s:f}", "machine",
                     options->machine.name, "ranks", one->ranks, "shape",
                     sg_lines_shape_names[one->shape], "group", one->sizes.group, "outer",
                     one->sizes.outer, "bytes", (int)one->bytes, "at_once_ns",
                     sg_sim_real(times.at_once_ns), "late_ns", sg_sim_real(times.late_ns), "chosen",
                     is_chosen(one, memory) ? "yes" : "no", "serve_ns", options->costs.serve_ns,
                     "overlap", options->costs.overlap);
}

static enum sg_status lines_measure_row(const void *of, int i, json_t **row)
{
    const struct lines_options *options = of;
    struct sg_lines_case one = lines_case_of(options, i);
    struct sg_place *places = calloc((size_t)one.ranks, sizeof *places);
    void *memory = NULL;

    if (places != NULL) {
        sg_lines_place(&options->machine, (enum sg_lines_order)options->order, one.ranks, places);
        one.places = places;
        memory = malloc(sg_lines_bytes(places, one.ranks));
    }
    if (memory != NULL)
        *row = lines_row_of(options, &one, memory);
    else
        sg_log("sim: out of memory");
    free(places);
    free(memory);
    return memory != NULL ? SG_OK : SG_ERR_MEMORY;
}

static bool check_ranks(const struct lines_options *options)
{
    int most = sg_lines_ranks_most(&options->machine);

    for (int i = 0; i < options->ranks.count; i++) {
        if (options->ranks.list[i] > most) {
            sg_log("sim: %s has threads for at most %d ranks", options->machine.name, most);
            return false;
        }
    }
    return true;
}

static bool choose_machine(struct lines_options *options)
{
    options->machine = sg_lines_machines[options->machine_number];
    if (!sg_lines_split(&options->machine, (int)options->nodes)) {
        sg_log("sim: %s cannot be split into %u NUMA nodes a socket", options->machine.name,
               options->nodes);
        return false;
    }
    options->costs = *options->machine.costs;
    if (options->serve_ns > 0)
        options->costs.serve_ns = options->serve_ns;
    if (options->overlap > 0)
        options->costs.overlap = options->overlap;
    return check_ranks(options);
}

int sg_sim_lines_command(int argc, char **argv)
{
    struct lines_options options = {.ranks = {{4, 8, 16, 32, 64, 128}, 6}, .nodes = 1, .bytes = 8};
    struct sg_command_line line = {
        .name = "stagger sim lines",
        .documentation = lines_documentation,
        .tables = {{lines_option_table, &options}, {sg_sim_format_options, &options.common}}};
    int total = 0;

    sg_options_read(&line, argc, argv);
    if (!choose_machine(&options))
        return 1;
    for (int i = 0; i < options.ranks.count; i++)
        total += count_cases((int)options.ranks.list[i]);
    return sg_sim_print_rows("lines", "shapes", &options.common, total, lines_measure_row,
                             &options);
}
