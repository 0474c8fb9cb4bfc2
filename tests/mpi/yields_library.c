/* Preloaded: counts the process's yields. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

int sched_yield(void);
long counted_yields(void);

static atomic_long yields;

int sched_yield(void)
{
    atomic_fetch_add_explicit(&yields, 1, memory_order_relaxed);
    return (int)syscall(SYS_sched_yield);
}

/* Until now. */
long counted_yields(void)
{
    return atomic_load_explicit(&yields, memory_order_relaxed);
}
