/* A program that runs in virtual time: what its two models, stock.c and slices.c, share. Processes,
 * what they have posted and wait for, and which send belongs to which receive.
 */
#ifndef SG_BCS_PROGRAM_RUN_H
#define SG_BCS_PROGRAM_RUN_H

#include "core/status.h"
#include "core/text.h"
#include "sim/network.h"
#include "sim/timed_queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Programs of processes in virtual time: what each process does, step by step.
 *
 * A program is a function of (process, index), so that patterns take no memory and recorded runs
 * give their arrays. The n-th SEND or ISEND of a sender to a receiver with a tag on a communicator
 * matches the n-th RECV or IRECV of that receiver, sender, tag and communicator: there is no
 * MPI_ANY_SOURCE, as a recorded run tells whom a message came from. All members of a communicator
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

#define SG_RUN_NONE UINT32_MAX
#define SG_RUN_PENDING UINT64_MAX

/* Kinds of events; a model has its own from SG_RUN_OWN on. */
enum { SG_RUN_RESUME, SG_RUN_OWN };

/* Numbers of posts from this one on are of calls that wait for them themselves. */
#define SG_RUN_OWN_POSTS 0x80000000u

/* What a process posted, until a call has waited for it. */
struct sg_run_request {
    uint64_t return_ns; /* who waits for it goes on; SG_RUN_PENDING: not known yet */
    uint32_t number;    /* of the process's posts, from 0; or SG_RUN_OWN_POSTS */
    uint32_t next;      /* of the process, or free */
    bool awaited;
};

/* One side of a message that waits for the other side. */
struct sg_run_post {
    uint64_t time_ns, bytes;
    int32_t from, to; /* processes of the message */
    uint32_t comm, tag;
    uint32_t request; /* of the process that posted */
    uint32_t next;
    bool data; /* of a send: it came with its data */
};

struct sg_run_posts {
    uint32_t first, last;
};

struct sg_run_process {
    uint64_t index;      /* of the next step */
    uint64_t entered_ns; /* its call, if it is in one */
    uint64_t return_ns;  /* the latest of what it waits for and is known */
    uint32_t posted, requests, pending;
    bool in_call, ended;
    struct sg_run_posts sends, receives; /* to and of this process, not matched yet */
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
    enum sg_status status; /* the first failure, logged */
};

enum sg_status sg_run_open(const struct sg_program *program, struct sg_run *run);
void sg_run_close(struct sg_run *run);
void sg_run_fail(struct sg_run *run, enum sg_status status, const char *text);
void sg_run_push(struct sg_run *run, uint64_t time_ns, uint32_t kind, uint32_t index);
/* The next event; false: none, or a failure. */
bool sg_run_pop(struct sg_run *run, struct sg_queue_entry *entry);
/* At the end: the status, and what it took. */
enum sg_status sg_run_finish(struct sg_run *run, struct sg_program_result *result);
/* The process's next step that takes time or ends it. */
struct sg_step sg_run_next(struct sg_run *run, int32_t process);

/* ---- calls */

void sg_run_enter(struct sg_run *run, int32_t process);
/* Leaves its call at time_ns, and goes on then. */
void sg_run_leave(struct sg_run *run, int32_t process, uint64_t time_ns);

/* ---- requests */

/* own: of a call that waits for it itself. SG_RUN_NONE without memory. */
uint32_t sg_run_request(struct sg_run *run, int32_t process, bool own);
/* It is done: who waits for it goes on at return_ns. True: that was the last that the process
 * waits for; it goes on at return_ns of the process. */
bool sg_run_done(struct sg_run *run, int32_t process, uint32_t request, uint64_t return_ns);
/* ... for what a call waits for: its own, or what WAIT or WAITALL names. */
bool sg_run_wait_for(struct sg_run *run, int32_t process, const struct sg_step *step,
                     uint64_t now_ns);

/* ---- messages */

/* Takes the first post in the list that suits, or NONE; the caller frees it. */
uint32_t sg_run_match(struct sg_run *run, struct sg_run_posts *list, int32_t from, uint32_t comm,
                      uint32_t tag);
/* Copies it to the end of a list; its index, NONE without memory. */
uint32_t sg_run_append(struct sg_run *run, struct sg_run_posts *list,
                       const struct sg_run_post *post);
void sg_run_free(struct sg_run *run, uint32_t post);

/* The setup of a program under buffered coscheduling. */

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

/* A program under buffered coscheduling as it runs, and functions on it: what slices.c (processes
 * and what they post) and phases.c (what a slice does) share. */

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
