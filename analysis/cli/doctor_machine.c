/* Checks of the resources that the machine gives to ranks: processors, access to each other's
 * memory, shared memory, RDMA, performance counters, and disk space for output.
 */
#include "causes/reader.h"
#include "cli/machine.h"
#include "core/cgroup.h"
#include "core/config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB (1024.0 * 1024)
/* MPICH's shared memory and an archive each take some MiB for each rank. */
#define LEAST_SHARED_MIB 64
#define LEAST_ROOM_MIB 100

void sg_finding_set(struct sg_finding *finding, enum sg_health health, const char *remedy,
                    const char *format, ...)
{
    va_list arguments;

    finding->health = health;
    snprintf(finding->remedy, sizeof finding->remedy, "%s", remedy != NULL ? remedy : "");
    va_start(arguments, format);
    vsnprintf(finding->says, sizeof finding->says, format, arguments);
    va_end(arguments);
}

/* Reads the number in a file; -1: there is none. */
static long number_in(const char *root, const char *name)
{
    char path[512];
    long number = -1;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%ld", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* By the affinity mask. */
static int count_allowed(void)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

void sg_doctor_check_processors(const struct sg_doctor *doctor, struct sg_finding *out)
{
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    struct sg_cgroup group;
    int allowed = count_allowed();

    if (sg_cgroup_own(doctor->processes, doctor->systems, &group) && group.processors < allowed)
        sg_finding_set(
            out, SG_HEALTH_NOTE, "raise cpu.max (docker run --cpus)",
            "the control group's quota is %d of %d processors: more ranks share processors",
            group.processors, allowed);
    else if (allowed > 0 && allowed < all)
        sg_finding_set(out, SG_HEALTH_NOTE, "see taskset -p $$",
                       "%d of %ld by the affinity mask: more ranks share processors", allowed, all);
    else
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%d", allowed);
}

void sg_doctor_check_threads(const struct sg_doctor *doctor, struct sg_finding *out)
{
    const char *policy = sg_config_environment("OMP_WAIT_POLICY");
    const char *number = sg_config_environment("OMP_NUM_THREADS");
    int threads = number != NULL ? atoi(number) : 0;
    int processors = count_allowed();

    if (policy != NULL && strcasecmp(policy, "passive") == 0)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "waiting threads sleep");
    else if (threads > 1 && threads > processors / 2)
        sg_finding_set(out, SG_HEALTH_NOTE, "OMP_WAIT_POLICY=passive",
                       "with 2 ranks, %d threads each spin on %d processors while they wait",
                       threads, processors);
    else
        sg_finding_set(out, SG_HEALTH_GOOD, NULL,
                       "with more threads in all ranks than %d processors, set "
                       "OMP_WAIT_POLICY=passive",
                       processors);
}

void sg_doctor_check_reading(const struct sg_doctor *doctor, struct sg_finding *out)
{
    int refused = sg_machine_read_refused();
    long scope = number_in(doctor->processes, "sys/kernel/yama/ptrace_scope");
    const char *remedy = "in a container: docker run --cap-add=SYS_PTRACE, or a seccomp profile "
                         "with process_vm_readv";

    if (refused == 0) {
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "ranks may read each other's memory");
        return;
    }
    if (scope > 1)
        remedy = "sysctl kernel.yama.ptrace_scope=1";
    sg_finding_set(out, SG_HEALTH_NOTE, remedy,
                   "ranks may not read each other's memory (%s%s): large operands are copied twice",
                   strerror(refused), scope > 1 ? ", Yama's ptrace_scope" : "");
}

void sg_doctor_check_shared(const struct sg_doctor *doctor, struct sg_finding *out)
{
    struct statvfs space;
    double room_mib;

    if (statvfs(doctor->shared, &space) != 0) {
        sg_finding_set(out, SG_HEALTH_BAD, "mount -t tmpfs tmpfs /dev/shm", "%s: %s",
                       doctor->shared, strerror(errno));
        return;
    }
    room_mib = (double)space.f_bavail * (double)space.f_frsize / MIB;
    if (room_mib < LEAST_SHARED_MIB)
        sg_finding_set(out, SG_HEALTH_NOTE, "docker run --shm-size=1g, or remove old files there",
                       "%.1f MiB free in %s: MPICH needs some MiB for each rank", room_mib,
                       doctor->shared);
    else
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%.0f MiB free in %s", room_mib, doctor->shared);
}

/* Returns the number of RDMA devices; *first is malloc'ed. */
static int find_devices(const struct sg_doctor *doctor, char **first)
{
    struct dirent **devices = NULL;
    char path[512];
    int count;

    *first = NULL;
    snprintf(path, sizeof path, "%s/class/infiniband", doctor->systems);
    count = scandir(path, &devices, sg_machine_is_device, alphasort);
    for (int i = 0; i < count; i++) {
        if (i == 0)
            *first = strdup(devices[i]->d_name);
        free(devices[i]);
    }
    free(devices);
    return count > 0 ? count : 0;
}

