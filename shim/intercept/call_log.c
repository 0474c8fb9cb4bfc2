/* Writes the records of collectives and of engine events, and keeps the statistics of like calls
 * (call_log.h). Starts and finishes the modules that handle calls, in MPI_Init and MPI_Finalize
 * (sg_calls). A reader may read a record while it is open: its end is stored last.
 */
#include "intercept/call_log.h"

#include "bcs/live/emds.h"
#include "bcs/live/sliced.h"
#include "causes/causes.h"
#include "core/account.h"
#include "core/clock.h"
#include "core/tick.h"
#include "intercept/choose.h"
#include "intercept/comm_setup.h"
#include "intercept/past.h"
#include "intercept/test_loop.h"
#include "internode/request.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"
#include "profile/events.h"
#include "profile/mmds.h"
#include "progress/progress.h"
#include "runtime/settings.h"
#include "wait/processors.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_failed(void)
{
    atomic_fetch_add_explicit(&sg_log_header(sg_process.log)->failed_calls, 1,
                              memory_order_relaxed);
}

static uint8_t flags_of(const struct sg_call *call)
{
    return call->send == MPI_IN_PLACE && call->operation != SG_OPERATION_BARRIER ? SG_CALL_IN_PLACE
                                                                                 : 0;
}

static enum sg_function function_of(const struct sg_call *call)
{
    static const enum sg_function functions[SG_OPERATION_COUNT][2] = {
        [SG_OPERATION_BARRIER] = {SG_FUNCTION_Barrier, SG_FUNCTION_Ibarrier},
        [SG_OPERATION_REDUCE] = {SG_FUNCTION_Reduce_c, SG_FUNCTION_Ireduce_c},
        [SG_OPERATION_ALLREDUCE] = {SG_FUNCTION_Allreduce_c, SG_FUNCTION_Iallreduce_c},
        [SG_OPERATION_BCAST] = {SG_FUNCTION_Bcast_c, SG_FUNCTION_Ibcast_c},
    };

    return functions[call->operation][call->request != NULL];
}

/* Sets the fields that records of blocking and nonblocking calls share. */
#define DESCRIBE(record, call, site_index, comm_index, sequence, begin)                            \
    ((record)->operation = (uint8_t)(call)->operation, (record)->flags = flags_of(call),           \
     (record)->site = (site_index), (record)->comm = (comm_index),                                 \
     (record)->thread = sg_thread_number(), (record)->begin_ns = (begin),                          \
     (record)->bytes = (call)->bytes, (record)->seq = (sequence), (record)->root = (call)->root)

static bool has_events(const struct sg_call *call)
{
    return (sg_profile_sight(function_of(call)) & SG_SIGHT_EVENT) != 0;
}

bool sg_call_log_counts(const struct sg_call *call)
{
    return (sg_profile_sight(function_of(call)) & SG_SIGHT_COUNTED) != 0;
}

/* ---- statistics ----
 *
 * One thread at a time writes entries of a communicator (MPI forbids concurrent collectives on
 * one), so plain loads and stores suffice; they are atomic for the readers. Only making an entry
 * takes the lock.
 */

static struct sg_pointer_table table; /* key_of -> entry in the log */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Identifies an entry. */
struct entry {
    uint32_t site, comm;
    int operation, executed;
    uint8_t size_class;
    bool nonblocking;
};

/* Never 0: the size class is stored plus one. */
static uint64_t key_of(const struct entry *entry)
{
    return (uint64_t)entry->site << 44 ^ (uint64_t)entry->comm << 20 ^
           (uint64_t)entry->nonblocking << 18 ^ (uint64_t)entry->operation << 16 ^
           (uint64_t)entry->executed << 8 ^ (uint64_t)(entry->size_class + 1u);
}

/* Returns the entry, making it if necessary; NULL if the table or the disk is full: such calls
 * count as unmanaged. */
static struct sg_record_stat *add_entry(uint64_t key, const struct entry *entry)
{
    struct sg_record_stat *stat;

