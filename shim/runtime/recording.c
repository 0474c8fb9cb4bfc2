/* Opens the log in MPI_Init, and in MPI_Finalize closes it and exports the archive (recording.h).
 * Logs stay on disk unless the archive is complete.
 */
#include "runtime/recording.h"

#include "core/clock.h"
#include "runtime/output.h"
#include "wait/hook.h"
#include "wait/processors.h"
#include "wait/turn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void record_clock(struct sg_process *process)
{
    struct sg_clock_offset offset;
    struct sg_record_clock *record;

    if (process->clocks == NULL || sg_clocksync_measure(process->clocks, &offset) != SG_OK)
        return;
    record = sg_log_definition(process->log, NULL, 0);
    if (record == NULL)
        return;
    record->local_ns = offset.measured.local_ns;
    record->offset_ns = offset.measured.offset_ns;
    record->error_ns = offset.measured.error_ns;
    record->deviation_ns = offset.deviation_ns;
    sg_log_publish(record, SG_RECORD_CLOCK);
}

void *sg_recording_define(struct sg_log *log, const char *first, const char *second,
                          size_t *text_bytes)
{
    size_t first_bytes = strlen(first) + 1, second_bytes = strlen(second) + 1;
    char *both = malloc(first_bytes + second_bytes);
    void *record;

    if (both == NULL)
        return NULL;
    memcpy(both, first, first_bytes);
    memcpy(both + first_bytes, second, second_bytes);
    *text_bytes = first_bytes + second_bytes;
    record = sg_log_definition(log, both, *text_bytes);
    free(both);
    return record;
}

#define COMM_SHARE 4u   /* definitions may use one in COMM_SHARE of the events' slots */
#define COMMS_ALWAYS 4u /* predefined ones, for the library and for the profile */

static _Atomic uint64_t comm_slots, comms_defined, comms_left_out;

static void leave_out_comm(void)
{
    if (atomic_fetch_add_explicit(&comms_left_out, 1, memory_order_relaxed) == 0 &&
        sg_process_speaks())
        sg_log("communicators fill a quarter of the log: the trace lacks calls on later "
               "communicators; raise STAGGER_TRACE_BYTES");
}

void *sg_recording_define_comm(struct sg_log *log, const void *text, size_t text_bytes)
{
    uint64_t slots = 1 + (text_bytes + SG_CONT_BYTES - 1) / SG_CONT_BYTES;
    uint64_t limit = sg_log_header(log)->event_limit_slots / COMM_SHARE;
    uint64_t before = atomic_fetch_add_explicit(&comm_slots, slots, memory_order_relaxed);

    if (sg_process.config.trace == SG_TRACE_OTF2 && before + slots > limit &&
        atomic_load_explicit(&comms_defined, memory_order_relaxed) >= COMMS_ALWAYS) {
        atomic_fetch_sub_explicit(&comm_slots, slots, memory_order_relaxed);
        leave_out_comm();
        return NULL;
    }
    atomic_fetch_add_explicit(&comms_defined, 1, memory_order_relaxed);
    return sg_log_definition(log, text, text_bytes);
}

static void tell_of_comms(void)
{
    uint64_t left_out = atomic_load_explicit(&comms_left_out, memory_order_relaxed);

    if (left_out > 0 && sg_process_speaks())
        sg_log("%llu definitions of communicators are missing from the log of rank %d",
               (unsigned long long)left_out, sg_process.rank);
}

static void record_mode(struct sg_log_header *header)
{
    const struct sg_processors processors = sg_processors_found();
    const struct sg_hook *hook = sg_hook_chosen();

    header->wait_mode = 1 + sg_turn_mode();
    header->wait_ranks = processors.ranks;
    header->wait_processors = processors.processors;
    header->wait_quota = processors.quota == INT_MAX ? 0 : processors.quota;
    header->wait_apart = processors.apart;
    if (hook != NULL)
        snprintf(header->wait_hook, sizeof header->wait_hook, "%s", hook->name);
}

void sg_recording_waiting(struct sg_log *log)
{
    struct sg_log_header *header = sg_log_header(log);
    const struct sg_turn_times times = sg_turn_times();

    atomic_store_explicit(&header->yields, times.yields, memory_order_relaxed);
    atomic_store_explicit(&header->yield_ns, times.yield_ns, memory_order_relaxed);
    atomic_store_explicit(&header->sleeps, times.sleeps, memory_order_relaxed);
    atomic_store_explicit(&header->sleep_ns, times.sleep_ns, memory_order_relaxed);
}

