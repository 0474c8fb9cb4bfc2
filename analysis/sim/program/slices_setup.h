/* The setup of a program under buffered coscheduling. */
#ifndef SG_SIM_PROGRAM_SLICES_SETUP_H
#define SG_SIM_PROGRAM_SLICES_SETUP_H

#include "sim/timed/network.h"

#include <stdbool.h>

#define SG_SLICED_BUDGET_DEFAULT 65536

struct sg_sliced_setup {
    const struct sg_network *network;
    uint64_t slice_ns;
    uint64_t
        budget_bytes;   /* of a receiver's messages, or a collective, in a slice; 0: the default */
    bool restart_slice; /* calls return with the next slice, else within theirs */
    bool separate;      /* a strobe for each microphase */
    bool always;        /* a strobe at every boundary */
    bool on_host;       /* the agent is the host's processor, else the network card */
};

#endif
