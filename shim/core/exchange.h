/* The few operations of MPI that tracing and clock synchronisation need, as a table: core and trace
 * do not depend on mpi.h, and tests and the offline tools pass their own table (sg_exchange_serial
 * for one process).
 *
 * All functions are collective over the exchange's ranks except send and receive. Call them from
 * one thread at a time, never from a signal handler. A status other than SG_OK means that
 * communication itself failed: callers give up the whole operation. */
#ifndef SG_CORE_EXCHANGE_H
#define SG_CORE_EXCHANGE_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

enum sg_combination { SG_COMBINE_LEAST, SG_COMBINE_SUM };

struct sg_exchange {
    int rank;
    int size;
    void *context; /* passed to every function */

    /* Gathers every rank's data at rank 0, concatenated by rank, in *all (malloc'ed, the caller
     * frees), and each size in sizes[size]. Other ranks leave all and sizes untouched. */
    enum sg_status (*gather)(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes);
    /* Sends rank 0's data to every rank; size_bytes is the same everywhere. */
    enum sg_status (*broadcast)(void *context, void *data, size_t size_bytes);
    enum sg_status (*send)(void *context, int to, const void *data, size_t size_bytes);
    enum sg_status (*receive)(void *context, int from, void *data, size_t size_bytes);
    /* As the functions below, which use gather and broadcast if these are NULL. */
    enum sg_status (*combine)(void *context, enum sg_combination how, uint64_t *values, int count);
    enum sg_status (*trade)(void *context, const int *with, int count, const void *own,
                            void *theirs, size_t size_bytes);
};

/* A single process: gather copies, broadcast does nothing, send and receive are NULL. */
extern const struct sg_exchange sg_exchange_serial;

/* Sends rank 0's malloc'ed text or blob to every rank: on the others, replaces *data by a malloc'ed
 * copy (with a NUL behind its *size_bytes). */
enum sg_status sg_exchange_share(const struct sg_exchange *exchange, void **data,
                                 size_t *size_bytes);

/* Gives every rank the data of all ranks, of one size, concatenated by rank: *all is malloc'ed on
 * every rank. */
enum sg_status sg_exchange_collect(const struct sg_exchange *exchange, const void *own,
                                   size_t size_bytes, void **all);

/* Replaces rank 0's data by the bitwise or of all ranks' data, of one size. */
enum sg_status sg_exchange_unite(const struct sg_exchange *exchange, void *data, size_t size_bytes);

/* Replaces each value by the least or the sum of all ranks'. count: the same on all ranks. For the
 * least, values are below 2^63: MPICH 4.0.2 compares unsigned numbers as signed ones. */
enum sg_status sg_exchange_combine(const struct sg_exchange *exchange, enum sg_combination how,
                                   uint64_t *values, int count);

/* Combines count values with others, as sg_exchange_combine. */
void sg_exchange_add(enum sg_combination how, uint64_t *values, const uint64_t *others, int count);

/* Gives record i of `own` to rank with[i], and puts that rank's record for this one in place i of
 * `theirs`. A rank names another once at most, and not itself; size_bytes is the same on all.
 * SG_ERR_ARGUMENT, on all ranks: some rank names one that does not name it. */
enum sg_status sg_exchange_trade(const struct sg_exchange *exchange, const int *with, int count,
                                 const void *own, void *theirs, size_t size_bytes);

/* Sets *first_false on every rank: -1 if ok is true on all ranks, else the lowest rank where it is
 * false. */
enum sg_status sg_exchange_agree(const struct sg_exchange *exchange, int ok, int *first_false);

#endif
