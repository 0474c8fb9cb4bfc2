#include "core/tick.h"

#include "core/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

__thread struct sg_tick sg_tick __attribute__((tls_model("initial-exec")));

#ifdef SG_CPU_COUNTER_CLOCKS

#define REACH_NS 100000u
/* Two clock readings this far apart give the rate to within 50 ppm: 5 ns in REACH_NS. */
#define BASE_NS 1000000u
#define TRIES 4
/* Greatest number of counts around one reading of the clock. With more, the thread was interrupted
 * or its processor is slow: the clock may have been read at either end. */
#define NARROW 200u

static bool is_usable;
static struct sg_tick origin;
static _Atomic uint64_t known_rate; /* 0: not known yet */

/* True if the kernel derives its clock from the counter. */
static bool is_the_kernels(const char *systems)
{
    static const char *const made_of_it[] = {SG_CPU_COUNTER_CLOCKS};
    char path[256], line[64] = "";
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "%s/devices/system/clocksource/clocksource0/current_clocksource",
             systems);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof made_of_it / sizeof *made_of_it; i++)
            found = found || strcmp(line, made_of_it[i]) == 0;
    }
    fclose(file);
    return found;
}

/* Reads counter and clock at one moment. False: every try was interrupted. */
static bool read_both(struct sg_tick *tick)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = sg_cpu_counter(), after;

        tick->ns = sg_clock_ns();
        after = sg_cpu_counter();
        tick->counter = before + (after - before) / 2;
        if (after - before < NARROW)
            return true;
    }
    return false;
}

static uint64_t rate_by(const struct sg_tick *now)
{
    uint64_t rate = atomic_load_explicit(&known_rate, memory_order_relaxed);

    if (rate > 0 || now->ns - origin.ns < BASE_NS || now->counter <= origin.counter)
        return rate;
    rate = (uint64_t)((double)(now->ns - origin.ns) / (double)(now->counter - origin.counter) *
                      4294967296.0);
    atomic_store_explicit(&known_rate, rate, memory_order_relaxed);
    return rate;
}

bool sg_tick_is_trusted(const char *systems)
{
    return sg_cpu_counter_is_steady() && is_the_kernels(systems);
}

void sg_tick_start(const char *systems)
{
    is_usable = sg_tick_is_trusted(systems) && read_both(&origin);
}

uint64_t sg_tick_set(void)
{
    uint64_t reached = sg_tick.ns + (sg_tick.reach * sg_tick.rate >> 32);
    struct sg_tick now;

    if (!is_usable)
        return sg_clock_ns();
    now.rate = read_both(&now) ? rate_by(&now) : 0;
    now.reach = now.rate > 0 ? ((uint64_t)REACH_NS << 32) / now.rate : 0;
    if (now.ns < reached)
        now.ns = reached;
    sg_tick = now;
    return now.ns;
}

#else

bool sg_tick_is_trusted(const char *systems)
{
    (void)systems;
    return false;
}

void sg_tick_start(const char *systems)
{
    (void)systems;
}

uint64_t sg_tick_set(void)
{
    return sg_clock_ns();
}

#endif
