/* What the engine reports apart from the statistics of calls, in this process's log: contributions
 * that came late, long waits and disagreements.
 */
#ifndef SG_INTERCEPT_TRACE_EVENTS_H
#define SG_INTERCEPT_TRACE_EVENTS_H

/* In MPI_Init, when the log is open and the calling thread has its number. */
void sg_trace_events_start(void);

/* In MPI_Finalize, collective over MPI_COMM_WORLD, when all communicators are drained: nothing is
 * late afterwards on any rank, so that the log can be closed. */
void sg_trace_events_stop(void);

#endif
