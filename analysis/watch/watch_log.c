#include "watch/watch_log.h"

#include "core/clock.h"
#include "core/clocksync.h"
#include "core/file.h"
#include "core/room.h"
#include "trace/log.h"
#include "watch/watch_arrivals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_SLOTS 256u
#define OPEN_MOST 65536u /* maximum number of open records and unwritten slots read again */
#define QUIET_NS UINT64_C(30000000000)
#define NO_PLACE UINT64_MAX
#define THREADS_MOST 64u              /* of a rank */
#define ENTRY_SLOTS SG_INTERVAL_SLOTS /* maximum */
_Static_assert(ENTRY_SLOTS >= SG_PROFILE_SLOTS && ENTRY_SLOTS >= SG_STAT_SLOTS,
               "an entry has its room");

/* A statistics record, which the writer updates in place. */
struct sg_live_entry {
    uint64_t slot;
    uint64_t at; /* slot in the image; NO_PLACE: only its times are used */
    unsigned slots;
};

static const unsigned char *slot_at(const struct sg_live_log *log, uint64_t slot)
{
    return log->map + SG_LOG_HEADER_BYTES + slot * SG_SLOT_BYTES;
}

static void refuse(struct sg_live_log *log, const char *reason)
{
    log->state = SG_LIVE_DAMAGED;
    log->refusal.status = SG_ERR_FORMAT;
    snprintf(log->refusal.reason, sizeof log->refusal.reason, "%s", reason);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reopens the file, so that a shared file system shows recent writes of others; if the file was
 * removed, the old descriptor can still read it. Sets *is_there. */
static void open_again(struct sg_live_log *log, bool *is_there)
{
    struct stat before, now;
    int file, error = sg_file_open(log->path, O_NOFOLLOW, &file);

    *is_there = error != ENOENT;
    if (error != 0 && log->file < 0)
        refuse(log, sg_file_error(error));
    if (error != 0)
        return;
    if (log->file >= 0 && (fstat(log->file, &before) != 0 || fstat(file, &now) != 0 ||
                           before.st_dev != now.st_dev || before.st_ino != now.st_ino)) {
        *is_there = false;
        close(file);
        return;
    }
    if (log->file >= 0)
        close(log->file);
    log->file = file;
}

static bool map_file(struct sg_live_log *log)
{
    struct stat info;
    void *map;

    if (log->file < 0)
        return false;
    if (fstat(log->file, &info) != 0) {
        refuse(log, strerror(errno));
        return false;
    }
    if ((uint64_t)info.st_size < SG_LOG_HEADER_BYTES) {
        refuse(log, "is cut off in its header");
        return false;
    }
    map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, log->file, 0);
    if (map == MAP_FAILED) {
        refuse(log, strerror(errno));
        return false;
    }
    log->map = map;
    log->map_bytes = (uint64_t)info.st_size;
    return true;
}

static void unmap(struct sg_live_log *log)
{
    if (log->map != NULL)
        munmap((void *)log->map, log->map_bytes);
    log->map = NULL;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Copies twice: if the first copy says that the rank has ended, the second has everything it
 * wrote. */
static bool copy_header(const struct sg_live_log *log, struct sg_log_header *header)
{
    unsigned char page[SG_LOG_HEADER_BYTES] __attribute__((aligned(64)));

    for (int i = 0; i < 2; i++) {
        if (!sg_slots_copy_words(page, log->map, sizeof page))
            return false;
        atomic_thread_fence(memory_order_acquire);
    }
    memcpy(header, page, sizeof *header);
    return true;
}

static bool is_same_run(const struct sg_log_header *a, const struct sg_log_header *b)
{
    return a->rank == b->rank && a->world_size == b->world_size &&
           strcmp(a->unique, b->unique) == 0;
}

/* Slots in use, as far as the file has them. */
static uint64_t count_slots(const struct sg_live_log *log, const struct sg_log_header *header)
{
    uint64_t held = (log->map_bytes - SG_LOG_HEADER_BYTES) / SG_SLOT_BYTES;
    uint64_t reserved = atomic_load_explicit(&header->next_slot, memory_order_relaxed);
    uint64_t allocated = atomic_load_explicit(&header->allocated_slots, memory_order_relaxed);
    uint64_t filled = reserved < allocated ? reserved : allocated;

    return filled < held ? filled : held;
}

static void note_times(struct sg_live_log *log)
{
    const uint64_t times[] = {log->header.monotonic_ns, log->header.init_begin_ns,
                              log->header.init_end_ns, log->header.finalize_begin_ns};

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i] > log->last_ns)
            log->last_ns = times[i];
    }
}

