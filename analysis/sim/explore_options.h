/* The command line of `stagger sim explore`. */
#ifndef SG_SIM_EXPLORE_OPTIONS_H
#define SG_SIM_EXPLORE_OPTIONS_H

#include "sim/explore_marks.h"
#include "sim/explore_scenario.h"

struct sg_explore_options {
    const struct sg_algo *algos[SG_EXPLORE_ALGOS_MAX];
    uint32_t algos_count;
    uint64_t seeds, first;
    uint32_t faults; /* 1 << enum sg_explore_fault */
    int32_t max_nodes;
    bool exhaustive, unreduced, trace;
    int32_t nodes_low, nodes_high; /* of the exhaustive walk */
    struct sg_explore_cut cut;
};

/* False on bad usage, after one clear line. */
bool sg_explore_options_read(int argc, char **argv, struct sg_explore_options *options);

#endif
