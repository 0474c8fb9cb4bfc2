/* stagger-bench: an MPI program that compares the collectives of a preloaded library with the MPI
 * library's own in the same run. It runs with or without a preloaded library, and under any MPI
 * that it is built with.
 *
 * Rank 0 reads the command line and prints; the others follow.
 */
#include "bench/bench_options.h"
#include "bench/limits.h"
#include "bench/mpi/bench_machine.h"
#include "bench/mpi/bench_target.h"
#include "bench/sampling.h"
#include "core/config.h"
#include "output/output_file.h"
#include "output/progress_line.h"
#include "rule/rule.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- cases: each operation at each size, by each number of processes that the options ask for
 *
 * All ranks of MPI_COMM_WORLD call these functions together.
 */

enum { FAILED = 1 };

typedef enum sg_status (*measure)(const struct sg_bench_job *, const struct sg_bench_case *,
                                  double skew_us);

static const measure measures[SG_BENCH_COMMANDS] = {[SG_BENCH_LATENCY] = sg_bench_single,
                                                    [SG_BENCH_CPU] = sg_bench_cpu,
                                                    [SG_BENCH_DELAY] = sg_bench_delay,
                                                    [SG_BENCH_OVERLAP] = sg_bench_overlap};

/* Commands without operations to choose. */
static enum sg_status (*const of_machine[SG_BENCH_COMMANDS])(const struct sg_bench_job *) = {
    [SG_BENCH_CLOCK] = sg_bench_clock,
    [SG_BENCH_NOISE] = sg_bench_noise,
    [SG_BENCH_ACCOUNT] = sg_bench_account};

static enum sg_status measure_case(const struct sg_bench_job *job,
                                   const struct sg_bench_case *bench_case)
{
    const struct sg_bench_options *options = job->options;
    enum sg_status status = SG_OK;

    if (options->late)
        return sg_bench_guard(job, bench_case, 0, sg_bench_late);
    if (options->command == SG_BENCH_LATENCY && options->scheme == SG_BENCH_LOOP)
        return sg_bench_guard(job, bench_case, 0, sg_bench_latency);
    for (int i = 0; i < options->skews_us.count && status == SG_OK; i++)
        status =
            sg_bench_guard(job, bench_case, options->skews_us.list[i], measures[options->command]);
    return status;
}

static enum sg_status run_case(const struct sg_bench_job *job, int operation, uint64_t bytes)
{
    struct sg_bench_case bench_case = {.operation = operation,
                                       .bytes = bytes,
                                       .root = job->options->root,
                                       .comm = job->comm,
                                       .settle = job->settle,
                                       .node = job->node,
                                       .rank = job->rank,
                                       .size = job->size};
    enum sg_status status = sg_bench_case_open(&bench_case);

    /* This is the status of one rank only; the ranks have not agreed on it. */
    if (status != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    status = measure_case(job, &bench_case);
    if (status != SG_OK && status != SG_ERR_FORMAT)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    sg_bench_case_close(&bench_case);
    return status;
}

/* A barrier has no size. */
static int sizes_of(const struct sg_bench_options *options, int operation)
{
    return operation == SG_OPERATION_BARRIER ? 1 : options->bytes.count;
}

/* Shows the case being measured, number `place` of `count`. */
static void show_case(const struct sg_bench_job *job, struct sg_progress_line *progress,
                      int operation, uint64_t bytes, int place, int count)
{
    char size[48] = "", share[48] = "", ranks[48] = "";

    if (operation != SG_OPERATION_BARRIER)
        snprintf(size, sizeof size, " of %llu bytes", (unsigned long long)bytes);
    if (count > 1)
        snprintf(share, sizeof share, ", %d of %d", place, count);
    if (job->options->processes.count > 0)
        snprintf(ranks, sizeof ranks, " on %d ranks", job->size);
    sg_progress_line_show(progress, "stagger-bench %s: %s%s%s%s",
                          sg_bench_command_names[job->options->command],
                          sg_bench_collectives[operation].name, size, ranks, share);
}

/* Measures each operation at each size on the job's ranks. *place: the last case, of count. */
static enum sg_status run_group(const struct sg_bench_job *job, struct sg_progress_line *progress,
                                int *place, int count)
{
    const struct sg_bench_options *options = job->options;
    enum sg_status status = SG_OK;

    for (int i = 0; i < options->operation_count; i++) {
        int operation = options->operations[i];
        bool sized = operation != SG_OPERATION_BARRIER;

        for (int j = 0; j < sizes_of(options, operation) && status == SG_OK; j++) {
            uint64_t bytes = sized ? options->bytes.list[j] : 0;

            show_case(job, progress, operation, bytes, ++*place, count);
            status = run_case(job, operation, bytes);
        }
    }
    return status;
}

/* Measures all cases. SG_ERR_FORMAT: a result was wrong (logged); the same on all ranks. progress:
 * on rank 0. */
static enum sg_status sg_bench_run_cases(const struct sg_bench_job *world,
                                         struct sg_progress_line *progress)
{
    const struct sg_bench_options *options = world->options;
    int groups = options->processes.count, place = 0, count = 0;
    enum sg_status status = SG_OK;

