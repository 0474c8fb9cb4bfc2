/* UCX: MPICH calls ucp_worker_progress once in each turn of its progress, through a symbol, which
 * is found here first. Its return value is the number of things that happened.
 *
 * Others call it, too: a program that uses UCX by itself, another library, UCX. Their calls go on
 * to the function that they would have come to, of which there may be several in the process.
 */
#include "wait/caller.h"
#include "wait/hook.h"

#include <stddef.h>
#include <stdint.h>

#define SYMBOL "ucp_worker_progress"

typedef unsigned (*progress_function)(void *worker);

unsigned sg_hook_ucx_progress(void *worker) __asm__(SYMBOL) __attribute__((visibility("default")));

static struct sg_caller caller = {.symbol = SYMBOL, .own = (void *)sg_hook_ucx_progress};

unsigned sg_hook_ucx_progress(void *worker)
{
    uintptr_t address = (uintptr_t)__builtin_return_address(0);
    bool is_mpich = sg_caller_is_mpich(&caller, address);
    progress_function progress;
    unsigned events;

    *(void **)&progress = is_mpich ? caller.mpich : sg_caller_function(&caller, address);
    if (progress == NULL)
        return 0;
    events = progress(worker);
    if (is_mpich && sg_hook_chosen() == &sg_hook_ucx) {
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
