/* Wakes ranks that wait inside MPICH. With many ranks on each processor a rank that waits sleeps on
 * a word of its own in shared memory of the machine, and a rank whose send it may wait for wakes it
 * (docs/decisions/08). The hook that sees both calls these functions (ucx_sends.c, hook_ucx.c).
 *
 * No wake is lost: a sleeper publishes that it sleeps, progresses once more, and sleeps only then;
 * a sender looks at the word after its message is on its way. Some traffic is sent in progress and
 * not by a call: a rank with unfinished sends therefore asks their receivers to wake it when they
 * have progressed. Every sleep has a limit.
 *
 * While the calling thread is in a call that waits, it wakes others when it has nothing to do, or
 * at the end of the call: its own next message then needs no second wake.
 *
 * One thread at a time; not from a signal handler. errno is preserved.
 */
#ifndef SG_WAIT_WAKES_H
#define SG_WAIT_WAKES_H

#include "wait/turn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identifies a rank's worker to those that make an endpoint to it. */
struct sg_wakes_key {
    unsigned char bytes[16];
};

/* ---- before MPI_Init's end: what the hook has seen ---- */

/* True if there are many ranks for each processor, as far as is known. */
bool sg_wakes_may_be_useful(void);
/* Forgets all; the rest of this part does nothing unless it is wanted. */
void sg_wakes_expect(bool is_wanted);
void sg_wakes_know_own(struct sg_wakes_key key);
/* A new endpoint, at any time. */
void sg_wakes_know_endpoint(const void *endpoint, struct sg_wakes_key key);
void sg_wakes_forget_endpoint(const void *endpoint);

/* ---- start ---- */

/* True if MPICH has been seen to make its worker, and there are many ranks for each processor. */
bool sg_wakes_are_useful(void);
/* Size of the table for so many ranks of a machine. */
size_t sg_wakes_bytes(int ranks);
/* Puts this rank's key into the zeroed table, which is the process's until stop. */
void sg_wakes_enter(void *table, int ranks, int own);
/* After all have entered. False: keys are not unique, which is so on all ranks of a machine; or no
 * memory: those that this rank sends to wake at the limits of their sleeps. */
bool sg_wakes_start(void);
/* Before the table is unmapped. */
void sg_wakes_stop(void);

/* ---- while it runs ---- */

extern bool sg_wakes_are_on;
/* Something is deferred until the call's end. */
extern bool sg_wakes_are_owed;

/* After a send. request: the library's, if the send is unfinished; otherwise NULL. */
void sg_wakes_sent(const void *endpoint, const void *request);
/* A request of MPICH's that waits for unknown ranks; NULL: none. */
void sg_wakes_flushed(const void *request);
/* A request has ended; maybe one that was passed to sg_wakes_sent. */
void sg_wakes_ended(const void *request);
/* This rank has progressed, or has received: those that ask for it are woken. */
void sg_wakes_progressed(void);
/* Enclose a call that waits for the answer of an endpoint's rank by progressing. */
void sg_wakes_begin_answer(const void *endpoint);
void sg_wakes_end_answer(const void *endpoint);
/* After an iteration without events: if it is time to, sleeps until this rank is woken. progress:
 * an iteration, which returns the number of events. Sets *events to that of the last iteration.
 * False: this thread does not wait in this way now. */
bool sg_wakes_sleep(unsigned (*progress)(void *worker), void *worker, unsigned *events);
/* Wakes the ranks that are owed a wake. */
void sg_wakes_pay(void);

/* Enclose an application's call that waits. */
static inline void sg_wakes_begin_wait(void)
{
    sg_turn_begin_wait();
    sg_turns.waiting = true;
}
static inline void sg_wakes_end_wait(void)
{
    sg_turns.waiting = false;
    if (__builtin_expect(sg_wakes_are_owed, 0))
        sg_wakes_pay();
}

#endif
