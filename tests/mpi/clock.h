/* Reads the time, and waits for a time asleep or computing. */
#ifndef SG_TESTS_MPI_CLOCK_H
#define SG_TESTS_MPI_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline void sleep_until(uint64_t ns)
{
    struct timespec until = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

static inline void compute(double ms)
{
    uint64_t end_ns = now_ns() + (uint64_t)(ms * 1e6);

    while (now_ns() < end_ns)
        ;
}

#endif
