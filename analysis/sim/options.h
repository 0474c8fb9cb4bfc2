/* Options that the simulator's commands share, as a child of their argp parsers, and the lists that
 * they take.
 */
#ifndef SG_SIM_OPTIONS_H
#define SG_SIM_OPTIONS_H

#include "sim/measure.h"

#include <argp.h>

#define SG_SIM_LIST_MAX 32

enum sg_sim_format { SG_SIM_TEXT, SG_SIM_JSON, SG_SIM_CSV };

struct sg_sim_common {
    struct sg_sim_options options;
    const char *network_name;
    const char *settings[SG_SIM_LIST_MAX]; /* --set, in order */
    int settings_count;
    enum sg_sim_format format;
    bool stats;
};

/* Its input is a struct sg_sim_common, set up by sg_sim_common_init(). */
extern const struct argp sg_sim_common_argp;

void sg_sim_common_init(struct sg_sim_common *common, const char *network, uint32_t iterations);

/* Reads the network; after argp_parse. */
enum sg_status sg_sim_common_finish(struct sg_sim_common *common);

struct sg_sim_algos {
    struct sg_sim_algo list[SG_SIM_LIST_MAX];
    int count;
};

struct sg_sim_numbers {
    double list[SG_SIM_LIST_MAX];
    int count;
};

/* Each returns NULL, or what is wrong with the text, for argp_error; `room` holds it. */
const char *sg_sim_parse_algos(const char *text, struct sg_sim_algos *algos, char room[160]);
const char *sg_sim_parse_numbers(const char *text, double least, double most, bool whole,
                                 struct sg_sim_numbers *numbers, char room[160]);
const char *sg_sim_parse_late(const char *text, struct sg_sim_late *late, uint32_t *count,
                              char room[160]);

/* For code: text must be right. */
struct sg_sim_algo sg_sim_algo_of(const char *text);

#endif
