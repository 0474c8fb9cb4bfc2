#include "bench/mpi/bench.h"
#include "bench/mpi/quiet.h"
#include "bench/plan.h"
#include "bench/rows.h"
#include "core/clock.h"

#include <math.h>
#include <stdlib.h>

/* Reads of the clock of which the fastest tells what one costs. */
#define CLOCK_READS 1000

/* Processor times of this rank by call. */
struct times {
    double ns[SG_BENCH_SIDES][SG_BENCH_PAIRS_MAX];
};

static double processor_ns(void)
{
    return (double)sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* What lies between two reads with nothing between them: the clock is a system call, which costs
 * more than a call of ours. */
static double clock_cost_ns(void)
{
    double least_ns = INFINITY;

    for (int i = 0; i < CLOCK_READS; i++) {
        double start_ns = processor_ns();

        least_ns = fmin(least_ns, processor_ns() - start_ns);
    }
    return least_ns;
}

static double call_ns(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                      enum sg_bench_side side, double cost_ns)
{
    uint64_t skew_ns = (uint64_t)(job->options->skews_us[0] * 1e3);
    double start_ns;

    sg_bench_settle(bench_case);
    /* Asleep, so that the processor is there for the others to waste or to leave. */
    if (job->rank == job->options->late_rank)
        sg_bench_sleep_until(sg_bench_now_ns() + skew_ns);
    start_ns = processor_ns();
    sg_bench_call(bench_case, side, 1);
    return fmax(processor_ns() - start_ns - cost_ns, 0);
}

/* Pairs that fit the time, by what one takes; the same on all ranks. */
static struct sg_bench_plan plan_pairs(const struct sg_bench_job *job,
                                       const struct sg_bench_case *bench_case)
{
    uint64_t asked = job->options->iterations, start_ns = sg_clock_ns();
    double own_ns, longest_ns;
    struct sg_bench_plan plan;

    for (int side = 0; side < SG_BENCH_SIDES; side++)
        call_ns(job, bench_case, (enum sg_bench_side)side, 0);
    sg_bench_settle(bench_case);
    own_ns = (double)(sg_clock_ns() - start_ns);
    PMPI_Allreduce(&own_ns, &longest_ns, 1, MPI_DOUBLE, MPI_MAX, bench_case->comm);
    plan = sg_bench_plan_row((const double[]){longest_ns / 2, longest_ns / 2},
                             job->options->row_s * 1e9, 1);
    if (asked > 0) {
        plan.pairs = asked < SG_BENCH_PAIRS_MAX ? asked : SG_BENCH_PAIRS_MAX;
        plan.limit_ns = INFINITY;
    }
    return plan;
}

/* The number of pairs measured, the same on all ranks. */
static size_t measure(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                      struct times *own)
{
    struct sg_bench_plan plan = plan_pairs(job, bench_case);
    uint64_t begin_ns = sg_clock_ns();
    double cost_ns = clock_cost_ns();
    size_t pair;

    for (pair = 0; pair < plan.pairs; pair++) {
        if (pair > 0 && !sg_bench_go_on(bench_case, begin_ns, plan.limit_ns))
            break;
        for (int turn = 0; turn < SG_BENCH_SIDES; turn++) {
            int side = (turn + (int)(pair % 2)) % SG_BENCH_SIDES;

            own->ns[side][pair] = call_ns(job, bench_case, (enum sg_bench_side)side, cost_ns);
        }
    }
    return pair;
}

/* The most that any rank of a class spends in each call goes to rank 0; a rank of the other class
 * counts as having spent nothing. */
static void most_of_class(const struct sg_bench_case *bench_case, const struct times *own,
                          bool member, size_t pairs, struct times *most)
{
    static const struct times nothing;
    const struct times *counted = member ? own : &nothing;

    for (int side = 0; side < SG_BENCH_SIDES; side++)
        PMPI_Reduce(counted->ns[side], most->ns[side], (int)pairs, MPI_DOUBLE, MPI_MAX, 0,
                    bench_case->comm);
}

static enum sg_status report_class(const struct sg_bench_job *job,
                                   const struct sg_bench_case *bench_case, const struct times *own,
                                   enum sg_bench_class class, size_t pairs)
{
    static struct times most;
    static double scratch[SG_BENCH_PAIRS_MAX];
    bool is_root = bench_case->rank == bench_case->root;
    bool member = class == SG_BENCH_ALL_RANKS || is_root == (class == SG_BENCH_ROOT);
    struct sg_bench_comparison comparison;

    most_of_class(bench_case, own, member, pairs, &most);
    if (job->output == NULL)
        return SG_OK;
    comparison = sg_bench_compare(most.ns[SG_BENCH_OURS], most.ns[SG_BENCH_STOCK], scratch, pairs);
    return sg_bench_output_record(
        job->output,
        sg_bench_late_row(bench_case->operation, bench_case->bytes, &comparison, class, pairs),
        sg_bench_row_columns(job->options));
}

enum sg_status sg_bench_late(const struct sg_bench_job *job, struct sg_bench_case *bench_case)
{
    static struct times own;
    enum sg_status status = sg_bench_check(bench_case);
    size_t pairs;

    if (status != SG_OK)
        return status;
    pairs = measure(job, bench_case, &own);
    status = sg_bench_check(bench_case);
    if (status != SG_OK)
        return status;
    if (bench_case->operation != SG_OPERATION_REDUCE)
        return report_class(job, bench_case, &own, SG_BENCH_ALL_RANKS, pairs);
    status = report_class(job, bench_case, &own, SG_BENCH_ROOT, pairs);
    if (bench_case->size > 1) {
        enum sg_status others = report_class(job, bench_case, &own, SG_BENCH_NON_ROOT, pairs);

        status = status == SG_OK ? others : status;
    }
    return status;
}
