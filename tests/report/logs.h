/* Writes logs by hand, record by record, in the format of shim/trace/record.h. */
#ifndef SG_TESTS_REPORT_LOGS_H
#define SG_TESTS_REPORT_LOGS_H

#include "core/bins.h"
#include "core/text.h"
#include "trace/fabricate.h"

static inline void log_begin_at(struct fabricated *log, const char *path, int rank, int ranks,
                                enum sg_trace_mode mode, enum sg_log_state state)
{
    fabricate_start(log, rank, ranks);
    snprintf(log->path, sizeof log->path, "%s", path);
    log->header.trace_mode = mode;
    log->header.state = state;
    log->header.monotonic_ns = 500;
    log->header.init_begin_ns = 1000;
    log->header.finalize_begin_ns = state == SG_LOG_FINALIZED ? 101000 : 0;
    strcpy(log->header.program, "cg");
}

static inline void log_begin(struct fabricated *log, const char *directory, int rank, int ranks,
                             enum sg_trace_mode mode, enum sg_log_state state)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, rank);
    log_begin_at(log, path, rank, ranks, mode, state);
}

static inline void log_put(struct fabricated *log, const void *record, size_t size_bytes)
{
    memcpy(fabricate_slots(log, size_bytes / SG_SLOT_BYTES), record, size_bytes);
}

/* Adds the statistics of calls that took equally long. */
static inline void log_put_stat(struct fabricated *log, enum sg_operation operation, uint32_t site,
                                uint32_t comm, uint64_t calls, uint64_t bytes, uint64_t blocked_ns)
{
    struct sg_record_stat *stat = fabricate_stat(log, operation, site, comm, calls);

    stat->size_class = sg_size_class(bytes);
    stat->bytes = bytes;
    stat->blocked_ns = stat->own_ns = blocked_ns;
    stat->own_min_ns = stat->own_max_ns = blocked_ns / calls;
    stat->own_square = (double)blocked_ns * (double)blocked_ns / (double)calls;
    stat->early = calls;
    stat->signals = 2 * calls;
}

static inline void log_put_profile_comm(struct fabricated *log, uint32_t index, uint32_t peers,
                                        const char *name)
{
    fabricate_profile_comm(log, index, 0, 0, peers, 0, name, NULL)->size = 0;
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

static inline void log_put_traffic(struct fabricated *log, enum sg_record_kind kind, uint32_t comm,
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

static inline void log_put_peer(struct fabricated *log, uint32_t comm, int32_t peer,
                                uint64_t sent_messages, uint64_t sent_bytes,
                                uint64_t received_messages, uint64_t received_bytes)
{
    log_put_traffic(log, SG_RECORD_PEER, comm, peer, sent_messages, sent_bytes, received_messages,
                    received_bytes);
}

static inline void log_put_target(struct fabricated *log, uint32_t comm, int32_t peer,
                                  uint64_t puts, uint64_t put_bytes, uint64_t gets,
                                  uint64_t got_bytes)
{
    log_put_traffic(log, SG_RECORD_TARGET, comm, peer, puts, put_bytes, gets, got_bytes);
}

/* Writes a distribution of `count` values; from and until are those of the log's MPI_Init and
 * MPI_Finalize. */
static inline void log_put_distribution(struct fabricated *log, enum sg_distribution of,
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
    fabricate_text(log, (const char *)bins, record.text_bytes);
}

/* Writes a slice at a node with the values that are known of it; first: of the collectives'
 * numbers. */
static inline void log_put_slice(struct fabricated *log, uint32_t comm, uint32_t node,
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
static inline void log_put_slice_sum(struct fabricated *log, uint32_t comm, uint32_t node,
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

static inline void log_end(struct fabricated *log)
{
    log->header.event_limit_slots = log->count;
    fabricate_write(log);
}

#endif