    pthread_mutex_lock(&lock);
    stat = sg_pointer_table_find(&table, key);
    if (stat == NULL && !sg_pointer_table_is_full(&table)) {
        stat = sg_log_entry(sg_process.log, SG_STAT_SLOTS);
        if (stat != NULL) {
            stat->operation = (uint8_t)entry->operation;
            stat->executed = (uint8_t)entry->executed;
            stat->size_class = entry->size_class;
            stat->site = entry->site;
            stat->comm = entry->comm;
            stat->nonblocking = entry->nonblocking;
            sg_log_publish(stat, SG_RECORD_STAT);
            sg_pointer_table_add(&table, key, stat);
        }
    }
    pthread_mutex_unlock(&lock);
    return stat;
}

static void add_to(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                          memory_order_relaxed);
}

static void raise_to(_Atomic uint64_t *maximum, uint64_t value)
{
    if (value > atomic_load_explicit(maximum, memory_order_relaxed))
        atomic_store_explicit(maximum, value, memory_order_relaxed);
}

/* Returns the entry of a call; NULL: it has none. */
static struct sg_record_stat *entry_of(const struct sg_call *call, struct sg_site *site,
                                       uint32_t comm, int executed)
{
    /* Acquire: pairs with the store below; an entry's identity never changes. */
    struct sg_record_stat *stat =
        atomic_load_explicit(&site->last[call->operation], memory_order_acquire);
    struct entry entry = {
        site->index,          comm, call->operation, executed, sg_size_class(call->bytes),
        call->request != NULL};
    uint64_t key;

    if (stat != NULL && stat->comm == comm && stat->executed == executed &&
        stat->size_class == entry.size_class && stat->nonblocking == entry.nonblocking)
        return stat;
    key = key_of(&entry);
    stat = sg_pointer_table_find(&table, key);
    if (stat == NULL)
        stat = add_entry(key, &entry);
    if (stat != NULL)
        atomic_store_explicit(&site->last[call->operation], stat, memory_order_release);
    return stat;
}

/* before: earlier calls. */
static void lower_to(_Atomic uint64_t *minimum, uint64_t before, uint64_t value)
{
    if (before == 0 || value < atomic_load_explicit(minimum, memory_order_relaxed))
        atomic_store_explicit(minimum, value, memory_order_relaxed);
}

static void add_own(struct sg_record_stat *stat, uint64_t own_ns)
{
    double square = (double)own_ns * (double)own_ns;

    lower_to(&stat->own_min_ns, atomic_load_explicit(&stat->calls, memory_order_relaxed), own_ns);
    raise_to(&stat->own_max_ns, own_ns);
    add_to(&stat->own_ns, own_ns);
    atomic_store_explicit(&stat->own_square,
                          atomic_load_explicit(&stat->own_square, memory_order_relaxed) + square,
                          memory_order_relaxed);
}

static void add(struct sg_record_stat *stat, const struct sg_call *call,
                const struct sg_call_statistics *statistics, uint64_t own_ns, uint64_t blocked_ns)
{
    if (stat == NULL) {
        struct sg_log_header *header = sg_log_header(sg_process.log);

        atomic_fetch_add_explicit(&header->unmanaged_calls, 1, memory_order_relaxed);
        if (sg_pointer_table_is_full(&table))
            atomic_fetch_add_explicit(&header->unmanaged_full, 1, memory_order_relaxed);
        return;
    }
    add_own(stat, own_ns);
    add_to(&stat->calls, 1);
    add_to(&stat->bytes, call->bytes);
    add_to(&stat->blocked_ns, blocked_ns);
    raise_to(&stat->blocked_max_ns, blocked_ns);
    if (sg_executed_algorithm(statistics->executed) == SG_ALGORITHM_MPICH)
        return;
    add_to(&stat->early, statistics->early);
    add_to(&stat->late, statistics->late);
    add_to(&stat->signals, statistics->signals);
    add_to(&stat->stalls, statistics->stalls);
    add_to(&stat->copies, statistics->copies);
    add_to(&stat->ignored, statistics->ignored);
    add_to(&stat->moves, statistics->moves);
    add_to(&stat->repeats, statistics->repeats);
    add_to(&stat->handler_ns, statistics->handler_ns);
    raise_to(&stat->outstanding_max, statistics->outstanding);
    if (statistics->skew_known) {
        add_to(&stat->skew_ns, statistics->skew_ns);
        add_to(&stat->skew_calls, 1);
        raise_to(&stat->skew_max_ns, statistics->skew_ns);
    }
}

