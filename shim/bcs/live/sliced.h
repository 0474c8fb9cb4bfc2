/* Sends, receives and probes messages through slices of buffered coscheduling, if a rule requests
 * it (rule/rule.h, p2p), in place of MPICH's functions. All messages of a communicator go so from
 * its creation on, or none does.
 *
 * MPICH's function checks the arguments, with MPI_PROC_NULL. It also carries out calls to
 * MPI_PROC_NULL and reports argument errors. Application threads, one at a time.
 */
#ifndef SG_BCS_LIVE_SLICED_H
#define SG_BCS_LIVE_SLICED_H

#include "intercept/comm.h"
#include "mpi/real.h"
#include "profile/counted_functions.h"

/* True if some communicator's messages may be carried; set between MPI_Init and MPI_Finalize. */
extern atomic_bool sg_sliced_on;

static inline bool sg_sliced_is_on(void)
{
    return __builtin_expect(atomic_load_explicit(&sg_sliced_on, memory_order_relaxed), 0);
}

/* Both are collective, in MPI_Init. Choose, before communicators are set up, returns the rule that
 * carries messages of MPI_COMM_WORLD; -1: none. If a rule cannot hold, one line says why. Start
 * then begins. */
int sg_sliced_choose(void);
void sg_sliced_start(void);
/* Call in MPI_Finalize: returns when all ranks are there, and gives up messages that nobody has
 * received. */
void sg_sliced_stop(void);
/* Call after a communicator has been made (maybe MPI_COMM_NULL); collective over it. If a rule
 * requests it, slices carry its messages. */
void sg_sliced_begin(MPI_Comm handle);
/* Call before a communicator is freed; collective. Ends its messages once all ranks are here and
 * what will be received has been; gives up the rest. False: other ranks have yet to arrive, and the
 * communicator is freed when they have. is_awaited: wait for them and return true. */
bool sg_sliced_end(MPI_Comm handle, bool is_awaited);

/* For functions that slices carry (sg_function_facts.is_sliced). Returns true if it has carried out
 * the call, on such a communicator; *error is the call's result. */
bool sg_sliced_carries(enum sg_function function, const sg_word *words, int *error);

/* Call after any other function. If it made a communicator, its messages begin. If it completed
 * requests and returned an error, truncated messages get MPI_ERR_TRUNCATE in their statuses: MPICH
 * reports errors of generalized requests as another one. */
void sg_sliced_behind(enum sg_function function, bool is_f08, const sg_word *words, int error);
/* For functions that slices do not carry. True if the call is on such a communicator: it fails by
 * the communicator's error handler. */
bool sg_sliced_refuses(enum sg_function function, const sg_word *words, int *error);

/* ---- in sliced_message.c: messages, from checked arguments ----
 *
 * Functions return MPI's error, which they have raised on the communicator. */

/* One direction of an exchange. takes_part: false with MPI_PROC_NULL. */
struct sg_sliced_side {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    bool takes_part;
};

int sg_sliced_send(const struct sg_comm *comm, const struct sg_sliced_side *side,
                   bool is_synchronous);
int sg_sliced_receive(const struct sg_comm *comm, const struct sg_sliced_side *side,
                      MPI_Status *status);
/* Begins a send or a receive. is_synchronous: of a send. */
int sg_sliced_post(const struct sg_comm *comm, const struct sg_sliced_side *side, bool sends,
                   bool is_synchronous, MPI_Request *handle);
int sg_sliced_exchange(const struct sg_comm *comm, const struct sg_sliced_side *sends,
                       const struct sg_sliced_side *receives, MPI_Status *status);
int sg_sliced_replace(const struct sg_comm *comm, const struct sg_sliced_side *sends, int from,
                      int tag, bool comes, MPI_Status *status);
void sg_sliced_probe(const struct sg_comm *comm, int from, int tag, MPI_Status *status);
/* True if a message is there. */
bool sg_sliced_look(const struct sg_comm *comm, int from, int tag, MPI_Status *status);
/* True if this thread has reported a truncated message of a request since the last call. */
bool sg_sliced_take_cut(void);
/* Logs one line, the first time. */
void sg_sliced_say_refused(const struct sg_comm *comm, const char *function);

#endif
