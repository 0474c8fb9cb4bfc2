/* A recorded run as a program (bcs/program_run.h): what each rank computed between its calls, which
 * messages it sent and received, and which collectives it called. recorded.c reads the run;
 * bcs/bcs_advice.c makes programs of it.
 *
 * The time between two calls is computation, as are calls that are neither messages nor collectives
 * of MPI. The simulator has four collectives; any other counts as the one that waits alike: an
 * allgather or alltoall as an allreduce, a gather as a reduce, a scatter as a broadcast. A
 * nonblocking collective is called where it was completed. All calls of a rank must come from one
 * thread.
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
    struct sg_recording_comm *comms; /* by the communicator's index in the aggregate */
    uint32_t comm_count;
    uint32_t *node; /* of each rank, from 0; owned */
    uint64_t steps, calls;
    bool has_messages;
    const char *obstacle; /* reason why it cannot be replayed; NULL: it can */
    int64_t begin_ns;     /* begin of the first call */
    uint64_t measured_ns; /* from begin_ns to the end of the last call */
};

/* Reads the run in path. On failure one line has been logged; clear both outputs in either case. */
enum sg_status sg_recording_read(const char *path, bool progress, struct sg_report *report,
                                 struct sg_recording *out);
void sg_recording_clear(struct sg_recording *recording);

struct sg_recorded_program {
    struct sg_program program; /* points into this struct */
    struct sg_program_comm *comms;
    struct sg_step **steps; /* by rank; each ends with SG_STEP_END */
};

/* Makes a program of a recording without an obstacle. nonblocking: a blocking send or receive is
 * posted where it was called, and awaited where the rank next posts one to or from the same rank
 * with the same tag, next calls a collective, or ends. No program can wait later: it needs the data
 * before it exchanges them anew. With SG_RECORDED_PENDING_MAX posts pending it waits for all of
 * them. SG_ERR_MEMORY (logged). */
#define SG_RECORDED_PENDING_MAX 1024

enum sg_status sg_recording_program(const struct sg_recording *recording, bool nonblocking,
                                    struct sg_recorded_program *out);
void sg_recorded_program_clear(struct sg_recorded_program *program, uint32_t ranks);

/* ---- the contents of a recording */

/* A recorded step. The request of a message is the index of its post in the rank's steps. */
struct sg_recorded_step {
    struct sg_step step;
    bool blocking;   /* belongs to a call that completes what it begins */
    bool incomplete; /* a receive whose message is unknown */
    uint32_t root;   /* of a collective: its rank in MPI_COMM_WORLD */
};

/* A call: `count` steps from `first` on, or a collective of the library, which may be reported when
 * its rank is in the next call already. */
struct sg_program_call {
    int64_t begin_ns, end_ns;
    uint32_t first, count;
    uint32_t collective; /* 1 + its index in the rank's collectives; 0: none */
};

struct sg_recording_rank {
    struct sg_recorded_step *steps;
    uint32_t step_count;
    struct sg_recorded_step *collectives;
    uint32_t collective_count;
    struct sg_program_call *calls; /* sorted when the run has been read */
    uint32_t call_count;
    uint32_t open;          /* first step of the call under way */
    struct sg_map requests; /* index of the posting step, by request */
    int64_t thread;         /* the thread that calls MPI; -1: none yet */
};

struct sg_recording_comm {
    uint8_t *is_member; /* by rank in MPI_COMM_WORLD: it has called a collective; NULL: none has */
    uint32_t size;
};

#endif
