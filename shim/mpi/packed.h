/* Broadcasts of types with holes, and of buffers that only MPICH can read: each rank's data are
 * packed or unpacked by MPICH, and their bytes are broadcast. The ranks' types may differ; a rank
 * need not know which of the others does so.
 *
 * In the application's thread.
 */
#ifndef SG_MPI_PACKED_H
#define SG_MPI_PACKED_H

#include "mpi/call.h"

/* Bytes of the data of a derived type; 0: the type's handle is none. */
uint64_t sg_packed_bytes(const struct sg_call *call);

/* The call, of call->bytes, as `run` makes it of a buffer of bytes. Returns what the MPI call
 * returns. */
typedef int (*sg_packed_runner)(const struct sg_call *call, const struct sg_choice *choice,
                                struct sg_call_statistics *statistics);
int sg_packed_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_call_statistics *statistics, sg_packed_runner run);

#endif
