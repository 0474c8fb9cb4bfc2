/* Classifies MPI's one-sided functions and functions on windows, by name. Logs and archives hold
 * only the names, so the export and the report share this classification. */
#ifndef SG_TRACE_RMA_FUNCTION_H
#define SG_TRACE_RMA_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

enum sg_rma {
    SG_RMA_NONE, /* not on a window, or without meaning for the events */
    /* operations */
    SG_RMA_PUT,
    SG_RMA_GET,
    SG_RMA_ACCUMULATE, /* puts */
    SG_RMA_FETCH,      /* puts and gets, as does SG_RMA_COMPARE */
    SG_RMA_COMPARE,
    /* collectives */
    SG_RMA_MAKE,
    SG_RMA_FREE,
    SG_RMA_FENCE,
    /* synchronise with a group */
    SG_RMA_POST,
    SG_RMA_START,
    SG_RMA_COMPLETE,
    SG_RMA_WAIT, /* also MPI_Win_test */
    /* concern one target, or all */
    SG_RMA_LOCK,
    SG_RMA_LOCK_ALL,
    SG_RMA_UNLOCK,
    SG_RMA_UNLOCK_ALL,
    SG_RMA_FLUSH,
    SG_RMA_FLUSH_ALL,
    SG_RMA_FLUSH_LOCAL,
    SG_RMA_FLUSH_LOCAL_ALL,
};

/* name: as in "MPI_Put". */
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
