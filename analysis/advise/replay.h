/* Recorded arrivals with another algorithm: what each sampled instance would have cost.
 *
 * The simulator (sim/timed_world.h) runs the algorithm's own code between nodes, on a network in
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

#include "advise/sample.h"
#include "core/calibration.h"
#include "core/status.h"
#include "core/text.h"
#include "sim/network.h"
#include "sim/timed_world.h"

#include <stdbool.h>
#include <stddef.h>

/* The algorithms that advice chooses from, spelled as in rules and in the simulator. */

/* "adaptive(predict=1)"; the first of a name is the algorithm with its defaults. For MPICH's own
 * the simulator runs another protocol, see sg_candidate_stock. */
extern const char *const sg_candidates[];

extern const int sg_candidate_count;

#define SG_CANDIDATES_MAX 16

/* Index of the candidate that is this algorithm with its defaults; -1: none. */
int sg_candidate_find(const char *algorithm);
/* Whether rules may name it for the operation, inside a node or between nodes. */
bool sg_candidate_runs(int candidate, enum sg_operation operation, bool inside);

/* The costs for the simulations of advice: those that the run measured on its machine when it
 * began, or a network by name or file.
 *
 * There are two networks: `between` nodes, as the simulator has them, and `inside` a node, where
 * ranks send each other messages as MPICH does. A cost that the run could not measure is taken from
 * SG_MACHINE_DEFAULT. With a network by name, messages inside a node take two steps in shared
 * memory (local_us) as latency and overhead, and a copy for each byte.
 */

#define SG_MACHINE_DEFAULT "200g"

struct sg_machine {
    bool measured; /* when the run began; otherwise the network's name is between.name */
    bool asked;    /* the user named the network */
    struct sg_network inside, between;
    bool knows_between, knows_signal; /* measured, like the others, and not the default */
    /* "latency_us, signal_us": those taken from the default; "" */
    char borrowed[200];
    double slice_us; /* of a processor that several ranks share; 0: not known */
    double crowd;    /* ranks for each processor of the machine; 0: not known */
    /* the spread of the measurements, and the fewest samples; 0: not known */
    double spread, samples;
};

/* network: as for the simulator's --network; NULL: none. One line says what is wrong with it. */
enum sg_status sg_machine_make(const struct sg_calibration *calibration, const char *network,
                               struct sg_machine *out);
/* Other work was running while the costs were measured: they may be far off. */
bool sg_machine_was_busy(const struct sg_machine *machine);
/* The delay of an MPICH message where so many ranks share the processors and none yields its own:
 * the time until the receiver gets one. */
double sg_machine_turn_us(const struct sg_machine *machine);

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
