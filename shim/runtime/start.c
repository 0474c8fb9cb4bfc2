/* Starts and stops stagger (start.h). After each step of the start all ranks know whether it
 * succeeded on all of them, so that stagger runs everywhere or nowhere. Stopping also works if a
 * tool calls PMPI_Finalize, and if the process exits without it.
 */
#include "runtime/start.h"

#include "algos/kernels/kernel.h"
#include "causes/causes.h"
#include "core/altstack.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/tick.h"
#include "core/waiting.h"
#include "internode/internode.h"
#include "intranode/memory.h"
#include "intranode/mpi/intranode.h"
#include "intranode/mpi/pool.h"
#include "intranode/reading.h"
#include "mpi/gpu_buffers.h"
#include "mpi/operands.h"
#include "mpi/packed.h"
#include "mpi/real.h"
#include "mpi/user_lines.h"
#include "progress/progress.h"
#include "runtime/present.h"
#include "runtime/recording.h"
#include "runtime/settings.h"
#include "wait/catch_up.h"
#include "wait/hook.h"
#include "wait/processors.h"
#include "wait/wait.h"
#include "wait/wakes.h"
#include "wait/yielding.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct sg_process_calls *calls;

/* One process of the job logs it, if its launcher sets the rank. Another MPI may itself set a rank
 * 0 in a process that joined no job. */
static void refuse(const char *what)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = sg_config_environment(names[i]);

        if (rank != NULL && strcmp(rank, "0") != 0)
            return;
    }
    sg_log("this program's MPI is %s; stagger is inactive", what);
}

/* True if Hydra, MPICH's launcher, has started several processes of Open MPI, which does not
 * connect with it. */
static bool is_split_by_hydra(void)
{
    const char *hydra = sg_config_environment("MPI_LOCALNRANKS");
    const char *size = sg_config_environment("PMI_SIZE");
    const char *own = sg_config_environment("OMPI_COMM_WORLD_SIZE");

    return hydra != NULL && size != NULL && atoi(size) > 1 && (own == NULL || atoi(own) == 1) &&
           strstr(sg_real_version(), "Open MPI") != NULL;
}

static bool is_supported(void)
{
    char what[256];

    if (sg_real_has_standard_abi()) {
        snprintf(what, sizeof what, "'%s' with MPI 5's ABI instead of MPICH's", sg_real_version());
        refuse(what);
    } else if (!sg_real_is_mpich()) {
        snprintf(what, sizeof what, "not MPICH but '%.128s'%s", sg_real_version(),
                 is_split_by_hydra() ? " (MPICH's launcher started jobs of 1 rank: use Open MPI's, "
                                       "mpirun.openmpi)"
                                     : "");
        refuse(what);
    } else if (sg_real_has_user_threads()) {
        refuse("an MPICH with user-level threads");
    }
    return sg_real_is_mpich() && !sg_real_has_user_threads();
}

/* A launcher with which MPICH does not connect starts each process as a job of its own. Under one
 * that connects, PMI_SIZE is 1 here, whatever an outer launcher has set. */
static void say_other_launcher(void)
{
    static const struct {
        const char *size, *rank, *name, *advice;
    } launchers[] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's launcher", "mpiexec.mpich"},
        {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", "srun --mpi=pmi2"},
        {"PMI_SIZE", "PMI_RANK", "the launcher", "the mpiexec of this MPICH"},
    };
    const char *joined = sg_config_environment("PMI_SIZE");
    Dl_info mpi = {.dli_fname = NULL};

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = sg_config_environment(launchers[i].size);
        const char *rank = sg_config_environment(launchers[i].rank);

        if ((joined != NULL && atoi(joined) == 1) || size == NULL || rank == NULL ||
            atoi(size) < 2 || strcmp(rank, "0") != 0)
            continue;
        dladdr((void *)sg_real.Comm_size, &mpi);
        sg_log("%s started %s jobs of 1 rank, because this program's MPI is MPICH (%s): use %s for "
               "one job of %s ranks",
               launchers[i].name, size, mpi.dli_fname != NULL ? mpi.dli_fname : "linked into it",
               launchers[i].advice, size);
        return;
    }
}

/* A forked child shares the log's mapping but owns nothing of it. */
static void on_fork_child(void)
{
    atomic_store(&sg_process.running, false);
    sg_causes_forget();
    sg_progress_forget();
    sg_rdma_forget();
    if (sg_process.log != NULL)
        sg_log_forget(sg_process.log);
    sg_process.log = NULL;
}

