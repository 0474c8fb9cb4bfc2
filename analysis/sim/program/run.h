/* A program that runs in virtual time: what its two models, stock.c and slices.c, share. Processes,
 * what they have posted and wait for, and which send belongs to which receive.
 */
#ifndef SG_SIM_PROGRAM_RUN_H
#define SG_SIM_PROGRAM_RUN_H

#include "core/status.h"
#include "sim/program/program.h"
#include "sim/timed/queue.h"

#include <stddef.h>

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
/* The process waits from now_ns on for its posts of these numbers. True: all is known; it goes on
 * at return_ns of the process. */
bool sg_run_wait(struct sg_run *run, int32_t process, uint32_t first, uint32_t last,
                 uint64_t now_ns);
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

#endif
