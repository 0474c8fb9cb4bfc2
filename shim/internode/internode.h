/* The engine of a communicator over several nodes: endpoints in shared segments, one segment on
 * each machine, and the protocols of shim/algos run on a transport (architecture.md, "endpoints").
 *
 * A node's ranks are one endpoint. A rank that enters a collective leaves its contribution at the
 * endpoint; the last one folds them and delivers the CALL to the protocol. Messages are delivered
 * by any thread inside the library, or by asynchronous progress (progress/progress.h), under the
 * endpoint's lock. A call of any size is a sequence of chunks, each an instance of its protocol.
 *
 * The layers, lowest first: layout and communicator (data), host (carries out actions), endpoint
 * (lock, poll, delivery, waits), connect, chunk, disagree, nonblocking, coordinator, agree,
 * run_call. setup and drain begin and end a communicator; request is a nonblocking call as an MPI
 * request. For the messages of the application, which a protocol may carry, bcs/live has posts
 * below host, and messages beside run_call.
 */
#ifndef SG_INTERNODE_INTERNODE_H
#define SG_INTERNODE_INTERNODE_H

#include "core/exchange.h"
#include "core/grouping.h"
#include "core/status.h"
#include "intranode/memory.h"
#include "mpi/call.h"
#include "mpi/operands.h"
#include "mpi/user_lines.h"

struct sg_internode;
struct sg_internode_plan;
struct sg_transport_ops;

/* With more nodes than this on one machine, MPICH runs the calls. */
#define SG_INTERNODE_ENDPOINTS_MAX 256

struct sg_internode_setup {
    const char *name;   /* the communicator's, identical on all ranks */
    const char *called; /* the same, or its replacement in messages */
    int rank;
    int ranks;
    const struct sg_grouping *by_endpoint; /* ranks; copied */
    const struct sg_grouping *by_machine;  /* endpoints; copied */
    const struct sg_ruleset *rules;
    int messages_rule; /* rule by which its messages are carried; -1: they are not */
    /* Between machines; NULL on one machine. Both outlive the communicator. */
    const struct sg_transport_ops *ops;
    const struct sg_exchange *exchange; /* for agreement among its ranks, by collectives only */
    const char *(*host_of)(const struct sg_exchange *exchange, int rank);
};

/* Sets the origin of slices, in ns of this machine's clock; before any communicator. */
void sg_internode_count_slices_from(uint64_t epoch_ns);

/* Sets the first instance number of communicators made after this, for tests of counter overflow.
 * Identical on all ranks. */
void sg_internode_count_from(uint64_t first);

/* As sg_intranode_start. servers: the largest number of a node's processes that are connected to
 * other machines; the node's first process sends for the others. users_operations: users'
 * operations run here, on all ranks or on none. */
void sg_internode_start(uint32_t depth, int stall_s, int servers, bool users_operations);

/* The first rank of a machine makes its segment (offer), the others map it (accept). On failure
 * errno has the reason, and nothing is logged. SG_ERR_MISSING: no rule names a protocol, or none
 * supports this number of endpoints. */
enum sg_status sg_internode_offer(const struct sg_internode_setup *setup, struct sg_internode **out,
                                  struct sg_segment_ticket *ticket);
enum sg_status sg_internode_accept(const struct sg_internode_setup *setup,
                                   const struct sg_segment_ticket *ticket,
                                   struct sg_internode **out);

/* On several machines, when all segments are mapped: collective. A failure is the same on all
 * ranks; a rank that knows the reason logs it. */
enum sg_status sg_internode_link(struct sg_internode *internode);
bool sg_internode_is_linked(const struct sg_internode *internode);

/* Sets the communicator's identity in this process's log. The second returns true if any of its
 * protocols has slices. */
void sg_internode_name_in_log(struct sg_internode *internode, const struct sg_comm_log *log);
bool sg_internode_has_slices(const struct sg_internode *internode);

/* Complete outstanding instances: collective, in MPI_Comm_free and MPI_Finalize. begin_drain does
 * not wait; try_drain progresses without waiting (true: done); drain waits, while all communicators
 * of the process progress. */
void sg_internode_begin_drain(struct sg_internode *internode);
bool sg_internode_try_drain(struct sg_internode *internode);
void sg_internode_drain(struct sg_internode *internode);

void sg_internode_free(struct sg_internode *internode);

/* True if ranks that reach one call from different call sites can agree on its choice: always on
 * one machine, with a coordinator (coordinator.h) on several; the same on all ranks. The agreement
 * ends, at the same call on all ranks, if a nonblocking call is so far ahead of another rank that
 * its words are not free. */
bool sg_internode_agrees(const struct sg_internode *internode);

/* The plan for one call. */
struct sg_internode_plan {
    const struct sg_call *call;
    uint32_t protocol;
    uint8_t executed;            /* as in the call statistics */
    struct sg_operands operands; /* unset for a barrier */
    const void *own;             /* this rank's contribution */
    void *result;                /* NULL: this rank gets none */
    size_t count;                /* elements; bytes for a broadcast */
    size_t extent_bytes;         /* of an element */
    size_t room;                 /* elements in a chunk */
    bool side_by_side;           /* its chunks run concurrently, not one after another */
    bool commutes;               /* the order of operands does not matter */
    bool follows;                /* a broadcast's receiver enters after the root (disagree.c) */
    struct sg_user_fold *user;   /* for a user's operation; else NULL */
};

/* Plans a call with the choice that all ranks follow. False: MPICH runs the call. That decision is
 * the same on all ranks, or due to an argument error on this rank, which MPICH will report. A
 * blocking call may connect its ranks, collectively. The call must stay until the plan is done. */
bool sg_internode_plan_call(struct sg_internode *internode, const struct sg_call *call,
                            const struct sg_choice *choice, struct sg_internode_plan *plan);

/* Ends the trial round of a blocking call with choice `auto`, which has run here or in MPICH. */
void sg_internode_end_turn(struct sg_internode *internode,
                           const struct sg_call_statistics *statistics);

/* For a blocking call; a nonblocking one uses sg_request_start. */
int sg_internode_run_planned(struct sg_internode *internode, const struct sg_internode_plan *plan,
                             struct sg_call_statistics *statistics);

/* False: MPICH runs the call with any choice. Either no protocol supports its type, which is the
 * same on all ranks; or an argument is wrong on this rank, which MPICH reports. */
bool sg_internode_takes(struct sg_internode *internode, const struct sg_call *call);

/* As sg_intranode_look. On several machines no other rank is seen. */
enum sg_others sg_internode_look(struct sg_internode *internode, const struct sg_call *call,
                                 bool waits);

#endif
