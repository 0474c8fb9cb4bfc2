/* Clock synchronisation of pairs and groups (paper 004, sections 2.2 and 3), in virtual time.
 *
 * A pair is measured by the code of libstagger.so (core/clockpair.h), whose messages take round
 * trips from a distribution. The paper has its own only as a histogram; here they are log-normal
 * about the network's 2 (L + 2o), with an assumed spread. How many exchanges a pair takes does not
 * depend on the distribution: only the order of the round trips counts.
 */
#ifndef SG_SIM_PAPERS_PAIRS_H
#define SG_SIM_PAPERS_PAIRS_H

#include "sim/timed/network.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_PAIR_TRIPS 50000 /* the paper's number of round trips */
#define SG_PAIR_BINS 200    /* of its histogram */
#define SG_PAIR_SPREAD 0.05 /* assumed */

struct sg_round_trips {
    double middle_ns; /* the median */
    double spread;    /* standard deviation of the logarithm */
    uint64_t seed;
};

/* With SG_PAIR_SPREAD. */
struct sg_round_trips sg_round_trips_of(const struct sg_network *network, uint64_t seed);

/* The number-th of the stream `who`. */
double sg_round_trip_ns(const struct sg_round_trips *trips, uint64_t who, uint64_t number);

/* counts[i]: how many of SG_PAIR_TRIPS are in the i-th of SG_PAIR_BINS equal parts between the
 * least and the most. */
void sg_round_trips_histogram(const struct sg_round_trips *trips, uint32_t *counts,
                              double *least_ns, double *most_ns);

struct sg_pair_result {
    uint32_t exchanges;
    double least_ns; /* the least round trip */
    double time_ns;  /* of all exchanges */
};

/* One pair; patience as of sg_clock_pair_ask. */
struct sg_pair_result sg_pair_measure(const struct sg_round_trips *trips, uint64_t who,
                                      uint32_t patience);

/* Figure 6: means of many pairs whose round trips are drawn from a list of SG_PAIR_TRIPS.
 * *error: the least found over the list's, less 1. False: out of memory. */
bool sg_pair_quality(const struct sg_round_trips *trips, uint32_t patience, uint32_t runs,
                     double *exchanges, double *error);

/* The expected number of exchanges, for any continuous distribution. */
double sg_pair_expected(uint32_t patience);

/* Figure 8: the time until all processes are synchronised, in the tree of core/clocksync.h, or one
 * after the other. processes: 2 to 1024. */
double sg_group_time_ns(const struct sg_round_trips *trips, int32_t processes, bool tree);

#endif
