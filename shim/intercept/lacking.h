/* Functions that the library wraps and this process's MPI has not: those of newer standards
 * (docs/decisions/0065).
 *
 * A program may ask whether its MPI has one, by dlsym or by a weak reference, and do without. So
 * when the library is loaded beside such an MPI, they leave the library's own table of symbols, and
 * whoever asks finds what it finds without the library. What the loader has bound before that, or
 * what comes before an MPI that is loaded later, reaches the wrapper all the same.
 */
#ifndef SG_INTERCEPT_LACKING_H
#define SG_INTERCEPT_LACKING_H

#include <mpi.h>

/* A wrapper was called for a function ("MPI_Buffer_flush") that MPI has not: an error, raised as
 * MPI's own are, and one line a process says so. Any thread; not from a signal handler. */
int sg_lacking_called(const char *function);

/* MPI 4.1's functions in terms of MPI_Request_get_status, for an MPI that has only this. */
int sg_lacking_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses);
int sg_lacking_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                          MPI_Status *status);
int sg_lacking_status_some(int count, const MPI_Request *requests, int *done, int *indices,
                           MPI_Status *statuses);

#endif
