#include "bench/mpi/group.h"

#include "bench/mpi/guard.h"
#include "bench/mpi/machine.h"
#include "bench/mpi/quiet.h"
#include "rule/algorithm.h"

enum { FAILED = 1 };

/* The algorithms asked for, or the command's own. Those between nodes have no rows where the ranks
 * are one node. */
static void choose_algorithms(struct sg_bench_job *job)
{
    static const int compared[] = {SG_ALGORITHM_TREE, SG_ALGORITHM_DISSEMINATION,
                                   SG_ALGORITHM_PAIRWISE};
    const struct sg_bench_options *options = job->options;

    job->algorithm_count = 0;
    for (int i = 0; i < options->algorithm_count; i++) {
        int algorithm = options->algorithms[i];

        if (job->between_nodes || algorithm < 0 || algorithm == SG_ALGORITHM_MPICH)
            job->algorithms[job->algorithm_count++] = algorithm;
        else if (job->rank == 0)
            sg_log("bench: %d processes are one node: no rows of %s", job->size,
                   sg_bench_algorithm_name(algorithm));
    }
    if (options->vs != SG_ALGORITHM_MPICH)
        job->algorithms[job->algorithm_count++] = options->vs;
    if (options->algorithm_count > 0)
        return;
    if (options->vs == SG_BENCH_RULES) {
        job->algorithms[job->algorithm_count++] = SG_ALGORITHM_MPICH;
        return;
    }
    job->algorithms[job->algorithm_count++] = SG_BENCH_RULES;
    if (options->command != SG_BENCH_DELAY || !job->between_nodes)
        return;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        job->algorithms[job->algorithm_count++] = compared[i];
}

void sg_bench_group_open(struct sg_bench_job *job)
{
    const struct sg_bench_options *options = job->options;

    PMPI_Comm_dup(job->comm, &job->quiet);
    MPI_Comm_dup(job->comm, &job->settle);
    MPI_Comm_set_name(job->settle, SG_BENCH_SETTLE_COMM_NAME);
    /* The first barrier on a communicator is MPICH's, whatever the rules say, and sets it up. */
    MPI_Barrier(job->settle);
    /* In the order of ranks, so that rank 0 is the first on its machine. */
    PMPI_Comm_split_type(job->comm, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL, &job->node);
    job->between_nodes = job->ranks_per_node > 0 && job->ranks_per_node < job->size;
    job->late_rank = options->late_is_last ? job->size - 1 : options->late_rank;
    choose_algorithms(job);
    if (sg_bench_machine_open(job->quiet, job->node, &job->machine, &job->clocks) != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    sg_bench_guard_open(job);
}

void sg_bench_group_close(struct sg_bench_job *job)
{
    sg_bench_machine_close(job->clocks);
    MPI_Comm_free(&job->node);
    MPI_Comm_free(&job->settle);
    MPI_Comm_free(&job->quiet);
}

bool sg_bench_group_enter(const struct sg_bench_job *world, int size, struct sg_bench_job *out)
{
    *out = *world;
    if (size == world->size)
        return true;
    MPI_Comm_split(MPI_COMM_WORLD, world->rank < size ? 0 : MPI_UNDEFINED, world->rank, &out->comm);
    if (out->comm == MPI_COMM_NULL)
        return false;
    MPI_Barrier(out->comm);
    out->size = size;
    sg_bench_group_open(out);
    return true;
}

enum sg_status sg_bench_group_leave(const struct sg_bench_job *world, struct sg_bench_job *group,
                                    enum sg_status status)
{
    int shared = (int)status;
    MPI_Request request;

    if (group != NULL && group->size < world->size) {
        sg_bench_group_close(group);
        MPI_Comm_free(&group->comm);
    }
    PMPI_Ibcast(&shared, 1, MPI_INT, 0, world->quiet, &request);
    sg_bench_complete_idly(&request);
    return (enum sg_status)shared;
}
