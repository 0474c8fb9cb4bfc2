/* A program under buffered coscheduling as it runs, and functions on it: what slices.c (processes
 * and what they post) and phases.c (what a slice does) share. */
#ifndef SG_SIM_PROGRAM_SLICES_STATE_H
#define SG_SIM_PROGRAM_SLICES_STATE_H

#include "sim/program/run.h"
#include "sim/program/slices_setup.h"

struct sg_sliced_process {
    uint64_t work_end_ns;         /* of its computation; 0: it does not compute */
    uint64_t owed_ns;             /* to its agent, from its next computation */
    uint64_t send_ns, receive_ns; /* until then its adapter sends, receives */
    uint64_t stamp;               /* 1 + the number of the slice that these are of: */
    uint64_t used_bytes;          /* of the budget */
    uint32_t descriptors;
};

/* A communicator's collective that some members have called. */
struct sg_sliced_comm {
    uint32_t *requests; /* by rank */
    int32_t called;
    uint64_t ready_ns; /* endpoint 0 of it knows that all so far have called */
};

/* One that all have called, or a message whose send and receive match. */
struct sg_sliced_work {
    uint64_t bytes;         /* that are left */
    uint64_t ready_ns;      /* of a collective */
    uint32_t send, receive; /* requests of a message */
    int32_t from, to, root;
    uint32_t comm;
    uint8_t operation;
    bool collective;
    bool finished;      /* in this slice: */
    uint64_t first_ns;  /* at the sender, or the root */
    uint64_t second_ns; /* at the receiver, or the other members */
};

struct sg_sliced_state {
    struct sg_run run;
    const struct sg_sliced_setup *setup;
    struct sg_network network;
    uint64_t slice_ns, budget_bytes;
    uint64_t strobe_ns;   /* until a strobe is everywhere */
    uint64_t hop_ns;      /* of an empty message */
    uint64_t overhead_ns; /* of the host for a message */
    uint64_t post_ns;     /* of a process for a post */
    uint64_t agent_ns;    /* of the agent for a descriptor */
    uint64_t query_ns;    /* between two queries of the hardware; 0: DONE climbs the tree */
    int depth;            /* of that tree */
    struct sg_sliced_process *processes;
    struct sg_sliced_comm *comms;
    struct sg_run_post *fresh; /* descriptors that no slice has exchanged; request: of who posted */
    uint32_t fresh_count;
    struct sg_sliced_work *work; /* to do, in order */
    uint32_t work_count;
    uint64_t alarm_ns; /* the next slice's begin; SG_RUN_PENDING: none */
    uint64_t end_ns;   /* of the last slice */
};

/* What one computing process loses to its agent, where that is on the host. */
void sg_sliced_steal(struct sg_sliced_state *slices, int32_t process, uint64_t ns);
/* A slice is to begin after time_ns. */
void sg_sliced_want(struct sg_sliced_state *slices, uint64_t time_ns);
/* The request is done, and the process goes on where it waits for it. */
void sg_sliced_done(struct sg_sliced_state *slices, int32_t process, uint32_t request,
                    uint64_t return_ns);
bool sg_sliced_add_work(struct sg_sliced_state *slices, const struct sg_sliced_work *work);

#endif
