/* The account of a call inside a node: which step takes how long. Only libstagger-account.so keeps
 * it, which is built of the library's sources with SG_ACCOUNT defined, for stagger-bench; elsewhere
 * a mark is nothing. A mark stands at the end of each step, and takes the processor's counter, if
 * the thread has been given room (docs/decisions/0061-account.md).
 */
#ifndef SG_CORE_ACCOUNT_H
#define SG_CORE_ACCOUNT_H

#include "core/cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* In the order of a call. What a call does not do has no mark: 0. */
enum sg_account_step {
    SG_ACCOUNT_ENTERED,  /* behind the wrapper */
    SG_ACCOUNT_COMM,     /* the communicator is found */
    SG_ACCOUNT_SITE,     /* so is the call site */
    SG_ACCOUNT_CHOICE,   /* and the algorithm */
    SG_ACCOUNT_BEGUN,    /* the clock is read */
    SG_ACCOUNT_RECORD,   /* the record is begun */
    SG_ACCOUNT_SLOT,     /* a slot of the ring that was not free is so now */
    SG_ACCOUNT_PLAN,     /* all is ready to be published */
    SG_ACCOUNT_PUBLISH,  /* this rank's line is written */
    SG_ACCOUNT_SEE,      /* everyone's line is seen */
    SG_ACCOUNT_FOLD,     /* the operands are folded */
    SG_ACCOUNT_LEAVE,    /* the instance is left, and the engine with it */
    SG_ACCOUNT_ENDED,    /* the clock is read again */
    SG_ACCOUNT_RECORDED, /* the record is complete */
    SG_ACCOUNT_COUNTED,  /* the statistics have the call */
    SG_ACCOUNT_RETURN,   /* back to the wrapper */
    SG_ACCOUNT_STEPS
};

/* What libstagger-account.so exports, for dlsym(3). set: from now on the calling thread's calls are
 * marked, each in the next row of the room, until it is NULL. cost: counts that a mark takes; 0:
 * the counter cannot be relied on. */
#define SG_ACCOUNT_SET "sg_account_set"
#define SG_ACCOUNT_COST "sg_account_cost"
typedef void (*sg_account_setter)(uint64_t (*room)[SG_ACCOUNT_STEPS]);
typedef double (*sg_account_coster)(void);

#ifdef SG_ACCOUNT

/* The row of the call under way; NULL: none is kept. */
extern __thread uint64_t (*sg_account_row)[SG_ACCOUNT_STEPS]
    __attribute__((tls_model("initial-exec")));

static inline void sg_account_mark(enum sg_account_step step)
{
    if (__builtin_expect(sg_account_row != NULL, 1))
        (*sg_account_row)[step] = sg_cpu_counter();
}

/* A call begins. */
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
