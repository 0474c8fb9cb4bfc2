/* An intercepted MPI call, and what became of it. */
#ifndef SG_MPI_CALL_H
#define SG_MPI_CALL_H

#include "core/text.h"
#include "rule/rule.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_intranode;
struct sg_internode;

/* What a log calls a call. */
struct sg_call_name {
    bool recorded; /* false: it does not know of it */
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
    int root; /* reduce, bcast; -1 otherwise */
    MPI_Comm comm;
    uint64_t bytes;                  /* count times type size */
    uint64_t arrival_ns;             /* 0: not measured */
    const struct sg_rule_site *site; /* for messages; NULL: not known */
    struct sg_call_name name;        /* for what is told of it later */
    MPI_Request *request;            /* where a nonblocking call's goes; NULL: it waits */
    struct sg_intranode *intranode;  /* of the communicator; NULL: none */
    struct sg_internode *internode;  /* likewise; neither: MPICH's own is to run */
    bool devices;                    /* some rank of the communicator has a GPU's driver */
    /* Not NULL: the choice may differ between the ranks, which agree on one. */
    const struct sg_ruleset *rules;
    /* With rules: the choice without the call site, once the communicator's ranks agree on none any
     * more.
     */
    const struct sg_choice *(*choose_alike)(const struct sg_call *call);
    /* MPICH's own version of the call. */
    int (*pass)(const struct sg_call *call);
};

/* Returned instead of an error class that sg_dispatch is to raise when the call is settled; the
 * call counts as an instance. Errors of MPICH, which are positive, have been raised. */
#define SG_CALL_RAISES(error_class) (-(error_class))

/* What happened, for the trace. Zeroed by the caller. */
struct sg_call_statistics {
    /* By core/executed.h. The algorithm is MPICH's own where the chosen one does not take the call;
     * the arm is the choice's that all ranks followed. */
    uint8_t executed;
    uint32_t early;
    uint32_t late;
    uint32_t signals;
    uint32_t ignored; /* signals that found progress under way */
    uint32_t stalls;
    uint32_t outstanding;
    uint32_t copies;
    uint32_t moves;      /* of tokens */
    uint32_t repeats;    /* releases that came again */
    uint64_t handler_ns; /* spent on what came late */
    uint64_t slice;      /* that it ran in, or its last chunk: 1 + its number; 0: none */
    bool skew_known;
    uint64_t skew_ns;
};

/* The position of the communicator's other ranks, relative to this rank's next one. */
enum sg_others {
    SG_OTHERS_NOWHERE,   /* none has come there yet */
    SG_OTHERS_THERE,     /* in the call that was asked for: its operation, root and bytes */
    SG_OTHERS_ELSEWHERE, /* in another call */
};

#endif
