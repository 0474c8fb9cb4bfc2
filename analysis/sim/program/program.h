/* Programs of processes in virtual time: what each process does, step by step.
 *
 * A program is a function of (process, index), so that patterns take no memory and recorded runs
 * give their arrays. The n-th SEND or ISEND of a sender to a receiver with a tag on a communicator
 * matches the n-th RECV or IRECV of that receiver, sender, tag and communicator: there is no
 * MPI_ANY_SOURCE, as a recorded run tells whom a message came from. All members of a communicator
 * call its collectives in the same order.
 */
#ifndef SG_SIM_PROGRAM_PROGRAM_H
#define SG_SIM_PROGRAM_PROGRAM_H

#include "core/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_step_kind {
    SG_STEP_END,
    SG_STEP_COMPUTE,
    SG_STEP_SEND,
    SG_STEP_RECV,
    SG_STEP_ISEND,
    SG_STEP_IRECV,
    SG_STEP_WAIT,    /* for one ISEND or IRECV */
    SG_STEP_WAITALL, /* for all of them */
    SG_STEP_COLLECTIVE
};

struct sg_step {
    uint64_t ns;    /* of COMPUTE */
    uint64_t bytes; /* of a message; of a collective's operand */
    int32_t peer;   /* process; of a collective: the root's rank in the communicator */
    int32_t own;    /* of a collective: the process's rank in the communicator */
    uint32_t tag, comm;
    uint32_t request; /* of WAIT: which of the process's ISENDs and IRECVs, from 0 */
    uint8_t kind;     /* enum sg_step_kind */
    uint8_t operation;
};

struct sg_program_comm {
    int32_t size;
    const int32_t *members; /* processes by rank; NULL: rank r is process r */
};

struct sg_program {
    int32_t processes;
    const struct sg_program_comm *comms;
    uint32_t comm_count;
    const void *context;
    /* Pure; END from the process's last step on. */
    void (*step)(const struct sg_program *program, int32_t process, uint64_t index,
                 struct sg_step *out);
};

static inline struct sg_step sg_program_step(const struct sg_program *program, int32_t process,
                                             uint64_t index)
{
    struct sg_step step = {.kind = SG_STEP_END};

    program->step(program, process, index, &step);
    return step;
}

static inline int32_t sg_program_member(const struct sg_program *program, uint32_t comm,
                                        int32_t rank)
{
    const int32_t *members = program->comms[comm].members;

    return members != NULL ? members[rank] : rank;
}

/* Whether it is a call that waits. */
static inline bool sg_step_waits(const struct sg_step *step)
{
    return step->kind != SG_STEP_END && step->kind != SG_STEP_COMPUTE &&
           step->kind != SG_STEP_ISEND && step->kind != SG_STEP_IRECV;
}

/* What a run takes. Sums are over the processes; blocked: in calls that wait; busy: in calls, but
 * not waiting. */
struct sg_program_result {
    uint64_t run_ns; /* of the process that ends last */
    double compute_ns, busy_ns, blocked_ns;
    uint64_t blocking_calls; /* of all processes */
    uint64_t events;
    bool stuck; /* processes wait for what nobody sends or calls: it never ends */
};

#endif
