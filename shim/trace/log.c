/* The log's writer. The file is mapped once, to its greatest size. Slots below allocated_slots have
 * fallocate'd blocks, so that a write to them never fails for lack of space.
 *
 * Invariants: next_slot only grows; a slot belongs to the thread that reserved it; events stop
 * DEFINITION_RESERVE slots before the end of the allocated slots, so that call sites and statistics
 * can still be written when the disk is full.
 */
#include "trace/log.h"

#include "core/clock.h"
#include "core/clocksync.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HAS_SLOTS(type, count) _Static_assert(sizeof(struct type) == (count)*SG_SLOT_BYTES, #type)

HAS_SLOTS(sg_record_call, 1);
HAS_SLOTS(sg_record_nonblocking, 1);
HAS_SLOTS(sg_record_late, 1);
HAS_SLOTS(sg_record_site, 1);
HAS_SLOTS(sg_record_site_name, 1);
HAS_SLOTS(sg_record_comm, 1);
HAS_SLOTS(sg_record_clock, 1);
HAS_SLOTS(sg_record_marker, 1);
HAS_SLOTS(sg_record_event, 1);
HAS_SLOTS(sg_record_request, 1);
HAS_SLOTS(sg_record_gap, 1);
HAS_SLOTS(sg_record_arm, 1);
HAS_SLOTS(sg_record_cont, 1);
HAS_SLOTS(sg_record_function, 1);
HAS_SLOTS(sg_record_profile_comm, 1);
HAS_SLOTS(sg_record_peer, 1);
HAS_SLOTS(sg_record_thread, 1);
HAS_SLOTS(sg_record_distribution, 1);
HAS_SLOTS(sg_record_window, 1);
HAS_SLOTS(sg_record_group, 1);
HAS_SLOTS(sg_record_causes, 1);
HAS_SLOTS(sg_record_source, 1);
HAS_SLOTS(sg_figure_slot, 1);
HAS_SLOTS(sg_record_interval, SG_INTERVAL_SLOTS);
HAS_SLOTS(sg_record_interval_sum, SG_INTERVAL_SLOTS);
HAS_SLOTS(sg_record_stat, SG_STAT_SLOTS);
HAS_SLOTS(sg_record_slice, SG_SLICE_SLOTS);
HAS_SLOTS(sg_record_slice_sum, SG_SLICE_SUM_SLOTS);
HAS_SLOTS(sg_record_profile, SG_PROFILE_SLOTS);

/* ---- the writer's lock ----------------------------------------------------------------------- */

static struct flock first_byte(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
}

