#include "bench/reading.h"

#include <math.h>

#define LOOKS 2000
#define TRIES 20

typedef void (*look)(uint64_t (*now_ns)(void));

static double cost_of(look once, uint64_t (*now_ns)(void))
{
    double least_ns = INFINITY;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin_ns = now_ns();

        for (int j = 0; j < LOOKS; j++)
            once(now_ns);
        least_ns = fmin(least_ns, (double)(now_ns() - begin_ns) / LOOKS);
    }
    return least_ns;
}

static void look_at_clock(uint64_t (*now_ns)(void))
{
    now_ns();
}

double sg_bench_reading_clock_ns(uint64_t (*now_ns)(void))
{
    return cost_of(look_at_clock, now_ns);
}

#if defined(__x86_64__)

#include <cpuid.h>

#define POWER_LEAF 0x80000007u
#define INVARIANT_BIT (1u << 8)

static void look_at_counter(uint64_t (*now_ns)(void))
{
    unsigned processor;

    __builtin_ia32_rdtscp(&processor);
}

double sg_bench_reading_counter_ns(uint64_t (*now_ns)(void))
{
    unsigned a, b, c, d;

    if (!__get_cpuid(POWER_LEAF, &a, &b, &c, &d) || (d & INVARIANT_BIT) == 0)
        return NAN;
    return cost_of(look_at_counter, now_ns);
}

#else

double sg_bench_reading_counter_ns(uint64_t (*now_ns)(void))
{
    return NAN;
}

#endif
