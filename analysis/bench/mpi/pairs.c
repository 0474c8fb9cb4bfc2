/* Measurements in pairs, without samples of single calls: the time of a call, by alternating blocks
 * of calls of both sides; and its processor time while one rank is late, call by call. */
#include "bench/bench_output.h"
#include "bench/limits.h"
#include "bench/mpi/bench_machine.h"
#include "bench/mpi/operands_filled.h"
#include "bench/pattern.h"
#include "core/clock.h"

#include <math.h>
#include <stdlib.h>

#define TRIES 3
/* Reads of the clock; the fastest shows the cost of one. */
#define CLOCK_READS 1000

/* By side and pair: this rank's value, and after reduction the value of all ranks. */
struct pairs {
    double ns[SG_BENCH_SIDES][SG_BENCH_PAIRS_MAX];
};

/* One of the two measurements that are made in pairs. */
struct measuring {
    const struct sg_bench_job *job;
    const struct sg_bench_case *bench_case;
    struct sg_bench_plan plan;
    double (*measure)(const struct measuring *measuring, enum sg_bench_side side);
    double cost_ns; /* of the clock */
};

enum sg_status sg_bench_check_side(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                                   const char *by)
{
    int wrong = sg_bench_verify(bench_case, side);

    if (wrong == 0)
        return SG_OK;
    if (bench_case->rank == 0)
        sg_log("bench: %s of %llu bytes%s%s gave a wrong result on %d of %d ranks",
               sg_bench_function(bench_case->operation, side),
               (unsigned long long)bench_case->bytes, by != NULL ? " by " : "",
               by != NULL ? by : "", wrong, bench_case->size);
    return SG_ERR_FORMAT;
}

/* Returns the first side to measure: collectives that are not routed have only MPICH's. */
static enum sg_bench_side first_side(const struct sg_bench_case *bench_case)
{
    return sg_bench_collectives[bench_case->operation].routed ? SG_BENCH_OURS : SG_BENCH_STOCK;
}

/* Verifies the sides; logs a wrong result on rank 0. SG_ERR_FORMAT on all ranks alike. */
static enum sg_status check(const struct sg_bench_case *bench_case)
{
    enum sg_status status = SG_OK;

    for (int side = (int)first_side(bench_case); side < SG_BENCH_SIDES && status == SG_OK; side++)
        status = sg_bench_check_side(bench_case, (enum sg_bench_side)side, NULL);
    return status;
}

/* Returns true if another pair should be measured: at most limit_ns have passed since begin_ns. The
 * same on all ranks. */
static bool go_on(const struct sg_bench_case *bench_case, uint64_t begin_ns, double limit_ns)
{
    int more = (double)(sg_clock_ns() - begin_ns) <= limit_ns;

    sg_bench_settle(bench_case);
    PMPI_Bcast(&more, 1, MPI_INT, 0, bench_case->comm);
    return more != 0;
}

/* Returns the number of pairs measured, the same on all ranks. */
static size_t measure_pairs(const struct measuring *measuring, struct pairs *own)
{
    uint64_t begin_ns = sg_clock_ns();
    size_t pair;

    for (pair = 0; pair < measuring->plan.pairs; pair++) {
        if (pair > 0 && !go_on(measuring->bench_case, begin_ns, measuring->plan.limit_ns))
            break;
        for (int turn = 0; turn < SG_BENCH_SIDES; turn++) {
            /* Each side is first in every other pair, so that a drift favours neither. */
            int side = (turn + (int)(pair % 2)) % SG_BENCH_SIDES;

            if (side >= (int)first_side(measuring->bench_case))
                own->ns[side][pair] = measuring->measure(measuring, (enum sg_bench_side)side);
        }
    }
    return pair;
}

/* Reduces the ranks' values of one pair to one; sorts them. */
static double reduced(double *values, int count, enum sg_bench_reduction reduction, int root)
{
    double sum = 0, of_root = values[root];

    for (int rank = 0; rank < count; rank++)
        sum += values[rank];
    if (reduction == SG_BENCH_REDUCE_ROOT)
        return of_root;
    if (reduction == SG_BENCH_REDUCE_MEAN)
        return sum / count;
    sg_bench_summarize(values, (size_t)count); /* sorts them */
    if (reduction == SG_BENCH_REDUCE_MEDIAN)
        return values[(count - 1) / 2];
    return reduction == SG_BENCH_REDUCE_MIN ? values[0] : values[count - 1];
}

