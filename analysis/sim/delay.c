/* stagger sim delay: synchronization delay, as paper 002 defines it in section 5.3. */
#include "sim/commands.h"
#include "sim/output.h"

#include <string.h>

enum {
    KEY_OP = 'o',
    KEY_LATE = 'l',
    KEY_ELEMENTS = 'e',
    KEY_SKEW = 's',
    KEY_WARMUP = 'w',
    KEY_EXACT = 'x'
};

static const char documentation[] =
    "Simulates barriers or allreduces and prints the synchronization delay, last exit minus last "
    "entry (us), and its multiple of one multicast latency.\v"
    "RANKS is a rank, a range FIRST-LAST, 'last' or 'deepest' (the rank furthest down in the "
    "algorithm's tree); US may be FACTORx, in latencies of the same call without skew. "
    "An algorithm is a name with parameters as in rules: 'adaptive(tokens=2)'; adaptive,tree "
    "unless "
    "told, among 16 nodes. "
    "Elements are doubles. Exit status: 0, 1 on bad input, 2 on bad usage.";

static const struct argp_option option_table[] = {
    {"op", KEY_OP, "OP", 0, "barrier or allreduce (barrier)", 0},
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
    uint32_t elements;
    uint64_t skew_ns;
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

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char room[SG_SIM_COMPLAINT_BYTES];

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case KEY_OP:
        options->operation = parse_operation(state, argument);
        return 0;
    case KEY_LATE:
        options->late_text = argument;
        sg_sim_check_option(state, "late",
                            sg_sim_parse_late(argument, options->late, &options->late_count, room));
        return 0;
    case KEY_SKEW:
        options->skew_ns =
            sg_network_ns((double)sg_sim_parse_count(state, "skew-us", argument, 0, 1000000));
        return 0;
    case KEY_ELEMENTS:
        options->elements = (uint32_t)sg_sim_parse_count(state, "elements", argument, 1, 1 << 24);
        return 0;
    case KEY_WARMUP:
        options->common.options.warmup =
            (uint32_t)sg_sim_parse_count(state, "warmup", argument, 0, 1000000);
        return 0;
    case KEY_EXACT:
        options->common.options.flags |= SG_CALL_EXACT;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void set_defaults(struct options *options)
{
    static const char late[] = "deepest:2x";
    char room[SG_SIM_COMPLAINT_BYTES];

    *options = (struct options){.elements = 128, .late_text = late};
    sg_sim_common_init(&options->common, "infiniband-sdr", 4);
    options->common.options.warmup = 8;
    sg_sim_parse_algos("adaptive,tree", &options->common.algos, room);
    sg_sim_parse_numbers("16", 1, 16, true, &options->common.nodes, room);
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
        barrier ? 0 : (int)(one->bytes / SG_SIM_ELEMENT_BYTES), "late", options->late_text,
        "delay_us", sg_sim_real(result->delay_ns * 1e-3), "worst_us",
        sg_sim_real(result->worst_delay_ns * 1e-3), "multicast_us",
        sg_sim_real((double)multicast_ns * 1e-3), "multicasts",
        sg_sim_real(result->delay_ns / (double)multicast_ns), "fitted", sg_sim_fitted(network));

    if (row != NULL && options->common.stats)
        sg_sim_add_stats(row, result);
    return row;
}

/* Case number i, the algorithm varying slower than the nodes. */
static enum sg_status measure_row(const void *of, int i, json_t **row)
{
    const struct options *options = of;
    struct sg_sim_case one = {
        .algo = &options->common.algos.list[i / options->common.nodes.count],
        .operation = options->operation,
        .nodes = (int32_t)options->common.nodes.list[i % options->common.nodes.count],
        .bytes = options->elements * SG_SIM_ELEMENT_BYTES,
        .skew_ns = options->skew_ns,
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
    static const struct argp argp = {option_table,           parse_option, NULL, documentation,
                                     sg_sim_common_children, NULL,         NULL};
    static char name[] = "stagger sim delay";
    struct options options;

    set_defaults(&options);
    if (!sg_sim_read_arguments(&argp, name, argc, argv, &options))
        return SG_SIM_USAGE;
    if (sg_sim_common_finish(&options.common) != SG_OK)
        return 1;
    return sg_sim_print_rows("delay", "synchronization delays", &options.common,
                             options.common.algos.count * options.common.nodes.count, measure_row,
                             &options);
}
