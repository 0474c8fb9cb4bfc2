/* The lists that the simulator's options take: protocols with parameters, numbers, late ranks. */
#ifndef SG_SIM_LISTS_H
#define SG_SIM_LISTS_H

#include "sim/timed/measure.h"

#define SG_SIM_LIST_MAX 32

struct sg_sim_algos {
    struct sg_sim_algo list[SG_SIM_LIST_MAX];
    int count;
};

struct sg_sim_numbers {
    double list[SG_SIM_LIST_MAX];
    int count;
};

#define SG_SIM_COMPLAINT_BYTES 320

/* Each returns NULL, or what is wrong with the text; `room` holds it. */
const char *sg_sim_parse_algos(const char *text, struct sg_sim_algos *algos,
                               char room[SG_SIM_COMPLAINT_BYTES]);
const char *sg_sim_parse_numbers(const char *text, double least, double most, bool whole,
                                 struct sg_sim_numbers *numbers, char room[SG_SIM_COMPLAINT_BYTES]);
const char *sg_sim_parse_late(const char *text, struct sg_sim_late *late, uint32_t *count,
                              char room[SG_SIM_COMPLAINT_BYTES]);

/* For code: text must be right. */
struct sg_sim_algo sg_sim_algo_of(const char *text);

#endif
