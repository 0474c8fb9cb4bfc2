/* Preloaded beside libstagger.so: ranks are on as many machines as STANDIN_MACHINES says, the same
 * number in a row on each. libstagger.so tells machines apart by their namespaces of processes,
 * too: it alone sees another one on each. All else, MPI among it, sees one machine.
 */
#include "machine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_library(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) != 0 && info.dli_fname != NULL &&
           strstr(info.dli_fname, "/libstagger") != NULL;
}

__attribute__((visibility("default"))) int stat(const char *path, struct stat *out)
{
    int result = fstatat(AT_FDCWD, path, out, 0);

    if (result == 0 && strcmp(path, "/proc/self/ns/pid") == 0 &&
        is_library(__builtin_return_address(0)))
        out->st_ino += (ino_t)machine_number();
    return result;
}
