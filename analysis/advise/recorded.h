/* A recorded run as a program (sim/program/program.h): what each rank computed between its calls,
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

#include "report/report.h"
#include "sim/program/program.h"

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

#endif
