/* Makes logs by hand, for the tests of their readers: records are put one by one into memory by
 * the format of trace/record.h, then written to DIR/rank-NNNNNN.log. */
#ifndef SG_TESTS_FABRICATE_H
#define SG_TESTS_FABRICATE_H

#include "trace/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fabricated {
    struct sg_log_header header;
    unsigned char *slots;
    size_t count, capacity;
    char path[4096]; /* of the file that fabricate_write makes */
};

static inline void fabricate_start(struct fabricated *log, int rank, int world_size)
{
    memset(log, 0, sizeof *log);
    memcpy(log->header.magic, SG_LOG_MAGIC, sizeof log->header.magic);
    log->header.version = SG_LOG_VERSION;
    log->header.header_bytes = SG_LOG_HEADER_BYTES;
    log->header.slot_bytes = SG_SLOT_BYTES;
    log->header.rank = rank;
    log->header.world_size = world_size;
    log->header.trace_mode = SG_TRACE_OTF2;
    log->header.state = SG_LOG_FINALIZED;
    log->header.thread_count = 1;
    log->header.machine = 77;
    log->header.realtime_ns = UINT64_C(1700000000000000000);
    log->header.monotonic_ns = 1000;
    log->header.init_begin_ns = 900;
    log->header.init_end_ns = 1100;
    strcpy(log->header.host, "fabricated");
    strcpy(log->header.program, "byhand");
    strcpy(log->header.unique, "one-run");
}

/* Returns adjacent zeroed slots, valid until the next ones are asked for. */
static inline void *fabricate_slots(struct fabricated *log, size_t slots)
{
    if (log->count + slots > log->capacity) {
        log->capacity = 2 * (log->count + slots);
        log->slots = realloc(log->slots, log->capacity * SG_SLOT_BYTES);
        if (log->slots == NULL)
            abort();
    }
    void *first = log->slots + log->count * SG_SLOT_BYTES;
    memset(first, 0, slots * SG_SLOT_BYTES);
    log->count += slots;
    return first;
}

/* Adds slots that continue a record with a text. */
static inline void fabricate_text(struct fabricated *log, const void *text, size_t text_bytes)
{
    for (size_t at = 0, part = 0; at < text_bytes; at += SG_CONT_BYTES, part++) {
        struct sg_record_cont *cont = fabricate_slots(log, 1);
        size_t left = text_bytes - at;

        cont->kind = SG_RECORD_CONT;
        cont->part = (uint32_t)part;
        memcpy(cont->data, (const char *)text + at, left < SG_CONT_BYTES ? left : SG_CONT_BYTES);
    }
}

static inline void *fabricate_definition(struct fabricated *log, const void *text,
                                         size_t text_bytes)
{
    size_t first = log->count;

    fabricate_slots(log, 1);
    fabricate_text(log, text, text_bytes);
    return log->slots + first * SG_SLOT_BYTES;
}

static inline struct sg_record_call *fabricate_call(struct fabricated *log, int operation,
                                                    uint32_t comm, uint32_t seq, uint64_t begin_ns,
                                                    uint64_t end_ns)
{
    struct sg_record_call *call = fabricate_slots(log, 1);

    call->kind = SG_RECORD_CALL;
    call->operation = (uint8_t)operation;
    call->comm = comm;
    call->seq = seq;
    call->begin_ns = begin_ns;
    call->end_ns = end_ns;
    call->root = -1;
    return call;
}

/* end_ns 0: never completed. */
static inline struct sg_record_nonblocking *
fabricate_nonblocking(struct fabricated *log, int operation, uint32_t comm, uint32_t seq,
                      uint64_t begin_ns, uint32_t start_ns, uint64_t exposed_ns, uint64_t end_ns)
{
    struct sg_record_nonblocking *nonblocking = fabricate_slots(log, 1);

    nonblocking->kind = SG_RECORD_NONBLOCKING;
    nonblocking->operation = (uint8_t)operation;
    nonblocking->comm = comm;
    nonblocking->seq = seq;
    nonblocking->begin_ns = begin_ns;
    nonblocking->start_ns = start_ns;
    nonblocking->exposed_ns = exposed_ns;
    nonblocking->end_ns = end_ns;
    nonblocking->root = -1;
    return nonblocking;
}

static inline struct sg_record_late *fabricate_late(struct fabricated *log, uint64_t begin_ns,
                                                    uint64_t end_ns)
{
    struct sg_record_late *late = fabricate_slots(log, 1);

    late->kind = SG_RECORD_LATE;
    late->operation = 1;
    late->begin_ns = begin_ns;
    late->end_ns = end_ns;
    return late;
}

