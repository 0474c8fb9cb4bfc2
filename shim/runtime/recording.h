/* The log of a run from MPI_Init to MPI_Finalize: output directory, log, clock synchronisation, and
 * finally the archive, to which each rank writes its part.
 *
 * Collective over process->exchange, unless a function is local.
 */
#ifndef SG_RUNTIME_RECORDING_H
#define SG_RUNTIME_RECORDING_H

#include "runtime/settings.h"

/* Opens the log if the run is to be recorded; on failure sets config.trace to SG_TRACE_OFF.
 * begin_ns: when MPI_Init was entered. */
void sg_recording_start(struct sg_process *process, uint64_t begin_ns);
/* Local: updates the log's counts of the rank's yields and sleeps. */
void sg_recording_waiting(struct sg_log *log);
/* Local, of the application's threads: switches recording on or off (MPI_Pcontrol). */
void sg_recording_switch(struct sg_process *process, bool is_on);
/* Closes the log, if there is one, and reports to the user what the run wrote. */
void sg_recording_stop(struct sg_process *process);
/* Local: writes a definition (sg_log_definition) whose text is two strings, each with its NUL. */
void *sg_recording_define(struct sg_log *log, const char *first, const char *second,
                          size_t *text_bytes);
/* Local: writes a communicator's definition with text_bytes of text. If the trace has events, these
 * definitions may use a quarter of the events' capacity; the first few always fit. NULL beyond
 * that: it is counted, and reported once and at the end. Any thread; not from a signal handler. */
void *sg_recording_define_comm(struct sg_log *log, const void *text, size_t text_bytes);

#endif
