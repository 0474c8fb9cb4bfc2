/* The processor time of a collective under skew, after paper 000, section VI: each call in a window
 * of its own, which all ranks begin together.
 *
 *     sleep up to the skew | call | sleep as long as the latest may take | stop
 *                          '---------------- counted ------------------'
 *
 * The second sleep is there for what asynchronous progress does after the call has returned. The
 * clock is the process's: a helper thread's time is in it, and a handler's. Where the paper keeps
 * its processors busy for the time of a delay, ranks sleep here, so that a late one does not
 * compete with those that wait for it. What the clock and the sleep cost is measured in windows
 * without a call, and taken off.
 */
#include "bench/variants.h"
#include "bench/window.h"
#include "core/clock.h"
#include "core/hash.h"
#include "rule/algorithm.h"

#include <math.h>

/* Calls that are counted in a block. Each block has one before them which is not. */
#define BLOCK_CALLS 4
#define TRIALS 2
/* A trial may have been quick. */
#define CATCH_UP_TIMES 2
#define CATCH_UP_LEAST_NS 200000

/* Average processor time of a window of each block, by variant; those without a call behind. */
struct cpu_times {
    double ns[SG_BENCH_VARIANTS_MAX + 1][SG_BENCH_PAIRS_MAX];
};

struct cpu_run {
    const struct sg_bench_job *job;
    const struct sg_bench_case *bench_case;
    const struct sg_bench_variants *variants;
    double skew_ns;
    uint64_t catch_up_ns;
};

