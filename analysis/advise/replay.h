/* Replays recorded arrivals with another algorithm: estimates what each sampled instance would have
 * cost, with the candidates and the machine's costs that this takes.
 *
 * The simulator (sim/timed_world.h) runs the algorithm's own code between nodes, on a network in
 * virtual time and in chunks as the library does, and has formulas for the level inside a node.
 * MPICH is modelled by a protocol (sg_candidate_stock): between single ranks if the ranks share a
 * machine, else between the nodes' first ranks.
 *
 * Each instance is replayed by itself. The model leaves out what the program would do with the time
 * saved, and whether ranks would then arrive at other times. Protocols that learn see the sampled
 * instances in order.
 */
#ifndef SG_ADVISE_REPLAY_H
#define SG_ADVISE_REPLAY_H

#include "advise/sample.h"
#include "core/calibration.h"
#include "core/status.h"
#include "core/text.h"
#include "sim/network.h"
#include "sim/timed_queue.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- candidates: the algorithms that advice chooses from, spelled as in rules */

/* "adaptive(predict=1)"; the first of each name is the algorithm with its defaults. The simulator
 * runs another protocol in place of "mpich" (sg_candidate_stock in replay.c). */
extern const char *const sg_candidates[];

extern const int sg_candidate_count;

#define SG_CANDIDATES_MAX 16

/* Returns the index of the candidate that is this algorithm with its defaults; -1: none. */
int sg_candidate_find(const char *algorithm);
/* Returns true if rules may name the candidate for the operation, inside or between nodes. */
bool sg_candidate_runs(int candidate, enum sg_operation operation, bool inside);

/* ---- the machine's costs
 *
 * Costs are those that the run measured on its machine when it began, or those of a network given
 * by name or file. Nodes exchange messages over `between`; ranks inside a node exchange MPICH's
 * messages over `inside`. A cost that the run could not measure is taken from SG_MACHINE_DEFAULT.
 * With a network by name, a message inside a node takes local_us (a step in shared memory) each for
 * latency and overhead, and a copy for each byte.
 */

#define SG_MACHINE_DEFAULT "200g"

struct sg_machine {
    bool measured; /* by the run when it began; otherwise between.name names the network */
    bool asked;    /* the user named the network */
    struct sg_network inside, between;
    bool knows_between, knows_signal; /* measured, not taken from the default */
    /* "wake_us, local_us": names of the costs taken from the default; "" if none */
    char borrowed[200];
    double slice_us; /* time slice of a processor that several ranks share; 0: unknown */
    double crowd;    /* ranks per processor of the machine; 0: unknown */
    double yield_us; /* mean length of the run's yields; NAN: its ranks did not yield */
    /* spread of the measurements, and the fewest samples of a cost; 0: unknown */
    double spread, samples;
};

/* Makes the costs. network: as for the simulator's --network; NULL: those that the run measured. On
 * failure one line has been logged. */
enum sg_status sg_machine_make(const struct sg_report *report, const char *network,
                               struct sg_machine *out);
/* Returns true if other work ran while the costs were measured: they may be far off. */
bool sg_machine_was_busy(const struct sg_machine *machine);
/* The extra delay of an MPICH message where ranks share processors: the receiver waits until the
 * ranks that poll in its place yield, or, if the run's ranks did not yield, for its time slice. 0:
 * a processor for each rank, or slice_us is unknown. */
double sg_machine_turn_us(const struct sg_machine *machine);

struct sg_replay {
    const struct sg_machine *machine;
    enum sg_sim_mode mode; /* between nodes; MPICH always polls */
};

/* Returns the reason why no algorithm can replay the group; NULL: it can be replayed. */
const char *sg_replay_obstacle(const struct sg_group *group);
/* Returns how many of the group's samples are replayed, at equal steps: bounded by the cost. */
uint32_t sg_replay_count(const struct sg_group *group);
/* Returns the i-th replayed sample. */
const struct sg_arrival_sample *sg_replay_sample(const struct sg_group *group, uint32_t i);
/* Replays the group with a candidate into costs[sg_replay_count(group)]. *done false: the simulator
 * cannot run the candidate for this group, and costs is undefined. On failure one line has been
 * logged. */
enum sg_status sg_replay_group(const struct sg_replay *replay, const struct sg_group *group,
                               int candidate, struct sg_world_cost *costs, bool *done);

#endif
