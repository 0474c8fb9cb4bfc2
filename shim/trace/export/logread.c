#include "trace/export/logread.h"

#include "core/file.h"
#include "trace/export/strings.h"
#include "trace/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two slot numbers above this are free for readers to mark things without a record. */
#define SLOT_LIMIT (UINT32_MAX - 2u)

struct sg_logread {
    struct sg_log_header header; /* as it was at opening, with terminated strings */
    const unsigned char *map;
    size_t map_bytes;
    uint64_t slot_count;
    uint64_t damaged;
    uint64_t judged; /* slots before it are already counted in damaged */
    uint64_t last_ns;
    bool lives;
    bool is_held; /* the caller owns the map */
};

static const void *slot_at(const struct sg_logread *log, uint64_t slot)
{
    return log->map + SG_LOG_HEADER_BYTES + slot * SG_SLOT_BYTES;
}

static uint8_t kind_at(const struct sg_logread *log, uint64_t slot)
{
    const _Atomic uint8_t *kind = slot_at(log, slot);

    /* Acquire: pairs with the writer's release of the kind, so that the fields are complete. */
    return atomic_load_explicit(kind, memory_order_acquire);
}

static uint64_t continuation_slots(uint32_t text_bytes)
{
    return ((uint64_t)text_bytes + SG_CONT_BYTES - 1) / SG_CONT_BYTES;
}

bool sg_logread_text_bytes(const void *record, enum sg_record_kind kind, uint32_t *text_bytes)
{
    static const uint8_t places[SG_RECORD_KINDS] = {
        [SG_RECORD_SITE] = offsetof(struct sg_record_site, text_bytes),
        [SG_RECORD_SITE_NAME] = offsetof(struct sg_record_site_name, text_bytes),
        [SG_RECORD_COMM] = offsetof(struct sg_record_comm, text_bytes),
        [SG_RECORD_MARKER] = offsetof(struct sg_record_marker, text_bytes),
        [SG_RECORD_ARM] = offsetof(struct sg_record_arm, text_bytes),
        [SG_RECORD_FUNCTION] = offsetof(struct sg_record_function, text_bytes),
        [SG_RECORD_PROFILE_COMM] = offsetof(struct sg_record_profile_comm, text_bytes),
        [SG_RECORD_DISTRIBUTION] = offsetof(struct sg_record_distribution, text_bytes),
        [SG_RECORD_WINDOW] = offsetof(struct sg_record_window, text_bytes),
        [SG_RECORD_GROUP] = offsetof(struct sg_record_group, text_bytes),
    };
    bool has_text = kind < SG_RECORD_KINDS && places[kind] != 0;

    *text_bytes = has_text ? *(const uint32_t *)((const char *)record + places[kind]) : 0;
    return has_text;
}

/* Returns the number of slots of the record at slot; 0: it is cut off or of no known kind. */
static uint64_t whole_slots(const struct sg_logread *log, uint64_t slot, enum sg_record_kind kind)
{
    static const uint8_t fixed[SG_RECORD_KINDS] = {
        [SG_RECORD_STAT] = SG_STAT_SLOTS,         [SG_RECORD_PROFILE] = SG_PROFILE_SLOTS,
        [SG_RECORD_INTERVAL] = SG_INTERVAL_SLOTS, [SG_RECORD_INTERVAL_SUM] = SG_INTERVAL_SLOTS,
        [SG_RECORD_SLICE] = SG_SLICE_SLOTS,       [SG_RECORD_SLICE_SUM] = SG_SLICE_SUM_SLOTS,
    };
    uint32_t text_bytes;
    uint64_t parts;

    if (kind >= SG_RECORD_KINDS)
        return 0;
    if (fixed[kind] > 0) {
        for (parts = 1; parts < fixed[kind]; parts++) {
            if (slot + parts >= log->slot_count || kind_at(log, slot + parts) != SG_RECORD_CONT)
                return 0;
        }
        return parts;
    }
    sg_logread_text_bytes(slot_at(log, slot), kind, &text_bytes);
    parts = continuation_slots(text_bytes);
    if (parts >= log->slot_count - slot)
        return 0;
    for (uint64_t part = 0; part < parts; part++) {
        const struct sg_record_cont *cont = slot_at(log, slot + 1 + part);

        if (kind_at(log, slot + 1 + part) != SG_RECORD_CONT || cont->part != part)
            return 0;
    }
    return 1 + parts;
}

