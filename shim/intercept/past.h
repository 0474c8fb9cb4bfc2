/* Calls of MPI that go past the library, because another object's functions come before its
 * wrappers: one line says so, with the reason. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_PAST_H
#define SG_INTERCEPT_PAST_H

/* MPI is started through the library. Otherwise the line comes when the process exits. */
void sg_past_started(void);

/* In MPI_Finalize, while calls are counted: names the object whose functions come first if none of
 * them was seen. */
void sg_past_report(void);

#endif