static bool read_header(struct sg_live_log *log, bool is_first)
{
    struct sg_log_header header;
    uint64_t bound;

    if (!copy_header(log, &header)) {
        refuse(log, "was cut off while it was read");
        return false;
    }
    if (sg_logread_check(&header, &log->refusal) != SG_OK) {
        log->state = SG_LIVE_DAMAGED;
        return false;
    }
    bound = count_slots(log, &header);
    if (header.rank != log->rank) {
        refuse(log, "belongs to another rank");
        return false;
    }
    if (!is_first && (!is_same_run(&header, &log->header) || bound < log->next)) {
        refuse(log, bound < log->next ? "was cut off" : "was overwritten");
        return false;
    }
    /* Overhead is measured now and then, so its counter shows life if only statistics are kept. */
    if (is_first || bound > log->bound ||
        atomic_load_explicit(&header.overhead_calls, memory_order_relaxed) !=
            atomic_load_explicit(&log->header.overhead_calls, memory_order_relaxed))
        log->news_ns = sg_clock_ns();
    log->header = header;
    log->bound = bound;
    note_times(log);
    return true;
}

/* ---- the rank -------------------------------------------------------------------------------- */

/* True if the lock or the process shows whether the writer has ended. */
static bool can_tell(const struct sg_log_header *header)
{
    return header->is_locked != 0 ||
           (header->pid_start != 0 && header->machine == sg_clocksync_machine());
}

static enum sg_live_state state_of(const struct sg_live_log *log, bool is_there, bool lives)
{
    switch (atomic_load_explicit(&log->header.state, memory_order_relaxed)) {
    case SG_LOG_FINALIZED:
        return SG_LIVE_FINISHED;
    case SG_LOG_ABORTED:
        return SG_LIVE_ABORTED;
    default:
        break;
    }
    if (lives && is_there)
        return SG_LIVE_RUNS;
    if (!is_there)
        return log->header.finalize_begin_ns > 0 ? SG_LIVE_FINISHED : SG_LIVE_GONE;
    if (can_tell(&log->header))
        return SG_LIVE_DIED;
    return sg_clock_ns() - log->news_ns < QUIET_NS ? SG_LIVE_RUNS : SG_LIVE_QUIET;
}

/* ---- kept records ---------------------------------------------------------------------------- */

/* Reserves capacity for `slots` more slots and returns their address; NULL: no memory. */
static unsigned char *make_room(struct sg_live_log *log, uint64_t slots)
{
    uint64_t wanted = log->image_slots + slots;

    if (wanted > log->image_room || log->image == NULL) {
        uint64_t room = 2 * wanted;
        unsigned char *image = realloc(log->image, SG_LOG_HEADER_BYTES + room * SG_SLOT_BYTES);

        if (image == NULL)
            return NULL;
        log->image = image;
        log->image_room = room;
    }
    return log->image + SG_LOG_HEADER_BYTES + log->image_slots * SG_SLOT_BYTES;
}

/* Keeps a record of several slots; those after the first must be continuations. */
static enum sg_status keep(struct sg_live_log *log, uint64_t slot, const void *record,
                           uint64_t slots, bool *is_kept)
{
    unsigned char *to;

    *is_kept = false;
    if (slots > log->bound - slot) {
        log->damaged++;
        return SG_OK;
    }
    to = make_room(log, slots);
    if (to == NULL)
        return SG_ERR_MEMORY;
    memcpy(to, record, SG_SLOT_BYTES);
    *is_kept = sg_slots_copy(to + SG_SLOT_BYTES, slot_at(log, slot + 1), slots - 1);
    for (uint64_t part = 1; part < slots && *is_kept; part++)
        *is_kept = to[part * SG_SLOT_BYTES] == SG_RECORD_CONT;
    if (*is_kept)
        log->image_slots += slots;
    else
        log->damaged++;
    return SG_OK;
}

