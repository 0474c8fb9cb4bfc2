#include "wait/caller.h"

#include "mpi/real.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t inside_mpich(void)
{
    return (uintptr_t)sg_real.Init;
}

/* Returns a handle of the object at the address; NULL: none, or the program itself. */
static void *object_of(uintptr_t address)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL ||
        map->l_name[0] == '\0')
        return NULL;
    return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

/* Returns the symbol as the object at the address and its dependencies define it; NULL: missing. */
static void *find_in(uintptr_t address, const char *symbol)
{
    void *object = object_of(address);
    void *found = object == NULL ? NULL : dlsym(object, symbol);

    if (object != NULL)
        dlclose(object);
    return found;
}

/* Returns the definition that a caller would find without the library: first the program's and its
 * libraries', then those loaded with the caller's object. A tail call leaves its caller's return
 * address, in whose object the symbol may be missing: any definition of the name then applies. */
static void *linked_to(const struct sg_caller *caller, uintptr_t address)
{
    void *found = dlsym(RTLD_NEXT, caller->symbol);
    void *library;

    if (found == NULL)
        found = find_in(address, caller->symbol);
    if (found != NULL && found != caller->own)
        return found;
    library = sg_real_find_library(caller->symbol, caller->own);
    return library == NULL ? NULL : dlsym(library, caller->symbol);
}

void *sg_caller_find(const char *symbol)
{
    return find_in(inside_mpich(), symbol);
}

void *sg_caller_function(struct sg_caller *caller, uintptr_t address)
{
    int count = atomic_load_explicit(&caller->others_count, memory_order_acquire);
    void *found;

    if (sg_caller_is_mpich(caller, address))
        return caller->mpich;
    for (int i = 0; i < count; i++) {
        if (caller->others[i].address == address)
            return caller->others[i].function;
    }
    found = linked_to(caller, address);
    pthread_mutex_lock(&lock);
    count = atomic_load_explicit(&caller->others_count, memory_order_relaxed);
    if (count < SG_CALLERS_MAX) {
        caller->others[count].address = address;
        caller->others[count].function = found;
        atomic_store_explicit(&caller->others_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int find_code(struct dl_phdr_info *info, size_t size, void *context)
{
    struct sg_caller *caller = context;
    uintptr_t low = UINTPTR_MAX, high = 0;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD)
            continue;
        low = begin < low ? begin : low;
        high = begin + header->p_memsz > high ? begin + header->p_memsz : high;
    }
    if (inside_mpich() < low || inside_mpich() >= high)
        return 0;
    caller->mpich_address = low;
    atomic_store_explicit(&caller->mpich_size, high - low, memory_order_release);
    return 1;
}

bool sg_caller_start(struct sg_caller *caller)
{
    if (sg_caller_find(caller->symbol) == NULL ||
        dlsym(RTLD_DEFAULT, caller->symbol) != caller->own)
        return false;
    caller->mpich = linked_to(caller, inside_mpich());
    return caller->mpich != NULL && dl_iterate_phdr(find_code, caller) != 0;
}
