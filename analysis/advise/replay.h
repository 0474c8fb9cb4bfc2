/* Recorded arrivals with another algorithm: what each sampled instance would have cost.
 *
 * The simulator (sim/timed/world.h) runs the algorithm's own code between nodes, on a network in
 * virtual time and in chunks as the library does, and has formulas for the level inside a node.
 * MPICH is modelled by a protocol between single ranks (sg_candidate_stock) where the ranks share a
 * machine, else by one between the nodes' first ranks.
 *
 * Each instance is replayed by itself. What the program would do with the time saved, and whether
 * ranks would then arrive at other times, is not modelled. Protocols that learn see the instances
 * of the sample in their order.
 */
#ifndef SG_ADVISE_REPLAY_H
#define SG_ADVISE_REPLAY_H

#include "advise/candidates.h"
#include "advise/machine.h"
#include "advise/sample.h"
#include "sim/timed/world.h"

struct sg_replay {
    const struct sg_machine *machine;
    enum sg_sim_mode mode; /* between nodes */
};

/* Why no algorithm can replay a group; NULL: it can be replayed. */
const char *sg_replay_obstacle(const struct sg_group *group);

/* The number of the group's samples that are replayed, at equal steps: limited by the cost. */
uint32_t sg_replay_count(const struct sg_group *group);
/* The i-th of them. */
const struct sg_arrival_sample *sg_replay_sample(const struct sg_group *group, uint32_t i);

/* costs[sg_replay_count]. *done false: the simulator has no such algorithm for such a call, and
 * costs is undefined. On failure one line has been logged. */
enum sg_status sg_replay_group(const struct sg_replay *replay, const struct sg_group *group,
                               int candidate, struct sg_world_cost *costs, bool *done);

#endif
