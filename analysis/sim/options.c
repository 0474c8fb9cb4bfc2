#include "sim/options.h"

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
        return sg_option_fault(fault, "is given %d times at most", SG_SIM_SETTINGS_MAX);
    common->settings[common->settings_count++] = text;
    return NULL;
}

static const char *set_format(struct sg_sim_common *common, enum sg_sim_format format,
                              const char *wrong)
{
    if (common->format != SG_SIM_TEXT && common->format != format)
        return wrong;
    common->format = format;
    return NULL;
}

static const char *read_json(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    return set_format(into, SG_SIM_JSON, "and --csv exclude each other");
}

static const char *read_csv(const struct sg_option *option, const char *text, void *into,
                            char *fault)
{
    return set_format(into, SG_SIM_CSV, "and --json exclude each other");
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
     "NAME",         "a network's name, or the path of its file",                                  \
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
    {"json", 'j', NULL, "print JSON", read_json, .group = 2},                                      \
    {                                                                                              \
        "csv", 'c', NULL, "print CSV", read_csv, .group = 2                                        \
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
    {"node-level", 0, "WAY", "how these combine: auto (as the library), climb, flat or chunks",
     sg_option_word, AT(options.node_level), .words = node_levels, .group = 1},
    {"chunk", 0, "BYTES", "cut larger calls into chunks; 0: never (default: as the library)",
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