uint64_t sg_logread_slots(const struct sg_logread *log, const void *record,
                          enum sg_record_kind kind)
{
    uint64_t slot =
        (uint64_t)((const unsigned char *)record - log->map - SG_LOG_HEADER_BYTES) / SG_SLOT_BYTES;

    return whole_slots(log, slot, kind);
}

const void *sg_logread_next(struct sg_logread *log, uint64_t *slot, enum sg_record_kind *kind)
{
    while (*slot < log->slot_count) {
        uint64_t at = *slot;
        uint8_t found = kind_at(log, at);
        uint64_t slots = 1;

        if (found > SG_RECORD_CONT) {
            slots = whole_slots(log, at, found);
            if (slots > 0) {
                *slot = at + slots;
                *kind = found;
                return slot_at(log, at);
            }
            log->damaged += at >= log->judged;
            slots = 1;
        }
        *slot = at + slots;
        if (*slot > log->judged)
            log->judged = *slot;
    }
    return NULL;
}

char *sg_logread_text(const struct sg_logread *log, const void *record, uint32_t text_bytes)
{
    const unsigned char *from = record;
    const unsigned char *end = slot_at(log, log->slot_count);
    char *text;
    size_t done = 0;

    if (from < log->map || from >= end ||
        continuation_slots(text_bytes) >= (uint64_t)(end - from) / SG_SLOT_BYTES)
        return NULL;
    text = malloc((size_t)text_bytes + 1);
    if (text == NULL)
        return NULL;
    while (done < text_bytes) {
        const struct sg_record_cont *cont = (const void *)(from += SG_SLOT_BYTES);
        size_t piece = text_bytes - done < SG_CONT_BYTES ? text_bytes - done : SG_CONT_BYTES;

        memcpy(text + done, cont->data, piece);
        done += piece;
    }
    text[done] = '\0';
    return text;
}

const char *sg_logread_part(const char *text, uint32_t text_bytes, int number)
{
    const char *end = text + text_bytes;

    for (; number > 0 && text < end; number--)
        text += strnlen(text, (size_t)(end - text)) + 1;
    return text < end ? text : "";
}

const struct sg_log_header *sg_logread_header(const struct sg_logread *log)
{
    return &log->header;
}

static int32_t count_of(int32_t count)
{
    return count > 0 ? count : 0;
}

void sg_logread_waiting(const struct sg_logread *log, struct sg_waiting *out)
{
    const struct sg_log_header *header = &log->header;

    *out = (struct sg_waiting){0};
    if (header->wait_mode == 0 || header->wait_mode > SG_WAIT_MODE_COUNT)
        return;
    out->told = 1;
    out->mode = header->wait_mode - 1;
    out->ranks = count_of(header->wait_ranks);
    out->processors = count_of(header->wait_processors);
    out->quota = count_of(header->wait_quota);
    out->apart = header->wait_apart != 0;
    out->spinning_threads = header->spinning_threads;
    memcpy(out->hook, header->wait_hook, sizeof out->hook);
    out->yields = atomic_load_explicit(&header->yields, memory_order_relaxed);
    out->yield_ns = atomic_load_explicit(&header->yield_ns, memory_order_relaxed);
    out->sleeps = atomic_load_explicit(&header->sleeps, memory_order_relaxed);
    out->sleep_ns = atomic_load_explicit(&header->sleep_ns, memory_order_relaxed);
}

uint64_t sg_logread_damaged(const struct sg_logread *log)
{
    return log->damaged;
}

bool sg_logread_lives(const struct sg_logread *log)
{
    return log->lives;
}

uint64_t sg_logread_last_ns(const struct sg_logread *log)
{
    return log->last_ns;
}

/* Returns the later of two times, of which only a may be damaged. */
static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b && a < SG_TIME_LIMIT_NS ? a : b;
}

