/* Saves, restores and compares states of an explorer's world. */
#ifndef SG_VERIFY_SNAPSHOT_H
#define SG_VERIFY_SNAPSHOT_H

#include "verify/world.h"

/* A copy of all that changes; its memory grows as needed and is reused. Zeroed at first. */
struct sg_explore_snapshot {
    unsigned char *bytes;
    size_t capacity;
    uint64_t now_ns;
    uint32_t live_count, step, launched;
};

/* False when there is no memory. */
bool sg_explore_save(const struct sg_explore_world *world, struct sg_explore_snapshot *snapshot);
/* Into the world it was saved from. */
void sg_explore_restore(struct sg_explore_world *world, const struct sg_explore_snapshot *snapshot);
void sg_explore_snapshot_clear(struct sg_explore_snapshot *snapshot);
/* An endpoint's clock, as far as it affects what can happen: time is relative unless calls linger,
 * when a protocol remembers when something happened, or slices are counted from an epoch. */
uint64_t sg_explore_clock_of(const struct sg_explore_world *world,
                             const struct sg_explore_endpoint *endpoint);
/* Equal for states from which the same can happen: the order in which messages were sent and the
 * absolute time do not matter. Updates the hashes of endpoints that have changed. */
uint64_t sg_explore_key(struct sg_explore_world *world);

#endif