void sg_doctor_check_devices(const struct sg_doctor *doctor, struct sg_finding *out)
{
    char reason[400] = "";
    char *first;
    int count = find_devices(doctor, &first);
    FILE *text = count > 0 ? fmemopen(reason, sizeof reason, "w") : NULL;
    bool used = text != NULL && sg_machine_put_rdma(doctor->config, text);

    if (text != NULL)
        fclose(text);

    if (count == 0)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL,
                       "none: MPICH carries out collectives between machines");
    else if (!used)
        sg_finding_set(out, SG_HEALTH_NOTE, "see ibv_devinfo and STAGGER_VERBS_DEVICE",
                       "%s is there, but %s", first != NULL ? first : "a device", reason);
    else
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%s", reason);
    free(first);
}

void sg_doctor_check_memlock(const struct sg_doctor *doctor, struct sg_finding *out)
{
    uint64_t needed = doctor->config->verbs_memory_bytes;
    struct rlimit limit;
    char *first;
    int devices = find_devices(doctor, &first);

    free(first);
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "any amount");
    else if (devices == 0 || limit.rlim_cur >= needed)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%.0f MiB a process%s",
                       (double)limit.rlim_cur / MIB, devices == 0 ? ", not needed" : "");
    else
        sg_finding_set(out, SG_HEALTH_NOTE,
                       "memlock unlimited in /etc/security/limits.conf, LimitMEMLOCK=infinity for "
                       "slurmd, docker run --ulimit memlock=-1",
                       "a process may lock %.1f MiB, RDMA needs up to %.0f MiB",
                       (double)limit.rlim_cur / MIB, (double)needed / MIB);
}

void sg_doctor_check_counters(const struct sg_doctor *doctor, struct sg_finding *out)
{
    const struct sg_reader_places places = {.processes = doctor->processes,
                                            .systems = doctor->systems};
    long paranoid = number_in(doctor->processes, "sys/kernel/perf_event_paranoid");
    struct sg_reader reader;

    sg_reader_open(&reader, &places);
    if ((reader.mask & sg_source_mask(SG_SOURCE_COUNTERS)) != 0)
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "the hardware counters can be read");
    else
        sg_finding_set(out, SG_HEALTH_NOTE,
                       paranoid > 2 ? "sysctl kernel.perf_event_paranoid=2"
                                    : "virtual machines often have none",
                       "no hardware counters (%s): causes lack instructions and cycles",
                       reader.errors[SG_SOURCE_COUNTERS] != 0
                           ? strerror(reader.errors[SG_SOURCE_COUNTERS])
                           : "they count nothing");
    sg_reader_close(&reader);
}

/* Tries it: mode bits do not account for root or for read-only file systems. */
static bool can_make_directory(const char *place)
{
    char *path = NULL;
    bool made = asprintf(&path, "%s/.stagger-XXXXXX", place) >= 0 && mkdtemp(path) != NULL;
    int error = errno;

    if (made)
        rmdir(path);
    free(path);
    errno = error;
    return made;
}

static bool is_empty(const char *directory)
{
    DIR *stream = opendir(directory);
    int entries = 0;

    if (stream == NULL)
        return false;
    while (entries <= 2 && readdir(stream) != NULL)
        entries++;
    closedir(stream);
    return entries <= 2; /* . and .. */
}

/* Replaces path, in place, by the directory to test: the path itself if it is an empty directory,
 * else its nearest existing ancestor. The run creates its directory there, or another beside it. */
static void find_place(char *path)
{
    do {
        char *slash;

        for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--)
            path[end - 1] = '\0';
        if (is_empty(path))
            return;
        slash = strrchr(path, '/');
        if (slash == NULL)
            strcpy(path, ".");
        else
            slash[slash == path] = '\0';
    } while (access(path, F_OK) != 0);
}

void sg_doctor_check_directory(const struct sg_doctor *doctor, struct sg_finding *out)
{
    const char *directory = doctor->config->directory;
    char place[PATH_MAX] = ".";
    struct statvfs space;
    double room_mib;

    if (directory[0] != '\0' && strlen(directory) < sizeof place) {
        strcpy(place, directory);
        find_place(place);
    }
    if (!can_make_directory(place) || statvfs(place, &space) != 0) {
        sg_finding_set(out, SG_HEALTH_BAD, "stagger run --output DIR, or STAGGER_DIR",
                       "runs cannot write into %s: %s",
                       strcmp(place, ".") == 0 ? "the working directory" : place, strerror(errno));
        return;
    }
    room_mib = (double)space.f_bavail * (double)space.f_frsize / MIB;
    if (room_mib < LEAST_ROOM_MIB)
        sg_finding_set(out, SG_HEALTH_NOTE,
                       "stagger run --output DIR elsewhere, STAGGER_TRACE_BYTES or "
                       "STAGGER_TRACE=stats",
                       "%.1f MiB free for recordings", room_mib);
    else
        sg_finding_set(out, SG_HEALTH_GOOD, NULL, "%.0f MiB free for recordings", room_mib);
}
