/* Lists in the simulator's options: protocols with parameters, and late ranks. */
#ifndef SG_SIM_LISTS_H
#define SG_SIM_LISTS_H

#include "options/options.h"
#include "sim/timed/measure.h"

#define SG_SIM_LIST_MAX 32

struct sg_sim_algos {
    struct sg_sim_algo list[SG_SIM_LIST_MAX];
    int count;
};

/* Each returns NULL, or what is wrong with the text, like all parsers of options (options.h). */
const char *sg_sim_parse_algos(const char *text, struct sg_sim_algos *algos,
                               char fault[SG_OPTION_FAULT_BYTES]);
const char *sg_sim_parse_late(const char *text, struct sg_sim_late *late, uint32_t *count,
                              char fault[SG_OPTION_FAULT_BYTES]);

/* For texts in the code, which must be valid. */
struct sg_sim_algo sg_sim_algo_of(const char *text);

#endif
