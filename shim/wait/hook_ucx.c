/* UCX: MPICH calls ucp_worker_progress once in each turn of its progress, through a symbol, which
 * is found here first. Its return value is the number of things that happened.
 *
 * Others call it, too: a program that uses UCX by itself, another library, UCX. Their calls go on to
 * the UCX that each of them is linked to, of which there may be several in the process.
 */
#include "mpi/real.h"
#include "wait/hook.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>

#define SYMBOL "ucp_worker_progress"
#define CALLERS_MAX 64

typedef unsigned (*progress_function)(void *worker);

/* MPICH's code, and the function it is linked to. */
static struct {
    uintptr_t low, high;
    progress_function progress;
} mpich;

/* What others that have called are linked to. */
static struct {
    uintptr_t caller;
    progress_function progress;
} others[CALLERS_MAX];
static atomic_int others_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

unsigned sg_hook_ucx_progress(void *worker) __asm__(SYMBOL) __attribute__((visibility("default")));

/* The object that has the address; NULL: none, or the program itself. */
static void *object_of(uintptr_t address)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL ||
        map->l_name[0] == '\0')
        return NULL;
    return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

/* The function of that name that an object is linked to. */
static progress_function linked_to(uintptr_t address)
{
    void *object = object_of(address);
    void *found = object == NULL ? NULL : dlsym(object, SYMBOL);
    progress_function progress;

    if (found == NULL || found == (void *)sg_hook_ucx_progress)
        found = dlsym(RTLD_NEXT, SYMBOL);
    if (object != NULL)
        dlclose(object);
    *(void **)&progress = found;
    return progress;
}

static progress_function progress_of(uintptr_t caller)
{
    int count = atomic_load_explicit(&others_count, memory_order_acquire);
    progress_function found;

    for (int i = 0; i < count; i++) {
        if (others[i].caller == caller)
            return others[i].progress;
    }
    found = linked_to(caller);
    pthread_mutex_lock(&lock);
    count = atomic_load_explicit(&others_count, memory_order_relaxed);
    if (count < CALLERS_MAX) {
        others[count].caller = caller;
        others[count].progress = found;
        atomic_store_explicit(&others_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

unsigned sg_hook_ucx_progress(void *worker)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    progress_function progress;
    unsigned events;

    if (caller - mpich.low >= mpich.high - mpich.low) {
        progress = progress_of(caller);
        return progress == NULL ? 0 : progress(worker);
    }
    events = mpich.progress(worker);
    if (sg_hook_chosen() == &sg_hook_ucx) {
        if (events == 0)
            sg_turn_idle();
        else
            sg_turn_busy();
    }
    return events;
}

/* ---- start ---- */

static int find_code(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t inside = *(uintptr_t *)context, low = UINTPTR_MAX, high = 0;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD)
            continue;
        low = begin < low ? begin : low;
        high = begin + header->p_memsz > high ? begin + header->p_memsz : high;
    }
    if (inside < low || inside >= high)
        return 0;
    mpich.low = low;
    mpich.high = high;
    return 1;
}

/* UCX's versions of this interface are compatible. */
static bool is_known_version(void *object)
{
    void (*get_version)(unsigned *major, unsigned *minor, unsigned *release);
    unsigned major = 0, minor = 0, release = 0;

    *(void **)&get_version = dlsym(object, "ucp_get_version");
    if (get_version != NULL)
        get_version(&major, &minor, &release);
    return major == 1;
}

static bool start(void)
{
    uintptr_t inside = (uintptr_t)sg_real.Init;
    void *object = object_of(inside);
    bool ok = object != NULL && dlsym(object, SYMBOL) != NULL &&
              dlsym(RTLD_DEFAULT, SYMBOL) == (void *)sg_hook_ucx_progress &&
              is_known_version(object);

    if (ok) {
        mpich.progress = linked_to(inside);
        ok = dl_iterate_phdr(find_code, &inside) != 0;
    }
    if (object != NULL)
        dlclose(object);
    return ok;
}

const struct sg_hook sg_hook_ucx = {"ucx", start};
