/* One collective on either side: MPI_X, which a preloaded library may replace, and PMPI_X, which is
 * the MPI library's own. Makes calls of both, without timing them.
 *
 * Called by all ranks of the case's communicator together, with the same values.
 */
#ifndef SG_BENCH_MPI_MEASURE_CALLS_H
#define SG_BENCH_MPI_MEASURE_CALLS_H

#include "core/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_bench_side { SG_BENCH_OURS, SG_BENCH_STOCK, SG_BENCH_SIDES };

/* Reductions add doubles. */
struct sg_bench_case {
    int operation;  /* of bench/collectives.h */
    uint64_t bytes; /* a multiple of 8; 0 for a barrier */
    int root;
    MPI_Comm comm;
    MPI_Comm settle; /* for sg_bench_settle: the ranks of comm */
    MPI_Comm node;   /* the ranks of comm on this machine, which share a clock */
    int rank, size;
    int count;              /* of doubles in `bytes` */
    double *send, *receive; /* as many bytes, or as many for each rank */
};

/* How many doubles this rank's operand and its result have. */
size_t sg_bench_case_sent(const struct sg_bench_case *bench_case);
size_t sg_bench_case_received(const struct sg_bench_case *bench_case);
/* Fills in count and the buffers of a case that is otherwise complete; SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_case_open(struct sg_bench_case *bench_case);
void sg_bench_case_close(struct sg_bench_case *bench_case);
/* Makes so many calls, one after the other. */
void sg_bench_call(const struct sg_bench_case *bench_case, enum sg_bench_side side, uint64_t calls);
/* The nonblocking form; sg_bench_test and sg_bench_finish of the same side complete it. */
void sg_bench_start(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                    MPI_Request *request);
bool sg_bench_test(enum sg_bench_side side, MPI_Request *request);
void sg_bench_finish(enum sg_bench_side side, MPI_Request *request);
/* Takes what comes to this rank's caches by its own accesses out of them (bench/cold.h). */
void sg_bench_case_cool(const struct sg_bench_case *bench_case);
/* A barrier between calls of the preloaded library and a wait that it does not see. A rank may have
 * left a reduction while a part of it is still to be done; without asynchronous progress that part
 * is done in its next collective of the library. */
void sg_bench_settle(const struct sg_bench_case *bench_case);
/* "MPI_Reduce", "PMPI_Reduce". Static storage. */
const char *sg_bench_function(int operation, enum sg_bench_side side);
/* The file name, without directories, of the library that defines a function of that name; static
 * storage or the loader's. */
const char *sg_bench_library(const char *function);

#endif
