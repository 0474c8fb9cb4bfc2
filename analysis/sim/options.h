/* Options that the simulator's commands share, as a child of their argp parsers, and the lists that
 * they take.
 */
#ifndef SG_SIM_OPTIONS_H
#define SG_SIM_OPTIONS_H

#include "sim/measure.h"

#include <argp.h>

#define SG_SIM_USAGE 2 /* the exit status of bad usage */
#define SG_SIM_LIST_MAX 32
#define SG_SIM_ELEMENT_BYTES 8 /* an operand is of doubles */

enum sg_sim_format { SG_SIM_TEXT, SG_SIM_JSON, SG_SIM_CSV };

struct sg_sim_algos {
    struct sg_sim_algo list[SG_SIM_LIST_MAX];
    int count;
};

struct sg_sim_numbers {
    double list[SG_SIM_LIST_MAX];
    int count;
};

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
 * `wrong`, of the functions below, is not NULL.
 */
uint64_t sg_sim_parse_count(struct argp_state *state, const char *option, const char *text,
                            uint64_t least, uint64_t most);
void sg_sim_check_option(struct argp_state *state, const char *option, const char *wrong);

/* Each returns NULL, or what is wrong with the text; `room` holds it. */
const char *sg_sim_parse_algos(const char *text, struct sg_sim_algos *algos, char room[160]);
const char *sg_sim_parse_numbers(const char *text, double least, double most, bool whole,
                                 struct sg_sim_numbers *numbers, char room[160]);
const char *sg_sim_parse_late(const char *text, struct sg_sim_late *late, uint32_t *count,
                              char room[160]);

/* For code: text must be right. */
struct sg_sim_algo sg_sim_algo_of(const char *text);

#endif
