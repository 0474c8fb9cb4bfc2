/* Start and stop: everything collective stagger does on its own account happens here, inside
 * MPI_Init and MPI_Finalize.
 *
 * Each step of the start ends with all ranks knowing whether it worked on all of them, so that
 * stagger is running everywhere or nowhere.
 */
#include "intercept/process.h"

#include "algos/kernel.h"
#include "core/clock.h"
#include "core/clocksync.h"
#include "core/hash.h"
#include "intercept/calibrate.h"
#include "intercept/comm.h"
#include "intercept/dispatch.h"
#include "intercept/exchange_mpi.h"
#include "intercept/finalize.h"
#include "intercept/libraries.h"
#include "intercept/observer.h"
#include "intercept/output.h"
#include "intercept/present.h"
#include "intercept/settings.h"
#include "intercept/statistics.h"
#include "intercept/trial.h"
#include "intercept/wire.h"
#include "internode/internode.h"
#include "internode/request.h"
#include "intranode/memory.h"
#include "intranode/mpi/choose.h"
#include "intranode/mpi/local.h"
#include "intranode/mpi/pool.h"
#include "intranode/placement.h"
#include "intranode/reading.h"
#include "mpi/device_call.h"
#include "mpi/real.h"
#include "mpi/types.h"
#include "progress/progress.h"
#include "wait/wait.h"
#include "wait/yielding.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sg_process sg_process;

/* By one process of the job, as far as its launcher tells. */
static void refuse(const char *what)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = sg_config_environment(names[i]);

        if (rank != NULL && strcmp(rank, "0") != 0)
            return;
        if (rank != NULL)
            break;
    }
    sg_log("this program's MPI is %s: passing through", what);
}

static bool is_supported(void)
{
    char what[192];

    if (!sg_real_is_mpich()) {
        snprintf(what, sizeof what, "not MPICH but '%s'", sg_real_version());
        refuse(what);
    } else if (sg_real_has_user_threads()) {
        refuse("an MPICH with user-level threads");
    }
    return sg_real_is_mpich() && !sg_real_has_user_threads();
}

/* In the child: it shares the log's mapping and owns none of it. */
static void on_fork_child(void)
{
    atomic_store(&sg_process.running, false);
    sg_progress_forget();
    sg_wire_forget();
    if (sg_process.log != NULL)
        sg_log_forget(sg_process.log);
    sg_process.log = NULL;
}

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

static bool speaks(const struct sg_process *process)
{
    return process->rank == 0 && !process->config.quiet;
}

/* Opens the log, where something is to be recorded. */
static void start_recording(struct sg_process *process, uint64_t begin_ns)
{
    struct sg_log_header *header;
    bool shared;

    if (process->config.trace == SG_TRACE_OFF || sg_output_open(process, &shared) != SG_OK) {
        process->config.trace = SG_TRACE_OFF;
        return;
    }
    if (!shared) {
        if (process->rank == 0)
            sg_log("%s is not one directory on all machines: collect the logs and run `stagger "
                   "recover`",
                   process->directory);
        process->companion = NULL;
    }
    header = sg_log_header(process->log);
    header->init_begin_ns = begin_ns;
    if (sg_clocksync_open(&process->exchange, process->machine, sg_clock_ns, SG_CLOCKSYNC_TREE,
                          &process->clocks) != SG_OK)
        process->clocks = NULL;
    record_clock(process);
}

/* Our duplicate of MPI_COMM_WORLD. Its errors are ours to handle. */
static bool duplicate_world(struct sg_process *process)
{
    sg_real.Comm_rank(MPI_COMM_WORLD, &process->rank);
    sg_present_begin(process->rank);
    if (sg_patient_dup(MPI_COMM_WORLD, &process->world) != MPI_SUCCESS)
        return false;
    sg_real.Comm_set_errhandler(process->world, MPI_ERRORS_RETURN);
    sg_real.Comm_size(process->world, &process->size);
    sg_exchange_mpi(&process->world, process->rank, process->size, &process->exchange);
    return true;
}

/* All ranks have the same library, and what rank 0 is told to do. */
static bool agree(struct sg_process *process)
{
    bool agreed =
        sg_present_agree(process->world, process->rank) && sg_settings_agree(process) == SG_OK;

    sg_present_end();
    if (!agreed)
        sg_real.Comm_free(&process->world);
    return agreed;
}

