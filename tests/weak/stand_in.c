/* The system's services for threads, made of the model's own operations.
 *
 * A futex has a set of sleepers, one word that every wait and every wake changes by a
 * read-modify-write that acquires and releases, as the kernel's lock of its queue does: a wait
 * that comes behind a wake sees what was written before that wake; one that comes before it is
 * woken.
 */
#include "weak/stand_in.h"

#include "weak/execution.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define FUTEXES_MAX 16
#define LONG_NS 10000000 /* a sleep that only a wake-up should end */
#define HERE __builtin_extract_return_addr(__builtin_return_address(0))

/* Sleepers of the futex of an address; ended: by thread. Zero when an execution begins. */
static struct {
    const void *address;
    uint64_t sleepers;
} futexes[FUTEXES_MAX];
static uint64_t ended[WEAK_THREADS_MAX];
static uint64_t now_ns, step_ns;
static int steps;
/* Signals that were sent and not handled yet; what they do is the scenario's to set up. */
static uint64_t signals;
static struct sigaction action;
static bool is_lost;

void weak_system_reset(void)
{
    memset(ended, 0, sizeof ended);
    for (int i = 0; i < FUTEXES_MAX; i++)
        futexes[i].sleepers = 0;
    now_ns = 1;
    steps = 0;
    signals = 0;
    memset(&action, 0, sizeof action);
    is_lost = false;
}

static uintptr_t sleepers_of(const void *address)
{
    int i = 0;

    while (futexes[i].address != NULL && futexes[i].address != address)
        i++;
    futexes[i].address = address;
    return (uintptr_t)&futexes[i].sleepers;
}

static uint64_t join(uint64_t set, uint64_t thread)
{
    return set | UINT64_C(1) << thread;
}

static uint64_t leave(uint64_t set, uint64_t thread)
{
    return set & ~(UINT64_C(1) << thread);
}

static uint64_t wake_all(uint64_t set, uint64_t unused)
{
    (void)set;
    (void)unused;
    return 0;
}

/* Time does not go on: who sleeps for a while is as one who looks again and again. */
static long futex_wait_a_while(const void *address, uint32_t value, const void *site)
{
    if (weak_load((uintptr_t)address, 4, memory_order_relaxed, site) == value)
        weak_pause();
    return -1;
}

static long futex_wait(const void *address, uint32_t value, const void *site)
{
    uintptr_t sleepers = sleepers_of(address);
    uint64_t self = (uint64_t)weak_current;

    weak_update(sleepers, 8, join, self, memory_order_acq_rel, NULL);
    if (weak_load((uintptr_t)address, 4, memory_order_relaxed, site) != value) {
        weak_update(sleepers, 8, leave, self, memory_order_acq_rel, NULL);
        return -1;
    }
    weak_begin_wait();
    while (weak_load(sleepers, 8, memory_order_acquire, NULL) >> self & 1)
        weak_pause();
    return 0;
}

static void futex_wake(const void *address)
{
    weak_update(sleepers_of(address), 8, wake_all, 0, memory_order_acq_rel, NULL);
}

static uint64_t add(uint64_t count, uint64_t more)
{
    return count + more;
}

/* The kernel's lock of a queue orders whoever sends and whoever takes. Where there is no handler's
 * thread the signal comes to nothing, as with the application's own handler. */
static long send_signal(int thread)
{
    if (is_lost || thread == 0) {
        errno = ESRCH;
        return -1;
    }
    weak_update((uintptr_t)&signals, 8, add, 1, memory_order_acq_rel, NULL);
    return 0;
}

/* Others than a futex's and a signal's give 1. */
long weak_syscall(long number, ...)
{
    va_list arguments;
    const void *address;
    const struct timespec *timeout;
    uint32_t value;
    int operation, thread;
    long status = 1;

    va_start(arguments, number);
    if (number == SYS_futex && weak_current >= 0) {
        address = va_arg(arguments, const void *);
        operation = va_arg(arguments, int);
        value = va_arg(arguments, uint32_t);
        timeout = va_arg(arguments, const struct timespec *);
        status = 0;
        if (operation == FUTEX_WAKE)
            futex_wake(address);
        else
            status = timeout == NULL || timeout->tv_nsec > LONG_NS
                         ? futex_wait(address, value, HERE)
                         : futex_wait_a_while(address, value, HERE);
    }
    if (number == SYS_rt_tgsigqueueinfo && weak_current >= 0) {
        (void)va_arg(arguments, pid_t);
        thread = va_arg(arguments, int);
        status = send_signal(thread);
    }
    va_end(arguments);
    return status;
}

int weak_yield(void)
{
    weak_pause();
    return 0;
}

int weak_clock(clockid_t id, struct timespec *now)
{
    (void)id;
    if (weak_current >= 0 && steps > 0) {
        now_ns += step_ns;
        steps--;
    }
    now->tv_sec = (time_t)(now_ns / 1000000000);
    now->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

void weak_clock_step(uint64_t ns, int looks)
{
    step_ns = ns;
    steps = looks;
}

/* ---- signals ---- */

int weak_sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
    (void)number;
    if (before != NULL)
        *before = action;
    if (wanted != NULL)
        action = *wanted;
    return 0;
}

void weak_signals_fail(void)
{
    is_lost = true;
}

static void *handle(void *context)
{
    weak_may_sleep();
    for (;;) {
        weak_begin_wait();
        while (weak_load((uintptr_t)&signals, 8, memory_order_acquire, NULL) == 0)
            weak_pause();
        weak_update((uintptr_t)&signals, 8, add, (uint64_t)-1, memory_order_acq_rel, NULL);
        action.sa_handler(0);
    }
    return context;
}

void weak_start_handler(void)
{
    weak_spawn(handle, NULL);
}

/* ---- threads ---- */

int weak_mutex_lock(pthread_mutex_t *mutex)
{
    uint64_t free = 0;

    if (weak_current < 0)
        return 0;
    weak_begin_wait();
    while (!weak_compare((uintptr_t)mutex, 4, &free, 1, memory_order_acquire, memory_order_relaxed,
                         NULL)) {
        free = 0;
        weak_pause();
    }
    return 0;
}

int weak_mutex_trylock(pthread_mutex_t *mutex)
{
    uint64_t free = 0;

    return weak_current < 0 || weak_compare((uintptr_t)mutex, 4, &free, 1, memory_order_acquire,
                                            memory_order_relaxed, NULL)
               ? 0
               : EBUSY;
}

int weak_mutex_unlock(pthread_mutex_t *mutex)
{
    if (weak_current >= 0)
        weak_store((uintptr_t)mutex, 4, 0, memory_order_release, NULL);
    return 0;
}

struct start {
    void *(*body)(void *);
    void *context;
};

static struct start starts[WEAK_THREADS_MAX];

static void *run(void *context)
{
    struct start *start = context;

    /* A helper: it may be asleep in the end. */
    weak_may_sleep();
    start->body(start->context);
    weak_store((uintptr_t)&ended[weak_current], 8, 1, memory_order_release, NULL);
    return NULL;
}

int weak_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                       void *context)
{
    int number = weak_next_thread();

    (void)attributes;
    starts[number] = (struct start){body, context};
    *thread = (pthread_t)weak_spawn(run, &starts[number]);
    return 0;
}

int weak_thread_join(pthread_t thread, void **result)
{
    (void)result;
    weak_begin_wait();
    while (weak_load((uintptr_t)&ended[thread], 8, memory_order_acquire, NULL) == 0)
        weak_pause();
    return 0;
}
