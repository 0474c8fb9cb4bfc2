/* Resolves MPI's functions once, on the alternate stack (real.h). A library that lacks one of them,
 * or has another ABI, is not MPICH.
 */
#include "mpi/real.h"

#include "core/altstack.h"
#include "core/status.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct sg_real sg_real;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_mpich, has_standard_abi, has_user_threads;
static void *library;    /* the handle if RTLD_NEXT does not reach it; else NULL */
static const char *home; /* path of MPI_Init's object; NULL: not known */
static char version_line[128];

struct loaded {
    char **names;
    int count;
    int capacity;
};

static int collect_name(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *loaded = context;

    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0')
        return 0;
    if (loaded->count == loaded->capacity) {
        int capacity = loaded->capacity ? 2 * loaded->capacity : 64;
        char **names = realloc(loaded->names, (size_t)capacity * sizeof *names);

        if (names == NULL)
            return 1;
        loaded->names = names;
        loaded->capacity = capacity;
    }
    loaded->names[loaded->count] = strdup(info->dlpi_name);
    if (loaded->names[loaded->count] != NULL)
        loaded->count++;
    return 0;
}

void *sg_real_find_library(const char *symbol, const void *except)
{
    struct loaded loaded = {0};
    void *found = NULL;

    /* Collect names first, dlopen after: the loader holds its lock while iterating. */
    dl_iterate_phdr(collect_name, &loaded);
    for (int i = 0; i < loaded.count; i++) {
        void *handle = found ? NULL : dlopen(loaded.names[i], RTLD_LAZY | RTLD_NOLOAD);
        void *address = handle ? dlsym(handle, symbol) : NULL;

        if (address != NULL && address != except)
            found = handle;
        else if (handle != NULL)
            dlclose(handle);
        free(loaded.names[i]);
    }
    free(loaded.names);
    return found;
}

void *sg_real_find(const char *symbol)
{
    void *address = dlsym(RTLD_NEXT, symbol);

    return address == NULL && library != NULL ? dlsym(library, symbol) : address;
}

struct wanted {
    const char *symbol;
    void *address;
};

static void find_wanted(void *context)
{
    struct wanted *wanted = context;

    wanted->address = sg_real_find(wanted->symbol);
}

static __attribute__((noinline)) void *find_first(void *_Atomic *known, const char *symbol)
{
    struct wanted wanted = {symbol, NULL};

    sg_real_is_mpich();
    sg_altstack_run(find_wanted, &wanted);
    atomic_store_explicit(known, wanted.address, memory_order_relaxed);
    return wanted.address;
}

void *sg_real_find_once(void *_Atomic *known, const char *symbol)
{
    void *address = atomic_load_explicit(known, memory_order_relaxed);

    return __builtin_expect(address == NULL, 0) ? find_first(known, symbol) : address;
}

static void read_version(void)
{
    /* Larger than any MPI's MPI_MAX_LIBRARY_VERSION_STRING. */
    static char version[16384];
    int length = 0;

    if (sg_real.Get_library_version == NULL ||
        sg_real.Get_library_version(version, &length) != MPI_SUCCESS)
        return;
    has_user_threads = strstr(version, "thread-package=argobots") != NULL ||
                       strstr(version, "thread-package=qthreads") != NULL;
    version[strcspn(version, "\n,")] = '\0';
    version[sizeof version_line - 1] = '\0';
    strcpy(version_line, version);
    for (char *c = version_line; *c != '\0'; c++) {
        if (*c == '\t')
            *c = ' ';
    }
}

/* The ABI of MPI 5 has handles of its own. A library reports its ABI, -1 for another one. Drafts of
 * the standard had the library's name instead of the function. */
static bool has_abi_of_mpi5(void)
{
    int (*get_version)(int *major, int *minor);
    int major = -1, minor = -1;
    const char *slash = home != NULL ? strrchr(home, '/') : NULL;

    *(void **)&get_version = sg_real_find("PMPI_Abi_get_version");
    if (get_version != NULL && get_version(&major, &minor) == MPI_SUCCESS && major >= 0)
        return true;
    return slash != NULL && strncmp(slash + 1, "libmpi_abi", strlen("libmpi_abi")) == 0;
}

/* MPICH's ABI, which Intel MPI, MVAPICH and Cray MPICH also have: programs compiled with its mpi.h
 * need this function, which no other MPI has. */
static bool has_abi_of_mpich(void)
{
    return sg_real_find("MPIR_Dup_fn") != NULL && sg_real_find("ompi_mpi_comm_world") == NULL;
}

static void find_home(void)
{
    Dl_info info;

    if (sg_real.Init != NULL && dladdr((void *)sg_real.Init, &info) != 0)
        home = info.dli_fname;
}

static void resolve_all(void *none)
{
    bool whole = true;

    if (dlsym(RTLD_NEXT, "PMPI_Init") == NULL)
        library = sg_real_find_library("PMPI_Init", NULL);
    for (const struct sg_real_function *f = sg_real_functions; f->symbol != NULL; f++) {
        *f->address = sg_real_find(f->symbol);
        whole = whole && (*f->address != NULL || f->is_optional);
    }
    read_version();
    find_home();
    has_standard_abi = has_abi_of_mpi5();
    is_mpich = whole && !has_standard_abi && has_abi_of_mpich();
}

static void resolve(void)
{
    sg_altstack_run(resolve_all, NULL);
}

bool sg_real_is_mpich(void)
{
    pthread_once(&once, resolve);
    return is_mpich;
}

bool sg_real_has_standard_abi(void)
{
    pthread_once(&once, resolve);
    return has_standard_abi;
}

bool sg_real_has_user_threads(void)
{
    pthread_once(&once, resolve);
    return has_user_threads;
}

const char *sg_real_version(void)
{
    pthread_once(&once, resolve);
    return version_line;
}

bool sg_real_has(void *function)
{
    Dl_info info;

    return dladdr(function, &info) != 0 && info.dli_fname != NULL && sg_real_owns(info.dli_fname);
}

bool sg_real_owns(const char *object_name)
{
    const char *slash = strrchr(object_name, '/');
    const char *base = slash ? slash + 1 : object_name;

    return (home != NULL && strcmp(object_name, home) == 0) || strncmp(base, "libmpi", 6) == 0 ||
           strncmp(base, "libpmpi", 7) == 0;
}
