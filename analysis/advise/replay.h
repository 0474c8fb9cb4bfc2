/* Recorded arrivals under another algorithm: what each sampled instance would have cost.
 *
 * Between nodes, and for handoff inside a node, the simulator runs the algorithm's own code
 * (sim/world.h) over a network in virtual time. MPICH is taken to be a protocol between single
 * ranks (sg_candidate_stock) where the ranks share a machine, else one between the nodes' first
 * ranks. srm inside a node has formulas of its own (lines.h).
 *
 * Each instance is replayed by itself: what the program would do with the time won, and whether
 * ranks would then come at other times, is not in it. Protocols that learn see the sample's
 * instances in their order.
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

/* Why a group cannot be replayed at all, by no algorithm; NULL: it can. */
const char *sg_replay_obstacle(const struct sg_group *group);

/* So many of the group's samples are replayed, in steps: bounded by what that costs. */
uint32_t sg_replay_count(const struct sg_group *group);
/* The i-th of them. */
const struct sg_arrival_sample *sg_replay_sample(const struct sg_group *group, uint32_t i);

/* costs[sg_replay_count]. *done false: the simulator has no such algorithm for such a call, and
 * costs mean nothing. On failure one line has been logged. */
enum sg_status sg_replay_group(const struct sg_replay *replay, const struct sg_group *group,
                               int candidate, struct sg_world_cost *costs, bool *done);

#endif
