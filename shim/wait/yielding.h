/* The library's own collectives in MPICH: they give the processor away while they wait, where
 * MPICH's blocking ones hold it for a whole turn of the scheduler: with more ranks than processors
 * these take 10 to 40 ms each.
 *
 * Arguments and errors as the MPI functions of these names. Any thread that may call MPI; not from
 * a signal handler.
 */
#ifndef SG_WAIT_YIELDING_H
#define SG_WAIT_YIELDING_H

#include <mpi.h>

/* What is called now and then by whoever waits; NULL: nothing. Set while one thread waits at most.
 */
void sg_yielding_watch(void (*look)(void));

int sg_yielding_allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
int sg_yielding_barrier(MPI_Comm comm);
int sg_yielding_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int sg_yielding_dup(MPI_Comm comm, MPI_Comm *out);
/* Counts and types of what is sent and received are the same. */
int sg_yielding_gather(const void *from, int count, MPI_Datatype type, void *into, int root,
                       MPI_Comm comm);
int sg_yielding_gatherv(const void *from, int count, void *into, const int *counts,
                        const int *starts, MPI_Datatype type, int root, MPI_Comm comm);

/* The next message from a rank is there. */
int sg_yielding_probe(int from, int tag, MPI_Comm comm);

#endif
