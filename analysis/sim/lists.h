/* The command-line options that the simulator's commands share, and their parsers: lists of
 * protocols with parameters, lists of late ranks, the network and the output format. */
#ifndef SG_SIM_LISTS_H
#define SG_SIM_LISTS_H

#include "options/options.h"
#include "sim/timed_measure.h"

#define SG_SIM_LIST_MAX 32

struct sg_sim_algos {
    struct sg_sim_algo list[SG_SIM_LIST_MAX];
    int count;
};

/* Each returns NULL, or a text that says what is wrong, like all option parsers (options.h). */
const char *sg_sim_parse_algos(const char *text, struct sg_sim_algos *algos,
                               char fault[SG_OPTION_FAULT_BYTES]);
const char *sg_sim_parse_late(const char *text, struct sg_sim_late *late, uint32_t *count,
                              char fault[SG_OPTION_FAULT_BYTES]);
/* For literals in the code, which must be valid. */
struct sg_sim_algo sg_sim_algo_of(const char *text);

/* ---- options */

#define SG_SIM_SETTINGS_MAX 32

enum sg_sim_format { SG_SIM_TEXT, SG_SIM_JSON, SG_SIM_CSV };

struct sg_sim_common {
    struct sg_sim_options options;
    struct sg_sim_algos algos;
    struct sg_numbers nodes;
    const char *network_name;
    const char *settings[SG_SIM_SETTINGS_MAX]; /* arguments of --set, in order */
    int settings_count;
    int format;            /* enum sg_sim_format */
    const char *mode_name; /* NULL: the name of options.mode */
    bool stats;
};

/* Options for a struct sg_sim_common. */
extern const struct sg_option sg_sim_common_options[];

/* The subset for simulated programs: nodes, network, seed and output format. */
extern const struct sg_option sg_sim_program_options[];

/* The output format only. */
extern const struct sg_option sg_sim_format_options[];

/* Defaults, without algorithms and nodes. */
struct sg_sim_common sg_sim_common_of(const char *network, uint32_t iterations);
/* Reads the network; call it after parsing the command line. */
enum sg_status sg_sim_common_finish(struct sg_sim_common *common);
/* Checks that every number of nodes includes the root; logs one line if not. */
enum sg_status sg_sim_check_root(const struct sg_sim_common *common);

#endif
