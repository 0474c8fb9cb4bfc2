/* Preloaded beside libstagger.so: presents ranks as spread over STANDIN_MACHINES machines, with
 * equally many consecutive ranks on each. libstagger.so tells machines apart by their process
 * namespaces, among other things; it alone sees a different one on each. Everything else, MPI
 * included, sees one machine.
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