/* Makes the library's duplicate of MPI_COMM_WORLD, with an error handler of its own. */
static bool duplicate_world(struct sg_process *process)
{
    sg_real.Comm_rank(MPI_COMM_WORLD, &process->rank);
    sg_present_begin(process->rank);
    if (sg_yielding_dup(MPI_COMM_WORLD, &process->world) != MPI_SUCCESS)
        return false;
    sg_real.Comm_set_errhandler(process->world, MPI_ERRORS_RETURN);
    sg_real.Comm_size(process->world, &process->size);
    sg_exchange_mpi(&process->world, process->rank, process->size, &process->exchange);
    return true;
}

/* The same for ranks that can share memory. */
static uint64_t own_machine(const struct sg_process *process)
{
    return sg_hash_mix(process->machine + sg_segment_domain());
}

/* Checks that all ranks have the same library, and shares rank 0's settings. */
static bool agree(struct sg_process *process)
{
    bool agreed =
        sg_present_agree(process->world, process->rank) &&
        sg_exchange_meet(&process->world, own_machine(process), &process->exchange) == SG_OK &&
        sg_settings_agree(process) == SG_OK;

    sg_present_end();
    if (!agreed) {
        sg_exchange_part();
        sg_real.Comm_free(&process->world);
    }
    return agreed;
}

/* Starts the access to large operands of other ranks in a node. */
static enum sg_status start_large(const struct sg_process *process)
{
    enum sg_status status = sg_pool_start(&process->exchange, process->rules);

    if (status != SG_OK)
        return status;
    return sg_reading_start(&process->exchange, process->config.single_copy && sg_pool_is_there() &&
                                                    sg_intranode_wants_reading(process->rules));
}

/* Collective: returns when all ranks have finished their calls. Reports calls with buffers in a
 * GPU's memory. */
static void meet(const struct sg_process *process)
{
    uint64_t device_calls = sg_device_calls();

    if (sg_exchange_combine(&process->exchange, SG_COMBINE_SUM, &device_calls, 1) == SG_OK &&
        device_calls > 0 && sg_process_speaks())
        sg_log("ranks called reductions or broadcasts with buffers in GPU memory %llu times",
               (unsigned long long)device_calls);
}

/* Collective: names rules that decided no call on any rank. */
static void say_unmatched(const struct sg_process *process)
{
    size_t rules = (size_t)sg_ruleset_count(process->rules);
    uint8_t *seen;
    int first_without;

    if (!sg_ruleset_has_own(process->rules))
        return;
    seen = calloc(rules, sizeof *seen);
    if (sg_exchange_agree(&process->exchange, seen != NULL, &first_without) == SG_OK &&
        first_without < 0) {
        sg_ruleset_seen(process->rules, seen);
        if (sg_exchange_unite(&process->exchange, seen, rules) == SG_OK && process->rank == 0)
            sg_ruleset_say_unmatched(process->rules, seen);
    }
    free(seen);
}

static void *wakes_table;
static size_t wakes_bytes;

/* Starts wakes on the ranks of all machines, or on none. */
static enum sg_status start_wakes(const struct sg_process *process, bool allowed)
{
    const struct sg_exchange *exchange = &process->exchange;
    int machine = sg_placement_machine(exchange->rank), ranks = 0, own = 0, first_failed;
    enum sg_status status =
        sg_exchange_agree(exchange, allowed && sg_wakes_are_useful(), &first_failed);

    if (status != SG_OK || first_failed >= 0 || !sg_memory_is_shared())
        return status;
    for (int rank = 0; rank < exchange->size; rank++) {
        if (rank == exchange->rank)
            own = ranks;
        ranks += sg_placement_machine(rank) == machine;
    }
    wakes_bytes = sg_wakes_bytes(ranks);
    status = sg_memory_map(exchange, machine, wakes_bytes, "waits", &wakes_table, &first_failed);
    if (status != SG_OK)
        return status == SG_ERR_MISSING ? SG_OK : status;
    sg_wakes_enter(wakes_table, ranks, own);
    status = sg_exchange_agree(exchange, true, &first_failed);
    if (status == SG_OK)
        sg_wakes_start();
    return status;
}

static void stop_wakes(void)
{
    sg_wakes_stop();
    if (wakes_table != NULL)
        sg_segment_unmap(wakes_table, wakes_bytes);
    wakes_table = NULL;
}

