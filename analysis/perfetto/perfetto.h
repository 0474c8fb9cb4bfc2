/* The events of a run as Chrome trace JSON, for ui.perfetto.dev and chrome://tracing: a process for
 * each rank with a track for each thread. MPI calls and late contributions are slices. Flows lead
 * from the last rank to each rank that waited for it, and from sender to receiver of each message.
 * Nonblocking collectives are spans from start to completion. There are also counters.
 *
 * Events are written while the archive is read: an instance when its last member has left, a
 * message when its ends are matched, so memory is what the reader holds. Events are not in time
 * order; the format does not require it.
 */
#ifndef SG_PERFETTO_PERFETTO_H
#define SG_PERFETTO_PERFETTO_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sg_perfetto_counts {
    uint64_t slices; /* calls and late contributions */
    uint64_t flows;
    uint64_t dropped_calls; /* calls in no complete instance, which are not in the output */
};

/* Reads the run at path (a directory or an archive) and writes to out. A failure is logged in one
 * line, except SG_ERR_SYSTEM, a write error of the stream. The caller checks the stream in any
 * case. */
enum sg_status sg_perfetto_write(const char *path, bool progress, FILE *out,
                                 struct sg_perfetto_counts *counts);

#endif
