/* Tests the faster clock against the clock itself, on threads that compute, sleep and move. */
#include "core/clock.h"
#include "core/tick.h"
#include "lib/unit.h"

#include <pthread.h>

#define READINGS 200000
#define THREADS 4
#define APART_NS 100

/* Time in which nothing is read but the clock. */
static void pass_ms(unsigned ms)
{
    uint64_t end_ns = sg_clock_ns() + ms * UINT64_C(1000000);

    while (sg_clock_ns() < end_ns)
        continue;
}

/* Counts readings that went backwards, or that lay more than APART_NS outside the two readings of
 * the clock around them. */
static void *read_often(void *result)
{
    uint64_t last = 0;
    int *wrong = result;

    for (int i = 0; i < READINGS; i++) {
        uint64_t before = sg_clock_ns(), now = sg_tick_ns(), after = sg_clock_ns();

        if (now < last || now + APART_NS < before || now > after + APART_NS)
            ++*wrong;
        last = now;
        if (i % 20000 == 0)
            pass_ms(5);
    }
    return NULL;
}

TEST("a thread's ticks follow the clock and never run backwards")
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};

    sg_tick_start("/sys");
    for (int i = 0; i < THREADS; i++)
        ASSERT(pthread_create(&threads[i], NULL, read_often, &wrong[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        EXPECT(wrong[i] == 0);
    }
}

/* The kernel's clock is another: the counter is not used, on whatever processor. */
TEST("ticks come from the clock that the kernel uses")
{
    char path[256];

    snprintf(path, sizeof path, "mkdir -p %s/devices/system/clocksource/clocksource0",
             unit_directory());
    ASSERT(system(path) == 0);
    snprintf(path, sizeof path, "%s/devices/system/clocksource/clocksource0/current_clocksource",
             unit_directory());
    FILE *file = fopen(path, "w");
    ASSERT(file != NULL);
    fputs("hpet\n", file);
    fclose(file);
    sg_tick = (struct sg_tick){0};
    sg_tick_start(unit_directory());
    sg_tick_ns();
    pass_ms(5);
    sg_tick_ns();
    EXPECT(sg_tick.reach == 0);
    sg_tick_start("/nowhere");
    sg_tick_ns();
    EXPECT(sg_tick.reach == 0);
}

TEST("an interval that ends on another thread never has a negative duration")
{
    EXPECT(sg_tick_between(1000, 1500) == 500, sg_tick_between(1000, 1000) == 0,
           sg_tick_between(1000, 950) == 0);
}
