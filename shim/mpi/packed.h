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

/* A broadcast of packed data in place of the application's. */
struct sg_packed_call {
    struct sg_call call; /* of call->bytes bytes; MPICH would run the application's */
    struct sg_packed data;
    bool is_root;
};

/* Makes the packed call. Returns an MPI error class without calling a handler; then there is
 * nothing to end. */
int sg_packed_begin_call(const struct sg_call *call, struct sg_packed_call *packed);
/* Packs the root's data, before the packed call runs. */
int sg_packed_fill(const struct sg_packed_call *packed);
/* has_data: the packed call has run, and MPICH has not run the application's. Unpacks the data on
 * the other ranks, and frees. */
int sg_packed_end_call(struct sg_packed_call *packed, bool has_data);

/* True if a derived type's data are in the buffer as they would be packed. Such a call runs as one
 * of bytes. */
bool sg_packed_is_plain(const struct sg_call *call);
struct sg_call sg_packed_as_bytes(const struct sg_call *call);

#endif
