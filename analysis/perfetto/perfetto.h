/* A run's events as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open: a process a
 * rank with a track for each thread, calls of MPI and late contributions as slices, a flow from the
 * rank that came last to each rank that waited for it and from sender to receiver of each message,
 * nonblocking collectives as spans from start to completion, and counters.
 *
 * Written while the archive is read: an instance when its last member has left, a message when its
 * ends are matched, so what is held is what the reader holds. Events do not stand in order of time;
 * the format does not ask for it.
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
    uint64_t dropped_calls; /* of no complete instance: not in the output */
};

/* Reads the run at path (a directory or an archive) and writes to out. On failure one line has been
 * logged, save for SG_ERR_SYSTEM: the stream did not take it. Whether it took everything is the
 * caller's to check in any case. */
enum sg_status sg_perfetto_write(const char *path, bool progress, FILE *out,
                                 struct sg_perfetto_counts *counts);

#endif
