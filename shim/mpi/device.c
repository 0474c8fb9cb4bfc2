/* The drivers' functions are declared here as in their manuals: neither their headers nor their
 * libraries are needed to build. An error from a driver means that the address is not its own.
 */
#include "mpi/device.h"

#include "core/altstack.h"
#include "core/clock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS UINT64_C(1000000)
#define NAME_BYTES 512

static struct {
    int (*pointer_get_attribute)(void *data, int attribute, uint64_t pointer);
} cuda;

static struct {
    int (*pointer_get_attributes)(void *attributes, const void *pointer);
} hip;

static struct {
    int (*driver_get)(uint32_t *count, void **drivers);
    int (*context_create)(void *driver, const void *description, void **context);
    int (*mem_get_alloc_properties)(void *context, const void *pointer, void *properties,
                                    void **device);
    void *context; /* NULL: the program has not started the driver */
} ze;

/* ---- what each driver says ---- */

static bool is_of_cuda(const void *buffer)
{
    enum { MEMORY_TYPE = 2, MEMORY_TYPE_HOST = 1 };
    unsigned type = MEMORY_TYPE_HOST;

    return cuda.pointer_get_attribute(&type, MEMORY_TYPE, (uint64_t)(uintptr_t)buffer) == 0 &&
           type != MEMORY_TYPE_HOST;
}

/* Types of memory are numbered differently from release to release; the rest stays. */
static bool is_of_hip(const void *buffer)
{
    struct {
        int type, device;
        void *device_pointer, *host_pointer;
        int is_managed;
        unsigned flags;
        unsigned char room[64]; /* of later releases */
    } attributes = {0};

    return hip.pointer_get_attributes(&attributes, buffer) == 0 &&
           attributes.device_pointer != NULL &&
           (attributes.host_pointer == NULL || attributes.is_managed);
}

/* Level Zero tells of a pointer by a context, any of the driver's. */
static bool has_context(void)
{
    const struct {
        int type;
        const void *next;
        uint32_t flags;
    } description = {.type = 0xd};
    uint32_t count = 1;
    void *driver = NULL;

    if (ze.context == NULL && ze.driver_get(&count, &driver) == 0 && count > 0)
        ze.context_create(driver, &description, &ze.context);
    return ze.context != NULL;
}

static bool is_of_ze(const void *buffer)
{
    enum { MEMORY_DEVICE = 2, MEMORY_SHARED = 3 };
    struct {
        int structure;
        void *next;
        int type;
        uint64_t id, page_bytes;
    } properties = {.structure = 0x17};
    void *device;

    return has_context() &&
           ze.mem_get_alloc_properties(ze.context, buffer, &properties, &device) == 0 &&
           (properties.type == MEMORY_DEVICE || properties.type == MEMORY_SHARED);
}

/* ---- the drivers there are ---- */

static struct driver {
    const char *name; /* how its library's begins */
    bool (*holds)(const void *buffer);
    struct {
        const char *symbol;
        void *into;
    } functions[3];
    const char *devices[5]; /* one of these files is there where it has a device; * ends a prefix */
    bool is_resolved;
    _Atomic bool is_there;
} drivers[] = {
    {"libcuda.so",
     is_of_cuda,
     {{"cuPointerGetAttribute", &cuda.pointer_get_attribute}},
     {"/dev/nvidiactl", "/dev/nvidia-uvm", "/proc/driver/nvidia", "/dev/nvmap", "/dev/dxg"},
     false,
     false},
    {"libamdhip64.so",
     is_of_hip,
     {{"hipPointerGetAttributes", &hip.pointer_get_attributes}},
     {"/dev/kfd", "/dev/dxg"},
     false,
     false},
    {"libze_loader.so",
     is_of_ze,
     {{"zeDriverGet", &ze.driver_get},
      {"zeContextCreate", &ze.context_create},
      {"zeMemGetAllocProperties", &ze.mem_get_alloc_properties}},
     {"/dev/dri/renderD*", "/dev/accel/accel*", "/dev/dxg"},
     false,
     false},
};
#define DRIVERS (sizeof drivers / sizeof drivers[0])

static _Atomic uint64_t next_look_ns;
static _Atomic bool any;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t loads_seen; /* under the lock: objects that had been loaded, ever */

struct objects {
    uint64_t loads;
    char names[DRIVERS][NAME_BYTES]; /* "": it is not there */
};

static int count_loads(struct dl_phdr_info *info, size_t size, void *context)
{
    struct objects *objects = context;

    (void)size;
    objects->loads = info->dlpi_adds;
    return 1;
}

