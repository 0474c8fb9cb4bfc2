/* Skew by call site of the collectives that MPICH carried out: how far apart their members arrive,
 * and who is last. As for the library's own (report/aggregate.h), each member's call counts for its
 * own call site, and the instance as a whole for the site that most members called from; a
 * nonblocking one is at the call that started it.
 *
 * Memory grows with call sites, with the ranks that are last at each and with the communicators
 * that it is called on; not with instances. Functions that return a status: SG_ERR_MEMORY only, not
 * logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_SKEWS_H
#define SG_REPORT_WAITSTATES_SKEWS_H

#include "core/status.h"
#include "report/waitstates/sums.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_waitstate_call;
struct sg_waitstate_skews;

/* Of a collective of which all members have come. */
struct sg_waitstate_member {
    struct sg_waitstate_call *completing; /* NULL: it is not there yet */
    struct sg_waitstate_end who;          /* of the call that began it */
    int64_t begin_ns;
    uint32_t skew; /* the row that its wait counts for; 0: none */
    bool receives;
    const uint32_t *sources; /* as in struct sg_waitstate_collective */
    uint32_t source_count;
};

/* As sg_waitstate_sums_create(). An instance counts if the filter takes the site that it counts for
 * with its communicator, its first arrival, and any of its ranks. */
enum sg_status sg_waitstate_skews_create(const struct sg_aggregate *aggregate,
                                         const struct sg_filter *filter, struct sg_places *places,
                                         struct sg_waitstate_skews **out);
void sg_waitstate_skews_destroy(struct sg_waitstate_skews *skews);

/* A complete instance of two members or more, on a communicator of the aggregate: sets the members'
 * rows. */
enum sg_status sg_waitstate_skews_add(struct sg_waitstate_skews *skews, uint32_t comm,
                                      struct sg_waitstate_member *members, uint32_t count);
/* A member waited. */
void sg_waitstate_skews_wait(struct sg_waitstate_skews *skews, uint32_t skew, uint64_t wait_ns);

/* Adds the rows to the result. */
enum sg_status sg_waitstate_skews_finish(struct sg_waitstate_skews *skews,
                                         struct sg_waitstates *states);

#endif
