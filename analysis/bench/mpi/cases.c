#include "bench/mpi/cases.h"

#include "bench/collectives.h"
#include "bench/command_line.h"
#include "bench/mpi/group.h"
#include "bench/mpi/guard.h"

#include <stdio.h>

enum { FAILED = 1 };

typedef enum sg_status (*measure)(const struct sg_bench_job *, const struct sg_bench_case *,
                                  double skew_us);

static const measure measures[SG_BENCH_COMMANDS] = {[SG_BENCH_LATENCY] = sg_bench_single,
                                                    [SG_BENCH_CPU] = sg_bench_cpu,
                                                    [SG_BENCH_DELAY] = sg_bench_delay,
                                                    [SG_BENCH_OVERLAP] = sg_bench_overlap};

/* Those that have no operations to choose. */
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

    /* The status of one rank, which the ranks have not agreed on. */
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

/* Shows what is being measured, the place-th of so many. */
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

/* Each operation at each size, on the job's ranks; place: of the last case, of so many. */
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

enum sg_status sg_bench_run_cases(const struct sg_bench_job *world,
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
