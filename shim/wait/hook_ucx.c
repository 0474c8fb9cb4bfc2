/* UCX: MPICH calls ucp_worker_progress once in each turn of its progress, through a symbol, which
 * is found here first. Its return value is the number of things that happened.
 *
 * Others call it, too: a program that uses UCX by itself, another library, UCX. Their calls go on
 * to the function that they would have come to, of which there may be several in the process.
 *
 * UCX's own calls for a worker of MPICH's are turns as well: a flush (in MPI_Win_unlock, say) goes
 * round in UCX until the other rank has answered, and nobody else knows of it. A worker is MPICH's
 * if MPICH has driven it.
 */
#include "wait/caller.h"
#include "wait/hook.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* MPICH has one, or one for each of its virtual interfaces. */
#define WORKERS_MAX 64
#define SYMBOL "ucp_worker_progress"

typedef unsigned (*progress_function)(void *worker);

unsigned sg_hook_ucx_progress(void *worker) __asm__(SYMBOL) __attribute__((visibility("default")));

static struct sg_caller caller = {.symbol = SYMBOL, .own = (void *)sg_hook_ucx_progress};

/* The workers of MPICH's; what is more than there is room for waits as UCX does. */
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
    events = progress(worker);
    sg_turn_seen(events > 0);
    if ((is_mpich || known) && sg_hook_chosen() == &sg_hook_ucx) {
        if (events == 0)
            sg_turn_idle();
        else
            sg_turn_busy();
    }
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
    return is_known_version() && sg_caller_start(&caller);
}

const struct sg_hook sg_hook_ucx = {"ucx", start, NULL};
