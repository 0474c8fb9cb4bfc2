/* The drivers' functions are declared here as in their manuals, so that building needs neither
 * their headers nor their libraries. An error from a driver means that the address is not the
 * driver's.
 */
#include "mpi/gpu_buffers.h"

#include "core/altstack.h"
#include "core/clock.h"
#include "core/status.h"
#include "mpi/operands.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
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

/* ---- the drivers' answers ---- */

static bool is_of_cuda(const void *buffer)
{
    enum { MEMORY_TYPE = 2, MEMORY_TYPE_HOST = 1 };
    unsigned type = MEMORY_TYPE_HOST;

    return cuda.pointer_get_attribute(&type, MEMORY_TYPE, (uint64_t)(uintptr_t)buffer) == 0 &&
           type != MEMORY_TYPE_HOST;
}

/* Memory types have different numbers from release to release; the rest is stable. */
static bool is_of_hip(const void *buffer)
{
    struct {
        int type, device;
        void *device_pointer, *host_pointer;
        int is_managed;
        unsigned flags;
        unsigned char room[64]; /* space for later releases */
    } attributes = {0};

    return hip.pointer_get_attributes(&attributes, buffer) == 0 &&
           attributes.device_pointer != NULL &&
           (attributes.host_pointer == NULL || attributes.is_managed);
}

/* Level Zero looks up a pointer in a context; any context of the driver works. */
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

/* ---- drivers in the process ---- */

static struct driver {
    const char *name; /* prefix of its library's name */
    bool (*holds)(const void *buffer);
    struct {
        const char *symbol;
        void *into;
    } functions[3];
    const char *devices[5]; /* a machine with a device has one of these files; * ends a prefix */
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
static uint64_t loads_seen; /* under the lock: number of objects ever loaded */

struct objects {
    uint64_t loads;
    char names[DRIVERS][NAME_BYTES]; /* "": not loaded */
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

/* Do not call while the loader iterates: it holds its lock. The library stays loaded from here
 * on. */
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

/* Driver libraries are in many processes on machines without such a device: hwloc loads them in
 * MPI_Init to look for one. */
static bool has_device(const struct driver *driver)
{
    bool found = false;

    for (size_t i = 0; i < 5 && driver->devices[i] != NULL && !found; i++)
        found = is_file(driver->devices[i]);
    return found;
}

/* Accurate to a kernel tick, in which no driver can start in the process; read in 5 ns. */
static uint64_t coarse_ns(void)
{
    return sg_clock_of_ns(CLOCK_MONOTONIC_COARSE);
}

/* Call with the lock. */
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
        /* Release, both: the functions are resolved before. */
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

/* Looks for drivers as sg_device_is_there does. */
static bool sg_device_holds(const void *buffer)
{
    bool held = false;

    /* One driver may have been there from the start, and the buffer's driver may have come
     * since. */
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

static _Atomic uint64_t calls;

uint64_t sg_device_calls(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

static bool is_held(const void *buffer)
{
    return buffer != MPI_IN_PLACE && sg_device_holds(buffer);
}

/* A receive buffer has a meaning only on a rank that gets a result. */
static bool receives(const struct sg_call *call)
{
    int rank = -1;

    sg_real.Comm_rank(call->comm, &rank);
    return call->operation == SG_OPERATION_ALLREDUCE || rank == call->root;
}

bool sg_device_has_buffer(const struct sg_call *call)
{
    if (call->count <= 0 || (!is_held(call->send) && !(is_held(call->receive) && receives(call))))
        return false;
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return true;
}

void sg_device_say_mpich(const struct sg_call *call)
{
    static atomic_bool said;
    int rank = -1;

    if (atomic_load_explicit(&said, memory_order_relaxed) ||
        sg_real.Comm_rank(call->comm, &rank) != MPI_SUCCESS || rank != 0 ||
        atomic_exchange(&said, true))
        return;
    if (call->internode != NULL)
        sg_log("a rank has a GPU driver: MPICH runs reductions between nodes");
    else
        sg_log("%s has buffers in GPU memory: MPICH runs such calls", sg_report_function(call));
}

static void say_staged(const struct sg_call *call)
{
    static atomic_bool said;
    int rank = -1;

    if (atomic_exchange(&said, true))
        return;
    sg_real.Comm_rank(MPI_COMM_WORLD, &rank);
    sg_log("rank %d: %s has a buffer in GPU memory, but the driver (%s) was loaded after the "
           "communicator was set up: such data are copied through host memory",
           rank, sg_report_function(call), sg_device_driver());
}

void sg_device_end_job(const struct sg_call *call)
{
    sg_log("%s has a buffer in GPU memory, but the driver (%s) was loaded after the communicator "
           "was set up; aborting the job: load the driver before MPI_Init",
           sg_report_function(call), sg_device_driver());
    sg_log_drain();
    sg_real.Abort(call->comm, 1);
    abort();
}

/* ---- staging ---- */

/* Only MPICH can reach the buffers: a reduction over one rank is a copy. */
static int copy(const struct sg_call *call, const void *from, void *to, size_t extent_bytes)
{
    int error = MPI_SUCCESS;

    for (MPI_Count done = 0; done < call->count && error == MPI_SUCCESS; done += INT_MAX) {
        MPI_Count left = call->count - done;
        size_t offset_bytes = (size_t)done * extent_bytes;

        error = sg_real.Allreduce((const char *)from + offset_bytes, (char *)to + offset_bytes,
                                  (int)(left < INT_MAX ? left : INT_MAX), call->datatype, call->op,
                                  MPI_COMM_SELF);
    }
    return error;
}

bool sg_device_can_stage(const struct sg_call *call)
{
    enum sg_element element;

    return sg_type_of(call->datatype, &element);
}

int sg_device_begin_stage(const struct sg_call *call, struct sg_device_stage *stage)
{
    bool has_send = is_held(call->send);
    bool has_receive = is_held(call->receive) && receives(call);
    enum sg_element element;
    size_t bytes;

    say_staged(call);
    sg_type_of(call->datatype, &element);
    *stage = (struct sg_device_stage){
        .call = *call, .staged = call, .extent_bytes = sg_element_extent_bytes(element)};
    bytes = (size_t)call->count * stage->extent_bytes;
    if (has_send)
        stage->call.send = stage->send = malloc(bytes);
    if (has_receive)
        stage->call.receive = stage->receive = malloc(bytes);
    if ((!has_send || stage->send != NULL) && (!has_receive || stage->receive != NULL))
        return MPI_SUCCESS;
    sg_device_end_stage(stage, false);
    return MPI_ERR_NO_MEM;
}

int sg_device_fill_stage(const struct sg_device_stage *stage)
{
    const struct sg_call *call = stage->staged;
    int error = MPI_SUCCESS;

    if (stage->send != NULL)
        error = copy(call, call->send, stage->send, stage->extent_bytes);
    if (stage->receive != NULL && call->send == MPI_IN_PLACE)
        error = copy(call, call->receive, stage->receive, stage->extent_bytes);
    return error;
}

int sg_device_end_stage(struct sg_device_stage *stage, bool has_result)
{
    const struct sg_call *call = stage->staged;
    int error = MPI_SUCCESS;

    if (has_result && stage->receive != NULL)
        error = copy(call, stage->receive, call->receive, stage->extent_bytes);
    free(stage->send);
    free(stage->receive);
    return error;
}
