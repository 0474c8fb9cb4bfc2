/* The posts of an explorer's processes: which are made next, what the host does with them, and what
 * must hold of messages. Violations are recorded in the world.
 */
#ifndef SG_VERIFY_POSTED_MESSAGES_H
#define SG_VERIFY_POSTED_MESSAGES_H

#include "algos/algo.h"
#include "verify/world.h"

/* The post that the process makes before it goes on; -1: none. */
int32_t sg_explore_next_post(const struct sg_explore_world *world, int32_t process);
/* It makes it. */
void sg_explore_make_post(struct sg_explore_world *world, int32_t index);
/* The first post that is made, has room at the endpoint and has not been fed, which it is from now
 * on; -1: none. */
int32_t sg_explore_take_post(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint);
/* A handler of the endpoint's has reached these marks. */
void sg_explore_count_exchange(struct sg_explore_endpoint *endpoint, uint64_t marks);
/* For the host's scheduler. */
const char *sg_explore_fill(struct sg_host *host, const struct sg_host_endpoint *of,
                            const struct sg_host_bytes *bytes, struct sg_value *value);
const char *sg_explore_drain_post(struct sg_host *host, const struct sg_host_endpoint *of,
                                  const struct sg_host_bytes *bytes, const struct sg_value *value);
const char *sg_explore_deliver(struct sg_host *host, const struct sg_host_endpoint *of,
                               const struct sg_action *action);
/* When nothing more can happen: every post is over, and matched as the reference says. */
void sg_explore_check_posts(struct sg_explore_world *world);

/* Which message each receive and probe gets, computed from who has posted what in which exchange of
 * descriptors: the reference of the tests for bcs, whatever the schedule.
 *
 * Written independently of the protocol, for all endpoints at once. Pure.
 */

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
/* MPI's rules of order alone, of what has been matched: NULL, or what is wrong. */
const char *sg_reference_order(const struct sg_matching_post *posts, int32_t count);

#endif
