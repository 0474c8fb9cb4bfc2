/* Options that the simulator's commands share, as a child of their argp parsers. */
#ifndef SG_SIM_OPTIONS_H
#define SG_SIM_OPTIONS_H

#include "sim/lists.h"

#include <argp.h>

#define SG_SIM_USAGE 2         /* the exit status of bad usage */
#define SG_SIM_ELEMENT_BYTES 8 /* an operand is of doubles */

enum sg_sim_format { SG_SIM_TEXT, SG_SIM_JSON, SG_SIM_CSV };

struct sg_sim_common {
    struct sg_sim_options options;
    struct sg_sim_algos algos;
    struct sg_sim_numbers nodes;
    const char *network_name;
    const char *settings[SG_SIM_LIST_MAX]; /* --set, in order */
    int settings_count;
    enum sg_sim_format format;
    bool stats;
};

/* The child that parses them; its input is a struct sg_sim_common. It takes no arguments. */
extern const struct argp_child sg_sim_common_children[];

/* Without algorithms and nodes. */
void sg_sim_common_init(struct sg_sim_common *common, const char *network, uint32_t iterations);

/* Reads the network; after argp_parse. */
enum sg_status sg_sim_common_finish(struct sg_sim_common *common);

/* Parses the arguments of a command by its name, "stagger sim NAME". False where they are bad
 * usage, which argp has told of; most such end the program.
 */
bool sg_sim_read_arguments(const struct argp *argp, char *name, int argc, char **argv, void *input);

/* For argp's parsers, which they end with bad usage: where text is no number in the range; where
 * `wrong`, of lists.h, is not NULL.
 */
uint64_t sg_sim_parse_count(struct argp_state *state, const char *option, const char *text,
                            uint64_t least, uint64_t most);
void sg_sim_check_option(struct argp_state *state, const char *option, const char *wrong);

#endif
