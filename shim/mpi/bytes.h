/* The data of a message as bytes. Those of a predefined type lie in the application's buffer;
 * others MPICH packs and unpacks, by a message of the process to itself: so a type with holes,
 * MPI_BOTTOM and a type that has been freed are as ever.
 *
 * In the application's thread.
 */
#ifndef SG_MPI_BYTES_H
#define SG_MPI_BYTES_H

#include "mpi/call.h"

#include <stddef.h>
#include <stdint.h>

struct sg_bytes {
    void *at; /* the bytes */
    MPI_Count size_bytes;
    /* Of a type that is not predefined: the application's, and a duplicate of its type. */
    bool is_converted;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/* First of all. own: a communicator of this process alone, for these messages only, whose errors
 * return. */
void sg_bytes_start(MPI_Comm own);

/* Of valid arguments. gives: with the data; else with room for them. Returns an error class,
 * without calling a handler; then there is nothing to end. */
int sg_bytes_begin(void *buffer, MPI_Count count, MPI_Datatype type, bool gives,
                   struct sg_bytes *bytes);
/* Puts the bytes that have come, from the first on, where they belong. A message that ends within
 * an element is as MPICH's: whole in a type without holes; in another its last part is lost,
 * *received is lowered to the whole elements, and the error is MPI_ERR_TRUNCATE. (Within a pair as
 * MPI_DOUBLE_INT it may end, where MPICH loses the pair.) */
int sg_bytes_put(const struct sg_bytes *bytes, uint32_t *received);
void sg_bytes_end(struct sg_bytes *bytes);

#endif
