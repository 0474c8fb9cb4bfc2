/* `stagger watch`: shows a running job until it ends or the user quits, and finds the job if no
 * directory is named. */
#ifndef SG_WATCH_WATCH_H
#define SG_WATCH_WATCH_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_live_options {
    const char *directory;
    uint64_t interval_ns;
    uint64_t count; /* number of times to show; 0: until the job ends */
    uint32_t top;   /* maximum number of call sites; 0: as many as fit */
    bool json;
    const char *openmetrics; /* file to write instead of showing; NULL: none */
};

/* Default of the interval; for a file that a collector reads, a quarter of its usual minute. */
#define SG_LIVE_INTERVAL_NS UINT64_C(1000000000)
#define SG_LIVE_OPENMETRICS_NS UINT64_C(15000000000)

/* Draws in place on a terminal; elsewhere writes a block of lines or a line of JSON each time.
 * Errors are logged; the end of the job is not an error. */
enum sg_status sg_live_show(const struct sg_live_options *options);

/* Finds the output directory of a running job: `where` itself or a directory in it; of several,
 * the one whose job began last. *directory is malloc'ed. SG_ERR_MISSING: there is none (logs one
 * line). */
enum sg_status sg_live_find(const char *where, char **directory);

#endif
