#include "runtime/libraries.h"

#include "core/companion.h"

#include <dlfcn.h>

#define COMPANION_NAME "libstagger-otf2.so"

/* The sonames of libunwind 1.x for this machine, newest first. */
static const char *const unwind_names[] = {"libunwind.so.8", "libunwind.so"};

/* In the directory of libstagger.so. NULL, with the reason, when it cannot be loaded. */
static const struct sg_companion *load_companion(const char **reason)
{
    const struct sg_companion *companion =
        sg_companion_load_own(&sg_process, COMPANION_NAME, SG_COMPANION_SYMBOL, reason);

    if (companion == NULL)
        return NULL;
    if (companion->version != SG_LOG_VERSION) {
        *reason = COMPANION_NAME " is of another version";
        return NULL;
    }
    return companion;
}

static void load_unwind(struct sg_process *process)
{
    for (size_t i = 0; i < sizeof unwind_names / sizeof *unwind_names; i++) {
        void *handle = dlopen(unwind_names[i], RTLD_NOW | RTLD_LOCAL);

        if (handle == NULL)
            continue;
        *(void **)&process->backtrace = dlsym(handle, "unw_backtrace");
        if (process->backtrace != NULL)
            return;
    }
}

void sg_libraries_load(struct sg_process *process)
{
    const char *reason = NULL;
    int first_without = -1;

    load_unwind(process);
    if (sg_exchange_agree(&process->exchange, process->backtrace != NULL, &first_without) ==
            SG_OK &&
        first_without == process->rank)
        sg_log("rank %d: libunwind cannot be loaded: calls from Fortran have no call site",
               process->rank);
    process->companion = load_companion(&reason);
    if (sg_exchange_agree(&process->exchange, process->companion != NULL, &first_without) != SG_OK)
        first_without = 0;
    if (first_without == process->rank)
        sg_log("rank %d: %s; `stagger recover` makes the archive", process->rank,
               reason ? reason : "no reason known");
    if (first_without >= 0)
        process->companion = NULL;
}
