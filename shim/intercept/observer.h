/* What the engine tells of apart from the outcomes of calls, in this process's log: contributions
 * that came late, long waits and disagreements.
 */
#ifndef SG_INTERCEPT_OBSERVER_H
#define SG_INTERCEPT_OBSERVER_H

/* In MPI_Init, when the log is open and the calling thread has its number. */
void sg_observer_start(void);

/* In MPI_Finalize, collective over MPI_COMM_WORLD, when all communicators are drained: nothing is
 * late afterwards on any rank, so that the log can be closed. */
void sg_observer_stop(void);

#endif
