#include "core/companion.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void *sg_companion_load(const char *path, const char *name, const char *symbol, const char **reason)
{
    const char *slash = strrchr(path, '/');
    char file[4096];
    void *handle, *found;

    snprintf(file, sizeof file, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
    handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    found = handle ? dlsym(handle, symbol) : NULL;
    if (found == NULL)
        *reason = dlerror();
    return found;
}

void *sg_companion_load_own(const void *address, const char *name, const char *symbol,
                            const char **reason)
{
    Dl_info self;

    if (dladdr(address, &self) == 0 || self.dli_fname == NULL) {
        *reason = "libstagger.so cannot be located";
        return NULL;
    }
    return sg_companion_load(self.dli_fname, name, symbol, reason);
}
