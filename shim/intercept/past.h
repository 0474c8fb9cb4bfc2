/* Calls of MPI that go past the library, because another object's functions come before its
 * wrappers: one line says so, with the reason. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_PAST_H
#define SG_INTERCEPT_PAST_H

#include <mpi.h>

/* MPI is started through the library. Otherwise the line comes when the process exits. */
void sg_past_started(void);
/* In MPI_Finalize, while calls are counted: names the object whose functions come first if none of
 * them was seen. */
void sg_past_report(void);

/* Functions that the library wraps and this process's MPI has not: those of newer standards
 * (docs/decisions/0065).
 *
 * A program may ask whether its MPI has one, by dlsym or by a weak reference, and do without. So
 * when the library is loaded beside such an MPI, they leave the library's own table of symbols, and
 * whoever asks finds what it finds without the library. What the loader has bound before that, or
 * what comes before an MPI that is loaded later, reaches the wrapper all the same.
 */

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