/* Large operands inside nodes. */
static enum sg_status start_large(const struct sg_process *process)
{
    enum sg_status status = sg_pool_start(&process->exchange, sg_local_wants_pool(process->rules));

    if (status != SG_OK)
        return status;
    return sg_reading_start(&process->exchange, process->config.single_copy && sg_pool_is_there() &&
                                                    sg_local_wants_reading(process->rules));
}

static void keep_site_name(void *context, uint32_t id, const char *function, const char *file,
                           uint32_t line)
{
    struct sg_process *process = context;
    size_t function_bytes = strlen(function ? function : "") + 1;
    size_t file_bytes = strlen(file ? file : "") + 1;
    char *text = malloc(function_bytes + file_bytes);
    struct sg_record_site_name *record;

    if (text == NULL)
        return;
    memcpy(text, function ? function : "", function_bytes);
    memcpy(text + function_bytes, file ? file : "", file_bytes);
    record = sg_log_definition(process->log, text, function_bytes + file_bytes);
    if (record != NULL) {
        record->id = id;
        record->line = line;
        record->text_bytes = (uint32_t)(function_bytes + file_bytes);
        sg_log_publish(record, SG_RECORD_SITE_NAME);
    }
    free(text);
}

/* This rank's log as the exporter takes it; true when all ranks have theirs, else one says why. */
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
        sg_log("rank %d cannot read its log, there is no archive: %s: %s", process->rank, path,
               refusal.reason);
    return first_failed < 0;
}

/* Everything from here to the end runs with the log complete. */
static void export_archive(struct sg_process *process, const struct sg_export *input)
{
    struct sg_export_result result = {0};
    enum sg_status status = process->companion->export_archive(input, &result);

    if (status != SG_OK)
        return;
    /* A partial archive lacks events that the statistics in the logs count. */
    if (!result.partial)
        sg_output_remove_log(process);
    if (speaks(process))
        sg_log("%llu calls in %s/traces.otf2 (%llu KiB)%s; see: stagger report %s",
               (unsigned long long)result.calls, process->directory,
               (unsigned long long)(result.archive_bytes + 1023) / 1024,
               result.partial ? ", partial" : "", process->directory_word);
}

static void stop_recording(struct sg_process *process)
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
    snprintf(advice, sizeof advice, "; the logs stay for: stagger recover %s",
             process->directory_word);
    record_clock(process);
    sg_clocksync_close(process->clocks);
    process->clocks = NULL;
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
        if (speaks(process))
            sg_log("statistics in %s; see: stagger report %s", process->directory,
                   process->directory_word);
    } else if (process->companion == NULL && speaks(process)) {
        sg_log("logs in %s; `stagger recover %s` makes the archive", process->directory,
               process->directory_word);
    }
    process->log = NULL;
}

/* Collective. */
static void tell_devices(const struct sg_process *process)
{
    uint64_t own = sg_device_calls(), all = 0;

    if (sg_patient_allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, process->world) == MPI_SUCCESS &&
        all > 0 && speaks(process))
        sg_log("%llu times a rank's reduction had a buffer in a GPU's memory",
               (unsigned long long)all);
}

/* Collective: of the rules that decided no call on any rank. */
static void say_unmatched(const struct sg_process *process)
{
    const struct sg_exchange *exchange = &process->exchange;
    size_t rules = (size_t)sg_ruleset_count(process->rules), ranks = (size_t)exchange->size;
    uint8_t *seen, *all = NULL;
    size_t *sizes;
    int first_without;

    if (!sg_ruleset_has_own(process->rules))
        return;
    seen = calloc(rules, sizeof *seen);
    sizes = calloc(ranks, sizeof *sizes);
    if (sg_exchange_agree(exchange, seen != NULL && sizes != NULL, &first_without) == SG_OK &&
        first_without < 0) {
        sg_ruleset_seen(process->rules, seen);
        if (exchange->gather(exchange->context, seen, rules, (void **)&all, sizes) == SG_OK &&
            exchange->rank == 0) {
            for (size_t i = 0; i < ranks * rules; i++)
                seen[i % rules] |= all[i];
            sg_ruleset_say_unmatched(process->rules, seen);
        }
    }
    free(all);
    free(sizes);
    free(seen);
}

