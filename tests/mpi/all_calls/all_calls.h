/* Shared by the files of the program all_calls: the rank's identity and the functions that print
 * the outcome of a call.
 */
#ifndef SG_TESTS_ALL_CALLS_H
#define SG_TESTS_ALL_CALLS_H

#include "../mpi_test.h"

enum { MARK = 4711, COUNT = 37, LARGE = 60000, RANKS_MAX = 128 };

/* Volatile: compilers warn about the address of MPI_STATUSES_IGNORE. */
extern MPI_Status *volatile ignored;
extern int rank, size;
extern FILE *out; /* this rank's output file */

/* Prints a line with the call's error class and a digest of its data. */
void tell(const char *call, int error, const void *data, size_t bytes);
void tell_status(const char *call, const MPI_Status *status, MPI_Datatype type);
int class_of(int error);
/* A status with a mark in MPI_ERROR, which shows whether a call has written it. */
MPI_Status marked(void);
/* Fills in data that depend on the sending rank and the call. */
void fill(int *data, int count, int from, int call);

typedef int (*sender)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
void send_ring(const char *name, sender send, int count, int tag, MPI_Comm comm);
void try_ready(MPI_Comm comm);
void try_buffered(MPI_Comm comm);
void try_sendrecv(int count, int tag, MPI_Comm comm);
void try_probes(int count, MPI_Comm comm);
void try_order(MPI_Comm comm);
void try_large_counts(MPI_Comm comm);

void try_waits(MPI_Comm comm);
void try_persistent(MPI_Comm comm);
void try_cancelled(MPI_Comm comm);
void try_generalized(MPI_Comm comm);
void try_nonblocking(MPI_Comm comm);

/* Makes a call that writes into `into`, of `room` bytes, which are zeroed before it. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        memset(into, 0, room);                                                                     \
        tell(#call, call, into, room);                                                             \
    } while (0)
void try_collectives(MPI_Comm comm);
void try_neighbours(void);
void try_communicators(void);
void try_windows(void);
void try_files(void);
void try_errors(void);

#endif
