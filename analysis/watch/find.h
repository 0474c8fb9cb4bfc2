/* Finds a job that runs, for whoever does not name its directory. */
#ifndef SG_WATCH_FIND_H
#define SG_WATCH_FIND_H

#include "core/status.h"

/* The output directory in `where`, or `where` itself, in which a job runs; of several that of the
 * job that began last. malloc'ed. SG_ERR_MISSING: there is none (one line). */
enum sg_status sg_live_find(const char *where, char **directory);

#endif
