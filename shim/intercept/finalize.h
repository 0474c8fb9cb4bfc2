/* MPI_Finalize where its call does not come by the library: a profiling tool that wraps it calls
 * PMPI_Finalize. MPI deletes the attributes of MPI_COMM_SELF first of all, while everything works.
 *
 * In the application's threads; not from a signal handler.
 */
#ifndef SG_INTERCEPT_FINALIZE_H
#define SG_INTERCEPT_FINALIZE_H

/* to_stop: called from inside MPICH's MPI_Finalize, or by sg_finalize_forget: to be harmless then.
 */
void sg_finalize_expect(void (*to_stop)(void));

/* Before MPICH's MPI_Finalize, whose error is what the last callback returned: that is to be one of
 * the application's. */
void sg_finalize_forget(void);

#endif
