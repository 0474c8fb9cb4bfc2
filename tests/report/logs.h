/* Writes logs by hand, record by record, in the format of shim/trace/record.h. */
#ifndef SG_TESTS_REPORT_LOGS_H
#define SG_TESTS_REPORT_LOGS_H

#include "core/bins.h"
#include "core/text.h"
#include "trace/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct log_writer {
    FILE *file;
    uint64_t slots;
    struct sg_log_header header;
};

static inline void log_begin_at(struct log_writer *log, const char *path, int rank, int ranks,
                                enum sg_trace_mode mode, enum sg_log_state state)
{
    static const char page[SG_LOG_HEADER_BYTES];

    memset(log, 0, sizeof *log);
    log->file = fopen(path, "wb");
    if (log->file == NULL || fwrite(page, sizeof page, 1, log->file) != 1)
        abort();
    memcpy(log->header.magic, SG_LOG_MAGIC, sizeof log->header.magic);
    log->header.version = SG_LOG_VERSION;
    log->header.header_bytes = SG_LOG_HEADER_BYTES;
    log->header.slot_bytes = SG_SLOT_BYTES;
    log->header.rank = rank;
    log->header.world_size = ranks;
    log->header.trace_mode = mode;
    log->header.state = state;
    log->header.thread_count = 1;
    log->header.monotonic_ns = 500;
    log->header.init_begin_ns = 1000;
    log->header.init_end_ns = 1100;
    log->header.finalize_begin_ns = state == SG_LOG_FINALIZED ? 101000 : 0;
    snprintf(log->header.program, sizeof log->header.program, "cg");
    snprintf(log->header.unique, sizeof log->header.unique, "run");
}

static inline void log_begin(struct log_writer *log, const char *directory, int rank, int ranks,
                             enum sg_trace_mode mode, enum sg_log_state state)
{
    char path[8192];

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, rank);
    log_begin_at(log, path, rank, ranks, mode, state);
}

static inline void log_put(struct log_writer *log, const void *record, size_t size_bytes)
{
    if (fwrite(record, size_bytes, 1, log->file) != 1)
        abort();
    log->slots += size_bytes / SG_SLOT_BYTES;
}

static inline void log_put_text(struct log_writer *log, const char *text, size_t text_bytes)
{
    for (uint32_t part = 0; part * SG_CONT_BYTES < text_bytes; part++) {
        struct sg_record_cont cont = {.kind = SG_RECORD_CONT, .part = part};
        size_t left = text_bytes - part * SG_CONT_BYTES;

        memcpy(cont.data, text + part * SG_CONT_BYTES, left < SG_CONT_BYTES ? left : SG_CONT_BYTES);
        log_put(log, &cont, sizeof cont);
    }
}

/* text: "module\0build id\0". */
static inline void log_put_site(struct log_writer *log, uint32_t index, uint32_t id,
                                uint64_t offset, const char *text, size_t text_bytes)
{
    struct sg_record_site site = {.kind = SG_RECORD_SITE,
                                  .depth = 1,
                                  .index = index,
                                  .id = id,
                                  .offset = offset,
                                  .text_bytes = (uint32_t)text_bytes};

    log_put(log, &site, sizeof site);
    log_put_text(log, text, text_bytes);
}

/* text: "function\0file\0". */
static inline void log_put_name(struct log_writer *log, uint32_t id, uint32_t line,
                                const char *text, size_t text_bytes)
{
    struct sg_record_site_name name = {
        .kind = SG_RECORD_SITE_NAME, .id = id, .line = line, .text_bytes = (uint32_t)text_bytes};

    log_put(log, &name, sizeof name);
    log_put_text(log, text, text_bytes);
}

static inline void log_put_comm(struct log_writer *log, uint32_t index, uint32_t root,
                                uint32_t counter, uint32_t size, const char *name)
{
    struct sg_record_comm comm = {.kind = SG_RECORD_COMM,
                                  .index = index,
                                  .root_world_rank = root,
                                  .root_counter = counter,
                                  .size = size,
                                  .parent = UINT32_MAX,
                                  .text_bytes = (uint32_t)strlen(name) + 1};

    log_put(log, &comm, sizeof comm);
    log_put_text(log, name, strlen(name) + 1);
}

