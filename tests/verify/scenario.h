/* The scenario of one seed of the explorer: swarm testing draws sizes, communicators, instances,
 * parameters and a subset of the faults. Each has its own random stream, so that a scenario reduced
 * in one respect stays the same in the others. */
#ifndef SG_VERIFY_SCENARIO_H
#define SG_VERIFY_SCENARIO_H

#include "algos/algo.h"
#include "sim/random.h"

#include <stdio.h>

#define SG_EXPLORE_NODES_MAX 64
#define SG_EXPLORE_COMMS_MAX 3
#define SG_EXPLORE_INSTANCES_MAX 24
#define SG_EXPLORE_MESSAGES_MAX 24
#define SG_EXPLORE_POSTS_MAX (4 * SG_EXPLORE_MESSAGES_MAX)

/* Faults that a scenario may have, in addition to any order of independent steps. */
enum sg_explore_fault {
    SG_FAULT_LOSS,      /* multicasts do not arrive */
    SG_FAULT_REPEAT,    /* multicasts arrive more than once */
    SG_FAULT_REORDER,   /* messages from one endpoint to another overtake each other */
    SG_FAULT_DELAY,     /* some messages take long */
    SG_FAULT_TIMERS,    /* timers fire late, and while other work is waiting */
    SG_FAULT_SLOW,      /* processes enter calls late */
    SG_FAULT_INTERRUPT, /* processes pause in calls */
    SG_FAULT_POLL,      /* some processes handle nothing while they compute */
    SG_FAULT_COUNT
};

#define SG_FAULTS_ALL ((1u << SG_FAULT_COUNT) - 1)

struct sg_explore_comm {
    int32_t size;
    int32_t process[SG_EXPLORE_NODES_MAX]; /* process of each rank */
};

struct sg_explore_instance {
    int32_t comm;
    struct sg_algo_call call;
};

/* One post of a process, made before instance `before` or after all its calls. Its handle is its
 * index. Posts of all processes have one order, so that no process waits for a message while an
 * earlier one is not under way. */
struct sg_explore_post {
    int32_t comm, rank, before;
    struct sg_algo_post post;
};

struct sg_explore_scenario {
    const struct sg_algo *algo;
    uint64_t seed, schedule; /* seed of the scenario; seed of the choices in its run */
    uint32_t faults;         /* 1 << enum sg_explore_fault */
    int32_t nodes, comms, instances;
    uint32_t steps;  /* number of random choices; later steps are fair and without faults */
    bool priorities; /* schedule by priorities that change now and then, instead of uniformly */
    bool relocate;   /* moves states in memory between events */
    struct sg_algo_parameters parameters;
    struct sg_explore_comm comm[SG_EXPLORE_COMMS_MAX];
    struct sg_explore_instance instance[SG_EXPLORE_INSTANCES_MAX];
    int32_t messages, posts;
    struct sg_explore_post post[SG_EXPLORE_POSTS_MAX];
};

/* Limits on a scenario; -1: keep everything that its seed draws. */
struct sg_explore_cut {
    int64_t nodes, comms, instances, messages, steps, schedule, faults;
};

#define SG_EXPLORE_UNCUT ((struct sg_explore_cut){-1, -1, -1, -1, -1, -1, -1})

/* The ranges for drawing a scenario. */
struct sg_explore_subject {
    const struct sg_algo *algo;
    uint64_t seed;
    int32_t max_nodes;
    uint32_t faults;
    struct sg_explore_cut cut;
    bool user; /* all operations are user-defined, if the protocol supports them */
};

/* False when none of several draws suits the protocol. */
bool sg_explore_draw(const struct sg_explore_subject *subject,
                     struct sg_explore_scenario *scenario);
/* Parses "loss,repeat", "all" or "none" to a mask. False: *wrong is the unknown word. */
bool sg_explore_faults_read(const char *text, char separator, uint32_t *faults, const char **wrong);

/* The inverse, into a buffer of SG_EXPLORE_FAULTS_BYTES. */
#define SG_EXPLORE_FAULTS_BYTES 80

const char *sg_explore_faults_text(uint32_t faults, char separator, char *text);
/* Describes the scenario in a few lines. */
void sg_explore_describe(const struct sg_explore_scenario *scenario, FILE *out);

#endif
