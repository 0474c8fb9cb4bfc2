#include "bench/mpi/bench.h"
#include "bench/plan.h"
#include "bench/rows.h"
#include "core/clock.h"

#include <math.h>

#define TRIES 3

/* Block times of either side, the slowest rank's in the end. */
struct blocks {
    double ns[SG_BENCH_SIDES][SG_BENCH_PAIRS_MAX];
};

enum sg_status sg_bench_check_side(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                                   const char *by)
{
    int wrong = sg_bench_verify(bench_case, side);

    if (wrong == 0)
        return SG_OK;
    if (bench_case->rank == 0)
        sg_log("bench: %s of %llu bytes%s%s gives a wrong result on %d of %d ranks",
               sg_bench_function(bench_case->operation, side),
               (unsigned long long)bench_case->bytes, by != NULL ? " by " : "",
               by != NULL ? by : "", wrong, bench_case->size);
    return SG_ERR_FORMAT;
}

enum sg_status sg_bench_check(const struct sg_bench_case *bench_case)
{
    enum sg_status status = SG_OK;

    for (int side = 0; side < SG_BENCH_SIDES && status == SG_OK; side++)
        status = sg_bench_check_side(bench_case, (enum sg_bench_side)side, NULL);
    return status;
}

static double block_ns(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                       uint64_t calls)
{
    uint64_t start_ns;

    /* Ours on both sides: the ranks begin close together, and with more ranks than processors
     * MPICH's own would take longer than many a block. */
    sg_bench_settle(bench_case);
    start_ns = sg_clock_ns();
    sg_bench_call(bench_case, side, calls);
    return (double)(sg_clock_ns() - start_ns);
}

/* Of several tries the shortest: where ranks share processors one may lose milliseconds. */
static double trial_ns(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                       uint64_t calls)
{
    double own_ns[TRIES], slowest_ns[TRIES];
    double least_ns = INFINITY;

    for (int i = 0; i < TRIES; i++)
        own_ns[i] = block_ns(bench_case, side, calls);
    sg_bench_settle(bench_case);
    PMPI_Allreduce(own_ns, slowest_ns, TRIES, MPI_DOUBLE, MPI_MAX, bench_case->comm);
    for (int i = 0; i < TRIES; i++)
        least_ns = fmin(least_ns, slowest_ns[i]);
    return least_ns;
}

/* What a call takes on either side, about; the same on all ranks. */
static void estimate(const struct sg_bench_case *bench_case, double row_ns,
                     double call_ns[SG_BENCH_SIDES])
{
    double longest_ns = sg_bench_plan_block_ns(row_ns);

    /* MPICH's first: where one call of it takes long, ours has to be judged by as long a block. */
    for (int side = SG_BENCH_SIDES - 1; side >= 0; side--) {
        uint64_t calls = 1, next = 1;
        double taken_ns = 0;

        while (next > 0) {
            calls = next;
            taken_ns = trial_ns(bench_case, (enum sg_bench_side)side, calls);
            next = sg_bench_plan_trial(calls, taken_ns, longest_ns);
        }
        call_ns[side] = taken_ns / (double)calls;
        longest_ns = fmax(longest_ns, call_ns[side]);
    }
}

bool sg_bench_go_on(const struct sg_bench_case *bench_case, uint64_t begin_ns, double limit_ns)
{
    int more = (double)(sg_clock_ns() - begin_ns) <= limit_ns;

    sg_bench_settle(bench_case);
    PMPI_Bcast(&more, 1, MPI_INT, 0, bench_case->comm);
    return more != 0;
}

/* The number of pairs measured, the same on all ranks. */
static size_t measure(const struct sg_bench_case *bench_case, const struct sg_bench_plan *plan,
                      struct blocks *own)
{
    uint64_t begin_ns = sg_clock_ns();
    size_t pair;

    for (pair = 0; pair < plan->pairs; pair++) {
        if (pair > 0 && !sg_bench_go_on(bench_case, begin_ns, plan->limit_ns))
            break;
        for (int turn = 0; turn < SG_BENCH_SIDES; turn++) {
            /* Each side is first in every other pair, so that a drift favours neither. */
            int side = (turn + (int)(pair % 2)) % SG_BENCH_SIDES;

            own->ns[side][pair] =
                block_ns(bench_case, (enum sg_bench_side)side, plan->calls[side]) /
                (double)plan->calls[side];
        }
    }
    return pair;
}

enum sg_status sg_bench_latency(const struct sg_bench_job *job, struct sg_bench_case *bench_case)
{
    static struct blocks own, slowest;
    static double scratch[SG_BENCH_PAIRS_MAX];
    const struct sg_bench_options *options = job->options;
    double row_ns = options->row_s * 1e9;
    double call_ns[SG_BENCH_SIDES];
    struct sg_bench_plan plan;
    enum sg_status status = sg_bench_check(bench_case);

    if (status != SG_OK)
        return status;
    estimate(bench_case, row_ns, call_ns);
    plan = sg_bench_plan_row(call_ns, row_ns, options->iterations);
    plan.pairs = measure(bench_case, &plan, &own);
    sg_bench_settle(bench_case);
    for (int side = 0; side < SG_BENCH_SIDES; side++)
        PMPI_Reduce(own.ns[side], slowest.ns[side], (int)plan.pairs, MPI_DOUBLE, MPI_MAX, 0,
                    bench_case->comm);
    status = sg_bench_check(bench_case);
    if (status == SG_OK && job->output != NULL) {
        struct sg_bench_comparison comparison = sg_bench_compare(
            slowest.ns[SG_BENCH_OURS], slowest.ns[SG_BENCH_STOCK], scratch, plan.pairs);

        status = sg_bench_output_record(
            job->output,
            sg_bench_latency_row(bench_case->operation, bench_case->bytes, &comparison, &plan),
            sg_bench_row_columns(job->options));
    }
    return status;
}
