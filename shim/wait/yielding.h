/* The library's own collectives in MPICH, which yield the processor while they wait. MPICH's
 * blocking ones hold it for a whole time slice of the scheduler: with more ranks than processors
 * these take 10 to 40 ms each.
 *
 * Arguments and errors as the MPI functions of these names. Any thread that may call MPI; not from
 * a signal handler.
 */
#ifndef SG_WAIT_YIELDING_H
#define SG_WAIT_YIELDING_H

#include <mpi.h>

/* Sets a function that waits call at intervals; NULL: none. At most one thread may wait meanwhile.
 */
void sg_yielding_watch(void (*look)(void));
/* Calls that function, for a wait elsewhere. */
void sg_yielding_look(void);

int sg_yielding_allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
/* counts, starts: by rank, the same of what is sent and received. */
int sg_yielding_alltoallv(const void *from, void *into, const int *counts, const int *starts,
                          MPI_Datatype type, MPI_Comm comm);
int sg_yielding_barrier(MPI_Comm comm);
int sg_yielding_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int sg_yielding_dup(MPI_Comm comm, MPI_Comm *out);
/* Counts and types of sent and received data are the same. */
int sg_yielding_allgather(const void *from, int count, MPI_Datatype type, void *into,
                          MPI_Comm comm);
int sg_yielding_gather(const void *from, int count, MPI_Datatype type, void *into, int root,
                       MPI_Comm comm);
int sg_yielding_gatherv(const void *from, int count, void *into, const int *counts,
                        const int *starts, MPI_Datatype type, int root, MPI_Comm comm);

/* Waits until the next message from a rank has arrived. */
int sg_yielding_probe(int from, int tag, MPI_Comm comm);

#endif
