/* Broadcasts of types with holes, and of buffers that only MPICH can read: each rank's data are
 * packed or unpacked by MPICH, and their bytes are broadcast. The ranks' types may differ; a rank
 * need not know which of the others does so.
 *
 * In the application's thread.
 */
#ifndef SG_MPI_PACKED_H
#define SG_MPI_PACKED_H

#include "mpi/call.h"

/* comm: the library's own, with MPI_ERRORS_RETURN. */
void sg_packed_start(MPI_Comm comm);

/* Bytes of the data of a derived type; 0: the handle is no type's, or the type is not committed. */
uint64_t sg_packed_bytes(const struct sg_call *call);

/* The data of a call that goes on when the function returns. bytes: of call->bytes; NULL: not
 * packed. type: as the call's, which the application may free before the data are there. */
struct sg_packed {
    void *bytes;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    size_t size_bytes;
    bool owns_type;
};

/* Whether the call's data are to be packed. */
bool sg_packed_wants(const struct sg_call *call);

/* Packs the data (`gives`, a broadcast's root) or makes room for them. Returns an error class of
 * MPI's, without calling a handler; then there is nothing to end. */
int sg_packed_begin(const struct sg_call *call, bool gives, struct sg_packed *packed);
/* Unpacks what has come (`takes`), and frees. Nothing if it is not packed. */
void sg_packed_end(struct sg_packed *packed, bool takes);

/* The call, of call->bytes, as `run` makes it of a buffer of bytes. Returns what the MPI call
 * returns. */
typedef int (*sg_packed_runner)(const struct sg_call *call, const struct sg_choice *choice,
                                struct sg_call_statistics *statistics);
int sg_packed_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_call_statistics *statistics, sg_packed_runner run);

/* Whether a derived type's data lie in the buffer as they are packed: the same, without packing. */
bool sg_packed_is_plain(const struct sg_call *call);
int sg_packed_run_plain(const struct sg_call *call, const struct sg_choice *choice,
                        struct sg_call_statistics *statistics, sg_packed_runner run);

#endif
