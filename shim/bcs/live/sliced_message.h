/* Messages in slices, from checked arguments (sliced.h): finds their bytes, waits as each call
 * requires, and makes requests. Functions return MPI's error, which they have raised on the
 * communicator.
 *
 * Application threads, one at a time; not from a signal handler.
 */
#ifndef SG_BCS_LIVE_SLICED_MESSAGE_H
#define SG_BCS_LIVE_SLICED_MESSAGE_H

#include "intercept/comm.h"

/* True if some communicator's messages may be carried; set between MPI_Init and MPI_Finalize. */
extern atomic_bool sg_sliced_on;

static inline bool sg_sliced_is_on(void)
{
    return __builtin_expect(atomic_load_explicit(&sg_sliced_on, memory_order_relaxed), 0);
}

int sg_sliced_send(const struct sg_comm *comm, void *buffer, MPI_Count count, MPI_Datatype type,
                   int to, int tag, bool is_synchronous);
int sg_sliced_isend(const struct sg_comm *comm, void *buffer, MPI_Count count, MPI_Datatype type,
                    int to, int tag, bool is_synchronous, MPI_Request *request);
int sg_sliced_receive(const struct sg_comm *comm, void *buffer, MPI_Count count, MPI_Datatype type,
                      int from, int tag, MPI_Status *status);
int sg_sliced_ireceive(const struct sg_comm *comm, void *buffer, MPI_Count count, MPI_Datatype type,
                       int from, int tag, MPI_Request *request);

/* One direction of an exchange. takes_part: false with MPI_PROC_NULL. */
struct sg_sliced_side {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    bool takes_part;
};

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
