/* Counts a thread's yields and sleeps: the library's calls of them through their symbols. Preloaded
 * with it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

static __thread long yields, sleeps;

long giving_yields(void);
long giving_sleeps(void);

long giving_yields(void)
{
    return yields;
}

long giving_sleeps(void)
{
    return sleeps;
}

int sched_yield(void)
{
    int (*next)(void);

    yields++;
    *(void **)&next = dlsym(RTLD_NEXT, "sched_yield");
    return next();
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    int (*next)(const struct timespec *, struct timespec *);

    sleeps++;
    *(void **)&next = dlsym(RTLD_NEXT, "nanosleep");
    return next(time, left);
}