uint64_t sg_logread_later(const void *record, enum sg_record_kind kind, uint64_t last)
{
    if (kind == SG_RECORD_CALL) {
        const struct sg_record_call *call = record;

        last = later(call->begin_ns, last);
        return later(atomic_load_explicit(&call->end_ns, memory_order_acquire), last);
    }
    if (kind == SG_RECORD_NONBLOCKING) {
        const struct sg_record_nonblocking *nonblocking = record;

        last = later(nonblocking->begin_ns, last);
        last = later(nonblocking->begin_ns + nonblocking->start_ns, last);
        return later(atomic_load_explicit(&nonblocking->end_ns, memory_order_acquire), last);
    }
    if (kind == SG_RECORD_LATE) {
        const struct sg_record_late *late = record;

        last = later(late->begin_ns, last);
        return later(atomic_load_explicit(&late->end_ns, memory_order_acquire), last);
    }
    if (kind == SG_RECORD_EVENT) {
        const struct sg_record_event *event = record;

        last = later(event->begin_ns, last);
        return later(atomic_load_explicit(&event->end_ns, memory_order_acquire), last);
    }
    if (kind == SG_RECORD_SLICE) {
        const struct sg_record_slice *slice = record;

        return later(slice->begin_ns + slice->until_ns, last);
    }
    if (kind == SG_RECORD_INTERVAL)
        return later(((const struct sg_record_interval *)record)->end_ns, last);
    if (kind == SG_RECORD_COMPLETIONS)
        return later(((const struct sg_record_completions *)record)->time_ns, last);
    if (kind == SG_RECORD_REQUEST)
        return later(((const struct sg_record_request *)record)->time_ns, last);
    if (kind == SG_RECORD_COMM)
        return later(((const struct sg_record_comm *)record)->created_ns, last);
    if (kind == SG_RECORD_CLOCK)
        return later(((const struct sg_record_clock *)record)->local_ns, last);
    if (kind == SG_RECORD_THREAD) {
        const struct sg_record_thread *thread = record;

        last = later(thread->begin_ns, last);
        return later(atomic_load_explicit(&thread->end_ns, memory_order_acquire), last);
    }
    if (kind == SG_RECORD_MARKER)
        return later(((const struct sg_record_marker *)record)->time_ns, last);
    if (kind == SG_RECORD_DISTRIBUTION)
        return later(
            atomic_load_explicit(&((const struct sg_record_distribution *)record)->until_ns,
                                 memory_order_relaxed),
            last);
    return last;
}

static void find_last_ns(struct sg_logread *log)
{
    const struct sg_log_header *header = &log->header;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;
    uint64_t last = later(header->monotonic_ns, 0);

    last = later(header->init_begin_ns, last);
    last = later(header->init_end_ns, last);
    last = later(header->finalize_begin_ns, last);
    while ((record = sg_logread_next(log, &slot, &kind)) != NULL)
        last = sg_logread_later(record, kind, last);
    log->last_ns = last;
}

/* Makes a copy of a header safe to use: terminates texts, and clears impossible times and ends that
 * precede begins. */
static void clean_header(struct sg_log_header *header)
{
    uint64_t *const times[] = {&header->monotonic_ns, &header->init_begin_ns, &header->init_end_ns,
                               &header->finalize_begin_ns};

    header->host[sizeof header->host - 1] = '\0';
    header->program[sizeof header->program - 1] = '\0';
    header->unique[sizeof header->unique - 1] = '\0';
    header->wait_hook[sizeof header->wait_hook - 1] = '\0';
    sg_text_clean(header->host);
    sg_text_clean(header->program);
    sg_text_clean(header->wait_hook);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (*times[i] >= SG_TIME_LIMIT_NS)
            *times[i] = 0;
    }
    if (header->init_end_ns < header->init_begin_ns)
        header->init_end_ns = 0;
}

static enum sg_status refuse(struct sg_refusal *refusal, enum sg_status status, const char *reason)
{
    refusal->status = status;
    snprintf(refusal->reason, sizeof refusal->reason, "%s", reason);
    return status;
}