/* The last collective step before MPICH's own MPI_Finalize. Over TCP (also inside a machine that
 * refuses process_vm_readv) ranks that enter that function at different times may wait in it
 * forever, under stock MPICH as well. */
static void leave_together(const struct sg_process *process)
{
    int first_false;

    if (sg_exchange_is_shared())
        sg_exchange_agree(&process->exchange, true, &first_false);
    else
        sg_real.Barrier(process->world);
}

static void stop_all(void *none)
{
    struct sg_process *process = &sg_process;

    /* Attribute callbacks and MPI_Finalize itself also call MPI: those calls pass through. */
    atomic_store(&process->running, false);
    calls->finish();
    meet(process);
    /* No rank reports late contributions any more. */
    sg_trace_events_set(NULL);
    if (!process->config.quiet)
        say_unmatched(process);
    if (process->log != NULL)
        sg_recording_stop(process);
    sg_progress_stop();
    calls->stop();
    sg_reading_stop();
    sg_rdma_stop();
    sg_catch_up_stop();
    stop_wakes();
    leave_together(process);
    sg_exchange_part();
    sg_real.Comm_free(&process->world);
}

static void stop(void)
{
    if (sg_process_running())
        sg_altstack_run(stop_all, NULL);
}

/* ---- if the wrapper of MPI_Finalize is not called ----
 *
 * A profiling tool that wraps it calls PMPI_Finalize. MPI first deletes the attributes of
 * MPI_COMM_SELF, when everything still works.
 */

static int keyval = MPI_KEYVAL_INVALID;

static int on_delete(MPI_Comm handle, int key, void *value, void *extra)
{
    stop();
    return MPI_SUCCESS;
}

static void expect_finalize(void)
{
    if (sg_real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL) == MPI_SUCCESS)
        sg_real.Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

void sg_process_finalize(void)
{
    stop();
    /* MPICH's MPI_Finalize returns the result of the last callback: that must be one of the
     * application's. */
    if (keyval == MPI_KEYVAL_INVALID)
        return;
    sg_real.Comm_delete_attr(MPI_COMM_SELF, keyval);
    sg_real.Comm_free_keyval(&keyval);
}

/* ---- start ---- */

/* False for a program that stagger leaves alone, for example a spawned one. */
static bool is_ours(void)
{
    /* Also as large as a handle of an MPICH with the standard ABI. */
    union {
        MPI_Comm comm;
        sg_word word;
    } parent;

    return is_supported() && sg_real.Comm_get_parent(&parent.comm) == MPI_SUCCESS &&
           parent.comm == MPI_COMM_NULL;
}

/* A communicator of this rank alone; its errors return. */
static MPI_Comm alone;

/* An MPICH that checks arguments reports an error for pairs that it cannot reduce. From
 * MPI_Reduce_local, which has no communicator, that would end the program; so a function with a
 * communicator goes first. (Setting another error handler meanwhile would leave a trace: a handler
 * that was never set is MPI_COMM_WORLD's.) */
static int reduce_if_possible(const void *in, void *inout, int count, MPI_Datatype datatype,
                              MPI_Op op)
{
    char from[64] = {0}, into[64];
    int error = sg_real.Allreduce(from, into, 1, datatype, op, alone);

    return error == MPI_SUCCESS ? sg_real.Reduce_local(in, inout, count, datatype, op) : error;
}

static bool start_types(void)
{
    if (sg_yielding_dup(MPI_COMM_SELF, &alone) != MPI_SUCCESS)
        return false;
    sg_real.Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    sg_types_init(reduce_if_possible);
    sg_real.Comm_free(&alone);
    return true;
}

/* Starts what calls need: nodes, shared memory, transport, progress. */
static enum sg_status start_engine(struct sg_process *process)
{
    const struct sg_config *config = &process->config;
    int level = MPI_THREAD_SINGLE, first_multiple;

