#include "sim/figures.h"

#define NODES_32 {2, 4, 8, 16, 32}, 5
#define SKEWS {0, 200, 400, 600, 800, 1000}, 6
#define ELEMENTS_128 {1, 2, 4, 8, 16, 32, 64, 128}, 8
#define NODES_16 {2, 4, 8, 16}, 4
#define NODES_1024 {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, 10
#define LATENESS {0, 5, 10, 15, 20, 25, 30, 40, 50, 60}, 10

#define BLOCKING "tree(degree=1)"
#define AB_NAB                                                                                     \
    {                                                                                              \
        {"nab 4", BLOCKING, 4}, {"nab 32", BLOCKING, 32}, {"nab 128", BLOCKING, 128},              \
            {"ab 4", "bypass", 4}, {"ab 32", "bypass", 32}, {"ab 128", "bypass", 128},             \
    }
#define FACTORS                                                                                    \
    {                                                                                              \
        {"4 elements", "bypass", 4}, {"32 elements", "bypass", 32},                                \
            {"128 elements", "bypass", 128},                                                       \
    }
#define BARRIERS                                                                                   \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0},                                   \
            {"dissemination", "dissemination", 0},                                                 \
    }
#define ALLREDUCES                                                                                 \
    {                                                                                              \
        {"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0}, {"pair-wise", "pairwise", 0},     \
    }
#define MYRINET "myrinet2000", SG_OPERATION_REDUCE
#define BARRIER "infiniband-sdr", SG_OPERATION_BARRIER
#define ALLREDUCE "infiniband-sdr", SG_OPERATION_ALLREDUCE
#define TWO_TOKENS                                                                                 \
    {                                                                                              \
        "adaptive, two tokens", "adaptive(tokens=2)", 0                                            \
    }

const struct sg_figure sg_figures[] = {
    {"000-6a", "Processor use, 32 nodes", SG_METRIC_CPU, SG_AXIS_SKEW, MYRINET, 32, 0, 0, NULL,
     SKEWS, AB_NAB},
    {"000-6b", "Factor of improvement, 32 nodes", SG_METRIC_FACTOR, SG_AXIS_SKEW, MYRINET, 32, 0, 0,
     NULL, SKEWS, FACTORS},
    {"000-7a", "Processor use, skew 1000 us", SG_METRIC_CPU, SG_AXIS_NODES, MYRINET, 0, 1000, 0,
     NULL, NODES_32, AB_NAB},
    {"000-7b", "Factor of improvement, skew 1000 us", SG_METRIC_FACTOR, SG_AXIS_NODES, MYRINET, 0,
     1000, 0, NULL, NODES_32, FACTORS},
    {"000-8a", "Processor use, no skew", SG_METRIC_CPU, SG_AXIS_NODES, MYRINET, 0, 0, 0, NULL,
     NODES_32, AB_NAB},
    {"000-8b", "Factor of improvement, no skew", SG_METRIC_FACTOR, SG_AXIS_NODES, MYRINET, 0, 0, 0,
     NULL, NODES_32, FACTORS},
    {"000-9",
     "Latency, no skew, 1 element, nodes",
     SG_METRIC_REDUCE_LATENCY,
     SG_AXIS_NODES,
     MYRINET,
     0,
     0,
     1,
     NULL,
     NODES_32,
     {{"nab", BLOCKING, 0}, {"ab", "bypass", 0}}},
    {"000-10",
     "Latency, no skew, 32 nodes, elements",
     SG_METRIC_REDUCE_LATENCY,
     SG_AXIS_ELEMENTS,
     MYRINET,
     32,
     0,
     0,
     NULL,
     ELEMENTS_128,
     {{"nab", BLOCKING, 0}, {"ab", "bypass", 0}}},
    {"002-4", "Average latency of barrier", SG_METRIC_LATENCY, SG_AXIS_NODES, BARRIER, 0, 0, 0,
     NULL, NODES_16, BARRIERS},
    {"002-5", "Average latency of allreduce", SG_METRIC_LATENCY, SG_AXIS_NODES, ALLREDUCE, 0, 0,
     128, NULL, NODES_16, ALLREDUCES},
    {"002-6", "Synchronization delay, barrier", SG_METRIC_DELAY, SG_AXIS_NODES, BARRIER, 0, 0, 0,
     "deepest:2x", NODES_1024, BARRIERS},
    {"002-7", "Synchronization delay, allreduce", SG_METRIC_DELAY, SG_AXIS_NODES, ALLREDUCE, 0, 0,
     128, "deepest:2x", NODES_1024, ALLREDUCES},
    {"002-8", "One node late, barrier", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER, 16, 0, 0,
     "deepest:%g", LATENESS, BARRIERS},
    {"002-9", "One node late, allreduce", SG_METRIC_DELAY, SG_AXIS_LATENESS, ALLREDUCE, 16, 0, 128,
     "deepest:%g", LATENESS, ALLREDUCES},
    {"002-10",
     "Two nodes late, barrier, lateness (us)",
     SG_METRIC_DELAY,
     SG_AXIS_LATENESS,
     BARRIER,
     16,
     0,
     0,
     "2:%1$g,14:%1$g",
     LATENESS,
     {{"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0}, TWO_TOKENS}},
    {"002-11", "One inner node late, barrier", SG_METRIC_DELAY, SG_AXIS_LATENESS, BARRIER, 16, 0, 0,
     "1:%g", LATENESS, BARRIERS},
    {"002-12",
     "Two nodes late, allreduce, lateness (us)",
     SG_METRIC_DELAY,
     SG_AXIS_LATENESS,
     ALLREDUCE,
     16,
     0,
     128,
     "4:%1$g,15:%1$g",
     LATENESS,
     {{"adaptive", "adaptive", 0}, {"nonadaptive", "tree", 0}, TWO_TOKENS}},
};

const int sg_figure_count = sizeof sg_figures / sizeof *sg_figures;
