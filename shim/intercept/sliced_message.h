/* Messages in slices by their checked arguments (sliced.h): their bytes, how long a call waits, and
 * requests. All of MPI_COMM_WORLD; what they return is MPI's.
 */
#ifndef SG_INTERCEPT_SLICED_MESSAGE_H
#define SG_INTERCEPT_SLICED_MESSAGE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

struct sg_internode;

/* Constant from MPI_Init to MPI_Finalize. */
struct sg_sliced {
    atomic_bool is_on;
    bool is_rendezvous; /* a send returns when it has been received (send=rendezvous) */
    int size;
    struct sg_internode *internode;
};

extern struct sg_sliced sg_sliced;

static inline bool sg_sliced_is_on(void)
{
    return __builtin_expect(atomic_load_explicit(&sg_sliced.is_on, memory_order_relaxed), 0);
}

int sg_sliced_send(void *buffer, MPI_Count count, MPI_Datatype type, int to, int tag,
                   bool is_synchronous);
int sg_sliced_isend(void *buffer, MPI_Count count, MPI_Datatype type, int to, int tag,
                    bool is_synchronous, MPI_Request *request);
int sg_sliced_receive(void *buffer, MPI_Count count, MPI_Datatype type, int from, int tag,
                      MPI_Status *status);
int sg_sliced_ireceive(void *buffer, MPI_Count count, MPI_Datatype type, int from, int tag,
                       MPI_Request *request);

/* One direction of an exchange; takes_part: not with MPI_PROC_NULL. */
struct sg_sliced_side {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    bool takes_part;
};
int sg_sliced_exchange(const struct sg_sliced_side *sends, const struct sg_sliced_side *receives,
                       MPI_Status *status);
int sg_sliced_replace(const struct sg_sliced_side *sends, int from, int tag, bool comes,
                      MPI_Status *status);

void sg_sliced_probe(int from, int tag, MPI_Status *status);
/* Whether there is one. */
bool sg_sliced_look(int from, int tag, MPI_Status *status);

/* Whether a request's message that was cut has been told of, in this thread, since the last time.
 */
bool sg_sliced_take_cut(void);

/* One line, the first time. */
void sg_sliced_say_refused(const char *function);

#endif
