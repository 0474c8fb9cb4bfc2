/* The statistics of all calls of MPI beside an archive: DIR/traces/N.calls, of rank N. A log's
 * header, and of its records those of call sites, functions, communicators, statistics, peers and
 * distributions: to be read as a log (trace/export/logread.h).
 */
#ifndef SG_TRACE_CALLS_FILE_H
#define SG_TRACE_CALLS_FILE_H

#include "trace/export/archive.h"
#include "trace/export/logread.h"

/* Writes a log's; nothing where all calls were not counted. 0 or an errno value. */
int sg_calls_file_write(const struct sg_files *files, struct sg_logread *log);

#endif
