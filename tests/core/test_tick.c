/* Tests the faster clock against the clock itself, on threads that compute, sleep and move. */
#include "core/clock.h"
#include "core/tick.h"
#include "lib/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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

static void follows_the_clock(void)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};

    sg_tick_start("/sys");
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, read_often, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(wrong[i], 0);
    }
}

/* The kernel's clock is another: the counter is not used, on whatever processor. */
static void is_the_clock_where_the_kernel_uses_another(void)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "mkdir -p %s/devices/system/clocksource/clocksource0",
             unit_directory());
    CU_ASSERT_EQUAL_FATAL(system(path), 0);
    snprintf(path, sizeof path, "%s/devices/system/clocksource/clocksource0/current_clocksource",
             unit_directory());
    file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs("hpet\n", file);
    fclose(file);
    sg_tick = (struct sg_tick){0};
    sg_tick_start(unit_directory());
    sg_tick_ns();
    pass_ms(5);
    sg_tick_ns();
    CU_ASSERT_EQUAL(sg_tick.reach, 0);
    sg_tick_start("/nowhere");
    sg_tick_ns();
    CU_ASSERT_EQUAL(sg_tick.reach, 0);
}

static void threads_are_apart(void)
{
    CU_ASSERT_EQUAL(sg_tick_between(1000, 1500), 500);
    CU_ASSERT_EQUAL(sg_tick_between(1000, 1000), 0);
    CU_ASSERT_EQUAL(sg_tick_between(1000, 950), 0);
}

const struct unit_test unit_tests[] = {
    {"threads read what the clock says, and never backwards", follows_the_clock},
    {"where the kernel uses another clock it is that one",
     is_the_clock_where_the_kernel_uses_another},
    {"what began on one thread and ended on another did not take less than nothing",
     threads_are_apart},
    {NULL, NULL},
};
