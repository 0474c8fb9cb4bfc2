/* A stand-in for the driver of a GPU (CUDA, HIP or LEVEL ZERO): memory that the host must not
 * touch, and the functions that report the owner of a pointer. The memory is mapped twice:
 * protected at the program's addresses, and accessible to the "device" at another address.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined CUDA
#define DRIVER "CUDA"
#elif defined HIP
#define DRIVER "HIP"
#else
#define DRIVER "ZE"
#endif
#define REGIONS_MAX 16

static struct {
    char *device, *alias;
    size_t bytes;
} regions[REGIONS_MAX];
static int region_count;

/* ---- what the tests' MPI and programs call ---- */

/* A driver's start takes longer than this. */
void driver_start(void)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + (now.tv_nsec - begin.tv_nsec) < 20000000L);
}

void *driver_alloc(size_t bytes)
{
    int file = memfd_create("device", 0);

    if (region_count == REGIONS_MAX || file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return NULL;
    char *device = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, file, 0);
    char *alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (device == MAP_FAILED || alias == MAP_FAILED)
        return NULL;
    regions[region_count].device = device;
    regions[region_count].alias = alias;
    regions[region_count].bytes = bytes;
    region_count++;
    return device;
}

/* The address at which the host reaches device memory, or NULL if the pointer is the host's. */
void *driver_alias(const void *pointer)
{
    const char *at = pointer;

    for (int i = 0; i < region_count; i++) {
        if (at >= regions[i].device && at < regions[i].device + regions[i].bytes)
            return regions[i].alias + (at - regions[i].device);
    }
    return NULL;
}

/* For gpu_library.c: by name it is not found where hwloc failed to load a library that needs it. */
static void __attribute__((constructor)) tell(void)
{
    char address[32];

    snprintf(address, sizeof address, "%llx", (unsigned long long)(uintptr_t)driver_alias);
    setenv("DRIVER_" DRIVER, address, 1);
}

/* ---- what the real one has ---- */

#ifdef CUDA
int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer)
{
    const unsigned device = 2;

    if (attribute != 2 || driver_alias((const void *)(uintptr_t)pointer) == NULL)
        return 1;
    memcpy(data, &device, sizeof device);
    return 0;
}
#endif

#ifdef HIP
int hipPointerGetAttributes(void *attributes, const void *pointer)
{
    struct {
        int type, device;
        void *device_pointer, *host_pointer;
        int is_managed;
        unsigned flags;
    } found = {.type = 2, .device_pointer = (void *)(uintptr_t)pointer};

    if (driver_alias(pointer) == NULL) {
        memset(&found, 0, sizeof found);
        found.device = -2;
        found.host_pointer = (void *)(uintptr_t)pointer;
    }
    memcpy(attributes, &found, sizeof found);
    return 0;
}
#endif

#ifdef ZE
static char a_driver, a_context;

int zeDriverGet(uint32_t *count, void **drivers)
{
    if (*count > 0)
        drivers[0] = &a_driver;
    *count = 1;
    return 0;
}

int zeContextCreate(void *driver, const void *description, void **context)
{
    if (driver != &a_driver || *(const int *)description != 0xd)
        return 0x78000004;
    *context = &a_context;
    return 0;
}

int zeMemGetAllocProperties(void *context, const void *pointer, void *properties, void **device)
{
    struct {
        int structure;
        void *next;
        int type;
        uint64_t id, page_bytes;
    } *found = properties;

    if (context != &a_context || found->structure != 0x17)
        return 0x78000004;
    found->type = driver_alias(pointer) != NULL ? 2 : 0;
    *device = NULL;
    return 0;
}
#endif
