/* The engine of a communicator over several nodes: endpoints in shared segments, one on each
 * machine, and the protocols of shim/algos run on a transport (architecture.md, "endpoints").
 *
 * A node's ranks are one endpoint. A rank that enters a collective leaves its contribution at the
 * endpoint; the last one folds them and feeds the protocol its CALL. Messages are fed by whoever is
 * inside the library, or by asynchronous progress (progress/progress.h). Whoever feeds holds the
 * endpoint's lock; who cannot get it leaves a flag that the holder looks at before it goes.
 *
 * A call of any size is a row of chunks, each an instance of its protocol.
 */
#ifndef SG_INTERNODE_INTERNODE_H
#define SG_INTERNODE_INTERNODE_H

#include "core/status.h"
#include "intranode/segment.h"
#include "mpi/call.h"
#include "mpi/operands.h"

struct sg_span;
struct sg_span_plan;
struct sg_transport_ops;

/* More nodes than this on one machine are left to MPICH. */
#define SG_SPAN_ENDPOINTS_MAX 256

struct sg_span_setup {
    const char *name;   /* of the communicator, alike on all ranks */
    const char *called; /* the same, or what stands for it in messages */
    int rank;
    int ranks;
    int endpoints;
    const int *endpoint_of; /* by rank */
    int machines;
    const int *machine_of; /* by rank */
    const struct sg_ruleset *rules;
    /* Between machines; NULL where there is one. Both live as long as the span. */
    const struct sg_transport_ops *ops;
    const struct sg_exchange *exchange; /* among its ranks, by collectives alone */
    const char *const *hosts;           /* by rank; the names stay */
};

/* As sg_local_start. servers: the most processes of a node that are connected to other machines; in
 * the place of the others the node's first one sends. */
void sg_span_start(uint32_t depth, int stall_s, int servers);

/* The first rank of a machine makes its segment, the others map it. Any status but SG_OK: errno
 * tells; nothing is logged. SG_ERR_MISSING: no rule names a protocol, or none takes so many
 * endpoints. */
enum sg_status sg_span_offer(const struct sg_span_setup *setup, struct sg_span **out,
                             struct sg_segment_ticket *ticket);
enum sg_status sg_span_accept(const struct sg_span_setup *setup,
                              const struct sg_segment_ticket *ticket, struct sg_span **out);

/* Several machines, all segments mapped: collective. Any status but SG_OK is alike on all ranks,
 * and said by those that know why. */
enum sg_status sg_span_link(struct sg_span *span);
bool sg_span_is_linked(const struct sg_span *span);
/* Before a call that is planned: whether its protocol reaches those it talks to. Alike on all
 * ranks. sets_up: where that is not known yet, all of them see to it, collectively. */
bool sg_span_reaches(struct sg_span *span, const struct sg_span_plan *plan,
                     const struct sg_call *call, bool sets_up);

/* Brings what is outstanding to its end: collective, in MPI_Comm_free and MPI_Finalize. The first
 * part does not wait; the second has it done where it was not. All spans of the process go on
 * meanwhile. */
void sg_span_begin_drain(struct sg_span *span);
void sg_span_drain(struct sg_span *span);

void sg_span_free(struct sg_span *span);

/* Whether ranks that come to one call from different call sites can agree on its choice: on one
 * machine; on several with a home (layout.h), alike on all ranks; until a post is so far ahead
 * of another rank that sg_span_agree has ended it, before the same call on all ranks. */
bool sg_span_agrees(const struct sg_span *span);
/* False: whatever is chosen, MPICH runs the call. No protocol here takes its type, which is alike
 * on all ranks; or an argument of this rank's is wrong, which MPICH reports. */
bool sg_span_takes(const struct sg_span *span, const struct sg_call *call);

/* Where rules tell call sites apart (call->rules): the choice of whoever comes first to this call,
 * which the span takes; call->choose_alike's, where they agree no more. */
const struct sg_choice *sg_span_agree(struct sg_span *span, const struct sg_call *call,
                                      const struct sg_choice *own);

/* What a call comes to. */
struct sg_span_plan {
    uint32_t object;
    uint8_t ran;                 /* as in an outcome */
    struct sg_operands operands; /* unless a barrier's */
    const void *own;             /* this rank's contribution */
    void *result;                /* NULL: it gets none */
    size_t extent_bytes;         /* of an element */
    size_t room;                 /* elements that the call is cut into */
    bool side_by_side;           /* its parts go on at once, and not one after another */
};

/* False: MPICH runs the call. The span does not take it, or the protocol chosen has no such
 * operation, which is alike on all ranks. */
bool sg_span_plan(const struct sg_span *span, const struct sg_choice *choice,
                  const struct sg_call *call, struct sg_span_plan *plan);

int sg_span_run(struct sg_span *span, const struct sg_call *call, const struct sg_span_plan *plan,
                struct sg_outcome *outcome);

/* The same without waiting: parts of the call that stay behind go on in what this process calls
 * here, or by the helper thread. The call's fields and buffers are to stay until it is done. The
 * span need not: freeing it brings its posts to their end. */
struct sg_span_post;

/* NULL: out of memory. Free: before it has been started, or when it is done. */
struct sg_span_post *sg_span_post_new(struct sg_span *span, const struct sg_call *call,
                                      const struct sg_span_plan *plan);
void sg_span_post_free(struct sg_span_post *post);
void sg_span_post_start(struct sg_span_post *post, struct sg_outcome *outcome);
/* Goes on, without waiting. True: it is done. */
bool sg_span_post_poll(struct sg_span_post *post);
/* Until it is done. */
void sg_span_post_wait(struct sg_span_post *post);
bool sg_span_post_is_done(const struct sg_span_post *post);

/* Feeds what has arrived, if nobody else is at it; who is at it looks again. Any thread, any signal
 * handler. True: it was something. */
bool sg_span_look(struct sg_span *span);

/* The same. True while something is outstanding at this rank's endpoint. */
bool sg_span_progress(struct sg_span *span);

#endif
