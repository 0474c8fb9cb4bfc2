/* Redirects look-ups of MPI functions through MPICH's own handle, which interpreters and plugins
 * make (Julia, ctypes): dlsym returns stagger's wrapper instead of MPICH's function.
 *
 * A look-up without a handle (RTLD_DEFAULT, RTLD_NEXT) depends on its caller, which the C library
 * finds by the return address; so dlsym makes a tail jump. PMPI_* stays MPICH's. On an architecture
 * without SG_CPU_HAS_FORK, look-ups by handle return MPICH's functions.
 */
#include "core/cpu/cpu.h"
#include "mpi/real.h"
#include "profile/site.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef SG_CPU_HAS_FORK

typedef void *(*look_up)(void *handle, const char *symbol);

/* Assembly names these. */
__attribute__((visibility("hidden"))) look_up sg_by_handle_next;
__attribute__((visibility("hidden"))) look_up sg_by_handle_find_next(void);
__attribute__((visibility("hidden"))) void *sg_by_handle(void *handle, const char *symbol,
                                                         const void *caller);

SG_CPU_DEFINE_FORK("dlsym", "sg_by_handle_next", "sg_by_handle_find_next", "sg_by_handle");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static Dl_info own;
static void *own_library;

/* A sanitizer's runtime calls dlsym before it has started. */
__attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined"))) look_up
sg_by_handle_find_next(void)
{
    /* Symbol versions of the C library; the first that exists is used. */
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};
    look_up next = NULL;

    for (size_t i = 0; next == NULL && i < sizeof versions / sizeof *versions; i++)
        *(void **)&next = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    sg_by_handle_next = next;
    return next;
}

static void find_own(void)
{
    if (dladdr((void *)sg_by_handle, &own) != 0)
        own_library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static bool is_in(const void *address, const void *base)
{
    Dl_info info;

    return dladdr(address, &info) != 0 && info.dli_fbase == base;
}

/* Returns the wrapper of that name; NULL: there is none. */
static void *wrapper_of(const char *symbol)
{
    void *wrapper = own_library != NULL ? sg_by_handle_next(own_library, symbol) : NULL;

    return wrapper != NULL && is_in(wrapper, own.dli_fbase) ? wrapper : NULL;
}

/* True if the function belongs to a library with MPICH's ABI. */
static bool is_of_mpich(const void *function)
{
    static const void *_Atomic known; /* base address of a library known to be MPICH's */
    Dl_info info;
    void *library;
    bool is;

    if (dladdr(function, &info) == 0 || info.dli_fname == NULL)
        return false;
    if (info.dli_fbase == atomic_load_explicit(&known, memory_order_relaxed))
        return true;
    library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return false;
    is = sg_by_handle_next(library, "MPIR_Dup_fn") != NULL;
    dlclose(library);
    if (is)
        atomic_store_explicit(&known, info.dli_fbase, memory_order_relaxed);
    return is;
}

void *sg_by_handle(void *handle, const char *symbol, const void *caller)
{
    void *found, *wrapper = NULL;

    if (symbol == NULL || (strncmp(symbol, "MPI_", 4) != 0 && strncmp(symbol, "MPIX_", 5) != 0))
        return sg_by_handle_next(handle, symbol);
    pthread_once(&once, find_own);
    if (is_in(caller, own.dli_fbase))
        return sg_by_handle_next(handle, symbol);
    found = sg_by_handle_next(handle, symbol);
    if (found != NULL && is_of_mpich(found))
        wrapper = wrapper_of(symbol);
    /* Look up last: dlerror reports the last look-up. */
    found = sg_by_handle_next(handle, symbol);
    return wrapper != NULL ? wrapper : found;
}

#endif

/* ---- unloaded objects ------------------------------------------------------------------------ */

void (*_Atomic sg_site_after_unload)(void);

static int count_unloads(struct dl_phdr_info *info, size_t size_bytes, void *count)
{
    *(unsigned long long *)count = info->dlpi_subs;
    return 1;
}

static unsigned long long unloads(void)
{
    unsigned long long count = 0;

    dl_iterate_phdr(count_unloads, &count);
    return count;
}

/* Interposes the C library's function, to learn when addresses may get another meaning. */
int sg_by_handle_close(void *handle) SG_INTERCEPTS("dlclose");

int sg_by_handle_close(void *handle)
{
    void (*after)(void) = atomic_load_explicit(&sg_site_after_unload, memory_order_relaxed);
    unsigned long long before = after != NULL ? unloads() : 0;
    int (*next)(void *);
    int result;

    *(void **)&next = dlsym(RTLD_NEXT, "dlclose");
    result = next(handle);
    if (after != NULL && unloads() != before)
        after();
    return result;
}
