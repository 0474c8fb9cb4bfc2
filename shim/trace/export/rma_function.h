/* What MPI's functions on windows do, by their names. */
#ifndef SG_TRACE_RMA_FUNCTION_H
#define SG_TRACE_RMA_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

enum sg_rma {
    SG_RMA_NONE, /* nothing of it, or nothing that events tell of */
    /* operations */
    SG_RMA_PUT,
    SG_RMA_GET,
    SG_RMA_ACCUMULATE, /* puts */
    SG_RMA_FETCH,      /* puts and gets; so does the next */
    SG_RMA_COMPARE,
    /* collectives */
    SG_RMA_MAKE,
    SG_RMA_FREE,
    SG_RMA_FENCE,
    /* with groups */
    SG_RMA_POST,
    SG_RMA_START,
    SG_RMA_COMPLETE,
    SG_RMA_WAIT, /* or MPI_Win_test */
    /* of one target, or of all */
    SG_RMA_LOCK,
    SG_RMA_LOCK_ALL,
    SG_RMA_UNLOCK,
    SG_RMA_UNLOCK_ALL,
    SG_RMA_FLUSH,
    SG_RMA_FLUSH_ALL,
    SG_RMA_FLUSH_LOCAL,
    SG_RMA_FLUSH_LOCAL_ALL,
};

/* name: with MPI_. */
enum sg_rma sg_rma_of(const char *name);

static inline bool sg_rma_is_operation(enum sg_rma rma)
{
    return rma >= SG_RMA_PUT && rma <= SG_RMA_COMPARE;
}

static inline bool sg_rma_is_collective(enum sg_rma rma)
{
    return rma >= SG_RMA_MAKE && rma <= SG_RMA_FENCE;
}

static inline bool sg_rma_has_group(enum sg_rma rma)
{
    return rma >= SG_RMA_POST && rma <= SG_RMA_WAIT;
}

#endif