    if (of_machine[options->command] != NULL) {
        sg_progress_line_show(progress, "stagger-bench %s",
                              sg_bench_command_names[options->command]);
        return of_machine[options->command](world);
    }
    for (int i = 0; i < options->operation_count; i++)
        count += sizes_of(options, options->operations[i]) * (groups > 0 ? groups : 1);
    if (groups == 0)
        return run_group(world, progress, &place, count);
    for (int i = 0; i < groups && status == SG_OK; i++) {
        struct sg_bench_job group;
        bool member = sg_bench_group_enter(world, (int)options->processes.list[i], &group);

        if (member)
            status = run_group(&group, progress, &place, count);
        status = sg_bench_group_leave(world, member ? &group : NULL, status);
    }
    return status;
}

/* ---- the program */

enum { MAIN_FAILED = 1, USAGE = 2 };

#define PROGRESS_VARIABLE "STAGGER_PROGRESS"
#define PROGRESS_BYTES 16

#define COOLINGS 3
/* Margin, because a sweep may take longer than it did in the trial. */
#define COOLING_ROOM 1.5

/* Beginning of the file name of a library that has rules. */
#define LIBRARY "libstagger"

/* Measures the limits on rank 0, while the others sleep: for the processors that the ranks of its
 * machine use. */
static void measure_limits(const struct sg_bench_job *job, struct sg_bench_limits *out)
{
    cpu_set_t own, all, *masks = NULL;
    int node_rank, node_size;

    PMPI_Comm_rank(job->node, &node_rank);
    PMPI_Comm_size(job->node, &node_size);
    CPU_ZERO(&own);
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof own, &own);
    if (node_rank == 0)
        masks = calloc((size_t)node_size, sizeof *masks);
    if (node_rank == 0 && masks == NULL) {
        sg_log("bench: out of memory");
        MPI_Abort(MPI_COMM_WORLD, MAIN_FAILED);
    }
    PMPI_Gather(&own, sizeof own, MPI_BYTE, masks, sizeof own, MPI_BYTE, 0, job->node);
    for (int i = 0; masks != NULL && i < node_size; i++)
        CPU_OR(&all, &all, &masks[i]);
    free(masks);
    if (job->rank == 0)
        sg_bench_limits_measure(&all, node_size, out);
    sg_bench_wait_quietly(job->quiet);
}

static void describe(const struct sg_bench_job *job, char name[MPI_MAX_LIBRARY_VERSION_STRING],
                     struct sg_bench_head *head)
{
    /* No library has a reason to replace this function. */
    const char *mpi = sg_bench_library("MPI_Get_library_version");
    const struct sg_bench_options *options = job->options;
    int length;

