/* The engine of a communicator over several nodes: endpoints in shared segments, one segment on
 * each machine, and the protocols of shim/algos run on a transport (architecture.md, "endpoints").
 *
 * A node's ranks are one endpoint. A rank that enters a collective leaves its contribution at the
 * endpoint; the last one folds them and delivers the CALL to the protocol. Messages are delivered
 * by any thread inside the library, or by asynchronous progress (progress/progress.h), under the
 * endpoint's lock.
 *
 * A call of any size is a sequence of chunks, each an instance of its protocol.
 *
 * The layers, lowest first: layout and communicator (data), statistics, consistency, host (carries
 * out actions), feed (delivers events), endpoint (lock, poll), health, waiting, chunk, disagree,
 * nonblocking, connect, coordinator, agree, call. setup and drain begin and end a communicator;
 * request is a nonblocking call as an MPI request. Messages that a protocol carries are posts (data
 * and actions), below host, and messages, beside call.
 */
#ifndef SG_INTERNODE_INTERNODE_H
#define SG_INTERNODE_INTERNODE_H

#include "core/status.h"
#include "intranode/memory.h"
#include "mpi/call.h"
#include "mpi/operands.h"
#include "mpi/user_lines.h"

struct sg_internode;
struct sg_internode_plan;
struct sg_transport_ops;

/* If there are more nodes than this on one machine, MPICH runs the calls. */
#define SG_INTERNODE_ENDPOINTS_MAX 256

struct sg_internode_setup {
    const char *name;   /* of the communicator, alike on all ranks */
    const char *called; /* the same, or what stands for it in messages */
    int rank;
    int ranks;
    int endpoints;
    const int *endpoint_of; /* by rank */
    int machines;
    const int *machine_of; /* by rank */
    const struct sg_ruleset *rules;
    int messages_rule; /* by which its messages are carried; -1: they are not */
    /* Between machines; NULL where there is one. Both live as long as the communicator. */
    const struct sg_transport_ops *ops;
    const struct sg_exchange *exchange; /* for agreement among its ranks, by collectives only */
    const char *const *hosts;           /* by rank; the names stay */
};

/* From where slices are counted, in ns of this machine's clock; before any communicator. */
void sg_internode_count_slices_from(uint64_t epoch_ns);

/* Communicators made after this count their instances from there on: for tests of the ends of
 * numbers. Alike on all ranks. */
void sg_internode_count_from(uint64_t first);

/* As sg_intranode_start. servers: the most processes of a node that are connected to other
 * machines; for the others the node's first one sends. users_operations: they run here, on all
 * ranks or on none. */
void sg_internode_start(uint32_t depth, int stall_s, int servers, bool users_operations);

/* The first rank of a machine makes its segment, the others map it. Any status but SG_OK: errno
 * tells why; nothing is logged. SG_ERR_MISSING: no rule names a protocol, or none takes so many
 * endpoints. */
enum sg_status sg_internode_offer(const struct sg_internode_setup *setup, struct sg_internode **out,
                                  struct sg_segment_ticket *ticket);
enum sg_status sg_internode_accept(const struct sg_internode_setup *setup,
                                   const struct sg_segment_ticket *ticket,
                                   struct sg_internode **out);

/* On several machines, when all segments are mapped: collective. Any status but SG_OK is the same
 * on all ranks; a rank that knows the reason logs it. */
enum sg_status sg_internode_link(struct sg_internode *internode);
bool sg_internode_is_linked(const struct sg_internode *internode);

/* How this process's log knows the communicator, and whether any protocol there has slices. */
void sg_internode_name_in_log(struct sg_internode *internode, const struct sg_comm_log *log);
bool sg_internode_has_slices(const struct sg_internode *internode);

/* Completes what is outstanding: collective, in MPI_Comm_free and MPI_Finalize. begin_drain does
 * not wait; try_drain goes on without waiting (true: done); drain waits, while all communicators of
 * the process progress. */
void sg_internode_begin_drain(struct sg_internode *internode);
bool sg_internode_try_drain(struct sg_internode *internode);
void sg_internode_drain(struct sg_internode *internode);

void sg_internode_free(struct sg_internode *internode);

/* Whether ranks that reach one call from different call sites can agree on its choice: on one
 * machine always, on several with a coordinator (coordinator.h); the same on all ranks. The
 * agreement ends if a nonblocking call is so far ahead of another rank that its words are not free,
 * before the same call on all ranks. */
bool sg_internode_agrees(const struct sg_internode *internode);

/* How a call runs. */
struct sg_internode_plan {
    uint32_t protocol;
    uint8_t executed;            /* as in the call statistics */
    struct sg_operands operands; /* unless a barrier's */
    const void *own;             /* this rank's contribution */
    void *result;                /* NULL: it gets none */
    size_t count;                /* elements; of a broadcast, bytes */
    size_t extent_bytes;         /* of an element */
    size_t room;                 /* elements in a chunk */
    bool side_by_side;           /* its chunks go on at the same time, not one after another */
    bool commutes;               /* the order of operands does not matter */
    bool follows;                /* of a broadcast: it enters behind the root (disagree.c) */
    struct sg_user_fold *user;   /* the operation is the user's; NULL: it is not */
};

/* *choice becomes the one that all ranks follow. False: MPICH runs the call, by a decision that is
 * the same on all ranks, or because of an argument error of this rank's that MPICH will report. A
 * blocking call may connect its ranks, collectively. */
bool sg_internode_plan_call(struct sg_internode *internode, const struct sg_call *call,
                            const struct sg_choice **choice, struct sg_internode_plan *plan);

/* After a blocking call whose choice is `auto` has run, here or in MPICH. */
void sg_internode_end_turn(struct sg_internode *internode,
                           const struct sg_call_statistics *statistics);

/* For a blocking call; a nonblocking one uses sg_request_start. */
int sg_internode_run(struct sg_internode *internode, const struct sg_call *call,
                     const struct sg_internode_plan *plan, struct sg_call_statistics *statistics);

/* False: MPICH runs the call, whatever is chosen. Either no protocol takes its type, which is the
 * same on all ranks; or an argument is wrong on this rank, which MPICH reports. */
bool sg_internode_takes(struct sg_internode *internode, const struct sg_call *call);

/* As sg_intranode_look. Where there are several machines nobody is seen. */
enum sg_others sg_internode_look(struct sg_internode *internode, const struct sg_call *call,
                                 bool waits);

#endif