/* Adds one call. comm: index in this log. */
static void add_blocking(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                         const struct sg_call_statistics *statistics, uint64_t blocked_ns)
{
    add(entry_of(call, site, comm, statistics->executed), call, statistics, blocked_ns, blocked_ns);
}

/* Times of a nonblocking call: in the call that starts it, in waits and tests, and the rest until
 * its completion. */
struct nonblocking_times {
    uint64_t start_ns, exposed_ns, hidden_ns;
};

/* Adds a nonblocking call when its request completes. Threads that complete requests of one
 * communicator take turns. */
static void add_nonblocking(const struct sg_call *call, struct sg_site *site, uint32_t comm,
                            const struct sg_call_statistics *statistics,
                            const struct nonblocking_times *times)
{
    struct sg_record_stat *stat = entry_of(call, site, comm, statistics->executed);
    uint64_t latency_ns = times->start_ns + times->exposed_ns + times->hidden_ns;

    if (stat != NULL) {
        lower_to(&stat->latency_min_ns, atomic_load_explicit(&stat->calls, memory_order_relaxed),
                 latency_ns);
        raise_to(&stat->latency_max_ns, latency_ns);
    }
    add(stat, call, statistics, times->start_ns, times->start_ns + times->exposed_ns);
    if (stat != NULL)
        add_to(&stat->hidden_ns, times->hidden_ns);
}

#define COUNTER(name) #name, offsetof(struct sg_record_stat, name)

/* The counters of an entry in the order of their columns. */
static const struct {
    const char *name;
    size_t offset;
} counters[] = {{COUNTER(calls)},          {COUNTER(bytes)},           {COUNTER(blocked_ns)},
                {COUNTER(blocked_max_ns)}, {COUNTER(early)},           {COUNTER(late)},
                {COUNTER(signals)},        {COUNTER(stalls)},          {COUNTER(copies)},
                {COUNTER(skew_ns)},        {COUNTER(skew_calls)},      {COUNTER(skew_max_ns)},
                {COUNTER(ignored)},        {COUNTER(moves)},           {COUNTER(repeats)},
                {COUNTER(handler_ns)},     {COUNTER(outstanding_max)}, {COUNTER(hidden_ns)},
                {COUNTER(own_ns)},         {COUNTER(own_min_ns)},      {COUNTER(own_max_ns)},
                {COUNTER(latency_min_ns)}, {COUNTER(latency_max_ns)}};
#define COUNTER_COUNT (sizeof counters / sizeof *counters)

static _Atomic uint64_t *counter_of(struct sg_record_stat *stat, size_t i)
{
    return (_Atomic uint64_t *)(void *)((unsigned char *)stat + counters[i].offset);
}

void sg_statistics_reset(void)
{
    for (unsigned i = 0; i < SG_POINTER_TABLE_SLOTS; i++) {
        struct sg_record_stat *stat = sg_pointer_table_at(&table, i);

        if (stat == NULL)
            continue;
        for (size_t c = 0; c < COUNTER_COUNT; c++)
            atomic_store_explicit(counter_of(stat, c), 0, memory_order_relaxed);
        atomic_store_explicit(&stat->own_square, 0, memory_order_relaxed);
    }
}

