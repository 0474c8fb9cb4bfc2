/* Calls of MPI that may have waited: each is kept until it has returned and it is known what all
 * that it completed had to wait for. Then its wait is the latest of these times less its begin.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_WAITSTATES_CALLS_H
#define SG_REPORT_WAITSTATES_CALLS_H

#include "core/status.h"
#include "report/waitstates/sums.h"
#include "trace/export/rma_function.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_waitstate_call {
    struct sg_waitstate_end who;
    int64_t enter_ns, leave_ns; /* leave_ns: once it has returned */
    bool has_left;
    bool only_tests;  /* it never waits */
    bool is_buffered; /* it begins sends that wait for no receive */
    bool is_probe;    /* it waits for the message that is received next */
    enum sg_rma rma;  /* what it does on a window */
    uint32_t holders; /* its location, until it returns, and what is not known yet */
    /* The latest that it waited for; until_ns == enter_ns: nothing. */
    int64_t until_ns;
    enum sg_waitstate_kind kind;
    uint32_t comm;
    struct sg_waitstate_end other;
    uint32_t skew; /* as in struct sg_waitstate */
};

/* What a call waited for, or might have. */
struct sg_waitstate_cause {
    enum sg_waitstate_kind kind;
    int64_t ready_ns;
    struct sg_waitstate_end other;
    uint32_t comm;
    uint32_t skew;
    /* The call ended by this: otherwise, if it left before the other side was ready, it waited for
     * something else, or not at all. */
    bool is_bounded;
};

struct sg_waitstate_call *sg_waitstate_call_new(const struct sg_waitstate_end *who,
                                                int64_t enter_ns);
/* Adds a holder; NULL is no call. */
struct sg_waitstate_call *sg_waitstate_call_hold(struct sg_waitstate_call *call);
/* Takes what the call waited for, before the holder that knows it lets go. */
void sg_waitstate_call_offer(struct sg_waitstate_call *call,
                             const struct sg_waitstate_cause *cause);
/* Whether this was the last holder: the call is then to be counted, and freed. NULL: false. */
bool sg_waitstate_call_release(struct sg_waitstate_call *call);

/* Of a call that nobody holds: its wait; false: it did not wait. */
bool sg_waitstate_call_wait(const struct sg_waitstate_call *call, struct sg_waitstate *out);

#endif