static void stop(void)
{
    struct sg_process *process = &sg_process;

    if (!sg_process_running())
        return;
    /* What attribute callbacks and MPI_Finalize itself call passes through. */
    atomic_store(&process->running, false);
    sg_dispatch_settle();
    if (process->log != NULL)
        sg_log_header(process->log)->finalize_begin_ns = sg_clock_ns();
    /* Before anything collective: ranks may still be in a reduce that waits for this one. */
    sg_comm_drain();
    sg_request_reap();
    sg_trial_stop(process);
    tell_devices(process);
    if (!process->config.quiet)
        say_unmatched(process);
    if (process->log != NULL) {
        sg_observer_stop();
        stop_recording(process);
    }
    sg_progress_stop();
    sg_comm_stop();
    sg_reading_stop();
    sg_wire_stop();
    sg_real.Comm_free(&process->world);
}

void sg_process_start(uint64_t begin_ns)
{
    static const char *const modes[] = {"off", "stats", "otf2"};
    struct sg_process *process = &sg_process;
    /* An MPICH with the standard's ABI has handles of this size. */
    union {
        MPI_Comm comm;
        sg_word word;
    } parent;

    if (!is_supported())
        return;
    if (sg_real.Comm_get_parent(&parent.comm) != MPI_SUCCESS || parent.comm != MPI_COMM_NULL)
        return;
    if (!duplicate_world(process))
        return;
    process->machine = sg_clocksync_machine();
    if (!agree(process))
        return;
    if (process->config.trace != SG_TRACE_OFF || sg_ruleset_needs_names(process->rules))
        sg_libraries_load(process);
    if (sg_placement_start(&process->exchange, sg_hash_mix(process->machine + sg_segment_domain()),
                           process->config.ranks_per_node) != SG_OK ||
        sg_memory_start(&process->exchange, process->config.memory_bytes) != SG_OK ||
        sg_wire_start(process) != SG_OK ||
        sg_wait_start(&process->exchange, process->machine, process->world) != SG_OK ||
        start_large(process) != SG_OK ||
        sg_progress_start(&process->exchange, process->rules, sg_wire_ops() != NULL,
                          (enum sg_progress_mode)process->config.progress,
                          process->config.signal) != SG_OK)
        return;
    sg_local_start((uint32_t)process->config.slots, process->config.stall_s);
    sg_span_start((uint32_t)process->config.slots, process->config.stall_s,
                  process->config.verbs_senders);
    sg_kernel_init();
    sg_types_init(sg_real.Reduce_local);
    start_recording(process, begin_ns);
    sg_dispatch_thread(); /* the calling thread is thread 0 */
    if (process->log != NULL) {
        sg_trial_record(process);
        sg_observer_start();
    }
    if (sg_comm_start() != SG_OK)
        return;
    if (process->log != NULL && process->config.trace == SG_TRACE_OTF2 && process->config.calibrate)
        sg_calibrate_run(process);
    pthread_atfork(NULL, NULL, on_fork_child);
    sg_finalize_expect(stop);
    if (process->log != NULL)
        sg_log_header(process->log)->init_end_ns = sg_clock_ns();
    if (speaks(process) && process->log != NULL)
        sg_log("version " SG_VERSION ", %d rank%s, trace %s, writing to %s", process->size,
               process->size > 1 ? "s" : "", modes[process->config.trace], process->directory);
    atomic_store(&process->recording, true);
    atomic_store(&process->running, true);
}

void sg_process_finalize(void)
{
    stop();
    sg_finalize_forget();
}

void sg_process_abort(void)
{
    if (!sg_process_running() || sg_process.log == NULL)
        return;
    atomic_store(&sg_log_header(sg_process.log)->state, SG_LOG_ABORTED);
    if (!sg_process.config.quiet) {
        sg_log("MPI_Abort: `stagger recover %s` makes the archive", sg_process.directory_word);
        sg_log_drain();
    }
    atomic_store(&sg_process.running, false);
}

/* A process that leaves without MPI_Finalize. */
__attribute__((destructor)) static void on_exit_unfinished(void)
{
    if (sg_process_running() && sg_process.log != NULL && speaks(&sg_process))
        sg_log("MPI_Finalize was not called: `stagger recover %s` makes the archive",
               sg_process.directory_word);
}

void sg_process_control(int level)
{
    switch (level) {
    case 0:
    case 1:
        atomic_store(&sg_process.recording, level == 1);
        break;
    case 2:
        sg_statistics_reset();
        break;
    case 3:
        sg_statistics_write();
        break;
    default:
        break; /* other tools' levels */
    }
}
