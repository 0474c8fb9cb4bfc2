/* Broadcasts of types with holes and of buffers that only MPICH can read: MPICH packs or unpacks
 * each rank's data, and the bytes are broadcast. Ranks may have different types, and need not know
 * which of them pack.
 *
 * Application's thread.
 */
#ifndef SG_MPI_PACKED_H
#define SG_MPI_PACKED_H

#include "mpi/call.h"

/* comm: the library's own, with MPI_ERRORS_RETURN. */
void sg_packed_start(MPI_Comm comm);

/* Returns the bytes of a derived type's data; 0: the handle is no type's, or the type is not
 * committed. */
uint64_t sg_packed_bytes(const struct sg_call *call);

/* Data of a call that continues after its function returns. bytes: call->bytes of them; NULL: not
 * packed. type: a copy of the call's, which the application may free before the data arrive. */
struct sg_packed {
    void *bytes;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    size_t size_bytes;
    bool owns_type;
};

/* True if the call's data are to be packed. */
bool sg_packed_wants(const struct sg_call *call);

/* Packs the data (gives: a broadcast's root) or allocates space for them. Returns an MPI error
 * class without calling a handler; then there is nothing to end. */
int sg_packed_begin(const struct sg_call *call, bool gives, struct sg_packed *packed);
/* Unpacks received data (takes) and frees. Does nothing if the call is not packed. */
void sg_packed_end(struct sg_packed *packed, bool takes);

/* Runs the call on a buffer of call->bytes bytes, through run. Returns what the MPI call
 * returns. */
typedef int (*sg_packed_runner)(const struct sg_call *call, const struct sg_choice *choice,
                                struct sg_call_statistics *statistics);
int sg_packed_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_call_statistics *statistics, sg_packed_runner run);

/* True if a derived type's data are in the buffer as they would be packed. run_plain runs such a
 * call without packing. */
bool sg_packed_is_plain(const struct sg_call *call);
int sg_packed_run_plain(const struct sg_call *call, const struct sg_choice *choice,
                        struct sg_call_statistics *statistics, sg_packed_runner run);

#endif
