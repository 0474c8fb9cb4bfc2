/* A faster reading of the clock (core/clock.h): the processor's counter, which each thread
 * synchronises with the clock every 100 us. It is within 100 ns of the clock and never goes back
 * within a thread. If the counter is unreliable, every reading uses the clock itself.
 *
 * Any thread; not from a signal handler, which may interrupt the synchronisation. */
#ifndef SG_CORE_TICK_H
#define SG_CORE_TICK_H

#include "core/cpu/cpu.h"

#include <stdbool.h>
#include <stdint.h>

/* True if the counter has one rate and agrees between processors. */
bool sg_tick_is_trusted(const char *systems);

/* Call once, before the first reading. systems: where sysfs(5) is mounted. */
void sg_tick_start(const char *systems);

uint64_t sg_tick_set(void);

/* Time from one thread's reading to another's. 0 if the later reading is the lesser: the threads'
 * clocks may differ slightly. */
static inline uint64_t sg_tick_between(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* A thread's last synchronisation. */
struct sg_tick {
    uint64_t counter, ns; /* read at one moment */
    uint64_t reach;       /* counts for which it is valid; 0: not set */
    uint64_t rate;        /* ns per count, in units of 2^-32 */
};

/* initial-exec: a preloaded library is loaded at start and fits in the static TLS block. */
extern __thread struct sg_tick sg_tick __attribute__((tls_model("initial-exec")));

static inline uint64_t sg_tick_ns(void)
{
#ifdef SG_CPU_COUNTER_CLOCKS
    uint64_t passed = sg_cpu_counter() - sg_tick.counter;

    if (__builtin_expect(passed < sg_tick.reach, 1))
        return sg_tick.ns + (passed * sg_tick.rate >> 32);
#endif
    return sg_tick_set();
}

/* ---- the counter itself, while the thread's clock is made of it ---- */

/* False: the counter is not used. */
static inline bool sg_tick_is_set(void)
{
    return sg_tick.reach > 0;
}

static inline uint64_t sg_tick_counter(void)
{
#ifdef SG_CPU_COUNTER_CLOCKS
    return sg_cpu_counter();
#else
    return 0;
#endif
}

/* The time of a reading of the counter not long ago. */
static inline uint64_t sg_tick_at(uint64_t counter)
{
    return counter >= sg_tick.counter
               ? sg_tick.ns + ((counter - sg_tick.counter) * sg_tick.rate >> 32)
               : sg_tick.ns - ((sg_tick.counter - counter) * sg_tick.rate >> 32);
}

/* time_ns: less than a second. */
static inline uint64_t sg_tick_counts(uint64_t time_ns)
{
    return (time_ns << 32) / sg_tick.rate;
}

#endif
