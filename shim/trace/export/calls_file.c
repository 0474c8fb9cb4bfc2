#include "trace/export/archive.h"

#include "core/file.h"
#include "trace/export/logread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS_AT_A_TIME 1024u

/* A file being written. error: the first one. */
struct writer {
    int file;
    int error;
    uint64_t at_bytes; /* position of the next write */
    uint64_t slots;
    size_t held; /* slots that are not written yet */
    unsigned char buffer[SLOTS_AT_A_TIME * SG_SLOT_BYTES];
};

static void put(struct writer *writer, const void *data, size_t size_bytes)
{
    if (writer->error == 0)
        writer->error = sg_file_write(writer->file, writer->at_bytes, data, size_bytes);
    writer->at_bytes += size_bytes;
}

static void put_held(struct writer *writer)
{
    put(writer, writer->buffer, writer->held * SG_SLOT_BYTES);
    writer->held = 0;
}

static void put_record(struct writer *writer, const unsigned char *record, uint64_t slots)
{
    for (uint64_t slot = 0; slot < slots; slot++) {
        memcpy(writer->buffer + writer->held++ * SG_SLOT_BYTES, record + slot * SG_SLOT_BYTES,
               SG_SLOT_BYTES);
        if (writer->held == SLOTS_AT_A_TIME)
            put_held(writer);
    }
    writer->slots += slots;
}

static bool is_kept(enum sg_record_kind kind)
{
    return kind == SG_RECORD_SITE || kind == SG_RECORD_SITE_NAME || kind == SG_RECORD_FUNCTION ||
           kind == SG_RECORD_PROFILE || kind == SG_RECORD_PROFILE_COMM || kind == SG_RECORD_PEER ||
           kind == SG_RECORD_TARGET || kind == SG_RECORD_DISTRIBUTION || kind == SG_RECORD_COMM ||
           kind == SG_RECORD_CLOCK || kind == SG_RECORD_SLICE || kind == SG_RECORD_SLICE_SUM ||
           kind == SG_RECORD_INTERVAL_SUM || kind == SG_RECORD_CAUSES || kind == SG_RECORD_SOURCE;
}

/* True if the log counts all calls, even if there were none. */
static bool counts_calls(struct sg_logread *log)
{
    enum sg_record_kind kind;
    uint64_t slot = 0;

    if (sg_logread_header(log)->counts_calls != 0)
        return true;
    while (sg_logread_next(log, &slot, &kind) != NULL) {
        if (kind == SG_RECORD_PROFILE)
            return true;
    }
    return false;
}

static void put_records(struct writer *writer, struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while ((record = sg_logread_next(log, &slot, &kind)) != NULL && writer->error == 0) {
        if (is_kept(kind))
            put_record(writer, record, sg_logread_slots(log, record, kind));
    }
    put_held(writer);
}

/* Called twice: only the second call knows the number of slots. */
static void put_header(struct writer *writer, const struct sg_logread *log)
{
    unsigned char page[SG_LOG_HEADER_BYTES] = {0};
    struct sg_log_header header = *sg_logread_header(log);

    atomic_store_explicit(&header.next_slot, writer->slots, memory_order_relaxed);
    atomic_store_explicit(&header.allocated_slots, writer->slots, memory_order_relaxed);
    header.is_locked = 0;
    header.pid_start = 0;
    memcpy(page, &header, sizeof header);
    put(writer, page, sizeof page);
}

int sg_calls_file_write(const struct sg_files *files, struct sg_logread *log)
{
    struct writer *writer;
    int error;

    if (!counts_calls(log))
        return 0;
    writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return ENOMEM;
    writer->error = sg_files_create_calls(files, sg_logread_header(log)->rank, &writer->file);
    if (writer->error == 0) {
        put_header(writer, log);
        put_records(writer, log);
        writer->at_bytes = 0;
        put_header(writer, log);
        error = sg_files_close(files, writer->file);
        if (writer->error == 0)
            writer->error = error;
    }
    error = writer->error;
    free(writer);
    return error;
}