void sg_statistics_write(void)
{
    static atomic_uint count;
    char *path;
    FILE *file;

    if (sg_process.log == NULL || asprintf(&path, "%s/interim-%06d-%u.csv", sg_process.directory,
                                           sg_process.rank, atomic_fetch_add(&count, 1) + 1) < 0)
        return;
    file = fopen(path, "wxe");
    if (file == NULL) {
        sg_log("cannot write %s: %m", path);
        free(path);
        return;
    }
    fputs("rank,operation,algorithm,arm,site,comm,size_class", file);
    for (size_t c = 0; c < COUNTER_COUNT; c++)
        fprintf(file, ",%s", counters[c].name);
    fputc('\n', file);
    for (unsigned i = 0; i < SG_POINTER_TABLE_SLOTS; i++) {
        struct sg_record_stat *stat = sg_pointer_table_at(&table, i);

        if (stat == NULL)
            continue;
        fprintf(file, "%d,%s,%s,%d,%u,%u,%u", sg_process.rank,
                stat->nonblocking ? sg_operation_nonblocking_names[stat->operation]
                                  : sg_operation_names[stat->operation],
                sg_algorithms[sg_executed_algorithm(stat->executed)].name,
                sg_executed_arm(stat->executed), stat->site, stat->comm, stat->size_class);
        for (size_t c = 0; c < COUNTER_COUNT; c++)
            fprintf(file, ",%" PRIu64,
                    atomic_load_explicit(counter_of(stat, c), memory_order_relaxed));
        fputc('\n', file);
    }
    if (ferror(file) | fclose(file))
        sg_log("cannot write %s: %m", path);
    free(path);
}

/* ---- a blocking call ---- */

void sg_call_log_enter(const struct sg_call *call, const struct sg_site *site,
                       const struct sg_profile_comm *comm, uint64_t begin_ns)
{
    bool is_ordered = comm != NULL && (sg_profile_sight(function_of(call)) & SG_SIGHT_NOTED) != 0;
    struct sg_record_thread *own = sg_present_enter();

    own->operation = (uint8_t)(call->operation + 1);
    own->begin_ns = begin_ns;
    own->site = site->index;
    own->function = UINT32_MAX;
    own->comm = comm != NULL ? comm->index : 0;
    own->order = is_ordered ? sg_profile_comm_last(comm) + 2 : 0;
    own->to = call->root;
    own->to_tag = own->from = own->from_tag = SG_NOBODY;
    sg_present_entered(own);
}

struct sg_record_call *sg_call_log_begin(struct sg_call *call, const struct sg_site *site,
                                         const struct sg_comm *comm, uint64_t begin_ns)
{
    uint32_t seq = atomic_load_explicit(&comm->seq, memory_order_relaxed);
    struct sg_record_call *record;

    if (!has_events(call))
        return NULL;
    call->name = (struct sg_call_name){true, site->index, comm->index, seq};
    record = sg_log_event_growing(sg_process.log);
    if (record == NULL)
        return NULL;
    DESCRIBE(record, call, site->index, comm->index, seq, begin_ns);
    sg_log_publish(record, SG_RECORD_CALL);
    sg_events_open = record;
    return record;
}

static uint8_t byte(uint32_t count)
{
    return (uint8_t)(count < UINT8_MAX ? count : UINT8_MAX);
}

