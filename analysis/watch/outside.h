/* What a rank does while it is in no recorded call of MPI, as the kernel tells of another process
 * of this machine (proc(5)): the open interval, which is in no log yet.
 *
 * Only of the time between two looks at a rank that ended no call meanwhile and was in none either
 * time, so that all of it lies in one interval; of the thread that called MPI_Init, where no other
 * thread calls MPI. Where the kernel does not tell, or not enough, the cause is not told apart.
 * Not thread-safe.
 */
#ifndef SG_WATCH_OUTSIDE_H
#define SG_WATCH_OUTSIDE_H

#include "report/causes/causes.h"
#include "watch/log.h"

#include <stdbool.h>
#include <stdint.h>

/* Since the thread began. */
struct sg_outside_figures {
    uint64_t cpu_ns, runnable_ns;
    uint64_t user_ticks, system_ticks;
    uint64_t io_bytes, major_faults;
    bool has_io;
    bool may_be_throttled; /* its control group is another one than ours, or has a quota */
};

/* A rank as it was looked at last; zeroed: not yet. */
struct sg_outside {
    bool is_out;
    uint64_t calls, looked_ns, since_ns; /* since_ns: it is known to be out since then */
    struct sg_outside_figures figures;
};

struct sg_outside_spent {
    bool is_known;
    uint64_t out_ns; /* it has been out for so long, or longer */
    uint64_t ns;     /* since the look before: the next three are of it */
    uint64_t cpu_ns, runnable_ns, off_ns;
    enum sg_cause cause; /* of more than half of it */
};

/* calls: that have ended in the run, in all. in_call: it is in one. */
void sg_outside_look(struct sg_outside *outside, const struct sg_live_log *log, uint64_t calls,
                     bool in_call, struct sg_outside_spent *out);

/* What most of the time was spent with. */
enum sg_cause sg_outside_cause(const struct sg_outside_figures *before,
                               const struct sg_outside_figures *now,
                               const struct sg_outside_spent *spent);

#endif
