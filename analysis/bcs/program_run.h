/* Programs that run in virtual time, with the state that their two models share: MPI as usual
 * (program_stock.c) and buffered coscheduling (program_slices.c, program_phases.c). It keeps the
 * processes, their posts and waits, and matches sends with receives. */
#ifndef SG_BCS_PROGRAM_RUN_H
#define SG_BCS_PROGRAM_RUN_H

#include "core/status.h"
#include "core/text.h"
#include "sim/network.h"
#include "sim/timed_queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- programs: the actions of each process, step by step
 *
 * A program is a function of (process, index), so that patterns take no memory and recorded runs
 * give their arrays. The n-th SEND or ISEND of a sender to a receiver with a tag on a communicator
 * matches the n-th RECV or IRECV of that receiver, sender, tag and communicator. There is no
 * MPI_ANY_SOURCE, because a recorded run names each message's sender. All members of a communicator
 * call its collectives in the same order.
 */

enum sg_step_kind {
    SG_STEP_END,
    SG_STEP_COMPUTE,
    SG_STEP_SEND,
    SG_STEP_RECV,
    SG_STEP_ISEND,
    SG_STEP_IRECV,
    SG_STEP_WAIT,    /* for one ISEND or IRECV */
    SG_STEP_WAITALL, /* for all ISENDs and IRECVs of the process */
    SG_STEP_COLLECTIVE
};

