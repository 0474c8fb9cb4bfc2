/* What skew costs one instance. The definitions are Scalasca's, so that its users recognise the
 * figures.
 *
 * With B a member's entry and E its exit:
 *   skew                 max B - min B
 *   wait at barrier/NxN  late_i = min(max B, E_i), wait_i = max(0, late_i - B_i)
 *   completion_i         max(0, E_i - max(min E, late_i))
 *   early reduce         at the root only: max(0, min(max B of the senders, E_root) - B_root)
 *   blocked_i            E_i - B_i
 *   wait avoided_i       the wait from the arrivals alone, without the bound by E_i, minus
 *                        blocked_i, where positive. Only a root that left a reduce before its
 *                        senders arrived can have avoided any: no member leaves a correct barrier
 *                        or allreduce before the last has entered, so there E_i < max B is
 *   a clock violation    the clocks of two members contradict each other.
 * An allreduce without data (no elements, or a type of size zero) need not synchronise: if a member
 * left before another entered, nobody waited, and the instance says nothing about the clocks.
 *
 * For a nonblocking collective B is the begin of the call that starts it and E its completion. In
 * between the member is blocked in that call (start_i) and in waits and tests (exposed_i):
 *   blocked_i            start_i + exposed_i
 *   wait_i               the wait from the arrivals alone, at most exposed_i
 *   wait avoided_i       as above, for any member
 *   completion_i         not known: 0
 *
 * Pure functions.
 */
#ifndef SG_REPORT_MEASURE_H
#define SG_REPORT_MEASURE_H

#include "report/window.h"

struct sg_measure {
    int64_t first_begin_ns; /* min B */
    int64_t last_begin_ns;  /* max B */
    int64_t first_end_ns;   /* min E */
    int64_t senders_ns;     /* max B of all but the root; for a reduce of two or more */
    uint64_t skew_ns;
    /* Where positive: max B - min E for synchronising operations, B of the root - min E for a
     * broadcast. */
    uint64_t violation_ns;
    /* an allreduce without data in which a member left before another entered */
    bool unsynchronised;
    uint32_t last; /* rank in the communicator; the lowest of several */
};

struct sg_call_measure {
    uint64_t wait_ns;
    uint64_t completion_ns; /* 0 for an operation with a root and for a nonblocking call */
    uint64_t avoided_ns;
    uint64_t blocked_ns;
    bool ran_ahead; /* left before the last member came; not where clocks contradict that */
};

void sg_measure_instance(const struct sg_instance *instance, struct sg_measure *out);
/* The member that the others waited for: of a reduce the last of all but the root, of a broadcast
 * the root, else the last. */
uint32_t sg_measure_awaited(const struct sg_instance *instance, const struct sg_measure *measure);
void sg_measure_call(const struct sg_instance *instance, const struct sg_measure *measure,
                     uint32_t member, struct sg_call_measure *out);

#endif
