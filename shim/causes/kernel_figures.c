/* Reads the kernel's event counters, files and switches of a thread, and its process's other
 * threads (kernel_figures.h). The program may close any descriptor here and reuse its number, so
 * each is checked before use.
 */
#include "causes/kernel_figures.h"

#include "core/clock.h"
#include "core/cpu/cpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t own_register(uint32_t index)
{
#ifdef SG_CPU_HAS_EVENTS
    return sg_cpu_event_register(index);
#else
    return 0; /* never called: sg_counter_open maps no page */
#endif
}

#ifdef SG_CPU_HAS_EVENTS
#define HAS_EVENTS true
#else
#define HAS_EVENTS false
#endif

bool sg_event_is_own(int file, uint64_t id)
{
    uint64_t now;

    return file >= 0 && ioctl(file, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

int sg_counter_open(const struct sg_counter_event *event, struct sg_counter *out)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = event->type,
        .config = event->config,
        .exclude_kernel = !event->in_kernel,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    void *page;

    *out = (struct sg_counter){.file = -1};
    out->file = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (out->file < 0)
        return errno;
    if (ioctl(out->file, PERF_EVENT_IOC_ID, &out->id) != 0) {
        int error = errno;

        close(out->file);
        out->file = -1;
        return error;
    }
    page = HAS_EVENTS
               ? mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, out->file, 0)
               : MAP_FAILED;
    if (page != MAP_FAILED)
        out->page = page;
    return 0;
}

static void *open_kept(void *out)
{
    static const struct sg_counter_event nothing = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false};
    struct sg_event_kept *kept = out;
    struct sg_counter counter;

    if (sg_counter_open(&nothing, &counter) != 0)
        return NULL;
    if (counter.page != NULL)
        munmap(counter.page, (size_t)sysconf(_SC_PAGESIZE));
    *kept = (struct sg_event_kept){counter.file, counter.id};
    return NULL;
}

/* The thread blocks all signals: it must not take the program's. */
void sg_event_keep(struct sg_event_kept *out)
{
    sigset_t all, before;
    pthread_t thread;

    *out = (struct sg_event_kept){.file = -1};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, open_kept, out) == 0)
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sg_event_let_go(struct sg_event_kept *kept)
{
    if (sg_event_is_own(kept->file, kept->id))
        close(kept->file);
    kept->file = -1;
}

bool sg_counter_of_page(const volatile struct perf_event_mmap_page *page,
                        uint64_t (*read_register)(uint32_t index), uint64_t *value, bool *is_whole)
{
    uint32_t lock, index;
    int64_t count;

    do {
        lock = page->lock;
        /* The kernel changes the page on this processor: only the compiler has to keep the
         * order. */
        atomic_signal_fence(memory_order_seq_cst);
        *is_whole = page->time_enabled == page->time_running;
        index = page->cap_user_rdpmc ? page->index : 0;
        count = page->offset;
        if (index != 0) {
            unsigned shift = 64u - page->pmc_width;

            count += (int64_t)(read_register(index - 1) << shift) >> shift;
        }
        atomic_signal_fence(memory_order_seq_cst);
    } while (page->lock != lock);
    *value = (uint64_t)count;
    return index != 0;
}

bool sg_counter_read(const struct sg_counter *counter, uint64_t *value)
{
    struct {
        uint64_t value, enabled_ns, running_ns;
    } now;
    bool is_whole;

    if (counter->page != NULL && sg_counter_of_page(counter->page, own_register, value, &is_whole))
        return is_whole;
    if (!sg_event_is_own(counter->file, counter->id) ||
        read(counter->file, &now, sizeof now) != sizeof now)
        return false;
    *value = now.value;
    return now.enabled_ns == now.running_ns;
}

void sg_counter_close(struct sg_counter *counter)
{
    if (counter->page != NULL)
        munmap(counter->page, (size_t)sysconf(_SC_PAGESIZE));
    if (sg_event_is_own(counter->file, counter->id))
        close(counter->file);
    *counter = (struct sg_counter){.file = -1};
}

/* Limit of open files in the process: its descriptors are for the program. */
#define KEPT_MOST 16

static atomic_int kept_files;

static bool is_own(const struct sg_kernel_file *file)
{
    struct stat info;

    return fstat(file->file, &info) == 0 && info.st_dev == file->device &&
           info.st_ino == file->inode;
}

static void forget(struct sg_kernel_file *file)
{
    file->file = -1;
    atomic_fetch_sub_explicit(&kept_files, 1, memory_order_relaxed);
}

/* Keeps the file open, unless too many are. */
static int keep(struct sg_kernel_file *file, int opened)
{
    struct stat info;
    int error = fstat(opened, &info) != 0 ? errno : 0;

    if (error == 0 && atomic_fetch_add_explicit(&kept_files, 1, memory_order_relaxed) < KEPT_MOST) {
        file->file = opened;
        file->device = info.st_dev;
        file->inode = info.st_ino;
        return 0;
    }
    if (error == 0)
        atomic_fetch_sub_explicit(&kept_files, 1, memory_order_relaxed);
    close(opened);
    return error;
}

int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name)
{
    int opened, error;

    file->file = -1;
    if (asprintf(&file->path, "%s/%s", directory, name) < 0) {
        file->path = NULL;
        return ENOMEM;
    }
    opened = open(file->path, O_RDONLY | O_CLOEXEC);
    error = opened < 0 ? errno : keep(file, opened);
    if (error != 0)
        sg_kernel_file_close(file);
    return error;
}