static inline void fabricate_site(struct fabricated *log, uint32_t index, uint32_t id,
                                  const char *module, const char *build_id, uint64_t offset)
{
    size_t module_bytes = strlen(module) + 1, text_bytes = module_bytes + strlen(build_id) + 1;
    char text[512];

    memcpy(text, module, module_bytes);
    strcpy(text + module_bytes, build_id);
    struct sg_record_site *site = fabricate_definition(log, text, text_bytes);
    site->kind = SG_RECORD_SITE;
    site->depth = 1;
    site->index = index;
    site->id = id;
    site->offset = offset;
    site->text_bytes = (uint32_t)text_bytes;
}

/* Writes a definition whose text is two strings, each terminated. */
static inline void *fabricate_two_texts(struct fabricated *log, const char *first,
                                        const char *second, uint32_t *text_bytes)
{
    size_t first_bytes = strlen(first) + 1;
    char text[512];

    memcpy(text, first, first_bytes);
    strcpy(text + first_bytes, second);
    *text_bytes = (uint32_t)(first_bytes + strlen(second) + 1);
    return fabricate_definition(log, text, *text_bytes);
}

static inline void fabricate_site_name(struct fabricated *log, uint32_t id, const char *function,
                                       const char *file, uint32_t line)
{
    uint32_t text_bytes;
    struct sg_record_site_name *name = fabricate_two_texts(log, function, file, &text_bytes);

    name->kind = SG_RECORD_SITE_NAME;
    name->id = id;
    name->line = line;
    name->text_bytes = text_bytes;
}

/* Writes a definition with a name, and behind it world ranks; NULL: none. */
static inline void *fabricate_members(struct fabricated *log, const char *name,
                                      const uint32_t *members, uint32_t size, uint32_t *text_bytes)
{
    size_t name_bytes = (strlen(name) + 1 + 3) & ~(size_t)3;
    size_t bytes = name_bytes + (members != NULL ? size * sizeof *members : 0);
    char *text = calloc(1, bytes);

    if (text == NULL)
        abort();
    strcpy(text, name);
    if (members != NULL)
        memcpy(text + name_bytes, members, size * sizeof *members);
    void *record = fabricate_definition(log, text, bytes);
    free(text);
    *text_bytes = (uint32_t)bytes;
    return record;
}

/* members: the world ranks, in the log of the communicator's rank 0; NULL elsewhere. */
static inline struct sg_record_comm *fabricate_comm(struct fabricated *log, uint32_t index,
                                                    uint32_t root_world_rank, uint32_t root_counter,
                                                    uint32_t size, uint32_t rank, const char *name,
                                                    const uint32_t *members)
{
    uint32_t text_bytes;
    struct sg_record_comm *comm = fabricate_members(log, name, members, size, &text_bytes);

    comm->kind = SG_RECORD_COMM;
    comm->has_members = members != NULL;
    comm->index = index;
    comm->root_world_rank = root_world_rank;
    comm->root_counter = root_counter;
    comm->size = size;
    comm->rank = rank;
    comm->parent = UINT32_MAX;
    comm->text_bytes = text_bytes;
    return comm;
}

static inline void fabricate_arm(struct fabricated *log, uint8_t arm, uint8_t trial, uint32_t block,
                                 const char *place, const char *right)
{
    uint32_t text_bytes;
    struct sg_record_arm *record = fabricate_two_texts(log, place, right, &text_bytes);

    record->kind = SG_RECORD_ARM;
    record->arm = arm;
    record->trial = trial;
    record->block = block;
    record->text_bytes = text_bytes;
}

static inline void fabricate_clock(struct fabricated *log, uint64_t local_ns, int64_t offset_ns)
{
    struct sg_record_clock *clock = fabricate_slots(log, 1);

    clock->kind = SG_RECORD_CLOCK;
    clock->local_ns = local_ns;
    clock->offset_ns = offset_ns;
    clock->error_ns = 5;
    clock->deviation_ns = 3;
}

static inline void fabricate_marker(struct fabricated *log, enum sg_marker_kind kind,
                                    uint64_t time_ns, const char *text)
{
    struct sg_record_marker *marker = fabricate_definition(log, text, strlen(text));

    marker->kind = SG_RECORD_MARKER;
    marker->marker = (uint8_t)kind;
    marker->time_ns = time_ns;
    marker->text_bytes = (uint32_t)strlen(text);
}

static inline struct sg_record_stat *fabricate_stat(struct fabricated *log, int operation,
                                                    uint32_t site, uint32_t comm, uint64_t calls)
{
    struct sg_record_stat *stat = fabricate_slots(log, SG_STAT_SLOTS);

    stat->kind = SG_RECORD_STAT;
    stat->kind2 = stat->kind3 = stat->kind4 = SG_RECORD_CONT;
    stat->operation = (uint8_t)operation;
    stat->site = site;
    stat->comm = comm;
    stat->calls = calls;
    return stat;
}

/* ---- records of all calls ------------------------------------------------------------------- */

