#include "intercept/libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define COMPANION_NAME "libstagger-otf2.so"

/* The sonames of libunwind 1.x for this machine, newest first. */
static const char *const unwind_names[] = {"libunwind.so.8", "libunwind.so"};

const void *sg_library_load(const char *name, const char *symbol, const char **reason)
{
    const void *found;
    char path[4096];
    Dl_info self;
    const char *slash;
    void *handle;

    *reason = "libstagger.so cannot be located";
    if (dladdr((void *)&sg_process, &self) == 0 || self.dli_fname == NULL)
        return NULL;
    slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - self.dli_fname) : 0,
             self.dli_fname, name);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    found = handle ? dlsym(handle, symbol) : NULL;
    if (found == NULL)
        *reason = dlerror();
    return found;
}

static const struct sg_companion *load_companion(const char **reason)
{
    const struct sg_companion *companion =
        sg_library_load(COMPANION_NAME, SG_COMPANION_SYMBOL, reason);

    if (companion != NULL && companion->version != SG_LOG_VERSION) {
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