    if (sg_placement_start(&process->exchange, own_machine(process), config->ranks_per_node) !=
            SG_OK ||
        sg_memory_start(&process->exchange, config->memory_bytes, sg_exchange_shared_bytes()) !=
            SG_OK ||
        sg_rdma_start(process) != SG_OK ||
        sg_processors_start(&process->exchange, process->machine) != SG_OK ||
        start_large(process) != SG_OK ||
        sg_progress_start(&process->exchange, process->rules, sg_rdma_ops() != NULL,
                          (enum sg_progress_mode)config->progress, config->signal) != SG_OK)
        return SG_ERR_SYSTEM;
    sg_wait_start(process->world);
    sg_packed_start(process->world);
    sg_catch_up_start(process->world);
    sg_real.Query_thread(&level);
    sg_hook_start((enum sg_wait_mode)config->wait, config->wait_hook != 0,
                  level == MPI_THREAD_MULTIPLE);
    if (start_wakes(process, config->wait_hook != 0 && level != MPI_THREAD_MULTIPLE) != SG_OK)
        return SG_ERR_SYSTEM;
    sg_intranode_start((uint32_t)config->slots, config->stall_s);
    sg_intranode_count_from(config->count_from);
    sg_internode_count_from(config->count_from);
    if (sg_exchange_agree(&process->exchange, level != MPI_THREAD_MULTIPLE, &first_multiple) !=
        SG_OK)
        return SG_ERR_SYSTEM;
    sg_internode_start((uint32_t)config->slots, config->stall_s, config->verbs_senders,
                       first_multiple < 0);
    sg_kernel_init();
    return start_types() ? SG_OK : SG_ERR_SYSTEM;
}

/* Call before communicators are set up. */
static void start_slices(const struct sg_process *process)
{
    uint64_t epoch_ns;

    if (!sg_ruleset_has_slices(process->rules))
        return;
    if (sg_epoch_agree(&process->exchange, process->machine, sg_clock_ns, process->clocks,
                       &epoch_ns) != SG_OK)
        sg_log("rank %d: slices are not aligned with those of other machines", process->rank);
    sg_internode_count_slices_from(epoch_ns);
}

static void start(void *time)
{
    static const char *const modes[] = {"off", "stats", "otf2"};
    struct sg_process *process = &sg_process;
    uint64_t begin_ns = *(const uint64_t *)time;

    if (!is_ours() || !duplicate_world(process))
        return;
    if (process->size == 1)
        say_other_launcher();
    process->machine = sg_clocksync_machine();
    if (!agree(process))
        return;
    if (process->config.trace != SG_TRACE_OFF || sg_ruleset_needs_names(process->rules))
        sg_libraries_load(process);
    if (start_engine(process) != SG_OK)
        return;
    sg_recording_start(process, begin_ns);
    start_slices(process);
    if (calls->start() != SG_OK)
        return;
    if (process->config.trace == SG_TRACE_OTF2 && process->config.calibrate)
        sg_calibrate_run(process);
    pthread_atfork(NULL, NULL, on_fork_child);
    expect_finalize();
    if (process->log != NULL) {
        sg_log_header(process->log)->init_end_ns = sg_clock_ns();
        if (sg_process_speaks())
            sg_log("version " SG_VERSION ", %d rank%s, trace %s, writing to %s", process->size,
                   process->size > 1 ? "s" : "", modes[process->config.trace], process->directory);
    }
    atomic_store(&process->recording, true);
    atomic_store(&process->running, true);
    if (atomic_load(&sg_causes_is_on))
        sg_causes_leave(&(struct sg_causes_call){.now_ns = sg_tick_ns()});
}

void sg_process_start(uint64_t begin_ns, const struct sg_process_calls *to_call)
{
    calls = to_call;
    sg_altstack_run(start, &begin_ns);
}

void sg_process_abort(void)
{
    if (!sg_process_running() || sg_process.log == NULL)
        return;
    atomic_store(&sg_log_header(sg_process.log)->state, SG_LOG_ABORTED);
    sg_recording_waiting(sg_process.log);
    if (!sg_process.config.quiet) {
        sg_log("MPI_Abort was called: run `stagger recover %s` to make the archive",
               sg_process.directory_word);
        sg_log_drain();
    }
    atomic_store(&sg_process.running, false);
}

/* Reports a process that exits without MPI_Finalize. */
__attribute__((destructor)) static void on_exit_unfinished(void)
{
    /* A child made by bypassing the C library has all of the parent's memory. */
    if (!sg_process_running() || sg_process.log == NULL ||
        sg_log_header(sg_process.log)->pid != (uint32_t)getpid())
        return;
    sg_recording_waiting(sg_process.log);
    if (sg_process_speaks())
        sg_log("MPI_Finalize was not called: run `stagger recover %s` to make the archive",
               sg_process.directory_word);
}
