/* The helper thread: sleeps on its process's word until a sender rings it or a timer is due. It
 * takes no signal, calls nothing of MPI and owns no memory. */
#include "core/clock.h"
#include "progress/parts.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static pthread_t helper;
static _Atomic bool stopping;

void sg_progress_thread_wake(struct sg_progress_cell *cell)
{
    syscall(SYS_futex, &cell->rung, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Until it is rung, or that time at the latest. */
static void sleep_until(struct sg_progress_cell *own, uint64_t until_ns)
{
    /* Relaxed: what follows sets rung to 0 in order. */
    while (atomic_load_explicit(&own->rung, memory_order_relaxed) == 0) {
        struct timespec left;
        uint64_t now_ns = 0;

        if (until_ns != UINT64_MAX) {
            now_ns = sg_clock_ns();
            if (now_ns >= until_ns) {
                /* Due, and yet not handled: whoever holds the endpoint is to get on with it. */
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
    struct sg_progress_cell *own = context;

    for (;;) {
        uint64_t until_ns;

        /* An exchange, to acquire what it overwrites: a sender that found 1 has its message seen
         * below. */
        atomic_exchange(&own->rung, 0);
        if (atomic_load(&stopping))
            return NULL;
        sg_progress_mode_watch();
        sg_progress_attend_by_thread(atomic_exchange(&own->lost, 0) != 0);
        sg_progress_advance();
        /* From here on a timer that comes rings us: either we see it below, or who sets it sees
         * this. */
        atomic_store(&own->wakes_ns, UINT64_MAX);
        until_ns = sg_progress_next_ns();
        atomic_store(&own->wakes_ns, until_ns);
        sleep_until(own, until_ns);
    }
}

bool sg_progress_thread_start(struct sg_progress_cell *own)
{
    sigset_t all, before;
    int error;

    /* The thread inherits the mask: the application's signals are for its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&helper, NULL, help, own);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(helper, "stagger");
    errno = error;
    return error == 0;
}

void sg_progress_thread_stop(struct sg_progress_cell *own)
{
    atomic_store(&stopping, true);
    atomic_store(&own->rung, 1);
    sg_progress_thread_wake(own);
    pthread_join(helper, NULL);
}