/* Reduces all ranks' values of a side, pair by pair, into own->ns on rank 0. */
static void reduce_side(const struct measuring *measuring, struct pairs *own, int side,
                        size_t pairs)
{
    const struct sg_bench_case *bench_case = measuring->bench_case;
    const struct sg_bench_options *options = measuring->job->options;
    size_t ranks = (size_t)bench_case->size;
    double *all = NULL, *values = NULL;

    if (bench_case->rank == 0) {
        all = calloc(ranks * (pairs + 1), sizeof *all);
        if (all == NULL) {
            sg_log("bench: out of memory");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        values = all + ranks * pairs;
    }
    PMPI_Gather(own->ns[side], (int)pairs, MPI_DOUBLE, all, (int)pairs, MPI_DOUBLE, 0,
                bench_case->comm);
    for (size_t pair = 0; all != NULL && pair < pairs; pair++) {
        for (size_t rank = 0; rank < ranks; rank++)
            values[rank] = all[rank * pairs + pair];
        own->ns[side][pair] = reduced(values, bench_case->size,
                                      (enum sg_bench_reduction)options->reduction, options->root);
    }
    free(all);
}

/* Compares, on rank 0, the largest values of any rank; counts false: this rank counts as 0. */
static struct sg_bench_comparison compare_pairs(const struct measuring *measuring,
                                                const struct pairs *own, bool counts, size_t pairs)
{
    static const struct sg_bench_summary none = {NAN, NAN, NAN};
    static const struct pairs nothing;
    static struct pairs most;
    static double scratch[SG_BENCH_PAIRS_MAX];

    for (int side = 0; side < SG_BENCH_SIDES; side++)
        PMPI_Reduce((counts ? own : &nothing)->ns[side], most.ns[side], (int)pairs, MPI_DOUBLE,
                    MPI_MAX, 0, measuring->bench_case->comm);
    if (measuring->job->output == NULL)
        return (struct sg_bench_comparison){0};
    if (first_side(measuring->bench_case) == SG_BENCH_STOCK)
        return (struct sg_bench_comparison){
            none, sg_bench_summarize(most.ns[SG_BENCH_STOCK], pairs), none};
    return sg_bench_compare(most.ns[SG_BENCH_OURS], most.ns[SG_BENCH_STOCK], scratch, pairs);
}

/* ---- latency ---- */

static double block_ns(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                       uint64_t calls)
{
    uint64_t start_ns;

    /* The library's barrier on both sides: it lets the ranks begin close together. With more ranks
     * than processors, a barrier of MPICH's would take longer than many a block. */
    sg_bench_settle(bench_case);
    start_ns = sg_clock_ns();
    sg_bench_call(bench_case, side, calls);
    return (double)(sg_clock_ns() - start_ns);
}

/* Returns the shortest of several tries: with shared processors one may lose milliseconds. */
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

/* Estimates the time of a call on either side; the same on all ranks. */
static void estimate(const struct sg_bench_case *bench_case, double row_ns,
                     double call_ns[SG_BENCH_SIDES])
{
    double longest_ns = sg_bench_plan_block_ns(row_ns);

    /* MPICH's side first: if its calls are long, the other side needs equally long blocks. */
    for (int side = SG_BENCH_SIDES - 1; side >= (int)first_side(bench_case); side--) {
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
    if (first_side(bench_case) == SG_BENCH_STOCK)
        call_ns[SG_BENCH_OURS] = call_ns[SG_BENCH_STOCK];
}

static double measure_block(const struct measuring *measuring, enum sg_bench_side side)
{
    uint64_t calls = measuring->plan.calls[side];

    return block_ns(measuring->bench_case, side, calls) / (double)calls;
}

enum sg_status sg_bench_latency(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us)
{
    static struct pairs own;
    struct measuring measuring = {.job = job, .bench_case = bench_case, .measure = measure_block};
    double row_ns = job->options->row_s * 1e9;
    double call_ns[SG_BENCH_SIDES];
    struct sg_bench_comparison comparison;
    enum sg_status status = check(bench_case);
    struct sg_record *record;

    if (status != SG_OK)
        return status;
    estimate(bench_case, row_ns, call_ns);
    measuring.plan = sg_bench_plan_row(call_ns, row_ns, job->options->iterations);
    measuring.plan.pairs = measure_pairs(&measuring, &own);
    sg_bench_settle(bench_case);
    for (int side = 0; side < SG_BENCH_SIDES && job->options->reduction != SG_BENCH_REDUCE_MAX;
         side++)
        reduce_side(&measuring, &own, side, measuring.plan.pairs);
    comparison = compare_pairs(
        &measuring, &own, bench_case->rank == 0 || job->options->reduction == SG_BENCH_REDUCE_MAX,
        measuring.plan.pairs);
    status = check(bench_case);
    if (status != SG_OK || job->output == NULL)
        return status;
    record = sg_bench_latency_row(bench_case->operation, bench_case->bytes,
                                  sg_bench_reduction_names[job->options->reduction], &comparison,
                                  &measuring.plan);
    sg_record_us(record, "model", sg_bench_modelled_ns(job, bench_case, SG_BENCH_RULES));
    return sg_bench_output_record(job->output, record, sg_bench_row_columns(job->options));
}

/* ---- processor time with a late rank ---- */

static double processor_ns(void)
{
    return (double)sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Returns the difference of two reads with nothing between them: the clock is a system call, which
 * costs more than a call of the library. */
static double clock_cost_ns(void)
{
    double least_ns = INFINITY;

    for (int i = 0; i < CLOCK_READS; i++) {
        double start_ns = processor_ns();

        least_ns = fmin(least_ns, processor_ns() - start_ns);
    }
    return least_ns;
}

static double measure_call(const struct measuring *measuring, enum sg_bench_side side)
{
    const struct sg_bench_options *options = measuring->job->options;
    uint64_t skew_ns = (uint64_t)(options->skews_us.list[0] * 1e3);
    double start_ns;

    sg_bench_settle(measuring->bench_case);
    /* The late rank sleeps, so that the others have the processor, to use or to leave idle. */
    if (measuring->job->rank == measuring->job->late_rank)
        sg_bench_sleep_until(sg_bench_now_ns() + skew_ns);
    start_ns = processor_ns();
    sg_bench_call(measuring->bench_case, side, 1);
    return fmax(processor_ns() - start_ns - measuring->cost_ns, 0);
}

/* Plans the number of pairs that fit into the time, from the time of one; the same on all ranks. */
static struct sg_bench_plan plan_pairs(const struct measuring *measuring)
{
    const struct sg_bench_options *options = measuring->job->options;
    uint64_t asked = options->iterations, start_ns = sg_clock_ns();
    double own_ns, longest_ns;
    struct sg_bench_plan plan;

    for (int side = (int)first_side(measuring->bench_case); side < SG_BENCH_SIDES; side++)
        measure_call(measuring, (enum sg_bench_side)side);
    sg_bench_settle(measuring->bench_case);
    own_ns = (double)(sg_clock_ns() - start_ns);
    PMPI_Allreduce(&own_ns, &longest_ns, 1, MPI_DOUBLE, MPI_MAX, measuring->bench_case->comm);
    plan = sg_bench_plan_row((const double[]){longest_ns / 2, longest_ns / 2}, options->row_s * 1e9,
                             1);
    if (asked > 0) {
        plan.pairs = asked < SG_BENCH_PAIRS_MAX ? asked : SG_BENCH_PAIRS_MAX;
        plan.limit_ns = INFINITY;
    }
    return plan;
}

static enum sg_status report_class(const struct measuring *measuring, const struct pairs *own,
                                   enum sg_bench_class class, size_t pairs)
{
    const struct sg_bench_case *bench_case = measuring->bench_case;
    const struct sg_bench_job *job = measuring->job;
    bool is_root = bench_case->rank == bench_case->root;
    bool member = class == SG_BENCH_ALL_RANKS || is_root == (class == SG_BENCH_ROOT);
    struct sg_bench_comparison comparison = compare_pairs(measuring, own, member, pairs);

    if (job->output == NULL)
        return SG_OK;
    return sg_bench_output_record(
        job->output,
        sg_bench_late_row(bench_case->operation, bench_case->bytes, &comparison, class, pairs),
        sg_bench_row_columns(job->options));
}

enum sg_status sg_bench_late(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                             double skew_us)
{
    static struct pairs own;
    struct measuring measuring = {.job = job, .bench_case = bench_case, .measure = measure_call};
    enum sg_status status = check(bench_case);
    size_t pairs;

    if (status != SG_OK)
        return status;
    measuring.plan = plan_pairs(&measuring);
    measuring.cost_ns = clock_cost_ns();
    pairs = measure_pairs(&measuring, &own);
    status = check(bench_case);
    if (status != SG_OK)
        return status;
    if (!sg_bench_collectives[bench_case->operation].rooted)
        return report_class(&measuring, &own, SG_BENCH_ALL_RANKS, pairs);
    status = report_class(&measuring, &own, SG_BENCH_ROOT, pairs);
    if (bench_case->size > 1) {
        enum sg_status others = report_class(&measuring, &own, SG_BENCH_NON_ROOT, pairs);

        status = status == SG_OK ? others : status;
    }
    return status;
}
