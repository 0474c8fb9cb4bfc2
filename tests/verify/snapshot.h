/* Saves, restores and compares states of an explorer's world. */
#ifndef SG_VERIFY_SNAPSHOT_H
#define SG_VERIFY_SNAPSHOT_H

#include "verify/world.h"

/* A copy of everything that changes; its memory grows as needed and is reused. Zeroed at first. */
struct sg_explore_snapshot {
    unsigned char *bytes;
    size_t capacity;
    uint64_t now_ns;
    uint32_t live_count, step, launched;
};

/* False when memory runs out. */
bool sg_explore_save(const struct sg_explore_world *world, struct sg_explore_snapshot *snapshot);
/* Restores into the world that the snapshot was saved from. */
void sg_explore_restore(struct sg_explore_world *world, const struct sg_explore_snapshot *snapshot);
void sg_explore_snapshot_clear(struct sg_explore_snapshot *snapshot);
/* An endpoint's clock as far as it affects future steps. Time is relative unless calls linger, in
 * which case a protocol remembers times, or slices are counted from an epoch. */
uint64_t sg_explore_clock_of(const struct sg_explore_world *world,
                             const struct sg_explore_endpoint *endpoint);
/* A key that is equal for states with the same possible futures: it ignores the order in which
 * messages were sent and absolute time. Updates the hashes of changed endpoints. */
uint64_t sg_explore_key(struct sg_explore_world *world);

#endif
