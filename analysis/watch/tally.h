/* Each rank's part in the calls of each function at each call site: from the statistics in its
 * log, and from the calls that it is in. The report's tables sum up over ranks; here they are kept
 * apart, with what they were the time before.
 *
 * Memory grows with call sites and ranks. Not thread-safe. */
#ifndef SG_WATCH_TALLY_H
#define SG_WATCH_TALLY_H

#include "core/status.h"
#include "report/filter.h"
#include "watch/job.h"

#include <stdint.h>

struct sg_live_part {
    uint64_t calls, time_ns; /* of calls that have ended */
    uint64_t open_ns;        /* so far, of those that it is in */
    uint32_t open_calls;
};

struct sg_live_place {
    uint32_t id;                       /* of the call site; 0: not known */
    uint32_t function;                 /* number of its name */
    struct sg_live_part *now, *before; /* by rank in MPI_COMM_WORLD */
};

/* A call that a rank's thread is in. */
struct sg_live_stay {
    const struct sg_live_log *log;
    uint32_t place;
    uint32_t site; /* as the log numbers it */
    uint64_t open_ns;
    const struct sg_live_call *call; /* the log's, until the job is looked at again */
};

struct sg_live_tally { /* zeroed but for the number of ranks: empty */
    uint32_t ranks;
    struct sg_live_place *places;
    uint32_t place_count;
    struct sg_map place_by_key;
    char **functions; /* "MPI_Send" */
    uint32_t function_count;
    struct sg_live_stay *stays;
    uint32_t stay_count;
};

/* What was now is before, and what the job's logs hold is now. SG_ERR_MEMORY, not logged. */
enum sg_status sg_live_tally_take(struct sg_live_tally *tally, const struct sg_live_job *job);
void sg_live_tally_clear(struct sg_live_tally *tally);

/* NULL: nothing is known of it. */
const struct sg_live_place *sg_live_tally_find(const struct sg_live_tally *tally, uint32_t id,
                                               const char *function);

/* What the calls took of the rank's time since the time before. */
uint64_t sg_live_part_gain_ns(const struct sg_live_place *place, uint32_t rank);
/* Calls that have ended since; all, if the program has begun to count anew. */
uint64_t sg_live_part_gain_calls(const struct sg_live_place *place, uint32_t rank);

#endif