enum sg_status sg_logread_check(struct sg_log_header *header, struct sg_refusal *refusal)
{
    clean_header(header);
    if (memcmp(header->magic, SG_LOG_MAGIC, sizeof header->magic) != 0)
        return refuse(refusal, SG_ERR_FORMAT, "is not a stagger log");
    if (header->version != SG_LOG_VERSION) {
        snprintf(refusal->reason, sizeof refusal->reason,
                 "has log format %" PRIu32 "; this stagger reads format %u", header->version,
                 SG_LOG_VERSION);
        return refusal->status = SG_ERR_VERSION;
    }
    if (header->header_bytes != SG_LOG_HEADER_BYTES || header->slot_bytes != SG_SLOT_BYTES ||
        header->world_size < 1 || header->world_size > SG_WORLD_LIMIT || header->rank < 0 ||
        header->rank >= header->world_size)
        return refuse(refusal, SG_ERR_FORMAT, "has a damaged header");
    return SG_OK;
}

/* Limits the log to the slots that the file contains and the writer can have filled. Slots that the
 * header counts but the file lacks were cut off. */
static void count_slots(struct sg_logread *log)
{
    uint64_t held = (log->map_bytes - SG_LOG_HEADER_BYTES) / SG_SLOT_BYTES;
    uint64_t reserved = atomic_load_explicit(&log->header.next_slot, memory_order_relaxed);
    uint64_t allocated = atomic_load_explicit(&log->header.allocated_slots, memory_order_relaxed);
    uint64_t filled = reserved < allocated ? reserved : allocated;

    log->slot_count = filled < held ? filled : held;
    if (log->slot_count > SLOT_LIMIT)
        log->slot_count = SLOT_LIMIT;
    if (filled > log->slot_count)
        log->damaged = filled < SLOT_LIMIT ? filled - log->slot_count : 1;
}

