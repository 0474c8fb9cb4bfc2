/* The hook for UCX. MPICH calls ucp_worker_progress once in each iteration of its progress loop,
 * through a symbol that this file overrides. Its return value is the number of events.
 *
 * Other code calls it, too: a program that uses UCX itself, another library, UCX. Their calls
 * proceed to the function that they would have called; the process may have several of that name.
 *
 * UCX's own calls for MPICH's workers also count as iterations: a flush (in MPI_Win_unlock, say)
 * loops in UCX until the other rank has answered, and no other layer sees it. A worker is MPICH's
 * if MPICH has progressed it.
 */
#include "wait/caller.h"
#include "wait/hook.h"
#include "wait/ucx_sends.h"
#include "wait/wakes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* MPICH has one worker, or one for each of its virtual interfaces. */
#define WORKERS_MAX 64
#define SYMBOL "ucp_worker_progress"

typedef unsigned (*progress_function)(void *worker);

unsigned sg_hook_ucx_progress(void *worker) __asm__(SYMBOL) __attribute__((visibility("default")));

static struct sg_caller caller = {.symbol = SYMBOL, .own = (void *)sg_hook_ucx_progress};

/* MPICH's workers; waits of workers beyond the capacity are UCX's own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(void *) workers[WORKERS_MAX];
static atomic_int workers_count;

static bool is_known(const void *worker)
{
    int count = atomic_load_explicit(&workers_count, memory_order_relaxed);

    for (int i = 0; i < count; i++) {
        if (atomic_load_explicit(&workers[i], memory_order_relaxed) == worker)
            return true;
    }
    return false;
}

static void remember(void *worker)
{
    int count;

    pthread_mutex_lock(&lock);
    count = atomic_load_explicit(&workers_count, memory_order_relaxed);
    if (count < WORKERS_MAX && !is_known(worker)) {
        atomic_store_explicit(&workers[count], worker, memory_order_relaxed);
        atomic_store_explicit(&workers_count, count + 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}

/* An iteration of MPICH's worker; if nothing happens, the wait gives way. */
static unsigned turn(progress_function progress, void *worker)
{
    unsigned events = progress(worker);
    bool is_alone = atomic_load_explicit(&workers_count, memory_order_relaxed) == 1;

    sg_turn_seen(events > 0);
    if (sg_hook_chosen() != &sg_hook_ucx)
        return events;
    if (events == 0 &&
        (!sg_wakes_are_on || !is_alone || !sg_wakes_sleep(progress, worker, &events)))
        sg_turn_idle();
    if (events == 0)
        return 0;
    sg_turn_busy();
    if (sg_wakes_are_on)
        sg_wakes_progressed();
    return events;
}

unsigned sg_hook_ucx_progress(void *worker)
{
    uintptr_t address = (uintptr_t)__builtin_return_address(0);
    bool is_mpich = sg_caller_is_mpich(&caller, address);
    bool known = is_known(worker);
    progress_function progress;
    unsigned events;

    *(void **)&progress = is_mpich ? caller.mpich : sg_caller_function(&caller, address);
    if (progress == NULL)
        return 0;
    if (is_mpich && !known)
        remember(worker);
    if (is_mpich || known)
        return turn(progress, worker);
    events = progress(worker);
    sg_turn_seen(events > 0);
    return events;
}

/* UCX's versions of this interface are compatible. */
static bool is_known_version(void)
{
    void (*get_version)(unsigned *major, unsigned *minor, unsigned *release);
    unsigned major = 0, minor = 0, release = 0;

    *(void **)&get_version = sg_caller_find("ucp_get_version");
    if (get_version != NULL)
        get_version(&major, &minor, &release);
    return major == 1;
}

static bool start(void)
{
    if (!is_known_version() || !sg_caller_start(&caller))
        return false;
    sg_wakes_expect(sg_wakes_may_be_useful() && sg_ucx_sends_start());
    return true;
}

const struct sg_hook sg_hook_ucx = {"ucx", start, NULL};
