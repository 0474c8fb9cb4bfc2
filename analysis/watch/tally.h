/* Each rank's share of the calls of each function at each call site, from the statistics in its log
 * and its open calls. The report's tables sum over ranks; this table keeps ranks separate, with
 * their values at the previous look.
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
    uint64_t open_ns;        /* time so far in open calls */
    uint32_t open_calls;
};

struct sg_live_place {
    uint32_t id;                       /* id of the call site; 0: unknown */
    uint32_t function;                 /* index in `functions` */
    struct sg_live_part *now, *before; /* by rank in MPI_COMM_WORLD */
};

/* An open call of a rank's thread. */
struct sg_live_stay {
    const struct sg_live_log *log;
    uint32_t place;
    uint32_t site; /* index in the log's numbering */
    uint64_t open_ns;
    const struct sg_live_call *call; /* owned by the log, valid until the next look at the job */
};

struct sg_live_tally { /* zeroed except for the number of ranks: empty */
    uint32_t ranks;
    struct sg_live_place *places;
    uint32_t place_count;
    struct sg_map place_by_key;
    char **functions; /* "MPI_Send" */
    uint32_t function_count;
    struct sg_live_stay *stays;
    uint32_t stay_count;
};

/* Makes the current values the previous ones, and reads current ones from the job's logs.
 * SG_ERR_MEMORY, not logged. */
enum sg_status sg_live_tally_take(struct sg_live_tally *tally, const struct sg_live_job *job);
void sg_live_tally_clear(struct sg_live_tally *tally);

/* NULL if nothing is known of the call site. */
const struct sg_live_place *sg_live_tally_find(const struct sg_live_tally *tally, uint32_t id,
                                               const char *function);

/* Time that the calls took from the rank since the previous look. */
uint64_t sg_live_part_gain_ns(const struct sg_live_place *place, uint32_t rank);
/* Calls that ended since the previous look; all calls if the program has reset its counters. */
uint64_t sg_live_part_gain_calls(const struct sg_live_place *place, uint32_t rank);

#endif