void sg_kernel_file_close(struct sg_kernel_file *file)
{
    if (file->file >= 0) {
        if (is_own(file))
            close(file->file);
        forget(file);
    }
    free(file->path);
    file->path = NULL;
}

bool sg_kernel_file_read(struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES])
{
    ssize_t length;
    int from;

    if (file->file >= 0 && !is_own(file))
        forget(file);
    from =
        file->file >= 0 || file->path == NULL ? file->file : open(file->path, O_RDONLY | O_CLOEXEC);
    length = from >= 0 ? pread(from, text, SG_KERNEL_FILE_BYTES - 1, 0) : -1;
    if (from >= 0 && from != file->file)
        close(from);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}

/* A record of a switch with its time; the ring has no others. */
struct record {
    struct perf_event_header header;
    uint64_t time_ns;
};

/* An event without migrations can exclude the kernel and so may be permitted; migrations happen in
 * the kernel. */
static int open_event(bool has_migrations)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = has_migrations ? PERF_COUNT_SW_CPU_MIGRATIONS : PERF_COUNT_SW_DUMMY,
        .exclude_kernel = !has_migrations,
        .exclude_hv = 1,
        .context_switch = 1,
        .sample_id_all = 1,
        .sample_type = PERF_SAMPLE_TIME,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .write_backward = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The ring is written backwards: it always has the latest records, and the reader need not report
 * its position to the kernel. */
int sg_switches_open(struct sg_switches *out)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = MAP_FAILED;
    int error;

    *out = (struct sg_switches){
        .file = open_event(true), .page_bytes = page_bytes, .ring_bytes = page_bytes};
    out->has_migrations = out->file >= 0;
    if (out->file < 0)
        out->file = open_event(false);
    if (out->file < 0)
        return errno;
    if (ioctl(out->file, PERF_EVENT_IOC_ID, &out->id) == 0)
        page = mmap(NULL, page_bytes + out->ring_bytes, PROT_READ, MAP_SHARED, out->file, 0);
    if (page == MAP_FAILED) {
        error = errno;
        close(out->file);
        out->file = -1;
        return error;
    }
    out->page = page;
    out->since_ns = sg_clock_ns();
    return 0;
}

static const struct record *record_at(const void *ring, size_t bytes, uint64_t position)
{
    return (const struct record *)(const void *)((const char *)ring + (position & (bytes - 1)));
}

static bool is_switch(const struct record *record, bool is_out)
{
    return record->header.type == PERF_RECORD_SWITCH && record->header.size == sizeof *record &&
           ((record->header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0) == is_out;
}

bool sg_switches_of_page(const struct perf_event_mmap_page *page, const void *ring, size_t bytes,
                         uint64_t since_ns, struct sg_switch *out)
{
    const _Atomic __u64 *head = (const _Atomic __u64 *)&page->data_head;
    /* The kernel writes on this processor or, before the thread migrated, on another: acquire the
     * head before the records. */
    uint64_t position = atomic_load_explicit(head, memory_order_acquire);
    const struct record *in = record_at(ring, bytes, position);
    const struct record *gone = record_at(ring, bytes, position + sizeof *in);

    *out = (struct sg_switch){.resumed_ns = since_ns};
    if (position == 0)
        return true;
    if (UINT64_MAX - position < 2 * sizeof *in - 1 || !is_switch(in, false) ||
        !is_switch(gone, true) || in->time_ns < gone->time_ns)
        return false;
    *out = (struct sg_switch){
        .resumed_ns = in->time_ns,
        .away_ns = in->time_ns - gone->time_ns,
        .was_ready = (gone->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
    };
    /* A switch meanwhile may have overwritten the records. */
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(head, memory_order_acquire) == position;
}

bool sg_switches_read(const struct sg_switches *switches, struct sg_switch *out)
{
    return switches->page != NULL &&
           sg_switches_of_page(switches->page, (const char *)switches->page + switches->page_bytes,
                               switches->ring_bytes, switches->since_ns, out);
}

bool sg_switches_migrations(const struct sg_switches *switches, uint64_t *out)
{
    return switches->has_migrations && sg_event_is_own(switches->file, switches->id) &&
           read(switches->file, out, sizeof *out) == sizeof *out;
}

void sg_switches_close(struct sg_switches *switches)
{
    if (switches->page != NULL)
        munmap(switches->page, switches->page_bytes + switches->ring_bytes);
    if (sg_event_is_own(switches->file, switches->id))
        close(switches->file);
    *switches = (struct sg_switches){.file = -1};
}

/* Pauses between two look-ups; each is longer than the last. */
#define PAUSE_LEAST_NS UINT64_C(2000000)
#define PAUSE_MOST_NS UINT64_C(100000000)
#define NAMES_BYTES 512
#define IDS_MOST 1024 /* threads inspected at most */

/* Returns the clock of a thread's processor time (pthread_getcpuclockid(3) would need a
 * pthread_t). */
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

/* Returns the processor time of the process's other threads. */
static uint64_t others_ns(void)
{
    uint64_t all_ns = sg_clock_of_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t own_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);

    return all_ns > own_ns ? all_ns - own_ns : 0;
}

/* ---- threads on the same processor ---- */

/* Returns the only processor that a thread may use; -1: several, or unknown. thread 0: the
 * caller. */
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

/* Drops threads that are no longer bound to the processor. */
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

/* Returns the time that bound threads used since the last reading; drops threads that have
 * ended. */
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
