/* The costs that advice is simulated with: those that the run measured of its machine when it
 * began, or a network's by name or file.
 *
 * Two networks: `between` nodes, as the simulator has them, and `inside` a node, where ranks send
 * each other messages as MPICH does. What the run could not measure is taken from
 * SG_MACHINE_DEFAULT; of a network by name, messages inside a node cost two steps in shared memory
 * (local_us) as latency and overhead, and a copy for each byte.
 */
#ifndef SG_ADVISE_MACHINE_H
#define SG_ADVISE_MACHINE_H

#include "core/calibration.h"
#include "core/status.h"
#include "sim/timed/network.h"

#include <stdbool.h>

#define SG_MACHINE_DEFAULT "200g"

struct sg_machine {
    bool measured; /* when the run began; else the network's name is between.name */
    bool asked;    /* the user named the network */
    struct sg_network inside, between;
    bool knows_between, knows_signal; /* as the rest, and not from the default */
    char borrowed[200];               /* "latency_us, signal_us": taken from the default; "" */
    double slice_us;                  /* of a processor that several share; 0: not known */
    double crowd;                     /* ranks for each processor of the machine; 0: not known */
    double spread, samples; /* how far measurements swing, and their fewest samples; 0: not known */
};

/* network: as the simulator's --network takes it; NULL: none. One line says what is wrong with it.
 */
enum sg_status sg_machine_make(const struct sg_calibration *calibration, const char *network,
                               struct sg_machine *out);

/* Something else was at work while the costs were measured: they may be far off. */
bool sg_machine_was_busy(const struct sg_machine *machine);

/* What a message of MPICH's takes longer where so many ranks share the processors and none gives
 * its own away: the time until the receiver's turn comes. */
double sg_machine_turn_us(const struct sg_machine *machine);

#endif
