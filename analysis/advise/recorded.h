/* A recorded run as a program (bcs/program_run.h): what each rank computed between its calls,
 * which messages it sent and received, which collectives it called.
 *
 * The time between two calls is computation; so are calls that are neither messages nor collectives
 * of MPI's. A collective that is none of the four that the simulator has counts as the one that
 * waits alike: an allgather or alltoall as an allreduce, a gather as a reduce, a scatter as a
 * broadcast. A nonblocking collective is called where it was completed. A rank's calls must be of
 * one thread.
 */
#ifndef SG_ADVISE_RECORDED_H
#define SG_ADVISE_RECORDED_H

#include "bcs/program_run.h"
#include "report/filter.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_recording {
    struct sg_recording_rank *ranks;
    uint32_t rank_count;
    struct sg_recording_comm *comms; /* by index in the aggregate */
    uint32_t comm_count;
    uint32_t *node; /* of each rank, from 0; owned */
    uint64_t steps, calls;
    bool has_messages;
    const char *obstacle; /* why it cannot be replayed; NULL: it can */
    int64_t begin_ns;     /* of the first call */
    uint64_t measured_ns; /* from then to the end of the last one */
};

/* Reads the run. On failure one line has been logged; clear both in either case. */
enum sg_status sg_recording_read(const char *path, bool progress, struct sg_report *report,
                                 struct sg_recording *out);
void sg_recording_clear(struct sg_recording *recording);

struct sg_recorded_program {
    struct sg_program program; /* refers to this */
    struct sg_program_comm *comms;
    struct sg_step **steps; /* by rank, END at the end */
};

/* Of a recording without an obstacle. nonblocking: its blocking sends and receives are posted where
 * they were called, and waited for where the rank next posts one to or from the same rank with the
 * same tag, next calls a collective, or ends: later no program can wait that needs the data before
 * it exchanges them anew. With SG_RECORDED_PENDING_MAX under way it waits for all of them.
 * SG_ERR_MEMORY, logged. */
#define SG_RECORDED_PENDING_MAX 1024

enum sg_status sg_recording_program(const struct sg_recording *recording, bool nonblocking,
                                    struct sg_recorded_program *out);
void sg_recorded_program_clear(struct sg_recorded_program *program, uint32_t ranks);

/* What a recording holds: recorded.c reads it, recorded_program.c makes programs of it. */

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