    PMPI_Get_library_version(name, &length);
    /* MPICH's version text has many lines, the first of them in two columns. */
    name[strcspn(name, "\n,")] = '\0';
    for (char *tab = name; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    head->options = options;
    head->ranks = job->size;
    head->mpi_name = name;
    head->intercepted = false;
    for (int i = 0; i < options->operation_count && !head->intercepted; i++) {
        int operation = options->operations[i];

        head->ours = sg_bench_library(sg_bench_function(operation, SG_BENCH_OURS));
        head->stock = sg_bench_library(sg_bench_function(operation, SG_BENCH_STOCK));
        head->intercepted = strcmp(head->ours, mpi) != 0;
    }
    if (!head->intercepted)
        sg_log("bench: no library is preloaded: both sides are %s", mpi);
}

/* Returns true if this algorithm is available for calls; if not, a line says why. */
static bool can_run(const struct sg_bench_job *job, bool ours, const char *option, int algorithm)
{
    if (algorithm == SG_BENCH_RULES || algorithm == SG_ALGORITHM_MPICH)
        return true;
    if (algorithm == SG_BENCH_GIVEN && !ours)
        sg_log("bench: %s: rules need " LIBRARY ".so preloaded", option);
    else if (algorithm != SG_BENCH_GIVEN && !job->between_nodes)
        sg_log("bench: %s: %s runs between nodes: preload " LIBRARY
               ".so and set STAGGER_RANKS_PER_NODE below %d",
               option, sg_bench_algorithm_name(algorithm), job->size);
    else
        return true;
    return false;
}

/* Reads from the preloaded library's configuration: ranks per node (0: all ranks of a machine), and
 * asynchronous progress ("thread"; "": unknown). False: out of memory (logged). */
static bool read_settings(int *ranks_per_node, char progress[PROGRESS_BYTES])
{
    const struct sg_config_entry *entry = sg_config_find(PROGRESS_VARIABLE);
    struct sg_config config;

    /* Silent, because the library itself reports errors. */
    if (sg_config_read(&config, false) != SG_OK) {
        sg_log("bench: out of memory");
        return false;
    }
    *ranks_per_node = config.ranks_per_node;
    progress[0] = '\0';
    if (entry != NULL)
        entry->print(entry, &config, progress, PROGRESS_BYTES);
    sg_config_clear(&config);
    return true;
}

/* Decides on rank 0 what there is to measure. False: nothing, and a line says why. */
static bool look_around(struct sg_bench_job *job, struct sg_bench_head *head,
                        char progress[PROGRESS_BYTES])
{
    const struct sg_bench_options *options = job->options;
    int ranks_per_node;
    bool ours = head->intercepted && strncmp(head->ours, LIBRARY, strlen(LIBRARY)) == 0;

    if (!read_settings(&ranks_per_node, progress))
        return false;
    if (options->arrival == SG_BENCH_REPLAY &&
        sg_bench_pattern_read(options->arrivals, job->size, &job->lateness_ns,
                              &job->replayed_calls) != SG_OK)
        return false;
    job->ranks_per_node = ours ? ranks_per_node : 0;
    job->between_nodes = job->ranks_per_node > 0 && job->ranks_per_node < job->size;
    if (options->command == SG_BENCH_ACCOUNT)
        return sg_bench_can_account(job);
    if (options->command == SG_BENCH_LATENCY && options->scheme == SG_BENCH_LOOP)
        return true;
    if (job->between_nodes)
        head->progress = progress[0] != '\0' ? progress : NULL;
    else if (ours)
        head->progress = sg_algorithms[SG_ALGORITHM_HANDOFF].name;
    for (int i = 0; i < options->algorithm_count; i++) {
        if (!can_run(job, ours, "--algorithms", options->algorithms[i]))
            return false;
    }
    return can_run(job, ours, "--vs", options->vs);
}

/* Distributes the arrivals that rank 0 has read. */
static void share_replay(struct sg_bench_job *job)
{
    uint64_t calls = job->replayed_calls;
    size_t count;

    PMPI_Bcast(&calls, 1, MPI_UINT64_T, 0, job->quiet);
    count = calls * (size_t)job->size;
    if (job->rank != 0 && calls > 0)
        job->lateness_ns = malloc(count * sizeof *job->lateness_ns);
    if (calls > 0 && (job->lateness_ns == NULL || count > INT_MAX)) {
        sg_log("bench: too many arrivals");
        MPI_Abort(MPI_COMM_WORLD, MAIN_FAILED);
    }
    job->replayed_calls = calls;
    if (calls > 0)
        PMPI_Bcast(job->lateness_ns, (int)count, MPI_DOUBLE, 0, job->quiet);
}

static void gather_bounds(struct sg_bench_job *job)
{
    uint64_t own_ns = sg_clock_model_error(sg_clocksync_model(job->clocks), job->machine.now_ns());

    if (job->rank == 0)
        job->bounds_ns = calloc((size_t)job->size, sizeof *job->bounds_ns);
    if (job->rank == 0 && job->bounds_ns == NULL)
        MPI_Abort(MPI_COMM_WORLD, MAIN_FAILED);
    PMPI_Gather(&own_ns, 1, MPI_UINT64_T, job->bounds_ns, 1, MPI_UINT64_T, 0, job->quiet);
}

/* Empties the caches as before a call, on all ranks at once; the slowest rank counts. */
static void measure_cooling(struct sg_bench_job *job)
{
    size_t sweep_bytes = sg_bench_sweep_bytes(sg_bench_largest_cache());
    double own_ns = 0;

    if (sg_bench_sweep_open(sweep_bytes) != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, MAIN_FAILED);
    for (int i = 0; i < COOLINGS; i++) {
        uint64_t begin_ns = job->machine.now_ns();

        sg_bench_sweep();
        own_ns = fmax(own_ns, (double)(job->machine.now_ns() - begin_ns));
    }
    PMPI_Allreduce(&own_ns, &job->cooling_ns, 1, MPI_DOUBLE, MPI_MAX, job->quiet);
    job->cooling_ns *= COOLING_ROOM;
}

/* Does everything before the first measurement. False, on all ranks: nothing to measure. */
static bool prepare(struct sg_bench_job *job, char name[MPI_MAX_LIBRARY_VERSION_STRING],
                    struct sg_bench_head *head, char progress[PROGRESS_BYTES])
{
    int found[] = {true, 0};