struct sg_step {
    uint64_t ns;    /* of COMPUTE */
    uint64_t bytes; /* of a message; of a collective's operand */
    int32_t peer;   /* a process; of a collective: the root's rank in the communicator */
    int32_t own;    /* of a collective: the process's rank in the communicator */
    uint32_t tag, comm;
    uint32_t request; /* of WAIT: number of the ISEND or IRECV, counted per process from 0 */
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
    /* Pure function; returns END from the process's last step on. */
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

/* Returns true if the step is a call that waits. */
static inline bool sg_step_waits(const struct sg_step *step)
{
    return step->kind != SG_STEP_END && step->kind != SG_STEP_COMPUTE &&
           step->kind != SG_STEP_ISEND && step->kind != SG_STEP_IRECV;
}

/* The times of a run, summed over the processes. blocked_ns: in calls that wait; busy_ns: in calls,
 * but not waiting. */
struct sg_program_result {
    uint64_t run_ns; /* end of the last process */
    double compute_ns, busy_ns, blocked_ns;
    uint64_t blocking_calls; /* sum over the processes */
    uint64_t events;
    bool stuck; /* some processes wait for calls that never come: the run never ends */
};

#define SG_RUN_NONE UINT32_MAX
#define SG_RUN_PENDING UINT64_MAX

/* Kinds of events; a model numbers its own from SG_RUN_OWN on. */
enum { SG_RUN_RESUME, SG_RUN_OWN };

/* Posts numbered from here on belong to calls that wait for them themselves. */
#define SG_RUN_OWN_POSTS 0x80000000u

/* A post of a process, until a call has waited for it. */
struct sg_run_request {
    uint64_t return_ns; /* when the waiting process continues; SG_RUN_PENDING: unknown */
    uint32_t number;    /* counted per process from 0; or SG_RUN_OWN_POSTS */
    uint32_t next;      /* in the process's list, or in the free list */
    bool awaited;
};

/* A send or receive that has no match yet. */
struct sg_run_post {
    uint64_t time_ns, bytes;
    int32_t from, to; /* sender and receiver */
    uint32_t comm, tag;
    uint32_t request; /* of the posting process */
    uint32_t next;
    bool data; /* a send that came with its data */
};

struct sg_run_posts {
    uint32_t first, last;
};

struct sg_run_process {
    uint64_t index;      /* index of the next step */
    uint64_t entered_ns; /* begin of its call, with in_call */
    uint64_t return_ns;  /* latest known end of the posts it waits for */
    uint32_t posted, requests, pending;
    bool in_call, ended;
    struct sg_run_posts sends, receives; /* unmatched, to and of this process */
};

struct sg_run {
    const struct sg_program *program;
    struct sg_queue queue;
    uint64_t now_ns;
    struct sg_run_process *processes;
    struct sg_run_request *requests;
    struct sg_run_post *posts;
    uint32_t requests_used, requests_free;
    uint32_t posts_used, posts_free;
    int32_t running; /* processes that have not ended */
    struct sg_program_result result;
    enum sg_status status; /* the first failure, which has been logged */
};

enum sg_status sg_run_open(const struct sg_program *program, struct sg_run *run);
void sg_run_close(struct sg_run *run);
void sg_run_fail(struct sg_run *run, enum sg_status status, const char *text);
void sg_run_push(struct sg_run *run, uint64_t time_ns, uint32_t kind, uint32_t index);
/* Takes the next event; false: there is none, or the run has failed. */
bool sg_run_pop(struct sg_run *run, struct sg_queue_entry *entry);
/* Ends the run: returns its status and fills in *result. */
enum sg_status sg_run_finish(struct sg_run *run, struct sg_program_result *result);
/* Returns the process's next step that takes time or ends it. */
struct sg_step sg_run_next(struct sg_run *run, int32_t process);

/* ---- calls */

void sg_run_enter(struct sg_run *run, int32_t process);
/* Ends the process's call at time_ns; it continues then. */
void sg_run_leave(struct sg_run *run, int32_t process, uint64_t time_ns);

/* ---- requests */

/* Adds a request. own: of a call that waits for it itself. SG_RUN_NONE: out of memory. */
uint32_t sg_run_request(struct sg_run *run, int32_t process, bool own);
/* Completes a request: its waiter continues at return_ns. True: it was the last that the process
 * waits for, and the process continues at the process's return_ns. */
bool sg_run_done(struct sg_run *run, int32_t process, uint32_t request, uint64_t return_ns);
/* Makes the process wait from now_ns on for what the step waits for: its own posts, or those that
 * WAIT or WAITALL names. True: all ends are known, and the process continues at its return_ns. */
bool sg_run_wait_for(struct sg_run *run, int32_t process, const struct sg_step *step,
                     uint64_t now_ns);

/* ---- messages */

/* Removes the first matching post from the list. Returns its index, which the caller frees;
 * SG_RUN_NONE: none matches. */
uint32_t sg_run_match(struct sg_run *run, struct sg_run_posts *list, int32_t from, uint32_t comm,
                      uint32_t tag);
/* Copies the post to the end of a list. Returns its index; SG_RUN_NONE: out of memory. */
uint32_t sg_run_append(struct sg_run *run, struct sg_run_posts *list,
                       const struct sg_run_post *post);
void sg_run_free(struct sg_run *run, uint32_t post);

/* ---- buffered coscheduling: setup */

#define SG_SLICED_BUDGET_DEFAULT 65536

struct sg_sliced_setup {
    const struct sg_network *network;
    uint64_t slice_ns;
    uint64_t budget_bytes; /* a slice's, of a receiver or a collective; 0: default */
    bool restart_slice;    /* calls return with the next slice; false: within their own */
    bool separate;         /* each microphase has a strobe of its own */
    bool always;           /* every boundary has a strobe */
    bool on_host;          /* the agent is the host's processor; false: the network card */
};

/* ---- buffered coscheduling: the state of a run
 *
 * Shared by program_slices.c, which runs the processes and takes their posts, and program_phases.c,
 * which runs the slices.
 */

struct sg_sliced_process {
    uint64_t work_end_ns;         /* end of its computation; 0: it does not compute */
    uint64_t owed_ns;             /* agent's time to take from its next computation */
    uint64_t send_ns, receive_ns; /* when its adapter is free to send, to receive */
    uint64_t stamp;               /* 1 + the slice that the following members belong to */
    uint64_t used_bytes;          /* part of the budget */
    uint32_t descriptors;
};

/* A collective of a communicator that some members have called. */
struct sg_sliced_comm {
    uint32_t *requests; /* by rank */
    int32_t called;
    uint64_t ready_ns; /* when endpoint 0 knows that the members so far have called */
};

/* A collective that all members have called, or a matched message. */
struct sg_sliced_work {
    uint64_t bytes;         /* still to move */
    uint64_t ready_ns;      /* of a collective */
    uint32_t send, receive; /* of a message, at either end */
    int32_t from, to, root;
    uint32_t comm;
    uint8_t operation;
    bool collective;
    bool finished;      /* in this slice, at the times below */
    uint64_t first_ns;  /* end at the sender, or the root */
    uint64_t second_ns; /* end at the receiver, or the other members */
};

struct sg_sliced_state {
    struct sg_run run;
    const struct sg_sliced_setup *setup;
    struct sg_network network;
    uint64_t slice_ns, budget_bytes;
    uint64_t strobe_ns;   /* until a strobe has reached everyone */
    uint64_t hop_ns;      /* latency of an empty message, with overheads */
    uint64_t overhead_ns; /* of the host, per message */
    uint64_t post_ns;     /* of a process, per post */
    uint64_t agent_ns;    /* of the agent, per descriptor */
    uint64_t query_ns;    /* between two queries of the hardware; 0: DONE messages climb the tree */
    int depth;            /* depth of that tree */
    struct sg_sliced_process *processes;
    struct sg_sliced_comm *comms;
    struct sg_run_post *fresh; /* descriptors not exchanged yet; request: the poster's */
    uint32_t fresh_count;
    struct sg_sliced_work *work; /* pending work, in order */
    uint32_t work_count;
    uint64_t alarm_ns; /* begin of the next slice; SG_RUN_PENDING: none is due */
    uint64_t end_ns;   /* end of the last slice */
};

/* Delays a process for ns, for its agent on the host, if it is computing. */
void sg_sliced_steal(struct sg_sliced_state *slices, int32_t process, uint64_t ns);
/* Requests a slice: the first boundary after time_ns and after the last slice's end. */
void sg_sliced_want(struct sg_sliced_state *slices, uint64_t time_ns);
/* Completes the request; the process continues if it has waited for it. */
void sg_sliced_done(struct sg_sliced_state *slices, int32_t process, uint32_t request,
                    uint64_t return_ns);
bool sg_sliced_add_work(struct sg_sliced_state *slices, const struct sg_sliced_work *work);

/* Runs the slice that begins at the current time (program_phases.c). */
void sg_sliced_begin(struct sg_sliced_state *slices);

/* Runs a program under buffered coscheduling (paper 001, section 4), slice by slice.
 *
 * A slice is computed at its boundary: the descriptors posted before it, their matches, and the
 * length of each microphase, message by message. The times are those of the protocol (shim/bcs)
 * without jitter, and tests compare them. Two things differ: a message moves as a whole, not chunk
 * by chunk, and process 0 exchanges messages when its strobe has reached the others, not at once. A
 * blocking send returns when its data have been fetched and the sender has been notified. Each
 * process is an endpoint.
 *
 * A slice begins at the first boundary after the end of the last one. If the network has query_us,
 * hardware reports that all are done, at a multiple of it after the microphase's begin; otherwise
 * DONE climbs the tree. The agent takes agent_us for a descriptor, a process post_us to post one.
 */

/* On failure one line has been logged. */
enum sg_status sg_sliced_run(const struct sg_sliced_setup *setup, const struct sg_program *program,
                             struct sg_program_result *result);

#endif
