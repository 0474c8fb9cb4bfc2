/* stagger-bench: an MPI program that measures what a preloaded library makes of the collectives,
 * against the MPI library's own in the same run. It runs with or without a preloaded library, and
 * under any MPI that it is built with.
 *
 * Rank 0 reads the command line, speaks, and prints; the others follow.
 */
#include "bench/bench.h"
#include "bench/limits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAILED = 1, USAGE = 2 };

/* How often a rank that waits without using its processor looks up. */
#define LOOK_NS 500000

/* In place of a barrier, whose wait would take the processors from what rank 0 measures. */
static void wait_quietly(MPI_Comm comm)
{
    static const struct timespec look = {0, LOOK_NS};
    MPI_Request request;
    int done = 0;

    PMPI_Ibarrier(comm, &request);
    while (!done) {
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
    }
}

/* On rank 0, while the others sleep: of the processors that the ranks of its machine use. */
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
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    }
    PMPI_Gather(&own, sizeof own, MPI_BYTE, masks, sizeof own, MPI_BYTE, 0, job->node);
    for (int i = 0; masks != NULL && i < node_size; i++)
        CPU_OR(&all, &all, &masks[i]);
    free(masks);
    if (job->rank == 0)
        sg_bench_limits_measure(&all, node_size, out);
    wait_quietly(MPI_COMM_WORLD);
}

static void describe(const struct sg_bench_job *job, char name[MPI_MAX_LIBRARY_VERSION_STRING],
                     struct sg_bench_head *head)
{
    /* A function that nobody has a reason to take over. */
    const char *mpi = sg_bench_library("MPI_Get_library_version");
    const struct sg_bench_options *options = job->options;
    int length;

    PMPI_Get_library_version(name, &length);
    /* MPICH's goes on for lines, the first of them in two columns. */
    name[strcspn(name, "\n,")] = '\0';
    for (char *tab = name; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    head->options = options;
    head->ranks = job->size;
    head->mpi_name = name;
    head->intercepted = false;
    for (int i = 0; i < options->operation_count && !head->intercepted; i++) {
        enum sg_operation operation = options->operations[i];

        head->ours = sg_bench_library(sg_bench_function(operation, SG_BENCH_OURS));
        head->stock = sg_bench_library(sg_bench_function(operation, SG_BENCH_STOCK));
        head->intercepted = strcmp(head->ours, mpi) != 0;
    }
    if (!head->intercepted)
        sg_log("bench: no library is preloaded: both sides are %s's own", mpi);
}

static enum sg_status run_case(const struct sg_bench_job *job, enum sg_operation operation,
                               uint64_t bytes)
{
    struct sg_bench_case bench_case = {.operation = operation,
                                       .bytes = bytes,
                                       .root = job->options->root,
                                       .comm = MPI_COMM_WORLD,
                                       .node = job->node,
                                       .rank = job->rank,
                                       .size = job->size};
    enum sg_status status = sg_bench_case_open(&bench_case);

    /* Of one rank only, and so not for all to act on. */
    if (status != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    status =
        job->options->late ? sg_bench_late(job, &bench_case) : sg_bench_latency(job, &bench_case);
    if (status != SG_OK && status != SG_ERR_FORMAT)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    sg_bench_case_close(&bench_case);
    return status;
}

static enum sg_status run_cases(const struct sg_bench_job *job)
{
    const struct sg_bench_options *options = job->options;
    enum sg_status status = SG_OK;

    for (int i = 0; i < options->operation_count && status == SG_OK; i++) {
        if (options->operations[i] == SG_OPERATION_BARRIER) {
            status = run_case(job, SG_OPERATION_BARRIER, 0);
            continue;
        }
        for (int j = 0; j < options->bytes_count && status == SG_OK; j++)
            status = run_case(job, options->operations[i], options->bytes[j]);
    }
    return status;
}

/* The exit status. */
static int run(const struct sg_bench_options *options, int rank, int size)
{
    struct sg_bench_job job = {.options = options, .rank = rank, .size = size};
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    struct sg_bench_head head;
    enum sg_status status;

    /* In the order of ranks, so that rank 0 is the first on its machine. */
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &job.node);
    measure_limits(&job, &head.limits);
    if (rank == 0) {
        describe(&job, name, &head);
        if (sg_bench_output_open(&head, stdout, &job.output) != SG_OK)
            MPI_Abort(MPI_COMM_WORLD, FAILED);
    }
    status = run_cases(&job);
    if (rank == 0) {
        enum sg_status closed = sg_bench_output_close(job.output, status == SG_OK);

        status = status == SG_OK ? closed : status;
    }
    MPI_Comm_free(&job.node);
    return status == SG_OK ? 0 : FAILED;
}

int main(int argc, char **argv)
{
    struct sg_bench_options options = {0};
    int verdict = SG_BENCH_BAD;
    int rank, size, provided, status;

    /* The limits take two threads, which do not call MPI. */
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
