/* What one seed of the explorer runs: swarm testing draws sizes, communicators, instances,
 * parameters and a subset of the faults, each from a stream of its own, so that a scenario cut down
 * in one respect stays as it was in the others.
 */
#ifndef SG_SIM_EXPLORE_SCENARIO_H
#define SG_SIM_EXPLORE_SCENARIO_H

#include "algos/algo.h"
#include "sim/random.h"

#include <stdio.h>

#define SG_EXPLORE_NODES_MAX 64
#define SG_EXPLORE_COMMS_MAX 3
#define SG_EXPLORE_INSTANCES_MAX 24

/* What may go wrong beside the order of what is independent. */
enum sg_explore_fault {
    SG_FAULT_LOSS,      /* multicasts do not arrive */
    SG_FAULT_REPEAT,    /* multicasts arrive more than once */
    SG_FAULT_REORDER,   /* what one endpoint sends to another overtakes */
    SG_FAULT_DELAY,     /* some of what is sent takes long */
    SG_FAULT_TIMERS,    /* timers fire while there is other work, and late */
    SG_FAULT_SLOW,      /* processes enter calls late */
    SG_FAULT_INTERRUPT, /* processes stand still in calls */
    SG_FAULT_POLL,      /* some processes take nothing while they compute */
    SG_FAULT_COUNT
};
#define SG_FAULTS_ALL ((1u << SG_FAULT_COUNT) - 1)

struct sg_explore_comm {
    int32_t size;
    int32_t process[SG_EXPLORE_NODES_MAX]; /* of each rank */
};

struct sg_explore_instance {
    int32_t comm;
    struct sg_algo_call call;
};

struct sg_explore_scenario {
    const struct sg_algo *algo;
    uint64_t seed, schedule; /* of what is drawn here; of the choices in its run */
    uint32_t faults;         /* 1 << enum sg_explore_fault */
    int32_t nodes, comms, instances;
    uint32_t steps;  /* of random choices; then faults have healed, all is fair */
    bool priorities; /* schedule by priorities that change now and then, not uniformly */
    bool relocate;   /* states move in memory between events */
    struct sg_algo_parameters parameters;
    struct sg_explore_comm comm[SG_EXPLORE_COMMS_MAX];
    struct sg_explore_instance instance[SG_EXPLORE_INSTANCES_MAX];
};

/* What to keep of a scenario; -1: all that its seed draws. */
struct sg_explore_cut {
    int64_t nodes, comms, instances, steps, schedule, faults;
};

#define SG_EXPLORE_UNCUT ((struct sg_explore_cut){-1, -1, -1, -1, -1, -1})

/* What a scenario is drawn of. */
struct sg_explore_subject {
    const struct sg_algo *algo;
    uint64_t seed;
    int32_t max_nodes;
    uint32_t faults;
    struct sg_explore_cut cut;
};

/* False when none of several draws suits the protocol. */
bool sg_explore_draw(const struct sg_explore_subject *subject,
                     struct sg_explore_scenario *scenario);

/* "loss,repeat", "all", "none" to a mask. False: *wrong is the word that is no fault. */
bool sg_explore_faults_read(const char *text, char separator, uint32_t *faults, const char **wrong);
/* The reverse, into a buffer of SG_EXPLORE_FAULTS_BYTES. */
#define SG_EXPLORE_FAULTS_BYTES 80
const char *sg_explore_faults_text(uint32_t faults, char separator, char *text);

/* A few readable lines. */
void sg_explore_describe(const struct sg_explore_scenario *scenario, FILE *out);

#endif
