/* The log of a run from MPI_Init to MPI_Finalize: output directory, log and clock synchronisation,
 * and at the end the archive, to which each rank writes its part.
 *
 * Collective over process->exchange.
 */
#ifndef SG_RUNTIME_RECORDING_H
#define SG_RUNTIME_RECORDING_H

#include "runtime/settings.h"

/* Opens the log if the run is to be recorded; if that fails, config.trace becomes SG_TRACE_OFF.
 * begin_ns: when MPI_Init was entered. */
void sg_recording_start(struct sg_process *process, uint64_t begin_ns);
/* Local: the log tells what the rank has waited up to now. */
void sg_recording_waiting(struct sg_log *log);
/* If there is a log: closes it, and tells the user what the run wrote. */
void sg_recording_stop(struct sg_process *process);
/* Local: writes a definition (sg_log_definition) whose text is two strings, each with its NUL. */
void *sg_recording_define(struct sg_log *log, const char *first, const char *second,
                          size_t *text_bytes);
/* The same of a communicator's definition, with text_bytes of text. Where there are events,
 * those of communicators use a quarter of their room at most, the first few apart: NULL beyond,
 * which is counted, and said once and at the end. Any thread; not from a signal handler. */
void *sg_recording_define_comm(struct sg_log *log, const void *text, size_t text_bytes);

#endif
