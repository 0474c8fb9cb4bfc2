/* An intercepted MPI call and its statistics: the form in which wrappers, engines and the log
 * exchange a collective. The caller owns both structs; they last as long as the call, except that a
 * nonblocking call's record has a copy of struct sg_call (intercept/call_log.c). */
#ifndef SG_MPI_CALL_H
#define SG_MPI_CALL_H

#include "core/text.h"
#include "rule/rule.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_intranode;
struct sg_internode;

/* Identifies the call in the log. */
struct sg_call_name {
    bool recorded; /* false: the log does not have it */
    uint32_t site, comm, seq;
};

/* One intercepted call, as the application made it. */
struct sg_call {
    enum sg_operation operation;
    const void *send; /* reduce, allreduce: maybe MPI_IN_PLACE; bcast: as receive */
    void *receive;
    MPI_Count count;
    MPI_Datatype datatype;
    MPI_Op op;
    int root; /* of a reduce or bcast; else -1 */
    MPI_Comm comm;
    uint64_t bytes;                  /* count times type size */
    uint64_t arrival_ns;             /* 0: not measured */
    const struct sg_rule_site *site; /* for log lines; NULL: not known */
    struct sg_call_name name;        /* for records made later */
    MPI_Request *request;            /* output of a nonblocking call; NULL: blocking */
    struct sg_intranode *intranode;  /* engine of the communicator; NULL: none */
    struct sg_internode *internode;  /* likewise; if both are NULL, MPICH runs the call */
    bool devices;                    /* some rank of the communicator has a GPU driver */
    /* Not NULL: the choice may differ between the ranks, which agree on one. */
    const struct sg_ruleset *rules;
    /* Not NULL: this call takes the place of the application's, which MPICH would run. */
    const struct sg_call *original;
    /* Runs MPICH's own version of the call; see sg_call_pass. */
    int (*pass)(const struct sg_call *call);
};

static inline int sg_call_pass(const struct sg_call *call)
{
    return call->original != NULL ? call->original->pass(call->original) : call->pass(call);
}

/* Returned in place of an error class that sg_dispatch raises once the call is settled; the call
 * counts as an instance. Errors of MPICH are positive and have been raised. */
#define SG_CALL_RAISES(error_class) (-(error_class))

/* Events of the call, for the trace. The caller zeroes it. */
struct sg_call_statistics {
    /* As in core/executed.h. The algorithm is MPICH's if the chosen one does not take the call; the
     * trial candidate is that of the choice that all ranks followed. */
    uint8_t executed;
    uint32_t early;
    uint32_t late;
    uint32_t signals;
    uint32_t ignored; /* signals that found progress already running */
    uint32_t stalls;
    uint32_t outstanding;
    uint32_t copies;
    uint32_t moves;      /* of tokens */
    uint32_t repeats;    /* releases that arrived again */
    uint64_t handler_ns; /* spent on late contributions */
    uint64_t slice;      /* of the call, or of its last chunk: 1 + its number; 0: none */
    bool skew_known;
    uint64_t skew_ns;
};

/* State of the communicator's other ranks at this rank's next position. */
enum sg_others {
    SG_OTHERS_NOWHERE,   /* none has arrived there */
    SG_OTHERS_THERE,     /* in the call asked for, by operation, root and bytes */
    SG_OTHERS_ELSEWHERE, /* in another call */
};

#endif
