/* Reads the statistics of all calls from logs, or from the files beside an archive, into a table.
 * Each log is read twice: first its definitions, then the figures, whose indices refer to them.
 */
#include "bcs/recorded_slices.h"
#include "core/bins.h"
#include "core/room.h"
#include "report/between_calls.h"
#include "report/filter.h"
#include "report/profile_table.h"
#include "report/source_stats.h"
#include "trace/export/logread.h"
#include "trace/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_KNOWN UINT32_MAX
#define PATH_BYTES 4096

/* A communicator of the current log. */
struct comm {
    uint32_t index; /* number in the table */
    bool is_world;
    uint32_t members; /* index of its member list, or SG_CALL_NO_MEMBERS */
};

struct reading {
    struct sg_aggregate *aggregate;
    const struct sg_filter *filter;
    struct sg_call_table *table;
    struct sg_call_member_lists members;
    struct sg_log_names *kept_names, own_names; /* kept_names is used unless it is NULL */
    bool takes_whole_ranks;                     /* also takes messages and the figures of MMDS */
    /* The current log: maps from its indices to positions in the arrays, which hold the table's
     * numbers. */
    uint32_t rank;
    struct sg_map site_by_index, function_by_index, comm_by_index;
    struct sg_slices_log slices;
    const struct sg_record_site **site_records;
    uint32_t *sites; /* index in the aggregate; NOT_KNOWN: not looked up yet */
    uint32_t *functions;
    struct comm *comms;
    uint32_t site_count, record_count, function_count, comm_count;
};