    if (job->rank == 0) {
        describe(job, name, head);
        found[0] = look_around(job, head, progress);
        found[1] = job->ranks_per_node;
    }
    PMPI_Bcast(found, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (!found[0])
        return false;
    job->ranks_per_node = found[1];
    sg_bench_group_open(job);
    if (job->options->command == SG_BENCH_LATENCY || job->options->command == SG_BENCH_ACCOUNT)
        measure_limits(job, &head->limits);
    share_replay(job);
    gather_bounds(job);
    if (job->options->cold)
        measure_cooling(job);
    return true;
}

static void forget(struct sg_bench_job *job)
{
    sg_bench_group_close(job);
    sg_bench_sweep_close();
    free(job->lateness_ns);
    free(job->bounds_ns);
}

/* Opens the stream for the progress line, on rank 0: standard error if it is a terminal, unless the
 * rows of the table go to a terminal as they are measured. NULL: none. */
static FILE *open_terminal(const struct sg_bench_job *job)
{
    int descriptor = -1;
    FILE *terminal;

    if (job->rank != 0)
        return NULL;
    if (job->options->format == SG_BENCH_TEXT)
        descriptor = sg_terminal_open(STDOUT_FILENO);
    if (descriptor >= 0) {
        close(descriptor);
        return NULL;
    }
    descriptor = sg_terminal_open(STDERR_FILENO);
    if (descriptor < 0)
        return NULL;
    terminal = fdopen(descriptor, "w");
    if (terminal == NULL)
        close(descriptor);
    return terminal;
}

static enum sg_status run_shown(const struct sg_bench_job *job)
{
    struct sg_progress_line progress;
    FILE *terminal = open_terminal(job);
    enum sg_status status;

    sg_progress_line_start_on(&progress, terminal);
    status = sg_bench_run_cases(job, &progress);
    sg_progress_line_end(&progress);
    if (terminal != NULL)
        fclose(terminal);
    return status;
}

/* Returns the exit status. */
static int run(const struct sg_bench_options *options, int rank, int size)
{
    struct sg_bench_job job = {
        .options = options, .comm = MPI_COMM_WORLD, .rank = rank, .size = size};
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    char progress[PROGRESS_BYTES];
    struct sg_bench_head head = {0};
    enum sg_status status;

    if (!prepare(&job, name, &head, progress))
        return USAGE;
    if (rank == 0 && sg_bench_output_open(&head, stdout, &job.output) != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, MAIN_FAILED);
    if (rank == 0)
        sg_bench_describe_run(&job);
    status = run_shown(&job);
    if (rank == 0) {
        enum sg_status closed = sg_bench_output_close(job.output, status == SG_OK);

        status = status == SG_OK ? closed : status;
    }
    forget(&job);
    return status == SG_OK ? 0 : MAIN_FAILED;
}

int main(int argc, char **argv)
{
    struct sg_bench_options options = {0};
    int verdict = SG_BENCH_BAD;
    int rank, size, provided, status;

    if (sg_bench_algorithms_announce(sg_bench_given_find(argc, argv)) != SG_OK)
        return MAIN_FAILED;
    /* Two threads measure the limits, and they do not call MPI. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        verdict = (int)sg_bench_options_read(argc, argv, size, &options);
    MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&options, sizeof options, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (verdict == SG_BENCH_RUN)
        status = run(&options, rank, size);
    else
        status = verdict == SG_BENCH_DONE ? 0 : USAGE;
    MPI_Finalize();
    return status;
}