void sg_recording_start(struct sg_process *process, uint64_t begin_ns)
{
    struct sg_log_header *header;
    bool shared;

    if (process->config.trace == SG_TRACE_OFF || sg_output_open(process, &shared) != SG_OK) {
        process->config.trace = SG_TRACE_OFF;
        return;
    }
    if (!shared) {
        if (process->rank == 0)
            sg_log("%s is not the same directory on all machines: collect the logs in one "
                   "directory and run `stagger recover`",
                   process->directory);
        process->companion = NULL;
    }
    header = sg_log_header(process->log);
    header->init_begin_ns = begin_ns;
    record_mode(header);
    if (sg_clocksync_open(&process->exchange, process->machine, sg_clock_ns, SG_CLOCKSYNC_TREE,
                          &process->clocks) != SG_OK)
        process->clocks = NULL;
    record_clock(process);
}

static void keep_site_name(void *context, uint32_t id, const char *function, const char *file,
                           uint32_t line)
{
    struct sg_process *process = context;
    size_t text_bytes;
    struct sg_record_site_name *record =
        sg_recording_define(process->log, function ? function : "", file ? file : "", &text_bytes);

    if (record == NULL)
        return;
    record->id = id;
    record->line = line;
    record->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(record, SG_RECORD_SITE_NAME);
}

/* Opens this rank's log for the exporter. True if all ranks opened theirs; otherwise one of them
 * says why not. */
static bool open_own_log(struct sg_process *process, struct sg_logread **log)
{
    char path[sizeof process->directory + 32];
    struct sg_refusal refusal;
    int first_failed;
    bool mine;

    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, process->directory, process->rank);
    mine = process->companion->logread_try(path, log, &refusal) == SG_OK;
    if (sg_exchange_agree(&process->exchange, mine, &first_failed) != SG_OK)
        return false;
    if (first_failed == process->rank)
        sg_log("rank %d cannot read its log; no archive is written: %s: %s", process->rank, path,
               refusal.reason);
    return first_failed < 0;
}

/* The log is complete from here on. */
static void export_archive(struct sg_process *process, const struct sg_export *input)
{
    struct sg_export_result result = {0};
    enum sg_status status = process->companion->export_archive(input, &result);

    if (status != SG_OK)
        return;
    /* A partial archive lacks some events; the statistics in the logs count them. */
    if (!result.partial)
        sg_output_remove_log(process);
    if (sg_process_speaks())
        sg_log("%llu calls in %s/traces.otf2 (%llu KiB)%s; see: stagger report %s",
               (unsigned long long)result.calls, process->directory,
               (unsigned long long)(result.archive_bytes + 1023) / 1024,
               result.partial ? ", partial" : "", process->directory_word);
}

void sg_recording_stop(struct sg_process *process)
{
    static const char *names[256];
    char advice[sizeof process->word + 64];
    struct sg_export input = {.directory = process->directory,
                              .log_count = 1,
                              .world_size = process->size,
                              .algorithms = names,
                              .algorithm_count = sg_algorithm_count,
                              .exchange = &process->exchange,
                              .advice = advice};
    bool stats = process->config.trace == SG_TRACE_STATS;
    struct sg_logread *log = NULL;

    for (int i = 0; i < sg_algorithm_count; i++)
        names[i] = sg_algorithms[i].name;
    snprintf(advice, sizeof advice, "; the logs are kept: run `stagger recover %s`",
             process->directory_word);
    tell_of_comms();
    record_clock(process);
    sg_clocksync_close(process->clocks);
    process->clocks = NULL;
    sg_recording_waiting(process->log);
    if (!stats)
        sg_log_finish(process->log, SG_LOG_FINALIZED);
    input.end_ns = sg_clock_ns();
    if (process->companion != NULL && open_own_log(process, &log)) {
        input.logs = &log;
        if (stats)
            process->companion->export_site_names(&input, keep_site_name, process);
        else
            export_archive(process, &input);
    }
    if (log != NULL)
        process->companion->logread_close(log);
    sg_log_close(process->log, SG_LOG_FINALIZED);
    if (stats) {
        if (sg_process_speaks())
            sg_log("statistics in %s; see: stagger report %s", process->directory,
                   process->directory_word);
    } else if (process->companion == NULL && sg_process_speaks()) {
        sg_log("logs in %s; run `stagger recover %s` to make the archive", process->directory,
               process->directory_word);
    }
    process->log = NULL;
}

/* A program built with AddressSanitizer whose runtime is linked dynamically requires the runtime to
 * be the first library of the process. It ends at its start if another library is preloaded before
 * it. The check is for libraries that replace malloc or other functions that the runtime
 * intercepts, which this one does not. The runtime asks for a program's defaults by this symbol,
 * before anything else of the process runs; ASAN_OPTIONS overrides them.
 */

const char *__asan_default_options(void)
    __attribute__((visibility("default"), no_sanitize("address", "undefined", "thread"),
                   no_profile_instrument_function));

const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
