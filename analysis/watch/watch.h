/* `stagger watch`: shows a running job until it ends, or until nobody wants to see more. */
#ifndef SG_WATCH_WATCH_H
#define SG_WATCH_WATCH_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_live_options {
    const char *directory;
    uint64_t interval_ns;
    uint64_t count; /* times to show; 0: until the job ends */
    uint32_t top;   /* call sites, at most; 0: as many as fit */
    bool json;
};

/* On a terminal it is drawn in place; anything else gets a block of lines, or a line of JSON, each
 * time. Errors are logged; a job that has ended is none. */
enum sg_status sg_live_show(const struct sg_live_options *options);

/* Finds a job that runs, for whoever does not name its directory. */

/* The output directory in `where`, or `where` itself, in which a job runs; of several that of the
 * job that began last. malloc'ed. SG_ERR_MISSING: there is none (one line). */
enum sg_status sg_live_find(const char *where, char **directory);

#endif