static uint16_t word(uint32_t count)
{
    return (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
}

static void end_record(struct sg_record_call *record, uint64_t bytes,
                       const struct sg_call_statistics *statistics, int error, uint64_t end_ns)
{
    record->bytes = bytes;
    record->early = word(statistics->early);
    record->late = word(statistics->late);
    record->signals = word(statistics->signals);
    record->ignored = byte(statistics->ignored);
    record->stalls = byte(statistics->stalls);
    record->copies = byte(statistics->copies);
    record->outstanding = byte(statistics->outstanding);
    record->moves = word(statistics->moves);
    record->repeats = word(statistics->repeats);
    record->skew_ns =
        statistics->skew_ns < SG_CALL_WIDE_MAX ? statistics->skew_ns : SG_CALL_WIDE_MAX;
    if (statistics->slice > 0) {
        record->skew_ns = (statistics->slice - 1) & SG_CALL_WIDE_MAX;
        record->flags |= SG_CALL_SLICE;
    }
    record->executed = statistics->executed;
    if (statistics->skew_known)
        record->flags |= SG_CALL_SKEW;
    if (error != MPI_SUCCESS)
        record->flags |= SG_CALL_FAILED;
    /* Release: a reader that sees the end sees the whole record. */
    atomic_store_explicit(&record->end_ns, end_ns, memory_order_release);
    sg_events_open = NULL;
}

/* Bytes: what a rank contributes, and the most that it receives. */
static struct sg_profile_sample sample_of(const struct sg_call *call, int error, uint64_t time_ns)
{
    return (struct sg_profile_sample){.function = function_of(call),
                                      .failed = error != MPI_SUCCESS,
                                      .time_ns = time_ns,
                                      .moved = {.sent_bytes = call->bytes}};
}

void sg_call_log_end(struct sg_record_call *record, const struct sg_call *call,
                     struct sg_site *site, const struct sg_comm *comm,
                     const struct sg_call_statistics *statistics, int error, uint64_t begin_ns,
                     uint64_t end_ns)
{
    /* If another record is open, an error handler's calls have settled this one. */
    if (record != NULL && record == sg_events_open)
        end_record(record, call->bytes, statistics, error, end_ns);
    sg_account_mark(SG_ACCOUNT_RECORDED);
    if (error == MPI_SUCCESS)
        add_blocking(call, site, comm->index, statistics, end_ns - begin_ns);
    else
        count_failed();
    if (sg_mmds_counts()) {
        const struct sg_profile_sample sample = sample_of(call, error, end_ns - begin_ns);

        sg_mmds_add_collective(&sample, begin_ns,
                               sg_stack_is_held(&sg_stack_outermost, __builtin_frame_address(0)));
    }
    sg_account_mark(SG_ACCOUNT_COUNTED);
}

/* ---- a nonblocking call ---- */

/* A nonblocking call that has not completed. */
struct nonblocking {
    struct sg_call call;
    struct sg_site *site;
    uint32_t comm;
    uint64_t begin_ns;
    struct sg_call_statistics statistics;
    struct sg_record_nonblocking *record; /* NULL: statistics only */
};

/* Several threads may complete requests of one communicator at once. */
static pthread_mutex_t statistics_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t duration(uint64_t ns)
{
    return (uint32_t)(ns < UINT32_MAX ? ns : UINT32_MAX);
}

static void put_slice(struct sg_record_nonblocking *record, uint64_t slice)
{
    if (slice == 0)
        return;
    record->slice_low = (uint32_t)(slice - 1);
    record->slice_high = (uint16_t)((slice - 1) >> 32);
    record->flags |= SG_CALL_SLICE;
}

static void on_completed(void *context, const struct sg_request_times *times)
{
    struct nonblocking *nonblocking = context;
    const struct nonblocking_times parts = {.start_ns = times->started_ns - nonblocking->begin_ns,
                                            .exposed_ns = times->exposed_ns,
                                            .hidden_ns = times->completed_ns - times->started_ns -
                                                         times->exposed_ns};

    if (sg_process.log != NULL) { /* not after MPI_Finalize */
        if (nonblocking->record != NULL) {
            nonblocking->record->tests = word(times->tests);
            nonblocking->record->start_ns = duration(parts.start_ns);
            nonblocking->record->exposed_ns = times->exposed_ns;
            put_slice(nonblocking->record, times->slice);
            /* Release: a reader that sees the end sees the whole record. */
            atomic_store_explicit(&nonblocking->record->end_ns, times->completed_ns,
                                  memory_order_release);
        }
        pthread_mutex_lock(&statistics_lock);
        add_nonblocking(&nonblocking->call, nonblocking->site, nonblocking->comm,
                        &nonblocking->statistics, &parts);
        pthread_mutex_unlock(&statistics_lock);
        if (sg_mmds_counts())
            sg_mmds_add_completion(function_of(&nonblocking->call),
                                   times->completed_ns - nonblocking->begin_ns,
                                   nonblocking->call.bytes);
    }
    free(nonblocking);
}

static struct sg_record_nonblocking *begin_nonblocking(const struct nonblocking *nonblocking,
                                                       const struct sg_internode_plan *plan,
                                                       uint32_t seq)
{
    struct sg_record_nonblocking *record = sg_log_event_growing(sg_process.log);

    if (record == NULL)
        return NULL;
    DESCRIBE(record, &nonblocking->call, nonblocking->site->index, nonblocking->comm, seq,
             nonblocking->begin_ns);
    record->executed = plan->executed;
    sg_log_publish(record, SG_RECORD_NONBLOCKING);
    return record;
}

int sg_call_log_nonblocking(struct sg_call *call, const struct sg_internode_plan *plan,
                            struct sg_site *site, const struct sg_comm *comm, uint64_t begin_ns)
{
    struct nonblocking *nonblocking = calloc(1, sizeof *nonblocking);
    struct sg_record_nonblocking *record = NULL;
    struct sg_call_statistics statistics = {0};
    uint32_t seq = atomic_load_explicit(&comm->seq, memory_order_relaxed);
    int error;

    if (nonblocking == NULL)
        return sg_request_start(plan, NULL, NULL, &statistics);
    nonblocking->site = site;
    nonblocking->comm = comm->index;
    nonblocking->begin_ns = begin_ns;
    nonblocking->call = *call;
    if (has_events(call)) {
        call->name = (struct sg_call_name){true, site->index, comm->index, seq};
        nonblocking->record = record = begin_nonblocking(nonblocking, plan, seq);
    }
    error = sg_request_start(plan, on_completed, nonblocking, &nonblocking->statistics);
    if (error != MPI_SUCCESS) {
        if (record != NULL)
            record->flags |= SG_CALL_FAILED;
        count_failed();
        free(nonblocking);
    } else if (record != NULL && atomic_load(&record->end_ns) == 0) {
        /* The caller does not have the request yet. */
        record->start_ns = duration(sg_clock_ns() - begin_ns);
    }
    return error;
}

/* ---- a call without a record ---- */

/* Writes the call's arguments as words, with wide counts. */
static void put_words(const struct sg_call *call, sg_word *words)
{
    bool has_data = call->operation != SG_OPERATION_BARRIER;
    bool reduces = has_data && call->operation != SG_OPERATION_BCAST;

    if (reduces)
        *words++ = (sg_word)call->send;
    if (has_data) {
        *words++ = (sg_word)call->receive;
        *words++ = (sg_word)call->count;
        *words++ = (sg_word)call->datatype;
    }
    if (reduces)
        *words++ = (sg_word)call->op;
    if (sg_operation_has_root(call->operation))
        *words++ = call->root;
    *words++ = (sg_word)call->comm;
    *words = (sg_word)call->request;
}

void sg_call_log_pass(struct sg_call_log_passing *passing, const struct sg_call *call, void *caller)
{
    put_words(call, passing->words);
    passing->is_seen = sg_profile_begin_inside(&passing->profile, function_of(call), passing->words,
                                               __builtin_frame_address(0), caller);
}

void sg_call_log_passed(struct sg_call_log_passing *passing, int error)
{
    if (passing->is_seen)
        sg_profile_end(&passing->profile, passing->words, error);
}

void sg_call_log_first(const struct sg_call *call, void *caller, int error, uint64_t begin_ns,
                       uint64_t end_ns)
{
    const struct sg_profile_past past = {function_of(call), error, begin_ns, end_ns};
    sg_word words[SG_ARGUMENTS_MAX];

    put_words(call, words);
    sg_profile_add_past(&past, words, __builtin_frame_address(0), caller);
}

/* ---- engine events in the log: late contributions, long waits and disagreements ---- */

/* Runs in the thread or signal handler that received the contribution. */
static void on_late(const struct sg_late *late)
{
    struct sg_record_late *record = sg_log_event(sg_process.log);
    enum sg_progress_by by = sg_progress_by();

    if (record == NULL)
        return;
    record->operation = (uint8_t)late->operation;
    record->by_signal = by == SG_PROGRESS_BY_SIGNAL;
    record->site = late->call.site;
    record->comm = late->call.comm;
    record->thread = sg_thread_number();
    record->begin_ns = late->begin_ns;
    record->bytes = late->bytes;
    record->seq = late->call.seq;
    record->child = late->child;
    record->avoided_ns = late->avoided_ns;
    if (by == SG_PROGRESS_BY_THREAD)
        sg_log_header(sg_process.log)->progress_thread = record->thread + 1u;
    atomic_store_explicit(&record->end_ns, late->end_ns, memory_order_relaxed);
    sg_log_publish(record, SG_RECORD_LATE);
}

static void on_line(enum sg_trace_line kind, const char *text)
{
    static const uint8_t markers[] = {[SG_TRACE_LINE_STALL] = SG_MARKER_STALL,
                                      [SG_TRACE_LINE_MISMATCH] = SG_MARKER_MISMATCH,
                                      [SG_TRACE_LINE_NOTE] = SG_MARKER_NOTE,
                                      [SG_TRACE_LINE_LEARNED] = SG_MARKER_LEARNED};
    size_t text_bytes = strlen(text);
    struct sg_record_marker *marker = sg_log_definition(sg_process.log, text, text_bytes);

    if (marker == NULL)
        return;
    marker->marker = markers[kind];
    marker->text_bytes = (uint32_t)text_bytes;
    marker->time_ns = sg_clock_ns();
    sg_log_publish(marker, SG_RECORD_MARKER);
}

/* Call in MPI_Init, when the log is open and the calling thread has its number. */
static void sg_trace_events_start(void)
{
    static const struct sg_trace_events trace_events = {.late = on_late,
                                                        .slice = sg_emds_slice,
                                                        .line = on_line,
                                                        .site = sg_site_locate,
                                                        .present = sg_present_of};

    sg_trace_events_set(&trace_events);
}

static bool may_use_threads(void)
{
    int provided = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&provided);
    return provided == MPI_THREAD_MULTIPLE;
}