bool sg_lock_take(int file)
{
    struct flock lock = first_byte();

    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool sg_lock_is_held(int file)
{
    struct flock lock = first_byte();

    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool sg_lock_writer_lives(int file, const struct sg_log_header *header)
{
    bool here = header->pid_start != 0 && header->machine == sg_clocksync_machine();

    if (here && header->pid == (uint32_t)getpid() &&
        header->pid_start == sg_procfs_stat((int32_t)header->pid).start)
        return false;
    if (header->is_locked)
        return sg_lock_is_held(file);
    return here && sg_procfs_stat((int32_t)header->pid).start == header->pid_start;
}

/* ---- the log --------------------------------------------------------------------------------- */

#define SEGMENT_SLOTS UINT64_C(16384) /* 1 MiB for each fallocate */
#define DEFINITION_RESERVE UINT64_C(1024)
/* Address space for definitions and statistics beyond the events' limit. */
#define DEFINITION_SLOTS (UINT64_C(1) << 20)

struct sg_log {
    struct sg_log_header *header;
    unsigned char *slots;
    uint64_t mapped_bytes;
    uint64_t slot_limit; /* capacity of the mapping, in slots */
    atomic_bool full;    /* a fallocate failed: do not try again */
    pthread_mutex_t growth;
    int file;
    dev_t device; /* of the file, to recognise it */
    ino_t inode;
    char path[PATH_MAX];
};

static bool is_own(const struct sg_log *log, int file)
{
    struct stat info;

    return file >= 0 && fstat(file, &info) == 0 && info.st_dev == log->device &&
           info.st_ino == log->inode;
}

/* Returns the log's descriptor. A program may close descriptors that it does not know and get their
 * numbers for files of its own, which must not be touched. -1: the file cannot be found again. */
static int own_file(struct sg_log *log)
{
    if (is_own(log, log->file))
        return log->file;
    log->file = open(log->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (log->file >= 0 && !is_own(log, log->file)) {
        close(log->file);
        log->file = -1;
    }
    return log->file;
}

/* Makes at least `slots` slots usable. Ordinary calls only. */
static bool grow(struct sg_log *log, uint64_t slots)
{
    bool done = false;
    uint64_t now;
    uint64_t wanted;

    pthread_mutex_lock(&log->growth);
    now = atomic_load_explicit(&log->header->allocated_slots, memory_order_relaxed);
    wanted = (slots + SEGMENT_SLOTS - 1) / SEGMENT_SLOTS * SEGMENT_SLOTS;
    if (wanted > log->slot_limit)
        wanted = log->slot_limit;
    if (slots <= now) {
        done = true;
    } else if (slots <= wanted && !atomic_load_explicit(&log->full, memory_order_relaxed)) {
        uint64_t offset = SG_LOG_HEADER_BYTES + now * SG_SLOT_BYTES;
        uint64_t size_bytes = (wanted - now) * SG_SLOT_BYTES;

        int file = own_file(log);

        if (file >= 0 && sg_file_allocate(file, offset, size_bytes) == 0) {
#ifdef MADV_POPULATE_WRITE
            /* Takes the page faults in one batch here rather than one by one in later calls. */
            madvise((unsigned char *)log->header + offset, size_bytes, MADV_POPULATE_WRITE);
#endif
            /* Release: a thread that reads the new bound may touch the blocks below it. */
            atomic_store_explicit(&log->header->allocated_slots, wanted, memory_order_release);
            done = true;
        } else {
            atomic_store_explicit(&log->full, true, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&log->growth);
    return done;
}

static void fill_header(struct sg_log *log, const struct sg_log_options *options)
{
    struct sg_log_header *header = log->header;

    header->version = SG_LOG_VERSION;
    header->header_bytes = SG_LOG_HEADER_BYTES;
    header->slot_bytes = SG_SLOT_BYTES;
    header->rank = options->rank;
    header->world_size = options->world_size;
    header->pid = (uint32_t)getpid();
    header->init_thread = (uint32_t)syscall(SYS_gettid);
    header->pid_start = sg_procfs_stat((int32_t)header->pid).start;
    header->is_locked = sg_lock_take(log->file);
    header->trace_mode = options->mode;
    header->counts_calls = 1;
    atomic_init(&header->state, SG_LOG_RUNNING);
    atomic_init(&header->thread_count, 1);
    header->machine = options->machine;
    header->realtime_ns = sg_clock_of_ns(CLOCK_REALTIME);
    header->monotonic_ns = sg_clock_ns();
    header->event_limit_slots = options->limit_bytes / SG_SLOT_BYTES;
    snprintf(header->host, sizeof header->host, "%s", options->host);
    snprintf(header->program, sizeof header->program, "%s", options->program);
    snprintf(header->unique, sizeof header->unique, "%s", options->unique);
    header->socket = options->place.socket;
    header->core = options->place.core;
    /* Last: a file without the magic is not a log. */
    memcpy(header->magic, SG_LOG_MAGIC, sizeof header->magic);
}

enum sg_status sg_log_create(const struct sg_log_options *options, struct sg_log **out)
{
    struct sg_log *log = calloc(1, sizeof *log);
    enum sg_status status = SG_ERR_SYSTEM;
    struct stat info;
    void *base;
    int error;

    if (log == NULL)
        return SG_ERR_MEMORY;
    if ((size_t)snprintf(log->path, sizeof log->path, "%s/" SG_LOG_NAME_FORMAT, options->directory,
                         options->rank) >= sizeof log->path) {
        errno = ENAMETOOLONG;
        goto err_free;
    }
    log->slot_limit = options->limit_bytes / SG_SLOT_BYTES + DEFINITION_SLOTS;
    log->mapped_bytes = SG_LOG_HEADER_BYTES + log->slot_limit * SG_SLOT_BYTES;
    log->file = open(log->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (log->file < 0)
        goto err_free;
    if (fstat(log->file, &info) != 0)
        goto err_unlink;
    log->device = info.st_dev;
    log->inode = info.st_ino;
    error = sg_file_allocate(log->file, 0, SG_LOG_HEADER_BYTES);
    if (error != 0) {
        errno = error;
        goto err_unlink;
    }
    base = mmap(NULL, log->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                log->file, 0);
    if (base == MAP_FAILED)
        goto err_unlink;
    log->header = base;
    log->slots = (unsigned char *)base + SG_LOG_HEADER_BYTES;
    pthread_mutex_init(&log->growth, NULL);
    if (!grow(log, SEGMENT_SLOTS)) {
        errno = ENOSPC;
        goto err_unmap;
    }
    fill_header(log, options);
    *out = log;
    return SG_OK;

err_unmap:
    error = errno;
    munmap(base, log->mapped_bytes);
    errno = error;
err_unlink:
    error = errno;
    close(log->file);
    unlink(log->path);
    errno = error;
err_free:
    free(log);
    return status;
}

struct sg_log_header *sg_log_header(struct sg_log *log)
{
    return log->header;
}

/* Reserves adjacent allocated slots for an event, or returns NULL. It tests before it reserves, so
 * that events past a limit do not use up slot numbers. */
static inline void *reserve_event(struct sg_log *log, uint64_t count, uint64_t *slot)
{
    struct sg_log_header *header = log->header;
    /* Acquire: pairs with grow, so that the blocks below the bound are allocated. */
    uint64_t bound =
        atomic_load_explicit(&header->allocated_slots, memory_order_acquire) - DEFINITION_RESERVE;

    if (bound > header->event_limit_slots)
        bound = header->event_limit_slots;
    *slot = atomic_load_explicit(&header->next_slot, memory_order_relaxed);
    if (*slot + count > bound)
        return NULL;
    *slot = atomic_fetch_add_explicit(&header->next_slot, count, memory_order_relaxed);
    return *slot + count <= bound ? log->slots + *slot * SG_SLOT_BYTES : NULL;
}

void sg_log_drop_event(struct sg_log *log)
{
    /* Relaxed: one thread alone drops the first event. */
    if (atomic_fetch_add_explicit(&log->header->dropped_events, 1, memory_order_relaxed) == 0)
        atomic_store_explicit(&log->header->dropped_since_ns, sg_clock_ns(), memory_order_relaxed);
}

void *sg_log_event(struct sg_log *log)
{
    uint64_t slot;
    void *record = reserve_event(log, 1, &slot);

    if (record == NULL)
        sg_log_drop_event(log);
    return record;
}

static inline void *reserve_growing(struct sg_log *log, uint64_t count)
{
    struct sg_log_header *header = log->header;
    uint64_t slot;
    void *record;
    bool can_grow;

    /* Retries if other threads have used up the slots that were made ready. */
    do {
        uint64_t allocated = atomic_load_explicit(&header->allocated_slots, memory_order_relaxed);

        record = reserve_event(log, count, &slot);
        can_grow = slot + count <= header->event_limit_slots &&
                   !atomic_load_explicit(&log->full, memory_order_relaxed);
        /* Keeps a quarter of a segment ahead: enough for handlers until the next call. */
        if (can_grow && slot + SEGMENT_SLOTS / 4 + DEFINITION_RESERVE >= allocated)
            grow(log, allocated + SEGMENT_SLOTS);
    } while (record == NULL && can_grow);
    return record;
}

void *sg_log_event_growing(struct sg_log *log)
{
    void *record = reserve_growing(log, 1);

    if (record == NULL)
        sg_log_drop_event(log);
    return record;
}

/* Marks the slots after the first as its continuation. */
static void *continue_slots(unsigned char *first, unsigned slots)
{
    for (unsigned slot = 1; first != NULL && slot < slots; slot++)
        first[(size_t)slot * SG_SLOT_BYTES] = SG_RECORD_CONT;
    return first;
}

void *sg_log_event_slots(struct sg_log *log, unsigned slots)
{
    return continue_slots(reserve_growing(log, slots), slots);
}

void *sg_log_event_slots_now(struct sg_log *log, unsigned slots)
{
    uint64_t slot;

    return continue_slots(reserve_event(log, slots, &slot), slots);
}

void sg_log_publish(void *record, enum sg_record_kind kind)
{
    /* Release: a reader that sees the kind sees the fields. */
    atomic_store_explicit((_Atomic uint8_t *)record, (uint8_t)kind, memory_order_release);
}

/* Reserves adjacent slots, regardless of the events' limit. */
static unsigned char *reserve_adjacent(struct sg_log *log, uint64_t count)
{
    struct sg_log_header *header = log->header;
    uint64_t first = atomic_load_explicit(&header->next_slot, memory_order_relaxed);

    do {
        if (first + count > atomic_load_explicit(&header->allocated_slots, memory_order_acquire) &&
            !grow(log, first + count))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&header->next_slot, &first, first + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    return log->slots + first * SG_SLOT_BYTES;
}

void *sg_log_definition(struct sg_log *log, const void *text, size_t text_bytes)
{
    const unsigned char *from = text;
    uint64_t parts = (text_bytes + SG_CONT_BYTES - 1) / SG_CONT_BYTES;
    unsigned char *first = reserve_adjacent(log, 1 + parts);

    if (first == NULL)
        return NULL;
    for (uint64_t part = 0; part < parts; part++) {
        struct sg_record_cont *cont = (void *)(first + (1 + part) * SG_SLOT_BYTES);
        size_t size = text_bytes - part * SG_CONT_BYTES;

        memcpy(cont->data, from + part * SG_CONT_BYTES,
               size < SG_CONT_BYTES ? size : SG_CONT_BYTES);
        cont->part = (uint32_t)part;
        cont->kind = SG_RECORD_CONT;
    }
    return first;
}

void *sg_log_entry(struct sg_log *log, unsigned slots)
{
    return continue_slots(reserve_adjacent(log, slots), slots);
}

void sg_log_finish(struct sg_log *log, enum sg_log_state state)
{
    uint64_t used = atomic_load(&log->header->next_slot);
    uint64_t allocated = atomic_load(&log->header->allocated_slots);
    int file = own_file(log);

    if (used > allocated)
        used = allocated;
    atomic_store(&log->header->allocated_slots, used);
    atomic_store(&log->header->state, state);
    munmap(log->header, log->mapped_bytes);
    log->header = NULL;
    if (file < 0)
        return; /* the user has removed or moved it: nothing left to do */
    if (ftruncate(file, (off_t)(SG_LOG_HEADER_BYTES + used * SG_SLOT_BYTES)) != 0)
        sg_log("cannot shorten %s: %m", log->path);
    /* If the file was reopened, munmap released the first open file and with it the lock. */
    sg_lock_take(file);
}

static void close_own(const struct sg_log *log)
{
    if (is_own(log, log->file))
        close(log->file);
}

void sg_log_close(struct sg_log *log, enum sg_log_state state)
{
    if (log->header != NULL)
        sg_log_finish(log, state);
    close_own(log);
    pthread_mutex_destroy(&log->growth);
    free(log);
}

void sg_log_forget(struct sg_log *log)
{
    if (log->header != NULL)
        munmap(log->header, log->mapped_bytes);
    close_own(log);
}
