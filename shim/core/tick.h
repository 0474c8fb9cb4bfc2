/* The one clock (core/clock.h), read faster: by the processor's counter, which each thread sets to
 * the clock again every 100 us. Within 100 ns of the clock, and never earlier than what the thread
 * has read before. Where the counter cannot be relied on, it is the clock itself.
 *
 * Any thread; not from a signal handler, which may come while the counter is set.
 */
#ifndef SG_CORE_TICK_H
#define SG_CORE_TICK_H

#include "core/cpu/cpu.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the counter can be relied on: it has one rate, and those of the processors agree. */
bool sg_tick_is_trusted(const char *systems);

/* Before the first reading; once. systems: where sysfs(5) is. */
void sg_tick_start(const char *systems);

uint64_t sg_tick_set(void);

/* From one thread's reading to another's: 0 where the later one is the lesser, as it may be by what
 * their clocks are apart. */
static inline uint64_t sg_tick_between(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* A thread's. */
struct sg_tick {
    uint64_t counter, ns; /* at one moment */
    uint64_t reach;       /* counts for which it is good; 0: it is not set */
    uint64_t rate;        /* ns a count, in 2^-32 */
};

/* A preloaded library may have it in the room that is there from the start. */
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

#endif
