/* Posts in the explorer: the next post of a process, the host's actions on posts, and a reference
 * that computes which message each receive gets. Violations are recorded in the world. */
#ifndef SG_VERIFY_POSTED_MESSAGES_H
#define SG_VERIFY_POSTED_MESSAGES_H

#include "algos/algo.h"
#include "verify/world.h"

/* The post that the process makes before it goes on; -1: none. */
int32_t sg_explore_next_post(const struct sg_explore_world *world, int32_t process);
/* The process makes the post. */
void sg_explore_make_post(struct sg_explore_world *world, int32_t index);
/* Takes the first post that is made, not fed yet and within the endpoint's capacity: marks it fed
 * and returns its index; -1: none. */
int32_t sg_explore_take_post(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint);
/* Counts an exchange if a handler of the endpoint has reached its mark. */
void sg_explore_count_exchange(struct sg_explore_endpoint *endpoint, uint64_t marks);
/* Callbacks for the host's scheduler. */
const char *sg_explore_fill(struct sg_host *host, const struct sg_host_endpoint *of,
                            const struct sg_host_bytes *bytes, struct sg_value *value);
const char *sg_explore_drain_post(struct sg_host *host, const struct sg_host_endpoint *of,
                                  const struct sg_host_bytes *bytes, const struct sg_value *value);
const char *sg_explore_deliver(struct sg_host *host, const struct sg_host_endpoint *of,
                               const struct sg_action *action);
/* At the end: checks that every post is over and matched as in the reference. */
void sg_explore_check_posts(struct sg_explore_world *world);

/* The reference for matching in bcs: computes the message of each receive and probe from the posts
 * and the exchange of descriptors each takes part in, independently of the schedule.
 *
 * Written independently of the protocol, for all endpoints at once. Pure. */

#define SG_MATCHING_MAX 128

struct sg_matching_post {
    int32_t rank; /* endpoint */
    struct sg_algo_post post;
    uint32_t exchange; /* first exchange that it takes part in */
    int32_t match;     /* receive or probe: index of its send; -1: none */
};

/* Sets `match` of each post; a rank's posts are in order. table: parameters.posts. */
void sg_reference_match(struct sg_matching_post *posts, int32_t count, int32_t size,
                        uint32_t table);
/* Checks a matching by MPI's ordering rules alone: NULL, or what is wrong. */
const char *sg_reference_order(const struct sg_matching_post *posts, int32_t count);

#endif
