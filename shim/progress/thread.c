/* The helper thread takes no signal, does not call MPI and owns no memory. */
#include "progress/thread.h"

#include "core/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static pthread_t helper;
static _Atomic bool stopping;
static void (*look)(bool signals_too);
static uint64_t (*due_ns)(void);

static void wake(struct sg_process_slot *slot)
{
    syscall(SYS_futex, &slot->rung, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Sequentially consistent, here and in senders of signals: the thread that sets the word to 0
 * checks after that, and so sees the message. */
void sg_progress_thread_ring(struct sg_process_slot *slot)
{
    if (atomic_exchange(&slot->rung, 1) == 0)
        wake(slot);
}

/* Sleeps until rung, or until that time. */
static void sleep_until(struct sg_process_slot *own, uint64_t until_ns)
{
    /* Relaxed: the caller then sets rung to 0 in order. */
    while (atomic_load_explicit(&own->rung, memory_order_relaxed) == 0) {
        struct timespec left;
        uint64_t now_ns = 0;

        if (until_ns != UINT64_MAX) {
            now_ns = sg_clock_ns();
            if (now_ns >= until_ns) {
                /* Due, but not handled yet: the endpoint's holder must continue first. */
                sched_yield();
                return;
            }
            left.tv_sec = (time_t)((until_ns - now_ns) / NS_PER_S);
            left.tv_nsec = (long)((until_ns - now_ns) % NS_PER_S);
        }
        syscall(SYS_futex, &own->rung, FUTEX_WAIT, 0, until_ns != UINT64_MAX ? &left : NULL, NULL,
                0);
    }
}

static void *help(void *context)
{
    struct sg_process_slot *own = context;

    for (;;) {
        uint64_t until_ns;

        /* An exchange, to acquire the value that it overwrites: if a sender found 1, its message is
         * seen below. */
        atomic_exchange(&own->rung, 0);
        if (atomic_load(&stopping))
            return NULL;
        look(atomic_exchange(&own->lost, 0) != 0);
        /* From here on a new timer rings this thread: either due_ns sees the timer, or its setter
         * sees this. */
        atomic_store(&own->wakes_ns, UINT64_MAX);
        until_ns = due_ns();
        atomic_store(&own->wakes_ns, until_ns);
        sleep_until(own, until_ns);
    }
}

int sg_progress_thread_create(pthread_t *thread, void *(*run)(void *), void *context,
                              const char *name)
{
    sigset_t all, before;
    int error;

    /* The thread inherits the mask. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(*thread, name);
    return error;
}

bool sg_progress_thread_start(struct sg_process_slot *own, void (*when_rung)(bool signals_too),
                              uint64_t (*when_due_ns)(void))
{
    look = when_rung;
    due_ns = when_due_ns;
    errno = sg_progress_thread_create(&helper, help, own, "stagger");
    return errno == 0;
}

void sg_progress_thread_stop(struct sg_process_slot *own)
{
    atomic_store(&stopping, true);
    atomic_store(&own->rung, 1);
    wake(own);
    pthread_join(helper, NULL);
}
