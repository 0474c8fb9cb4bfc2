/* Preloaded before libstagger.so: replaces the processor's counters by events that the kernel
 * counts, so that every machine with software events has some. Cycles are ns on the processor,
 * cache misses are page faults, and STANDIN_INSTRUCTIONS selects instructions: clock, the former,
 * or faults, the latter; with none there are no counters. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_wanted(const char *what)
{
    const char *instructions = getenv("STANDIN_INSTRUCTIONS");

    return instructions != NULL && strcmp(instructions, what) == 0;
}

static __u64 instead_of(__u64 counter)
{
    if (counter == PERF_COUNT_HW_CACHE_MISSES ||
        (counter == PERF_COUNT_HW_INSTRUCTIONS && is_wanted("faults")))
        return PERF_COUNT_SW_PAGE_FAULTS;
    return PERF_COUNT_SW_TASK_CLOCK;
}

long syscall(long number, ...)
{
    long (*real)(long, ...);
    struct perf_event_attr event;
    long words[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_perf_event_open) {
        memcpy(&event, (const void *)words[0], sizeof event);
        if (event.type == PERF_TYPE_HARDWARE && is_wanted("none")) {
            errno = ENOENT;
            return -1;
        }
        if (event.type == PERF_TYPE_HARDWARE) {
            event.type = PERF_TYPE_SOFTWARE;
            event.config = instead_of(event.config);
            words[0] = (long)&event;
        }
    }
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