/* Adds the statistics of calls that took equally long. */
static inline void log_put_stat(struct log_writer *log, enum sg_operation operation, uint32_t site,
                                uint32_t comm, uint64_t calls, uint64_t bytes, uint64_t blocked_ns)
{
    struct sg_record_stat stat = {.kind = SG_RECORD_STAT,
                                  .operation = operation,
                                  .size_class = sg_size_class(bytes),
                                  .site = site,
                                  .comm = comm,
                                  .calls = calls,
                                  .bytes = bytes,
                                  .blocked_ns = blocked_ns,
                                  .early = calls,
                                  .kind2 = SG_RECORD_CONT,
                                  .kind3 = SG_RECORD_CONT,
                                  .kind4 = SG_RECORD_CONT,
                                  .own_ns = blocked_ns,
                                  .own_min_ns = blocked_ns / calls,
                                  .own_max_ns = blocked_ns / calls,
                                  .own_square =
                                      (double)blocked_ns * (double)blocked_ns / (double)calls,
                                  .signals = 2 * calls};

    log_put(log, &stat, sizeof stat);
}

static inline void log_put_function(struct log_writer *log, uint32_t index, const char *name)
{
    struct sg_record_function function = {
        .kind = SG_RECORD_FUNCTION, .index = index, .text_bytes = (uint32_t)strlen(name) + 1};

    log_put(log, &function, sizeof function);
    log_put_text(log, name, strlen(name) + 1);
}

static inline void log_put_profile_comm(struct log_writer *log, uint32_t index, uint32_t peers,
                                        const char *name)
{
    struct sg_record_profile_comm comm = {.kind = SG_RECORD_PROFILE_COMM,
                                          .index = index,
                                          .peers = peers,
                                          .text_bytes = (uint32_t)strlen(name) + 1};

    log_put(log, &comm, sizeof comm);
    log_put_text(log, name, strlen(name) + 1);
}

/* Returns the statistics of calls at one call site with these times; the caller fills in the
 * rest. */
static inline struct sg_record_profile log_profile(uint32_t site, uint32_t comm, uint32_t function,
                                                   int count, const uint64_t *times_ns)
{
    struct sg_record_profile profile = {.kind = SG_RECORD_PROFILE,
                                        .kind2 = SG_RECORD_CONT,
                                        .site = site,
                                        .comm = comm,
                                        .function = function,
                                        .calls = (uint64_t)count,
                                        .time_min_ns = UINT64_MAX};
    double square = 0;

    for (int i = 0; i < count; i++) {
        profile.time_ns += times_ns[i];
        square += (double)times_ns[i] * (double)times_ns[i];
        if (times_ns[i] < profile.time_min_ns)
            profile.time_min_ns = times_ns[i];
        if (times_ns[i] > profile.time_max_ns)
            profile.time_max_ns = times_ns[i];
    }
    atomic_store(&profile.time_square, square);
    return profile;
}

static inline void log_put_traffic(struct log_writer *log, enum sg_record_kind kind, uint32_t comm,
                                   int32_t peer, uint64_t sent_messages, uint64_t sent_bytes,
                                   uint64_t received_messages, uint64_t received_bytes)
{
    struct sg_record_peer record = {.kind = (uint8_t)kind,
                                    .comm = comm,
                                    .peer = peer,
                                    .sent_messages = sent_messages,
                                    .sent_bytes = sent_bytes,
                                    .received_messages = received_messages,
                                    .received_bytes = received_bytes};

    log_put(log, &record, sizeof record);
}

static inline void log_put_peer(struct log_writer *log, uint32_t comm, int32_t peer,
                                uint64_t sent_messages, uint64_t sent_bytes,
                                uint64_t received_messages, uint64_t received_bytes)
{
    log_put_traffic(log, SG_RECORD_PEER, comm, peer, sent_messages, sent_bytes, received_messages,
                    received_bytes);
}