static enum sg_status start(void)
{
    sg_thread_number(); /* the calling thread is thread 0 */
    if (sg_process.log != NULL) {
        sg_trial_record(&sg_process);
        sg_trace_events_start();
        sg_profile_start(may_use_threads(), sg_processors_are_short());
        sg_emds_start();
    }
    if (sg_test_loop_start(&sg_process.exchange, sg_past_is_direct) != SG_OK)
        return SG_ERR_SYSTEM;
    if (sg_comm_start(sg_sliced_choose()) != SG_OK)
        return SG_ERR_SYSTEM;
    sg_sliced_start();
    return SG_OK;
}

static void finish(void)
{
    struct sg_causes_last last = {0};
    uint64_t begin_ns;

    /* The thread's record has the last call if all calls are counted. */
    if (sg_present != NULL && sg_process.config.calls[0] == '\0' &&
        atomic_load_explicit(&sg_process.recording, memory_order_relaxed))
        last = (struct sg_causes_last){
            sg_present->site, atomic_load_explicit(&sg_present->end_ns, memory_order_relaxed)};
    sg_causes_stop(&last);
    begin_ns = sg_tick_ns();
    sg_sliced_stop();
    sg_test_loop_stop();
    if (sg_process.log != NULL && sg_process_speaks())
        sg_past_report();
    sg_profile_stop(begin_ns);
    sg_events_settle(__builtin_frame_address(0));
    if (sg_process.log != NULL)
        sg_log_header(sg_process.log)->finalize_begin_ns = begin_ns;
    /* Before anything collective: other ranks may still wait for this one in a reduce. */
    sg_comm_drain();
    sg_request_reap();
    sg_trial_stop(&sg_process);
}

const struct sg_process_calls sg_calls = {start, finish, sg_comm_stop};