static double processor_ns(void)
{
    return (double)sg_clock_of_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Between 0 and the largest skew, by rank and window: the same in every block of a round, so that
 * the variants meet the same arrivals. */
static uint64_t skew_of(const struct cpu_run *run, size_t round, int call)
{
    uint64_t bits = sg_hash_mix(SG_HASH_START + round);

    bits = sg_hash_mix(bits + (uint64_t)call);
    bits = sg_hash_mix(bits + (uint64_t)run->job->rank);
    return (uint64_t)(run->skew_ns * (double)(bits >> 11) * 0x1p-53);
}

/* The processor time counted; variant NULL: no call. */
static double window(const struct cpu_run *run, const struct sg_bench_variant *variant,
                     size_t round, int call)
{
    struct sg_bench_case own = *run->bench_case;
    bool stop = false;
    uint64_t begin_ns = sg_bench_meet(run->job->quiet, &stop);
    double start_ns, spent_ns;

    if (variant != NULL)
        own = sg_bench_variant_case(variant, run->bench_case);
    sg_bench_sleep_until(begin_ns + skew_of(run, round, call));
    start_ns = processor_ns();
    if (variant != NULL)
        sg_bench_call(&own, variant->side, 1);
    sg_bench_sleep_until(sg_bench_now_ns() + run->catch_up_ns);
    spent_ns = processor_ns() - start_ns;
    /* After every window, whatever was called: it also leaves the ranks where the scheduler put
     * them when all were running, on which it depends how long a spinning rank waits for another
     * in the next one. */
    sg_bench_settle(&own);
    return spent_ns;
}

static double block(const struct cpu_run *run, const struct sg_bench_variant *variant, size_t round)
{
    double sum_ns = 0;

    for (int call = 0; call <= BLOCK_CALLS; call++) {
        double spent_ns = window(run, variant, round, call);

        if (call > 0)
            sum_ns += spent_ns;
    }
    return sum_ns / BLOCK_CALLS;
}

/* How long a rank may have to wait for the last part of a reduction: the largest skew, and the
 * longest time that one without skew was seen to take anywhere. MPICH's own leaves nothing over. */
static uint64_t catch_up(const struct cpu_run *run)
{
    uint64_t own_ns = 0, longest_ns;

    for (int i = 0; i < run->variants->count - 1; i++) {
        const struct sg_bench_variant *variant = &run->variants->of[i];
        struct sg_bench_case own = sg_bench_variant_case(variant, run->bench_case);

        for (int trial = 0; trial < TRIALS; trial++) {
            bool stop = false;
            uint64_t begin_ns = sg_bench_meet(run->job->quiet, &stop), taken_ns;

            sg_bench_sleep_until(begin_ns);
            sg_bench_call(&own, variant->side, 1);
            taken_ns = sg_bench_now_ns() - begin_ns;
            own_ns = taken_ns > own_ns ? taken_ns : own_ns;
            sg_bench_settle(&own);
        }
    }
    PMPI_Allreduce(&own_ns, &longest_ns, 1, MPI_UINT64_T, MPI_MAX, run->job->quiet);
    return (uint64_t)run->skew_ns + CATCH_UP_LEAST_NS + CATCH_UP_TIMES * longest_ns;
}

/* The rounds measured, the same on all ranks. */
static size_t measure(const struct cpu_run *run, struct cpu_times *own)
{
    uint64_t begin_ns = sg_bench_now_ns();
    int variants = run->variants->count;
    size_t round = 0;

    while (sg_bench_another_round(run->job, round, begin_ns)) {
        for (int turn = 0; turn <= variants; turn++) {
            /* Each is the first in its turn, so that a drift favours none. */
            int which = (turn + (int)(round % (size_t)(variants + 1))) % (variants + 1);
            const struct sg_bench_variant *variant =
                which < variants ? &run->variants->of[which] : NULL;

            own->ns[which][round] = block(run, variant, round);
        }
        round++;
    }
    return round;
}

/* The average over the ranks, on rank 0, without what the windows themselves cost. */
static void average(const struct cpu_run *run, const struct cpu_times *own, size_t rounds,
                    struct cpu_times *all)
{
    int windows_only = run->variants->count;
    double cost_ns;

    for (int i = 0; i <= windows_only; i++)
        PMPI_Reduce(own->ns[i], all->ns[i], (int)rounds, MPI_DOUBLE, MPI_SUM, 0, run->job->quiet);
    if (run->job->output == NULL)
        return;
    cost_ns = sg_bench_summarize(all->ns[windows_only], rounds).median;
    for (int i = 0; i < windows_only; i++) {
        for (size_t round = 0; round < rounds; round++)
            all->ns[i][round] = fmax(all->ns[i][round] - cost_ns, 0) / run->job->size;
    }
}

/* The others are there to be compared with. */
static bool is_asked(const struct sg_bench_job *job, int algorithm)
{
    for (int i = 0; i < job->algorithm_count; i++) {
        if (job->algorithms[i] == algorithm)
            return true;
    }
    return false;
}

static enum sg_status report(const struct cpu_run *run, struct cpu_times *all, size_t rounds)
{
    static const struct sg_bench_summary none = {NAN, NAN, NAN};
    const struct sg_bench_variants *variants = run->variants;
    struct sg_bench_summary summaries[SG_BENCH_VARIANTS_MAX];
    int tree = sg_bench_variants_find(variants, SG_ALGORITHM_TREE);
    enum sg_status status = SG_OK;

    for (int i = 0; i < variants->count; i++)
        summaries[i] = sg_bench_summarize(all->ns[i], rounds);
    for (int i = 0; i < variants->count && status == SG_OK; i++) {
        int algorithm = variants->of[i].algorithm;
        struct sg_bench_cpu_row row = {
            .operation = run->bench_case->operation,
            .algorithm = sg_bench_algorithm_name(algorithm),
            .skew_ns = run->skew_ns,
            .elements = (uint64_t)run->bench_case->count,
            .cpu = summaries[i],
            .mpich = summaries[variants->count - 1],
            .tree = tree >= 0 ? summaries[tree] : none,
            .calls = rounds * BLOCK_CALLS,
        };

        if (is_asked(run->job, algorithm))
            status = sg_bench_output_cpu_row(run->job->output, &row);
    }
    return status;
}

enum sg_status sg_bench_cpu(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            double skew_us)
{
    static struct cpu_times own, all;
    struct sg_bench_variants variants;
    struct cpu_run run = {
        .job = job, .bench_case = bench_case, .variants = &variants, .skew_ns = skew_us * 1e3};
    int algorithms[SG_BENCH_ALGORITHMS_MAX + 1], count = job->algorithm_count;
    enum sg_status status;
    size_t rounds;

    for (int i = 0; i < count; i++)
        algorithms[i] = job->algorithms[i];
    if (job->between_nodes)
        algorithms[count++] = SG_ALGORITHM_TREE;
    sg_bench_variants_open(algorithms, count, bench_case->operation, &variants);
    status = sg_bench_variants_check(&variants, bench_case);
    if (status == SG_OK) {
        run.catch_up_ns = catch_up(&run);
        rounds = measure(&run, &own);
        average(&run, &own, rounds, &all);
        status = sg_bench_variants_check(&variants, bench_case);
        if (status == SG_OK && job->output != NULL)
            status = report(&run, &all, rounds);
    }
    sg_bench_variants_close(&variants);
    return status;
}
