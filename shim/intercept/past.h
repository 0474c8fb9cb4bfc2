/* MPI calls that bypass the library, and MPI functions that this process's MPI does not have.
 *
 * Calls bypass the library if another object's functions come before its wrappers: one line reports
 * that, with the reason. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_PAST_H
#define SG_INTERCEPT_PAST_H

#include <mpi.h>
#include <stdbool.h>

/* Notes that MPI starts through the library. Otherwise a line is logged when the process exits. */
void sg_past_started(void);
/* Call in MPI_Finalize, while calls are counted. Names the object whose functions come first if
 * none of those functions was counted. */
void sg_past_report(void);
/* True if no other tool stands between the wrappers and MPICH for any function that a test loop may
 * carry out. Takes the loader's lock. */
bool sg_past_is_direct(void);

/* ---- missing functions (docs/decisions/01) ----
 *
 * Functions of newer standards that the library wraps and this process's MPI does not have.
 *
 * A program may look such a function up, by dlsym or by a weak reference, and do without it. So
 * when the library is loaded beside such an MPI, it removes their names from its own symbol table;
 * a look-up then gives the same result as without the library. A symbol bound before that, or
 * before an MPI that is loaded later, still reaches the wrapper.
 */

/* Call in the wrapper of a function ("MPI_Buffer_flush") that MPI does not have. Raises an error as
 * MPI does and returns it; logs one line a process. Any thread; not from a signal handler. */
int sg_lacking_called(const char *function);
/* MPI 4.1's functions in terms of MPI_Request_get_status, for an MPI that has only that one. */
int sg_lacking_status_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses);
int sg_lacking_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                          MPI_Status *status);
int sg_lacking_status_some(int count, const MPI_Request *requests, int *done, int *indices,
                           MPI_Status *statuses);

#endif
