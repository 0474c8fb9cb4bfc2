/* Brings the members of a collective together, and tells their calls whom they waited for.
 *
 * As in tracker.h. Functions that return a status: SG_ERR_MEMORY only, not logged.
 */
#ifndef SG_REPORT_WAITSTATES_COLLECTIVES_H
#define SG_REPORT_WAITSTATES_COLLECTIVES_H

#include "core/status.h"
#include "report/waitstates/operations.h"
#include "report/waitstates/settle.h"
#include "report/waitstates/table.h"

struct sg_waitstate_collectives {
    struct sg_waitstate_settling *settling;
    struct sg_link_table instances, requests;
};

/* A collective that its call completes. */
enum sg_status sg_waitstate_collectives_add(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective);
enum sg_status sg_waitstate_collectives_begin(struct sg_waitstate_collectives *collectives,
                                              const struct sg_waitstate_call *call,
                                              uint64_t request);
enum sg_status sg_waitstate_collectives_end(struct sg_waitstate_collectives *collectives,
                                            struct sg_waitstate_call *call,
                                            const struct sg_waitstate_collective *collective,
                                            uint64_t request);
/* Lets the calls of incomplete ones go. */
enum sg_status sg_waitstate_collectives_finish(struct sg_waitstate_collectives *collectives);

#endif
