/* Which message each receive and probe gets, computed from who has posted what in which exchange of
 * descriptors: the reference of the tests for bcs, whatever the schedule.
 *
 * Written independently of the protocol, for all endpoints at once. Pure.
 */
#ifndef SG_SIM_EXPLORE_MATCHING_H
#define SG_SIM_EXPLORE_MATCHING_H

#include "algos/algo.h"

#define SG_MATCHING_MAX 128

struct sg_matching_post {
    int32_t rank; /* endpoint */
    struct sg_algo_post post;
    uint32_t exchange; /* the first that it takes part in */
    int32_t match;     /* of a receive or probe: the send's index; -1: none */
};

/* Sets `match` of each; posts of a rank are in their order. table: parameters.posts. */
void sg_reference_match(struct sg_matching_post *posts, int32_t count, int32_t size,
                        uint32_t table);

/* Whether a receive or probe of `rank` takes this message. */
bool sg_reference_suits(const struct sg_matching_post *receive,
                        const struct sg_matching_post *send);

/* MPI's rules of order alone, of what has been matched: NULL, or what is wrong. */
const char *sg_reference_order(const struct sg_matching_post *posts, int32_t count);

#endif