static inline void log_put_target(struct log_writer *log, uint32_t comm, int32_t peer,
                                  uint64_t puts, uint64_t put_bytes, uint64_t gets,
                                  uint64_t got_bytes)
{
    log_put_traffic(log, SG_RECORD_TARGET, comm, peer, puts, put_bytes, gets, got_bytes);
}

/* Writes a distribution of `count` values; from and until are those of the log's MPI_Init and
 * MPI_Finalize. */
static inline void log_put_distribution(struct log_writer *log, enum sg_distribution of,
                                        uint16_t thread, uint32_t function, int count,
                                        const uint64_t *values)
{
    enum { TO_DOUBLING = 4 };
    uint64_t bins[SG_BINS_COUNT_MOST] = {0};
    struct sg_record_distribution record = {.kind = SG_RECORD_DISTRIBUTION,
                                            .of = (uint8_t)of,
                                            .thread = thread,
                                            .function = function,
                                            .text_bytes = sg_bins_count(TO_DOUBLING) *
                                                          (uint32_t)sizeof bins[0],
                                            .bins = TO_DOUBLING,
                                            .count = (uint64_t)count,
                                            .min = UINT64_MAX,
                                            .from_ns = log->header.init_end_ns,
                                            .until_ns = log->header.finalize_begin_ns};

    for (int i = 0; i < count; i++) {
        record.sum += values[i];
        if (values[i] < record.min)
            record.min = values[i];
        if (values[i] > record.max)
            record.max = values[i];
        bins[sg_bins_index(TO_DOUBLING, values[i])]++;
    }
    log_put(log, &record, sizeof record);
    log_put_text(log, (const char *)bins, record.text_bytes);
}

/* Writes a slice at a node with the values that are known of it; first: of the collectives'
 * numbers. */
static inline void log_put_slice(struct log_writer *log, uint32_t comm, uint32_t node,
                                 const struct sg_slice *slice)
{
    struct sg_record_slice record = {.kind = SG_RECORD_SLICE,
                                     .comm = comm,
                                     .node = node,
                                     .known = slice->known,
                                     .number = slice->number,
                                     .begin_ns = slice->begin_ns,
                                     .since_ns = slice->since_ns,
                                     .first = slice->first,
                                     .kind2 = SG_RECORD_CONT};

    for (unsigned place = 0; place < SG_SLICE_VALUES; place++)
        *sg_record_slice_place(&record, place) = slice->value[place];
    log_put(log, &record, sizeof record);
}

/* Writes the sums of `slices` slices without records, in each of which one metric had this value.
 */
static inline void log_put_slice_sum(struct log_writer *log, uint32_t comm, uint32_t node,
                                     uint64_t slices, enum sg_slice_metric metric, uint64_t value)
{
    struct sg_record_slice_sum record = {
        .kind = SG_RECORD_SLICE_SUM, .comm = comm, .node = node, .slices = slices};
    unsigned at = (unsigned)metric * SG_SLICE_SUMS;

    for (unsigned slot = 0; slot < SG_SLICE_SUM_SLOTS - 1; slot++)
        record.sums[slot].kind = SG_RECORD_CONT;
    sg_figure_write(record.sums, at + SG_SLICE_COUNT, slices);
    sg_figure_write(record.sums, at + SG_SLICE_SUM, slices * value);
    sg_figure_write(record.sums, at + SG_SLICE_MIN, value);
    sg_figure_write(record.sums, at + SG_SLICE_MAX, value);
    log_put(log, &record, sizeof record);
}

static inline void log_end(struct log_writer *log)
{
    log->header.next_slot = log->slots;
    log->header.allocated_slots = log->slots;
    log->header.event_limit_slots = log->slots;
    if (fseek(log->file, 0, SEEK_SET) != 0 ||
        fwrite(&log->header, sizeof log->header, 1, log->file) != 1 || fclose(log->file) != 0)
        abort();
}

#endif
