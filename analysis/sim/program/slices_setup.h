/* The setup of a program under buffered coscheduling, and what is told of its slices. */
#ifndef SG_SIM_PROGRAM_SLICES_SETUP_H
#define SG_SIM_PROGRAM_SLICES_SETUP_H

#include "sim/timed/network.h"

#include <stdbool.h>

#define SG_SLICES_BUDGET_DEFAULT 65536

/* A slice, as endpoint 0 sees it; times since its strobe. */
struct sg_slice_seen {
    uint64_t number, begin_ns;
    uint64_t descriptors_ns, scheduling_ns, whole_ns; /* until the microphase is over */
    uint32_t retries;                                 /* queries that failed */
    uint32_t messages_posted, collectives_posted;     /* descriptors that were exchanged */
    uint32_t messages_scheduled, collectives_scheduled;
};

struct sg_slices_setup {
    const struct sg_network *network;
    uint64_t slice_ns;
    uint64_t
        budget_bytes;   /* of a receiver's messages, or a collective, in a slice; 0: the default */
    bool restart_slice; /* calls return with the next slice, else within theirs */
    bool separate;      /* a strobe for each microphase */
    bool always;        /* a strobe at every boundary */
    bool on_host;       /* the agent is the host's processor, else the network card */
    /* Told of each slice; with `always` of empty ones, too. NULL: none. */
    void (*seen)(void *context, const struct sg_slice_seen *slice);
    void *context;
};

#endif