static inline void fabricate_function(struct fabricated *log, uint32_t index, const char *name)
{
    struct sg_record_function *function = fabricate_definition(log, name, strlen(name) + 1);

    function->kind = SG_RECORD_FUNCTION;
    function->index = index;
    function->text_bytes = (uint32_t)strlen(name) + 1;
}

/* members: as in fabricate_comm. */
static inline struct sg_record_profile_comm *
fabricate_profile_comm(struct fabricated *log, uint32_t index, uint64_t identity, uint32_t ordinal,
                       uint32_t size, uint32_t rank, const char *name, const uint32_t *members)
{
    uint32_t text_bytes;
    struct sg_record_profile_comm *comm = fabricate_members(log, name, members, size, &text_bytes);

    comm->kind = SG_RECORD_PROFILE_COMM;
    comm->has_members = members != NULL;
    comm->index = index;
    comm->identity = identity;
    comm->ordinal = ordinal;
    comm->size = comm->peers = size;
    comm->rank = rank;
    comm->is_world = strcmp(name, "MPI_COMM_WORLD") == 0;
    comm->text_bytes = text_bytes;
    return comm;
}

/* end_ns 0: still open. The caller fills in its message, if any. */
static inline struct sg_record_event *fabricate_event(struct fabricated *log, uint32_t function,
                                                      uint32_t comm, uint64_t begin_ns,
                                                      uint64_t end_ns)
{
    struct sg_record_event *event = fabricate_slots(log, 1);

    event->kind = SG_RECORD_EVENT;
    event->function = function;
    event->comm = comm;
    event->begin_ns = begin_ns;
    event->end_ns = end_ns;
    event->to = event->to_tag = event->from = event->from_tag = -1;
    return event;
}

static inline void fabricate_sent(struct sg_record_event *event, int to, int tag, uint64_t bytes)
{
    event->flags |= SG_EVENT_SENDS;
    event->to = to;
    event->to_tag = tag;
    event->sent_bytes = bytes;
}

static inline void fabricate_received(struct sg_record_event *event, int from, int tag,
                                      uint64_t bytes)
{
    event->flags |= SG_EVENT_RECEIVES;
    event->from = from;
    event->from_tag = tag;
    event->received_bytes = bytes;
}

static inline void fabricate_window(struct fabricated *log, uint32_t index, uint32_t comm,
                                    uint32_t ordinal, const char *name)
{
    struct sg_record_window *window = fabricate_definition(log, name, strlen(name) + 1);

    window->kind = SG_RECORD_WINDOW;
    window->index = index;
    window->comm = comm;
    window->ordinal = ordinal;
    window->text_bytes = (uint32_t)strlen(name) + 1;
}

/* Returns the slot of the last record made: the number of the request that it begins. */
static inline uint64_t fabricate_last(const struct fabricated *log)
{
    return log->count - 1;
}

static inline struct sg_record_request *fabricate_request(struct fabricated *log, int what,
                                                          uint32_t comm, uint64_t time_ns,
                                                          uint64_t request)
{
    struct sg_record_request *record = fabricate_slots(log, 1);

    record->kind = SG_RECORD_REQUEST;
    record->what = (uint8_t)what;
    record->comm = comm;
    record->time_ns = time_ns;
    record->request = request;
    record->peer = record->tag = -1;
    return record;
}

/* Returns the bytes of the file, malloc'ed. */
static inline unsigned char *fabricate_bytes(struct fabricated *log, size_t *size_bytes)
{
    *size_bytes = SG_LOG_HEADER_BYTES + log->count * SG_SLOT_BYTES;
    unsigned char *bytes = calloc(1, *size_bytes);
    if (bytes == NULL)
        abort();
    log->header.next_slot = log->count;
    log->header.allocated_slots = log->count;
    memcpy(bytes, &log->header, sizeof log->header);
    if (log->count > 0)
        memcpy(bytes + SG_LOG_HEADER_BYTES, log->slots, log->count * SG_SLOT_BYTES);
    return bytes;
}

static inline void fabricate_file(const char *path, const void *bytes, size_t size_bytes)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(bytes, 1, size_bytes, file) != size_bytes || fclose(file) != 0)
        abort();
}

static inline void fabricate_free(struct fabricated *log)
{
    free(log->slots);
    log->slots = NULL;
}

/* Writes the log to its path and forgets it. */
static inline void fabricate_write(struct fabricated *log)
{
    size_t size_bytes;
    unsigned char *bytes = fabricate_bytes(log, &size_bytes);

    fabricate_file(log->path, bytes, size_bytes);
    free(bytes);
    fabricate_free(log);
}

/* ... into a directory. */
static inline void fabricate_finish(struct fabricated *log, const char *directory)
{
    snprintf(log->path, sizeof log->path, "%s/" SG_LOG_NAME_FORMAT, directory, log->header.rank);
    fabricate_write(log);
}

#endif
