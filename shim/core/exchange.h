/* What trace and clock synchronisation need of MPI, as a small table: core and trace stay free of
 * mpi.h, tests and the offline tools pass their own (sg_exchange_serial for one process).
 *
 * All functions are collective over the exchange's ranks except send and receive; they are called
 * from one thread at a time, never from a signal handler. A status other than SG_OK means that
 * communication itself failed: callers give up the whole operation.
 */
#ifndef SG_CORE_EXCHANGE_H
#define SG_CORE_EXCHANGE_H

#include "core/status.h"

#include <stddef.h>

struct sg_exchange {
    int rank;
    int size;
    void *context; /* passed to every function */

    /* Rank 0 receives every rank's data, concatenated by rank, in *all (malloc'ed, the caller
     * frees) and each size in sizes[size]. On other ranks all and sizes are not touched. */
    enum sg_status (*gather)(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes);
    /* Rank 0's data reaches every rank; size_bytes is the same everywhere. */
    enum sg_status (*broadcast)(void *context, void *data, size_t size_bytes);
    enum sg_status (*send)(void *context, int to, const void *data, size_t size_bytes);
    enum sg_status (*receive)(void *context, int from, void *data, size_t size_bytes);
};

/* One process alone: gather copies, broadcast does nothing, send and receive are NULL. */
extern const struct sg_exchange sg_exchange_serial;

/* Rank 0's malloc'ed text or blob reaches every rank: *data is replaced on the others by a
 * malloc'ed copy (with a NUL behind its *size_bytes). */
enum sg_status sg_exchange_share(const struct sg_exchange *exchange, void **data,
                                 size_t *size_bytes);

/* Every rank's data, of one size, concatenated by rank: *all is malloc'ed on every rank. */
enum sg_status sg_exchange_collect(const struct sg_exchange *exchange, const void *own,
                                   size_t size_bytes, void **all);

/* Rank 0's data becomes the bitwise or of all ranks', of one size. */
enum sg_status sg_exchange_unite(const struct sg_exchange *exchange, void *data, size_t size_bytes);

/* True on every rank when ok is true on all of them; *first_false is then -1, else the lowest
 * rank where it is false. */
enum sg_status sg_exchange_agree(const struct sg_exchange *exchange, int ok, int *first_false);

#endif
