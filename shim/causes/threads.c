#include "causes/threads.h"

#include "core/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Between two looks: more each time. */
#define PAUSE_LEAST_NS UINT64_C(2000000)
#define PAUSE_MOST_NS UINT64_C(100000000)
#define NAMES_BYTES 512
#define IDS_MOST 1024 /* threads that are looked at */

/* A thread's processor time (pthread_getcpuclockid(3), which asks for a pthread_t). */
static clockid_t clock_of(pid_t thread)
{
    return (clockid_t)(~(unsigned)thread << 3 | 6u);
}

static bool read_clock(clockid_t clock, uint64_t *out)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return false;
    *out = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return true;
}

/* Processor time of the process's other threads. */
static uint64_t others_ns(void)
{
    uint64_t all_ns = sg_clock_of_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t own_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);

    return all_ns > own_ns ? all_ns - own_ns : 0;
}

/* ---- those on the same processor ------------------------------------------------------------- */

/* The only processor that a thread may use; -1: several, or it is not known. 0: the calling one. */
static int processor_of(pid_t thread)
{
    cpu_set_t set;

    if (sched_getaffinity(thread, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set))
            return i;
    }
    return -1;
}

static void consider(struct sg_threads *threads, pid_t thread, int processor)
{
    struct sg_thread_bound bound = {.clock = clock_of(thread)};

    for (int i = 0; i < threads->bound_count; i++) {
        if (threads->bound[i].clock == bound.clock)
            return;
    }
    if (threads->bound_count < SG_THREADS_BOUND && processor_of(thread) == processor &&
        read_clock(bound.clock, &bound.ns))
        threads->bound[threads->bound_count++] = bound;
}

/* Those that are no longer bound to it go. */
static void keep_bound(struct sg_threads *threads, int processor)
{
    int kept = 0;

    for (int i = 0; i < threads->bound_count; i++) {
        pid_t thread = (pid_t)(~(unsigned)threads->bound[i].clock >> 3 & INT_MAX);

        if (processor >= 0 && processor_of(thread) == processor)
            threads->bound[kept++] = threads->bound[i];
    }
    threads->bound_count = kept;
}

/* The kernel's struct linux_dirent64. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

static void look_at_all(struct sg_threads *threads, int directory, int processor)
{
    _Alignas(struct entry) char names[NAMES_BYTES];
    pid_t self = (pid_t)syscall(SYS_gettid);
    int looked = 0;
    long bytes;

    while (looked < IDS_MOST &&
           (bytes = syscall(SYS_getdents64, directory, names, sizeof names)) > 0) {
        for (long at = 0; at < bytes; looked++) {
            const struct entry *entry = (const struct entry *)(const void *)(names + at);
            pid_t thread = (pid_t)strtol(entry->name, NULL, 10);

            if (thread > 0 && thread != self)
                consider(threads, thread, processor);
            at += entry->bytes;
        }
    }
}

static void look(struct sg_threads *threads)
{
    uint64_t now_ns = sg_clock_ns();
    int processor, directory;
    char path[256];

    if (now_ns - threads->looked_ns < threads->pause_ns)
        return;
    threads->looked_ns = now_ns;
    if (threads->pause_ns < PAUSE_MOST_NS)
        threads->pause_ns *= 2;
    processor = processor_of(0);
    keep_bound(threads, processor);
    if (processor < 0 ||
        snprintf(path, sizeof path, "%s/self/task", threads->processes) >= (int)sizeof path)
        return;
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return;
    look_at_all(threads, directory, processor);
    close(directory);
}

/* ---- readings -------------------------------------------------------------------------------- */

/* What they took since the last time; those that have ended go. */
static uint64_t take_bound(struct sg_threads *threads)
{
    uint64_t sum_ns = 0;
    int kept = 0;

    for (int i = 0; i < threads->bound_count; i++) {
        struct sg_thread_bound bound = threads->bound[i];
        uint64_t now_ns;

        if (!read_clock(bound.clock, &now_ns) || now_ns < bound.ns)
            continue;
        sum_ns += now_ns - bound.ns;
        bound.ns = now_ns;
        threads->bound[kept++] = bound;
    }
    threads->bound_count = kept;
    return sum_ns;
}

void sg_threads_open(struct sg_threads *threads, const char *processes)
{
    *threads = (struct sg_threads){
        .processes = processes, .time_ns = others_ns(), .pause_ns = PAUSE_LEAST_NS};
}

void sg_threads_read(struct sg_threads *threads)
{
    uint64_t here_ns = take_bound(threads), now_ns = others_ns(), all_ns;

    all_ns = now_ns > threads->time_ns ? now_ns - threads->time_ns : 0;
    threads->here_ns += here_ns;
    threads->elsewhere_ns += all_ns > here_ns ? all_ns - here_ns : 0;
    if (now_ns > threads->time_ns)
        threads->time_ns = now_ns;
    if (all_ns > 0)
        look(threads);
}