static int find_driver(struct dl_phdr_info *info, size_t size, void *context)
{
    struct objects *objects = context;
    const char *path = info->dlpi_name != NULL ? info->dlpi_name : "";
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    (void)size;
    for (size_t i = 0; i < DRIVERS; i++) {
        if (strncmp(base, drivers[i].name, strlen(drivers[i].name)) == 0 &&
            strlen(path) < NAME_BYTES)
            strcpy(objects->names[i], path);
    }
    return 0;
}

/* Not while the loader iterates: it holds its lock. The library stays from here on. */
static bool resolve(struct driver *driver, const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

    for (size_t i = 0; i < 3 && driver->functions[i].symbol != NULL && library != NULL; i++) {
        void *function = dlsym(library, driver->functions[i].symbol);

        if (function == NULL)
            return false;
        memcpy(driver->functions[i].into, &function, sizeof function);
    }
    return library != NULL;
}

/* pattern: a path whose last component may end in *. */
static bool is_file(const char *pattern)
{
    char directory[NAME_BYTES] = "";
    const char *base = strrchr(pattern, '/') + 1;
    const size_t prefix_bytes = strcspn(base, "*");
    const struct dirent *entry;
    bool found = false;
    DIR *entries;

    if (base[prefix_bytes] == '\0')
        return access(pattern, F_OK) == 0;
    memcpy(directory, pattern, (size_t)(base - pattern));
    entries = opendir(directory);
    while (entries != NULL && !found && (entry = readdir(entries)) != NULL)
        found = strncmp(entry->d_name, base, prefix_bytes) == 0;
    if (entries != NULL)
        closedir(entries);
    return found;
}

/* Libraries of drivers are in many processes of machines that have no such device: hwloc loads them
 * in MPI_Init to look for one. */
static bool has_device(const struct driver *driver)
{
    bool found = false;

    for (size_t i = 0; i < 5 && driver->devices[i] != NULL && !found; i++)
        found = is_file(driver->devices[i]);
    return found;
}

/* Good to a tick of the kernel, in which no driver comes into a process, and read in 5 ns. */
static uint64_t coarse_ns(void)
{
    return sg_clock_of_ns(CLOCK_MONOTONIC_COARSE);
}

/* Under the lock. */
static void look(void *none)
{
    static struct objects objects;

    memset(&objects, 0, sizeof objects);

    dl_iterate_phdr(count_loads, &objects);
    if (objects.loads != loads_seen) {
        loads_seen = objects.loads;
        dl_iterate_phdr(find_driver, &objects);
    }
    for (size_t i = 0; i < DRIVERS; i++) {
        if (objects.names[i][0] != '\0' && !drivers[i].is_resolved)
            drivers[i].is_resolved = resolve(&drivers[i], objects.names[i]);
        if (!drivers[i].is_resolved || atomic_load(&drivers[i].is_there) ||
            !has_device(&drivers[i]))
            continue;
        /* Release, both: the functions come before. */
        atomic_store_explicit(&drivers[i].is_there, true, memory_order_release);
        atomic_store_explicit(&any, true, memory_order_release);
    }
}

bool sg_device_look(void)
{
    pthread_mutex_lock(&lock);
    sg_altstack_run(look, NULL);
    pthread_mutex_unlock(&lock);
    atomic_store_explicit(&next_look_ns, coarse_ns() + LOOK_NS, memory_order_relaxed);
    return atomic_load_explicit(&any, memory_order_relaxed);
}

bool sg_device_is_there(void)
{
    if (coarse_ns() < atomic_load_explicit(&next_look_ns, memory_order_relaxed))
        return atomic_load_explicit(&any, memory_order_relaxed);
    return sg_device_look();
}

bool sg_device_holds(const void *buffer)
{
    bool held = false;

    /* One driver may be there from the start, and the buffer's have come since. */
    if (buffer == NULL || !sg_device_is_there())
        return false;
    /* Acquire: pairs with sg_device_look. */
    for (size_t i = 0; i < DRIVERS && !held; i++)
        held = atomic_load_explicit(&drivers[i].is_there, memory_order_acquire) &&
               drivers[i].holds(buffer);
    return held;
}

const char *sg_device_driver(void)
{
    for (size_t i = 0; i < DRIVERS; i++) {
        if (atomic_load_explicit(&drivers[i].is_there, memory_order_relaxed))
            return drivers[i].name;
    }
    return "";
}