static enum sg_status keep_entry(struct sg_live_log *log, uint64_t slot, const void *record,
                                 unsigned slots)
{
    struct sg_live_entry entry = {.slot = slot, .at = log->image_slots, .slots = slots};
    bool is_kept;
    enum sg_status status = keep(log, slot, record, slots, &is_kept);

    if (status != SG_OK || !is_kept)
        return status;
    return SG_APPEND(log->entries, log->entry_count, entry) ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status keep_thread(struct sg_live_log *log, uint64_t slot, const void *record)
{
    if (log->thread_count < THREADS_MOST && !SG_APPEND(log->threads, log->thread_count, slot))
        return SG_ERR_MEMORY;
    return keep_entry(log, slot, record, 1);
}

/* The view does not show distributions, but they tell how far the rank is recorded. */
static enum sg_status keep_times(struct sg_live_log *log, uint64_t slot)
{
    struct sg_live_entry entry = {.slot = slot, .at = NO_PLACE, .slots = 1};

    return SG_APPEND(log->entries, log->entry_count, entry) ? SG_OK : SG_ERR_MEMORY;
}

static enum sg_status keep_definition(struct sg_live_log *log, uint64_t slot, const void *record,
                                      enum sg_record_kind kind, sg_live_sink sink, void *context)
{
    uint32_t text_bytes;
    bool is_kept;
    enum sg_status status;

    sg_logread_text_bytes(record, kind, &text_bytes);
    status = keep(log, slot, record, 1 + ((uint64_t)text_bytes + SG_CONT_BYTES - 1) / SG_CONT_BYTES,
                  &is_kept);
    return status == SG_OK && is_kept ? sink(context, log, kind, record) : status;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Keeps an open record, to read it again at the next look. */
static enum sg_status remember(struct sg_live_log *log, uint64_t slot, const void *record)
{
    struct sg_live_call call = {.slot = slot};

    if (log->open_count >= OPEN_MOST) {
        log->damaged++;
        return SG_OK;
    }
    memcpy(call.record.bytes, record, SG_SLOT_BYTES);
    return SG_APPEND(log->open, log->open_count, call) ? SG_OK : SG_ERR_MEMORY;
}

static bool is_open(const void *record, enum sg_record_kind kind)
{
    switch (kind) {
    case SG_RECORD_EMPTY:
        return true;
    case SG_RECORD_CALL:
        return ((const struct sg_record_call *)record)->end_ns == 0;
    case SG_RECORD_NONBLOCKING:
        return ((const struct sg_record_nonblocking *)record)->end_ns == 0;
    case SG_RECORD_EVENT:
        return ((const struct sg_record_event *)record)->end_ns == 0;
    default:
        return false;
    }
}

static enum sg_status take(struct sg_live_log *log, uint64_t slot, const void *record,
                           sg_live_sink sink, void *context)
{
    enum sg_record_kind kind = *(const unsigned char *)record;

    if (kind >= SG_RECORD_KINDS) {
        log->damaged++;
        return SG_OK;
    }
    log->last_ns = sg_logread_later(record, kind, log->last_ns);
    if (is_open(record, kind))
        return remember(log, slot, record);
    switch (kind) {
    case SG_RECORD_SITE:
    case SG_RECORD_SITE_NAME:
    case SG_RECORD_COMM:
    case SG_RECORD_CLOCK:
    case SG_RECORD_ARM:
    case SG_RECORD_FUNCTION:
    case SG_RECORD_PROFILE_COMM:
        return keep_definition(log, slot, record, kind, sink, context);
    case SG_RECORD_STAT:
        return keep_entry(log, slot, record, SG_STAT_SLOTS);
    case SG_RECORD_PROFILE:
        return keep_entry(log, slot, record, SG_PROFILE_SLOTS);
    case SG_RECORD_INTERVAL_SUM:
        return keep_entry(log, slot, record, SG_INTERVAL_SLOTS);
    case SG_RECORD_THREAD:
        return keep_thread(log, slot, record);
    case SG_RECORD_DISTRIBUTION:
        return keep_times(log, slot);
    case SG_RECORD_CALL:
    case SG_RECORD_NONBLOCKING:
        return sink(context, log, kind, record);
    default:
        return SG_OK;
    }
}

static enum sg_status cut_off(struct sg_live_log *log, bool *more)
{
    refuse(log, "was cut off while it was read");
    log->bound = log->next;
    *more = false;
    return SG_OK;
}

enum sg_status sg_live_log_read(struct sg_live_log *log, sg_live_sink sink, void *context,
                                bool *more)
{
    unsigned char chunk[CHUNK_SLOTS * SG_SLOT_BYTES] __attribute__((aligned(64)));
    uint64_t count = log->bound - log->next;
    enum sg_status status = SG_OK;

    if (count > CHUNK_SLOTS)
        count = CHUNK_SLOTS;
    if (!sg_slots_copy(chunk, slot_at(log, log->next), count))
        return cut_off(log, more);
    for (uint64_t i = 0; i < count && status == SG_OK; i++)
        status = take(log, log->next + i, chunk + i * SG_SLOT_BYTES, sink, context);
    log->next += count;
    *more = log->next < log->bound;
    return status;
}

/* Reads records again that were open: each is complete now or goes back to the list. */
static enum sg_status look_again(struct sg_live_log *log, sg_live_sink sink, void *context)
{
    unsigned char record[SG_SLOT_BYTES] __attribute__((aligned(64)));
    struct sg_live_call *before = log->open;
    uint32_t count = log->open_count;
    enum sg_status status = SG_OK;

    log->open = NULL;
    log->open_count = 0;
    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        if (sg_slots_copy(record, slot_at(log, before[i].slot), 1))
            status = take(log, before[i].slot, record, sink, context);
    }
    free(before);
    return status;
}

#define COPIES_MOST 100

/* Copies a statistics record. A thread's record is whole if its turn was even and the same before
 * and after. False: it is not, or the file was cut off. */
static bool copy_entry(const struct sg_live_log *log, const struct sg_live_entry *entry,
                       unsigned char *copy)
{
    const struct sg_record_thread *first = (const void *)copy;
    struct sg_record_thread again;

    for (int i = 0; i < COPIES_MOST; i++) {
        if (!sg_slots_copy(copy, slot_at(log, entry->slot), entry->slots))
            return false;
        if (copy[0] != SG_RECORD_THREAD)
            return true;
        /* Acquire: the fields are read before turn is read again. */
        atomic_thread_fence(memory_order_acquire);
        if (!sg_slots_copy(&again, slot_at(log, entry->slot), 1))
            return false;
        if (first->turn % 2 == 0 && again.turn == first->turn)
            return true;
    }
    return false;
}

static void copy_entries(struct sg_live_log *log)
{
    unsigned char copy[ENTRY_SLOTS * SG_SLOT_BYTES] __attribute__((aligned(64)));

    for (uint32_t i = 0; i < log->entry_count; i++) {
        const struct sg_live_entry *entry = &log->entries[i];
        unsigned char *to = NULL; /* without a place there may be no image */

        if (entry->at != NO_PLACE)
            to = log->image + SG_LOG_HEADER_BYTES + entry->at * SG_SLOT_BYTES;
        if (!copy_entry(log, entry, copy)) {
            if (to != NULL && to[0] == SG_RECORD_THREAD)
                ((struct sg_record_thread *)(void *)to)->turn = 0; /* not known */
            continue;
        }
        if (to == NULL || copy[0] == SG_RECORD_THREAD)
            log->last_ns = sg_logread_later(copy, copy[0], log->last_ns);
        if (to != NULL && copy[0] == to[0])
            memcpy(to, copy, entry->slots * SG_SLOT_BYTES);
    }
}

static void find_over(struct sg_live_log *log)
{
    unsigned char record[SG_SLOT_BYTES] __attribute__((aligned(64)));

    for (uint32_t i = 0; i < log->open_count; i++) {
        struct sg_live_call *call = &log->open[i];

        if (sg_slots_copy(record, slot_at(log, call->slot), 1))
            call->is_over = record[0] == call->record.bytes[0] && !is_open(record, record[0]);
    }
}

/* ---- between looks --------------------------------------------------------------------------- */

#define TRIES 3

/* Reads do not promise an order inside a record: it is whole if two in a row are equal, and no
 * change had begun. */
bool sg_live_log_thread(const struct sg_live_log *log, uint32_t number,
                        struct sg_record_thread *out)
{
    off_t at = (off_t)(SG_LOG_HEADER_BYTES + log->threads[number] * SG_SLOT_BYTES);
    unsigned char copies[2][sizeof *out];

    for (int i = 0; i < TRIES; i++) {
        for (int copy = 0; copy < 2; copy++) {
            if (log->file < 0 ||
                pread(log->file, copies[copy], sizeof *out, at) != (ssize_t)sizeof *out)
                return false;
        }
        memcpy(out, copies[0], sizeof *out);
        if (memcmp(copies[0], copies[1], sizeof *out) == 0)
            return out->kind == SG_RECORD_THREAD && out->turn > 0 && out->turn % 2 == 0;
    }
    return false;
}

uint64_t sg_live_log_clock_ns(const struct sg_live_log *log, uint64_t time_ns)
{
    uint64_t real_ns = sg_clock_of_ns(CLOCK_REALTIME);

    if (log->header.machine == sg_clocksync_machine())
        return time_ns;
    return real_ns > log->header.realtime_ns
               ? log->header.monotonic_ns + (real_ns - log->header.realtime_ns)
               : log->header.monotonic_ns;
}

/* ---- a look ---------------------------------------------------------------------------------- */

bool sg_live_log_begin(struct sg_live_log *log)
{
    bool is_there, lives;

    if (sg_live_log_has_ended(log) && log->state != SG_LIVE_QUIET)
        return false;
    open_again(log, &is_there);
    /* Tested before reading the header: everything that an ended writer wrote is then visible. */
    lives = log->file >= 0 && sg_lock_writer_lives(log->file, &log->header);
    if (!map_file(log))
        return false;
    if (!read_header(log, false)) {
        unmap(log);
        return false;
    }
    log->state = state_of(log, is_there, lives);
    return true;
}

enum sg_status sg_live_log_end(struct sg_live_log *log, sg_live_sink sink, void *context)
{
    enum sg_status status = look_again(log, sink, context);

    if (status != SG_OK)
        return status;
    copy_entries(log);
    find_over(log);
    unmap(log);
    if (make_room(log, 0) == NULL)
        return SG_ERR_MEMORY;
    sg_logread_close(log->held);
    log->held = sg_logread_hold(&log->header, log->image, log->image_slots, log->damaged,
                                log->last_ns, log->state == SG_LIVE_RUNS);
    return log->held != NULL ? SG_OK : SG_ERR_MEMORY;
}

/* ---- from beginning to end ------------------------------------------------------------------- */

enum sg_status sg_live_log_open(const char *path, int rank, struct sg_live_log *out,
                                struct sg_refusal *refusal)
{
    struct sg_live_log log = {.rank = rank, .file = -1, .path = strdup(path)};
    bool is_there;

    if (log.path == NULL) {
        refusal->status = SG_ERR_MEMORY;
        snprintf(refusal->reason, sizeof refusal->reason, "%s", sg_status_text(SG_ERR_MEMORY));
        return SG_ERR_MEMORY;
    }
    open_again(&log, &is_there);
    if (!map_file(&log) || !read_header(&log, true)) {
        *refusal = log.refusal;
        sg_live_log_close(&log);
        return refusal->status;
    }
    unmap(&log);
    log.bound = 0;
    *out = log;
    return SG_OK;
}

void sg_live_log_close(struct sg_live_log *log)
{
    unmap(log);
    if (log->file >= 0)
        close(log->file);
    sg_logread_close(log->held);
    free(log->path);
    free(log->open);
    free(log->threads);
    free(log->sums);
    free(log->entries);
    free(log->image);
}
