/* The log's writer, and the reader of another rank's present call.
 *
 * The file is mapped once, to its greatest size. Slots below allocated_slots have fallocate'd
 * blocks, so that a write to them never fails for lack of space.
 *
 * Invariants: next_slot only grows; a slot belongs to the thread that reserved it; events stop
 * DEFINITION_RESERVE slots before the end of the allocated slots, so that call sites and statistics
 * can still be written when the disk is full.
 */
#include "trace/log.h"

#include "core/clock.h"
#include "core/clocksync.h"
#include "core/text.h"

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
#include <sys/uio.h>
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
HAS_SLOTS(sg_record_completions, 1);
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
#define ZEROS_BYTES 16384 /* written at a time ... */
#define ZEROS_PIECES 16   /* ... so often in a system call */
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

/* Brings allocated blocks into memory, so that later calls take no page faults. Writing zeros first
 * makes the file system provide the pages in large pieces: on ext4 that takes a quarter of the time
 * of the faults. A failure costs only time. */
static void bring_in(const struct sg_log *log, int file, uint64_t offset, uint64_t size_bytes)
{
    static char zeros[ZEROS_BYTES];
    struct iovec pieces[ZEROS_PIECES];
    uint64_t done = 0;
    ssize_t written;

    for (int i = 0; i < ZEROS_PIECES; i++)
        pieces[i] = (struct iovec){zeros, sizeof zeros};
    do {
        uint64_t left = (size_bytes - done) / sizeof zeros;

        written = pwritev(file, pieces, left < ZEROS_PIECES ? (int)left : ZEROS_PIECES,
                          (off_t)(offset + done));
        done += written > 0 ? (uint64_t)written : 0;
    } while (written > 0 && size_bytes - done >= sizeof zeros);
#ifdef MADV_POPULATE_WRITE
    madvise((unsigned char *)log->header + offset, size_bytes, MADV_POPULATE_WRITE);
#endif
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
            bring_in(log, file, offset, size_bytes);
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

void *sg_log_event_block(struct sg_log *log, unsigned slots)
{
    return reserve_growing(log, slots);
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

/* ---- another rank's present call ------------------------------------------------------------- */

#define PIECE_SLOTS 1024u
#define READ_TRIES 1000

struct present_reading {
    int file;
    struct sg_log_header header;
    struct sg_record_thread thread; /* the call; begin_ns 0: none yet */
    struct sg_log_present *out;
    char text[PATH_MAX];
    unsigned char piece[PIECE_SLOTS * SG_SLOT_BYTES];
};

static bool read_slot(int file, uint64_t slot, void *out)
{
    return pread(file, out, SG_SLOT_BYTES, (off_t)(SG_LOG_HEADER_BYTES + slot * SG_SLOT_BYTES)) ==
           SG_SLOT_BYTES;
}

/* Passes each slot to `take`. */
static void each_slot(struct present_reading *reading,
                      void (*take)(struct present_reading *reading, const void *record,
                                   uint64_t slot))
{
    uint64_t first = 0;
    ssize_t got;

    while ((got = pread(reading->file, reading->piece, sizeof reading->piece,
                        (off_t)(SG_LOG_HEADER_BYTES + first * SG_SLOT_BYTES))) >= SG_SLOT_BYTES) {
        for (uint64_t i = 0; i < (uint64_t)got / SG_SLOT_BYTES; i++)
            take(reading, reading->piece + i * SG_SLOT_BYTES, first + i);
        first += (uint64_t)got / SG_SLOT_BYTES;
    }
}

/* Copies a record that its thread may be changing. Two equal copies in a row are whole, because
 * `turn` changes before and after the other fields. */
static bool copy_thread(int file, uint64_t slot, struct sg_record_thread *out)
{
    struct sg_record_thread again;

    for (int i = 0; i < READ_TRIES; i++) {
        if (!read_slot(file, slot, out) || !read_slot(file, slot, &again))
            return false;
        if (out->turn % 2 == 0 && memcmp(out, &again, sizeof again) == 0)
            return out->turn > 0 && out->begin_ns > 0;
    }
    return false;
}

static int preference(const struct sg_record_thread *thread)
{
    return 2 * (thread->end_ns == 0) + (thread->thread == 0);
}

static void take_thread(struct present_reading *reading, const void *record, uint64_t slot)
{
    struct sg_record_thread thread;

    if (*(const uint8_t *)record == SG_RECORD_THREAD && copy_thread(reading->file, slot, &thread) &&
        (reading->thread.begin_ns == 0 || preference(&thread) > preference(&reading->thread)))
        memcpy(&reading->thread, &thread, sizeof thread);
}

/* Copies the beginning of a definition's text from the slots after it. */
static const char *text_after(struct present_reading *reading, uint64_t slot, uint32_t text_bytes)
{
    size_t used = 0, wanted = text_bytes < PATH_MAX ? text_bytes : PATH_MAX - 1;
    struct sg_record_cont part;

    while (used < wanted && read_slot(reading->file, ++slot, &part) &&
           part.kind == SG_RECORD_CONT) {
        size_t bytes = wanted - used < SG_CONT_BYTES ? wanted - used : SG_CONT_BYTES;

        memcpy(reading->text + used, part.data, bytes);
        used += bytes;
    }
    reading->text[used] = '\0';
    return reading->text;
}

static void take_definition(struct present_reading *reading, const void *record, uint64_t slot)
{
    const struct sg_record_thread *thread = &reading->thread;
    const struct sg_record_function *function = record;
    const struct sg_record_profile_comm *comm = record;
    const struct sg_record_site *site = record;
    struct sg_log_present *out = reading->out;
    uint8_t kind = *(const uint8_t *)record;

    if (kind == SG_RECORD_SITE && site->index == thread->site) {
        out->has_place = true;
        out->site = site->id;
        out->offset = site->offset;
        sg_text_tail(sg_text_base_name(text_after(reading, slot, site->text_bytes)), out->module,
                     sizeof out->module);
    } else if (kind == SG_RECORD_FUNCTION && function->index == thread->function) {
        out->mode = function->mode;
        snprintf(out->function, sizeof out->function, "%s",
                 text_after(reading, slot, function->text_bytes));
    } else if (kind == SG_RECORD_PROFILE_COMM && comm->index == thread->comm && !comm->is_world) {
        snprintf(out->comm, sizeof out->comm, "%s", text_after(reading, slot, comm->text_bytes));
    }
}

static void describe_thread(struct present_reading *reading)
{
    struct sg_record_thread *thread = &reading->thread;
    struct sg_log_present *out = reading->out;

    if (thread->operation == SG_THREAD_PASSES) {
        thread->comm = 0;
        thread->to = thread->from = -1;
    } else if (thread->operation > 0 && thread->operation <= SG_OPERATION_COUNT) {
        snprintf(out->function, sizeof out->function, "%s",
                 sg_operation_regions[thread->operation - 1]);
    }
    out->to = thread->to;
    out->from = thread->from;
    out->begin_ns = thread->begin_ns;
    out->end_ns = thread->end_ns;
    each_slot(reading, take_definition);
}

/* Sets a call that only the header has. */
static void describe_outer(struct sg_log_present *out, const char *function, uint64_t begin_ns,
                           uint64_t end_ns)
{
    snprintf(out->function, sizeof out->function, "%s", function);
    out->from = out->to = -1;
    out->begin_ns = begin_ns;
    out->end_ns = end_ns;
}

bool sg_log_present(const char *unique, const char *path, struct sg_log_present *out)
{
    struct present_reading *reading = calloc(1, sizeof *reading);
    struct sg_log_header *header;
    bool is_log = false;

    if (reading == NULL)
        return false;
    header = &reading->header;
    memset(out, 0, sizeof *out);
    reading->out = out;
    if (sg_file_open(path, O_NOFOLLOW, &reading->file) != 0) {
        free(reading);
        return false;
    }
    is_log = pread(reading->file, header, sizeof *header, 0) == sizeof *header &&
             memcmp(header->magic, SG_LOG_MAGIC, sizeof header->magic) == 0 &&
             header->version == SG_LOG_VERSION &&
             strncmp(header->unique, unique, sizeof header->unique) == 0;
    if (is_log) {
        out->lives = sg_lock_writer_lives(reading->file, header);
        each_slot(reading, take_thread);
    }
    if (is_log && header->finalize_begin_ns != 0)
        describe_outer(out, "MPI_Finalize", header->finalize_begin_ns, 0);
    else if (is_log && reading->thread.begin_ns > 0)
        describe_thread(reading);
    else if (is_log)
        describe_outer(out, "MPI_Init", header->init_begin_ns, header->init_end_ns);
    close(reading->file);
    free(reading);
    return is_log;
}