static uint64_t load(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static struct sg_log_names *names_of(struct reading *reading)
{
    return reading->kept_names != NULL ? reading->kept_names : &reading->own_names;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static enum sg_status keep_site(struct reading *reading, const struct sg_record_site *record)
{
    if (!SG_APPEND(reading->site_records, reading->record_count, record) ||
        !SG_APPEND(reading->sites, reading->site_count, NOT_KNOWN))
        return SG_ERR_MEMORY;
    return sg_map_put(&reading->site_by_index, record->index, reading->site_count - 1);
}

static enum sg_status keep_function(struct reading *reading, struct sg_logread *log,
                                    const struct sg_record_function *record)
{
    char *name = sg_logread_text(log, record, record->text_bytes);
    enum sg_status status = name != NULL ? SG_OK : SG_ERR_MEMORY;
    uint32_t function;

    if (status == SG_OK)
        status = sg_call_table_function(reading->table, name, &function);
    free(name);
    if (status == SG_OK && !SG_APPEND(reading->functions, reading->function_count, function))
        status = SG_ERR_MEMORY;
    return status == SG_OK
               ? sg_map_put(&reading->function_by_index, record->index, reading->function_count - 1)
               : status;
}

/* The peers of a communicator are its ranks; those of an intercommunicator are the remote group. */
static enum sg_status keep_comm(struct reading *reading, struct sg_logread *log,
                                const struct sg_record_profile_comm *record)
{
    char *name = sg_logread_text(log, record, record->text_bytes);
    enum sg_status status = name != NULL ? SG_OK : SG_ERR_MEMORY;
    struct comm comm = {0};

    if (status == SG_OK) {
        comm.is_world = record->is_world != 0 && !record->is_inter &&
                        record->peers == sg_aggregate_ranks(reading->aggregate);
        status = sg_call_table_comm(reading->table, name, record->peers, &comm.index);
        if (status == SG_OK)
            status = sg_call_members_find(&reading->members, record, name, reading->rank,
                                          sg_aggregate_ranks(reading->aggregate), &comm.members);
    }
    free(name);
    if (status == SG_OK && !SG_APPEND(reading->comms, reading->comm_count, comm))
        status = SG_ERR_MEMORY;
    return status == SG_OK
               ? sg_map_put(&reading->comm_by_index, record->index, reading->comm_count - 1)
               : status;
}

static enum sg_status read_definitions(struct reading *reading, struct sg_logread *log)
{
    enum sg_status status = SG_OK;
    enum sg_record_kind kind;
    const void *record;
    uint64_t slot = 0;

    while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
        if (kind == SG_RECORD_SITE_NAME)
            status = sg_log_names_take(names_of(reading), log, record);
        else if (kind == SG_RECORD_SITE)
            status = keep_site(reading, record);
        else if (kind == SG_RECORD_FUNCTION)
            status = keep_function(reading, log, record);
        else if (kind == SG_RECORD_PROFILE_COMM)
            status = keep_comm(reading, log, record);
        else if (kind == SG_RECORD_COMM)
            status = sg_slices_log_comm(&reading->slices, record);
        else if (kind == SG_RECORD_CLOCK)
            status = sg_slices_log_clock(&reading->slices, record);
    }
    return status;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Finds a site by the log's index. A call whose site is missing from the log goes to the unknown
 * site. */
static enum sg_status find_site(struct reading *reading, struct sg_logread *log, uint32_t index,
                                uint32_t *out)
{
    static const struct sg_site_text unknown;
    int64_t found = sg_map_get(&reading->site_by_index, index);
    enum sg_status status = SG_OK;

    if (found < 0)
        return sg_aggregate_site(reading->aggregate, &unknown, out);
    if (reading->sites[found] == NOT_KNOWN)
        status = sg_log_names_site(names_of(reading), log, reading->site_records[found],
                                   reading->aggregate, &reading->sites[found]);
    *out = reading->sites[found];
    return status;
}

static enum sg_status take_profile(struct reading *reading, struct sg_logread *log,
                                   const struct sg_record_profile *record)
{
    struct sg_call_figures figures = {
        .calls = load(&record->calls),
        .failed = load(&record->failed),
        .time_ns = load(&record->time_ns),
        .min_ns = load(&record->time_min_ns),
        .max_ns = load(&record->time_max_ns),
        .square = atomic_load_explicit(&record->time_square, memory_order_relaxed),
        .sent_bytes = load(&record->sent_bytes),
        .received_bytes = load(&record->received_bytes),
        .completed = load(&record->completed),
        .latency_ns = load(&record->latency_ns),
        .latency_min_ns = load(&record->latency_min_ns),
        .latency_max_ns = load(&record->latency_max_ns)};
    int64_t function = sg_map_get(&reading->function_by_index, record->function);
    int64_t comm = sg_map_get(&reading->comm_by_index, record->comm);
    struct sg_call_place place = {.comm = SG_CALL_NO_COMM};
    enum sg_status status;

    if (function < 0 || figures.calls == 0)
        return SG_OK;
    place.function = reading->functions[function];
    if (comm >= 0)
        place.comm = reading->comms[comm].index;
    status = find_site(reading, log, record->site, &place.site);
    return status == SG_OK
               ? sg_call_table_add(reading->table, &place, reading->rank, record->thread, &figures)
               : status;
}

static enum sg_status take_peer(struct reading *reading, const struct sg_record_peer *record)
{
    struct sg_call_exchange exchange = {.rank = reading->rank,
                                        .peer = (uint32_t)record->peer,
                                        .sent_messages = load(&record->sent_messages),
                                        .sent_bytes = load(&record->sent_bytes),
                                        .received_messages = load(&record->received_messages),
                                        .received_bytes = load(&record->received_bytes)};
    int64_t found = sg_map_get(&reading->comm_by_index, record->comm);
    const struct comm *comm;

    if (found < 0 || !reading->takes_whole_ranks)
        return SG_OK;
    comm = &reading->comms[found];
    if (record->world > 0)
        exchange.peer = record->world - 1;
    if (comm->is_world || record->world > 0)
        return sg_call_table_exchange(reading->table, &exchange);
    if (comm->members != SG_CALL_NO_MEMBERS)
        return sg_call_members_exchange(&reading->members, comm->members, &exchange,
                                        reading->table);
    sg_call_table_others(reading->table, &exchange);
    return SG_OK;
}

static enum sg_status take_target(struct reading *reading, const struct sg_record_peer *record)
{
    const struct sg_call_target target = {.origin = reading->rank,
                                          .target = (uint32_t)record->peer,
                                          .puts = load(&record->sent_messages),
                                          .put_bytes = load(&record->sent_bytes),
                                          .gets = load(&record->received_messages),
                                          .got_bytes = load(&record->received_bytes)};
    int64_t comm = sg_map_get(&reading->comm_by_index, record->comm);

    if (comm < 0 || !reading->takes_whole_ranks)
        return SG_OK;
    if (!reading->comms[comm].is_world && reading->comms[comm].members != SG_CALL_NO_MEMBERS)
        return sg_call_members_add(&reading->members, reading->comms[comm].members, &target);
    if (!reading->comms[comm].is_world) {
        sg_call_table_other_targets(reading->table, &target);
        return SG_OK;
    }
    if (record->peer < 0 || (uint32_t)record->peer >= sg_aggregate_ranks(reading->aggregate))
        return SG_OK;
    return sg_call_table_target(reading->table, &target);
}

/* MMDS follows a rank from the end of MPI_Init, or from MPI_Pcontrol(2), to the begin of
 * MPI_Finalize. It follows a killed rank to the end of its last blocking function. */
static uint64_t followed_ns(const struct sg_log_header *header,
                            const struct sg_record_distribution *record)
{
    uint64_t from_ns = load(&record->from_ns), until_ns = load(&record->until_ns);

    if (header->finalize_begin_ns > 0)
        until_ns = header->finalize_begin_ns;
    return until_ns > from_ns && until_ns < SG_TIME_LIMIT_NS ? until_ns - from_ns : 0;
}

static enum sg_status take_distribution(struct reading *reading, struct sg_logread *log,
                                        const struct sg_record_distribution *record)
{
    struct sg_mmds_distribution distribution = {.of = record->of,
                                                .is_first_thread = record->thread == 0,
                                                .to_doubling = record->bins,
                                                .points = {.count = load(&record->count),
                                                           .sum = load(&record->sum),
                                                           .min = load(&record->min),
                                                           .max = load(&record->max)}};
    int64_t function = sg_map_get(&reading->function_by_index, record->function);
    enum sg_status status;
    char *bins;

    if (!sg_bins_is_valid(record->bins) ||
        record->text_bytes != sg_bins_count(record->bins) * sizeof(uint64_t) ||
        !sg_mmds_is_kind(record->of) || (sg_mmds_is_of_function(record->of) && function < 0))
        return SG_OK;
    if (sg_mmds_is_of_function(record->of))
        distribution.function = reading->functions[function];
    if (record->of == SG_DISTRIBUTION_GRANULARITY && record->thread == 0)
        sg_call_table_follows_rank(reading->table, followed_ns(sg_logread_header(log), record));
    bins = sg_logread_text(log, record, record->text_bytes);
    if (bins == NULL)
        return SG_ERR_MEMORY;
    distribution.bins = (uint64_t *)(void *)bins;
    status = sg_call_table_distribution(reading->table, &distribution);
    free(bins);
    return status;
}

/* An index without a site in the log means before the first call, or MPI_Finalize. */
static enum sg_status find_end(struct reading *reading, struct sg_logread *log, uint32_t index,
                               uint32_t *out)
{
    *out = SG_BEFORE_NO_SITE;
    return sg_map_get(&reading->site_by_index, index) >= 0 ? find_site(reading, log, index, out)
                                                           : SG_OK;
}

static enum sg_status take_interval_sum(struct reading *reading, struct sg_logread *log,
                                        const struct sg_record_interval_sum *record)
{
    struct sg_before_figures figures = {
        .intervals = load(&record->intervals),
        .time_ns = load(&record->time_ns),
        .mask = atomic_load_explicit(&record->mask, memory_order_relaxed)};
    struct sg_before_sums *sums = record->is_before_init != 0
                                      ? sg_call_table_starts(reading->table)
                                      : sg_call_table_before(reading->table);
    uint32_t after, until;
    enum sg_status status;

    if (figures.intervals == 0)
        return SG_OK;
    for (unsigned i = 0; i < SG_FIGURE_COUNT; i++) {
        if ((figures.mask & 1u << i) != 0)
            figures.of[i] = sg_figure_read(record->figures, i);
    }
    status = find_end(reading, log, record->left, &after);
    if (status == SG_OK)
        status = find_end(reading, log, record->entered, &until);
    return status == SG_OK ? sg_before_sums_add(sums, reading->rank, after, until, &figures)
                           : status;
}

static void forget_log(struct reading *reading)
{
    sg_map_clear(&reading->site_by_index);
    sg_map_clear(&reading->function_by_index);
    sg_map_clear(&reading->comm_by_index);
    sg_slices_log_clear(&reading->slices);
    free(reading->site_records);
    free(reading->sites);
    free(reading->functions);
    free(reading->comms);
    reading->site_records = NULL;
    reading->sites = reading->functions = NULL;
    reading->comms = NULL;
    reading->site_count = reading->record_count = 0;
    reading->function_count = reading->comm_count = 0;
}

/* True if all calls were counted. Older logs lack these statistics. */
static bool has_calls(const struct reading *reading, const struct sg_logread *log)
{
    return sg_logread_header(log)->counts_calls != 0 || reading->function_count > 0;
}

static enum sg_status read_log(struct reading *reading, struct sg_logread *log)
{
    enum sg_record_kind kind;
    const void *record;
    enum sg_status status;
    uint64_t slot = 0;

    reading->rank = (uint32_t)sg_logread_header(log)->rank;
    status = read_definitions(reading, log);
    if (status == SG_OK && has_calls(reading, log)) {
        sg_call_table_saw_rank(reading->table, reading->rank,
                               sg_log_ends_ns(sg_logread_header(log)));
        sg_aggregate_threads(reading->aggregate, reading->rank, sg_log_threads(log));
        while (status == SG_OK && (record = sg_logread_next(log, &slot, &kind)) != NULL) {
            if (kind == SG_RECORD_PROFILE)
                status = take_profile(reading, log, record);
            else if (kind == SG_RECORD_PEER)
                status = take_peer(reading, record);
            else if (kind == SG_RECORD_TARGET)
                status = take_target(reading, record);
            else if (kind == SG_RECORD_INTERVAL_SUM)
                status = take_interval_sum(reading, log, record);
            /* A slice covers all call sites, and filters name communicators differently. */
            else if ((kind == SG_RECORD_SLICE || kind == SG_RECORD_SLICE_SUM) &&
                     reading->takes_whole_ranks)
                status = sg_slices_log_take(&reading->slices, log, record, kind,
                                            sg_call_table_slices(reading->table));
            else if (kind == SG_RECORD_DISTRIBUTION && reading->takes_whole_ranks)
                status = take_distribution(reading, log, record);
        }
    }
    forget_log(reading);
    return status;
}

static struct reading begin(struct sg_aggregate *aggregate, const struct sg_filter *filter,
                            struct sg_call_table *table)
{
    return (struct reading){.aggregate = aggregate,
                            .filter = filter,
                            .table = table,
                            .takes_whole_ranks =
                                filter == NULL || (filter->site == NULL && filter->comm == NULL)};
}

static enum sg_status end(struct reading *reading, enum sg_status status)
{
    if (status == SG_OK)
        status = sg_call_members_finish(&reading->members, reading->table);
    sg_call_members_clear(&reading->members);
    sg_log_names_clear(&reading->own_names);
    if (status != SG_OK)
        sg_log("statistics of calls: %s", sg_status_text(status));
    return status;
}

enum sg_status sg_call_source_logs(const struct sg_log_set *set, struct sg_aggregate *aggregate,
                                   const struct sg_filter *filter, struct sg_call_table *table)
{
    struct reading reading = begin(aggregate, filter, table);
    enum sg_status status = SG_OK;

    reading.kept_names = set->names;
    for (int i = 0; i < set->count && status == SG_OK; i++) {
        if (sg_filter_takes_rank(filter, (uint32_t)sg_logread_header(set->logs[i])->rank))
            status = read_log(&reading, set->logs[i]);
    }
    return end(&reading, status);
}

/* ---- files of an archive --------------------------------------------------------------------- */

/* Files that cannot be read, or only in part. */
struct faults {
    uint32_t count;
    char path[PATH_BYTES], reason[128]; /* of the first such file */
};

static void note(struct faults *faults, const char *path, const char *reason)
{
    if (faults->count++ > 0)
        return;
    snprintf(faults->path, sizeof faults->path, "%s", path);
    snprintf(faults->reason, sizeof faults->reason, "%s", reason);
}

static enum sg_status read_file(struct reading *reading, const char *path, uint32_t rank,
                                struct faults *faults)
{
    struct sg_logread *log;
    struct sg_refusal refusal;
    const struct sg_log_header *header;
    enum sg_status status = SG_OK;

    if (sg_logread_try(path, &log, &refusal) != SG_OK) {
        note(faults, path, refusal.reason);
        return SG_OK;
    }
    header = sg_logread_header(log);
    if ((uint32_t)header->rank != rank ||
        (uint32_t)header->world_size != sg_aggregate_ranks(reading->aggregate)) {
        note(faults, path, "of another rank or run");
    } else {
        status = read_log(reading, log);
        if (sg_logread_damaged(log) > 0)
            note(faults, path, "damaged");
    }
    sg_logread_close(log);
    return status;
}

static bool is_any_there(const char *directory, uint32_t ranks)
{
    char path[PATH_BYTES];

    for (uint32_t rank = 0; rank < ranks; rank++) {
        snprintf(path, sizeof path, "%s/" SG_CALLS_NAME_FORMAT, directory, (int)rank);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

enum sg_status sg_call_source_files(const char *anchor, struct sg_aggregate *aggregate,
                                    const struct sg_filter *filter, struct sg_call_table *table)
{
    struct reading reading = begin(aggregate, filter, table);
    struct faults faults = {0};
    enum sg_status status = SG_OK;
    uint32_t ranks = sg_aggregate_ranks(aggregate);
    char directory[PATH_BYTES - 32], path[PATH_BYTES];

    /* The archive's directory has the anchor's name without its extension. */
    if ((size_t)snprintf(directory, sizeof directory, "%.*s",
                         (int)(strlen(anchor) - strlen(".otf2")), anchor) >= sizeof directory ||
        !is_any_there(directory, ranks))
        return SG_OK;
    for (uint32_t rank = 0; rank < ranks && status == SG_OK; rank++) {
        snprintf(path, sizeof path, "%s/" SG_CALLS_NAME_FORMAT, directory, (int)rank);
        if (sg_filter_takes_rank(filter, rank))
            status = read_file(&reading, path, rank, &faults);
    }
    if (faults.count > 0)
        sg_log("%s: %s%s", faults.path, faults.reason,
               faults.count > 1 ? "; others like it: the calls of some ranks are missing"
                                : "; calls of that rank are missing");
    return end(&reading, status);
}
