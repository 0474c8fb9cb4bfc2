/* What a recording holds: recorded.c reads it, recorded_program.c makes programs of it. */
#ifndef SG_ADVISE_RECORDING_H
#define SG_ADVISE_RECORDING_H

#include "report/map.h"
#include "sim/program/program.h"

/* A step, as recorded; a message's request is the place of its post among the rank's steps. */
struct sg_recorded_step {
    struct sg_step step;
    bool blocking;   /* of a call that completes what it begins: of its posts and waits */
    bool incomplete; /* a receive whose message is not known */
    uint32_t root;   /* of a collective: in MPI_COMM_WORLD */
};

/* A call: so many steps from `first` on, or a collective of the library's, which is told of while
 * its rank may be in the next call. */
struct sg_program_call {
    int64_t begin_ns, end_ns;
    uint32_t first, count;
    uint32_t collective; /* 1 + its place among the rank's; 0: none */
};

struct sg_recording_rank {
    struct sg_recorded_step *steps;
    uint32_t step_count;
    struct sg_recorded_step *collectives;
    uint32_t collective_count;
    struct sg_program_call *calls; /* sorted at the end */
    uint32_t call_count;
    uint32_t open;          /* the first step of the call that is open */
    struct sg_map requests; /* posts by request: places of steps */
    int64_t thread;         /* -1: none has called */
};

struct sg_recording_comm {
    uint8_t *is_member; /* by rank in MPI_COMM_WORLD: has called a collective; NULL: none */
    uint32_t size;
};

#endif
