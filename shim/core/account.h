/* The account of a call: how long each step takes. Only libstagger-account.so keeps
 * it; that library is built from the same sources with SG_ACCOUNT defined, for stagger-bench.
 * Elsewhere a mark compiles to nothing. A mark ends a step: it stores the processor's counter if
 * the thread has been given storage (docs/decisions/10). */
#ifndef SG_CORE_ACCOUNT_H
#define SG_CORE_ACCOUNT_H

#include "core/cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* In the order of a call: of a collective that the library runs, or of another counted call. A step
 * that a call skips has no mark: 0. */
enum sg_account_step {
    SG_ACCOUNT_ENTERED,  /* the wrapper has called the library */
    SG_ACCOUNT_KEPT,     /* the arguments that the call overwrites are kept */
    SG_ACCOUNT_COMM,     /* the communicator is found */
    SG_ACCOUNT_SITE,     /* the call site is found */
    SG_ACCOUNT_CHOICE,   /* the algorithm is chosen */
    SG_ACCOUNT_OPENED,   /* the event of a call that waits is begun */
    SG_ACCOUNT_BEGUN,    /* the clock is read */
    SG_ACCOUNT_RECORD,   /* the record is begun */
    SG_ACCOUNT_PRESENT,  /* the thread's record has the call */
    SG_ACCOUNT_SLOT,     /* the ring slot is free */
    SG_ACCOUNT_PLAN,     /* everything is ready to be published */
    SG_ACCOUNT_PUBLISH,  /* this rank's line is written */
    SG_ACCOUNT_SEE,      /* every rank's line is seen */
    SG_ACCOUNT_FOLD,     /* the operands are folded */
    SG_ACCOUNT_LEAVE,    /* the instance and the engine are left */
    SG_ACCOUNT_CALLED,   /* MPI's own function has returned */
    SG_ACCOUNT_ENDED,    /* the clock is read again */
    SG_ACCOUNT_PAST,     /* the thread's record has the call's end */
    SG_ACCOUNT_MOVED,    /* its communicator, bytes and peers are known */
    SG_ACCOUNT_RECORDED, /* the record is complete */
    SG_ACCOUNT_FOLLOWED, /* the request that the call made is in the table */
    SG_ACCOUNT_AWAITED,  /* the requests that it completed are out of it */
    SG_ACCOUNT_COUNTED,  /* the statistics include the call */
    SG_ACCOUNT_SAMPLED,  /* the interval after the call is sampled, or not */
    SG_ACCOUNT_RETURN,   /* back to the wrapper */
    SG_ACCOUNT_STEPS
};

/* Symbols that libstagger-account.so exports, for dlsym(3). set: marks the calling thread's calls
 * from now on, each in the next row of `room`, until it is called with NULL. cost: counts that a
 * mark takes; 0: the counter is unreliable. */
#define SG_ACCOUNT_SET "sg_account_set"
#define SG_ACCOUNT_COST "sg_account_cost"
typedef void (*sg_account_setter)(uint64_t (*room)[SG_ACCOUNT_STEPS]);
typedef double (*sg_account_coster)(void);

#ifdef SG_ACCOUNT

/* Row of the call in progress; NULL: no account is kept. */
extern __thread uint64_t (*sg_account_row)[SG_ACCOUNT_STEPS]
    __attribute__((tls_model("initial-exec")));

static inline void sg_account_mark(enum sg_account_step step)
{
    if (__builtin_expect(sg_account_row != NULL, 1))
        (*sg_account_row)[step] = sg_cpu_counter();
}

/* Starts the next row. */
static inline void sg_account_enter(void)
{
    if (sg_account_row != NULL)
        sg_account_row++;
    sg_account_mark(SG_ACCOUNT_ENTERED);
}

#else

static inline void sg_account_mark(enum sg_account_step step)
{
    (void)step;
}

static inline void sg_account_enter(void)
{
}

#endif

#endif
