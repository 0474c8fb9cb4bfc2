/* One collective on either side: MPI_X, which a preloaded library may replace, and PMPI_X, the MPI
 * library's own. Makes calls of both, without timing them.
 *
 * All ranks of the case's communicator call each function together, with the same values.
 */
#ifndef SG_BENCH_MPI_MEASURE_CALLS_H
#define SG_BENCH_MPI_MEASURE_CALLS_H

#include "core/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_bench_side { SG_BENCH_OURS, SG_BENCH_STOCK, SG_BENCH_SIDES };

/* A collective with its operands; reductions add doubles. */
struct sg_bench_case {
    int operation;  /* index in sg_bench_collectives (bench/limits.h) */
    uint64_t bytes; /* a multiple of 8; 0 for a barrier */
    int root;
    MPI_Comm comm;
    MPI_Comm settle; /* for sg_bench_settle: a communicator of the same ranks */
    MPI_Comm node;   /* the ranks of comm on this machine, which share a clock */
    int rank, size;
    int count;              /* doubles in `bytes` */
    double *send, *receive; /* of `bytes`, or of `bytes` for each rank */
};

/* Return the number of doubles in this rank's operand, and in its result. */
size_t sg_bench_case_sent(const struct sg_bench_case *bench_case);
size_t sg_bench_case_received(const struct sg_bench_case *bench_case);
/* Fills in count and the buffers of a case that is otherwise complete; SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_case_open(struct sg_bench_case *bench_case);
void sg_bench_case_close(struct sg_bench_case *bench_case);
/* Makes `calls` calls, one after the other. */
void sg_bench_call(const struct sg_bench_case *bench_case, enum sg_bench_side side, uint64_t calls);
/* Starts the nonblocking form; sg_bench_test and sg_bench_finish of the same side complete it. */
void sg_bench_start(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                    MPI_Request *request);
bool sg_bench_test(enum sg_bench_side side, MPI_Request *request);
void sg_bench_finish(enum sg_bench_side side, MPI_Request *request);
/* Empties this rank's caches of the operands and everything else (bench/sampling.h). */
void sg_bench_case_cool(const struct sg_bench_case *bench_case);
/* A barrier between calls of the preloaded library and a wait that the library does not see. A rank
 * may have left a reduction before its part is done; without asynchronous progress the rest is done
 * in its next collective of the library. */
void sg_bench_settle(const struct sg_bench_case *bench_case);
/* Returns "MPI_Reduce", "PMPI_Reduce". Static storage. */
const char *sg_bench_function(int operation, enum sg_bench_side side);
/* Returns the file name, without directories, of the library that defines the function; static
 * storage or the loader's. */
const char *sg_bench_library(const char *function);

#endif
