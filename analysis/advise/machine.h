/* The costs for the simulations of advice: those that the run measured on its machine when it
 * began, or a network by name or file.
 *
 * There are two networks: `between` nodes, as the simulator has them, and `inside` a node, where
 * ranks send each other messages as MPICH does. A cost that the run could not measure is taken from
 * SG_MACHINE_DEFAULT. With a network by name, messages inside a node take two steps in shared
 * memory (local_us) as latency and overhead, and a copy for each byte.
 */
#ifndef SG_ADVISE_MACHINE_H
#define SG_ADVISE_MACHINE_H

#include "core/calibration.h"
#include "core/status.h"
#include "sim/timed/network.h"

#include <stdbool.h>

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

#endif