/* Maps the file, or, if it is still being written, copies its present content. NULL: see errno. */
static const void *map_log(const struct sg_logread *log, int descriptor)
{
    size_t done = 0;
    char *copy;

    if (!log->lives) {
        void *map = mmap(NULL, log->map_bytes, PROT_READ, MAP_SHARED, descriptor, 0);

        return map != MAP_FAILED ? map : NULL;
    }
    copy = mmap(NULL, log->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return NULL;
    while (done < log->map_bytes) {
        ssize_t got = pread(descriptor, copy + done, log->map_bytes - done, (off_t)done);

        if (got <= 0)
            break; /* the writer has cut the file to its used size */
        done += (size_t)got;
    }
    return copy;
}

/* Reads the header and determines how much of the file to read. */
static enum sg_status read_header(struct sg_logread *log, int descriptor,
                                  struct sg_refusal *refusal)
{
    struct stat info;

    if (fstat(descriptor, &info) != 0)
        return refuse(refusal, SG_ERR_SYSTEM, strerror(errno));
    if ((uint64_t)info.st_size < SG_LOG_HEADER_BYTES)
        return refuse(refusal, SG_ERR_FORMAT, "is cut off in its header");
    if (pread(descriptor, &log->header, sizeof log->header, 0) != sizeof log->header)
        return refuse(refusal, SG_ERR_SYSTEM, strerror(errno));
    if (sg_logread_check(&log->header, refusal) != SG_OK)
        return refusal->status;
    log->map_bytes = (size_t)info.st_size;
    count_slots(log);
    log->lives = sg_lock_writer_lives(descriptor, &log->header);
    if (log->lives) /* its file is larger than the used slots */
        log->map_bytes = SG_LOG_HEADER_BYTES + log->slot_count * SG_SLOT_BYTES;
    return SG_OK;
}

enum sg_status sg_logread_try(const char *path, struct sg_logread **out, struct sg_refusal *refusal)
{
    struct sg_logread *log = NULL;
    int descriptor, error = sg_file_open(path, O_NOFOLLOW, &descriptor);

    if (error != 0)
        return refuse(refusal, error < 0 ? SG_ERR_FORMAT : SG_ERR_SYSTEM, sg_file_error(error));
    log = calloc(1, sizeof *log);
    if (log == NULL) {
        refuse(refusal, SG_ERR_MEMORY, sg_status_text(SG_ERR_MEMORY));
        goto err_close;
    }
    if (read_header(log, descriptor, refusal) != SG_OK)
        goto err_free;
    log->map = map_log(log, descriptor);
    if (log->map == NULL) {
        refuse(refusal, SG_ERR_SYSTEM, strerror(errno));
        goto err_free;
    }
    close(descriptor);
    find_last_ns(log);
    *out = log;
    return SG_OK;

err_free:
    free(log);
err_close:
    close(descriptor);
    return refusal->status;
}

struct sg_logread *sg_logread_hold(const struct sg_log_header *header, const void *image,
                                   uint64_t slots, uint64_t damaged, uint64_t last_ns, bool lives)
{
    struct sg_logread *log = calloc(1, sizeof *log);

    if (log == NULL)
        return NULL;
    log->header = *header;
    log->map = image;
    log->slot_count = slots;
    log->damaged = damaged;
    log->judged = slots; /* the caller has counted them */
    log->last_ns = last_ns;
    log->lives = lives;
    log->is_held = true;
    return log;
}

void sg_logread_close(struct sg_logread *log)
{
    if (log == NULL)
        return;
    if (!log->is_held)
        munmap((void *)log->map, log->map_bytes);
    free(log);
}

/* ---- parts in collectives -------------------------------------------------------------------- */

static void read_call(const struct sg_record_call *call, struct sg_recorded_call *out)
{
    *out = (struct sg_recorded_call){
        .call = call,
        .operation = call->operation,
        .algorithm = (uint8_t)sg_executed_algorithm(call->executed),
        .arm = (uint8_t)sg_executed_arm(call->executed),
        .flags = call->flags,
        .thread = call->thread,
        .site = call->site,
        .comm = call->comm,
        .seq = call->seq,
        .root = call->root,
        .slice = call->skew_ns,
        .bytes = call->bytes,
        .begin_ns = call->begin_ns,
        /* Acquire: pairs with the writer's release, which comes after all other fields. */
        .end_ns = atomic_load_explicit(&call->end_ns, memory_order_acquire),
    };
}

/* A thread may record the duration of a call's start only after another thread has completed the
 * request. The start then overlaps a little with the time that follows it. */
static void cut_overlap(struct sg_recorded_call *nonblocking)
{
    if (nonblocking->complete_ns == 0 || !sg_recorded_call_is_sound(nonblocking))
        return;
    if (nonblocking->end_ns > nonblocking->complete_ns)
        nonblocking->end_ns = nonblocking->complete_ns;
    if (nonblocking->exposed_ns > nonblocking->complete_ns - nonblocking->end_ns)
        nonblocking->exposed_ns = nonblocking->complete_ns - nonblocking->end_ns;
}

static void read_nonblocking(const struct sg_record_nonblocking *nonblocking,
                             struct sg_recorded_call *out)
{
    /* Acquire: as in read_call. */
    uint64_t complete_ns = atomic_load_explicit(&nonblocking->end_ns, memory_order_acquire);

    *out = (struct sg_recorded_call){
        .operation = nonblocking->operation,
        .algorithm = (uint8_t)sg_executed_algorithm(nonblocking->executed),
        .arm = (uint8_t)sg_executed_arm(nonblocking->executed),
        .flags = nonblocking->flags,
        .thread = nonblocking->thread,
        .site = nonblocking->site,
        .comm = nonblocking->comm,
        .seq = nonblocking->seq,
        .root = nonblocking->root,
        .slice = (uint64_t)nonblocking->slice_high << 32 | nonblocking->slice_low,
        .bytes = nonblocking->bytes,
        .begin_ns = nonblocking->begin_ns,
        .end_ns = nonblocking->begin_ns + nonblocking->start_ns,
        .complete_ns = complete_ns,
        .exposed_ns = nonblocking->exposed_ns,
        .tests = nonblocking->tests,
    };
    cut_overlap(out);
}

bool sg_recorded_call_read(const void *record, struct sg_recorded_call *out)
{
    uint8_t kind = *(const uint8_t *)record;

    if (kind == SG_RECORD_CALL)
        read_call(record, out);
    else if (kind == SG_RECORD_NONBLOCKING)
        read_nonblocking(record, out);
    else
        return false;
    return true;
}

static bool times_are_sound(uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns > 0 && begin_ns < SG_TIME_LIMIT_NS && end_ns < SG_TIME_LIMIT_NS &&
           (end_ns == 0 || end_ns >= begin_ns);
}

bool sg_recorded_call_is_sound(const struct sg_recorded_call *recorded)
{
    if (recorded->operation >= SG_OPERATION_COUNT ||
        !times_are_sound(recorded->begin_ns, recorded->end_ns))
        return false;
    if (recorded->complete_ns == 0)
        return true;
    return times_are_sound(recorded->begin_ns, recorded->complete_ns) &&
           recorded->exposed_ns <= recorded->complete_ns - recorded->begin_ns;
}

bool sg_late_is_sound(const struct sg_record_late *late)
{
    return late->operation < SG_OPERATION_COUNT && late->avoided_ns <= late->begin_ns &&
           times_are_sound(late->begin_ns,
                           atomic_load_explicit(&late->end_ns, memory_order_acquire));
}

bool sg_event_is_sound(const struct sg_record_event *event)
{
    return times_are_sound(event->begin_ns,
                           atomic_load_explicit(&event->end_ns, memory_order_acquire));
}

bool sg_request_is_sound(const struct sg_record_request *request)
{
    return times_are_sound(request->time_ns, request->time_ns);
}

struct sg_completions sg_completions_of(const void *record, enum sg_record_kind kind)
{
    struct sg_completions completions = {.count = 0};
    unsigned most = 0;

    if (kind == SG_RECORD_EVENT) {
        const struct sg_record_event *event = record;

        completions =
            (struct sg_completions){event->completed, event->completes, event->thread,
                                    atomic_load_explicit(&event->end_ns, memory_order_acquire)};
        most = completions.time_ns > 0 ? SG_EVENT_COMPLETES_MOST : 0;
    } else if (kind == SG_RECORD_COMPLETIONS) {
        const struct sg_record_completions *more = record;

        completions =
            (struct sg_completions){more->completed, more->completes, more->thread, more->time_ns};
        most = SG_COMPLETIONS_MOST;
    }
    if (completions.count > most || !times_are_sound(completions.time_ns, completions.time_ns))
        completions.count = 0;
    return completions;
}

/* Returns the event of a call that posted one message; NULL: there is none in the slot. */
static const struct sg_record_event *post_at(struct sg_logread *log, uint64_t slot)
{
    const struct sg_record_event *event;
    enum sg_record_kind kind;
    uint64_t from = slot;

    event = sg_logread_next(log, &from, &kind);
    return event != NULL && from == slot + 1 && kind == SG_RECORD_EVENT &&
                   (event->flags & SG_EVENT_POSTS) != 0 &&
                   (event->flags & (SG_EVENT_SENDS | SG_EVENT_RECEIVES)) != 0
               ? event
               : NULL;
}

bool sg_completion_read(struct sg_logread *log, const struct sg_completions *completions,
                        unsigned index, struct sg_record_request *out)
{
    const struct sg_record_event *post = post_at(log, completions->slots[index]);
    bool sends;

    if (post == NULL)
        return false;
    sends = (post->flags & SG_EVENT_SENDS) != 0;
    *out = (struct sg_record_request){
        .kind = SG_RECORD_REQUEST,
        .what = sends ? SG_REQUEST_SENT : SG_REQUEST_RECEIVED,
        .thread = completions->thread,
        .site = post->site,
        .comm = post->comm,
        .function = post->function,
        .time_ns = completions->time_ns,
        .request = completions->slots[index],
        .peer = sends ? post->to : post->from,
        .tag = sends ? post->to_tag : post->from_tag,
        .bytes = sends ? post->sent_bytes : post->received_bytes,
    };
    return true;
}

bool sg_interval_is_sound(const struct sg_record_interval *interval)
{
    return interval->begin_ns > 0 && interval->begin_ns <= interval->end_ns &&
           interval->end_ns < SG_TIME_LIMIT_NS;
}

bool sg_slice_is_sound(const struct sg_record_slice *slice)
{
    return times_are_sound(slice->begin_ns, slice->begin_ns + slice->until_ns);
}
