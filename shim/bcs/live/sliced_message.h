/* Messages in slices by their checked arguments (sliced.h): their bytes, how long a call waits, and
 * requests. What they return is MPI's.
 */
#ifndef SG_BCS_LIVE_SLICED_MESSAGE_H
#define SG_BCS_LIVE_SLICED_MESSAGE_H

#include "intercept/comm.h"

/* Some communicator's messages may be carried: from MPI_Init to MPI_Finalize. */
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

/* One direction of an exchange; takes_part: not with MPI_PROC_NULL. */
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
/* Whether there is one. */
bool sg_sliced_look(const struct sg_comm *comm, int from, int tag, MPI_Status *status);
/* Whether a request's message that was cut has been told of, in this thread, since the last time.
 */
bool sg_sliced_take_cut(void);
/* One line, the first time. */
void sg_sliced_say_refused(const struct sg_comm *comm, const char *function);

#endif
