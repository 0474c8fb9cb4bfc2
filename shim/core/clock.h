/* The one clock: CLOCK_MONOTONIC_RAW in ns, never stepped or slewed, read through the vDSO.
 *
 * Async-signal-safe, thread-safe. Ranks of one machine (and one time namespace) share it;
 * between machines shim/core/clocksync.h measures offsets.
 */
#ifndef SG_CORE_CLOCK_H
#define SG_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t sg_clock_of_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t sg_clock_ns(void)
{
    return sg_clock_of_ns(CLOCK_MONOTONIC_RAW);
}

#endif
