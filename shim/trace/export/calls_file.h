/* Writes the statistics of all MPI calls beside an archive: DIR/traces/N.calls for rank N. The file
 * has the format of a log, so that it can be read as one (trace/export/logread.h). It contains the
 * log's header and its records of call sites, functions, communicators, clocks and statistics, but
 * no events.
 */
#ifndef SG_TRACE_CALLS_FILE_H
#define SG_TRACE_CALLS_FILE_H

#include "trace/export/archive.h"
#include "trace/export/logread.h"

/* Writes the statistics of a log, or no file if it does not count all calls. Returns 0 or an errno
 * value. */
int sg_calls_file_write(const struct sg_files *files, struct sg_logread *log);

#endif
