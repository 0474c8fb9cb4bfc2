/* Synchronization delay, as paper 002 defines it in section 5.3: from the last entry into a
 * collective to the last exit from it, with one rank late. All ranks have one clock, so that
 * nothing has to be sent back to tell the time.
 */
#include "bench/variants.h"
#include "bench/window.h"

#include <math.h>

#define LATE_PART 0.5

/* Of each round, over the ranks. */
struct ends {
    uint64_t others_ns[SG_BENCH_PAIRS_MAX];    /* last entry of the ranks that are in time */
    uint64_t late_rank_ns[SG_BENCH_PAIRS_MAX]; /* entry of the one that is not */
    uint64_t exit_ns[SG_BENCH_PAIRS_MAX];
};

struct delay_times {
    uint64_t entry_ns[SG_BENCH_VARIANTS_MAX][SG_BENCH_PAIRS_MAX];
    uint64_t exit_ns[SG_BENCH_VARIANTS_MAX][SG_BENCH_PAIRS_MAX];
};

static void time_call(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                      const struct sg_bench_variant *variant, uint64_t late_ns, uint64_t *entry_ns,
                      uint64_t *exit_ns)
{
    struct sg_bench_case own = sg_bench_variant_case(variant, bench_case);
    bool stop = false;
    uint64_t begin_ns = sg_bench_meet(job->quiet, &stop);

    /* Asleep, so that the processors are the others' to wait with. */
    sg_bench_sleep_until(job->rank == job->options->late_rank ? begin_ns + late_ns : begin_ns);
    *entry_ns = sg_bench_now_ns();
    sg_bench_call(&own, variant->side, 1);
    *exit_ns = sg_bench_now_ns();
    /* All begin the next call in one state, whatever this one was. */
    sg_bench_settle(&own);
}

/* The rounds measured, the same on all ranks. */
static size_t measure(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                      const struct sg_bench_variants *variants, uint64_t late_ns,
                      struct delay_times *own)
{
    uint64_t begin_ns = sg_bench_now_ns();
    size_t round = 0;

    while (sg_bench_another_round(job, round, begin_ns)) {
        for (int turn = 0; turn < variants->count; turn++) {
            int which = (turn + (int)(round % (size_t)variants->count)) % variants->count;

            time_call(job, bench_case, &variants->of[which], late_ns, &own->entry_ns[which][round],
                      &own->exit_ns[which][round]);
        }
        round++;
    }
    return round;
}

/* Whether the rounds are what was asked for: the rank that is to be late came last, by half of its
 * lateness at least. On a busy machine another may wake later. */
static bool is_late(uint64_t others_ns, uint64_t late_rank_ns, double late_ns)
{
    return late_ns == 0 || (double)late_rank_ns >= (double)others_ns + late_ns * LATE_PART;
}

static enum sg_status report(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                             int algorithm, double late_us, const struct ends *ends, size_t rounds)
{
    static double delay_ns[SG_BENCH_PAIRS_MAX];
    struct sg_bench_delay_row row = {
        .operation = bench_case->operation,
        .algorithm = sg_bench_algorithm_name(algorithm),
        .late_ns = late_us * 1e3,
        .elements = (uint64_t)bench_case->count,
        .delay = {NAN, NAN, NAN},
        .rounds = rounds,
    };

    for (size_t i = 0; i < rounds; i++) {
        uint64_t others_ns = ends->others_ns[i], late_ns = ends->late_rank_ns[i];

        if (is_late(others_ns, late_ns, row.late_ns))
            delay_ns[row.calls++] =
                (double)(ends->exit_ns[i] - (late_ns > others_ns ? late_ns : others_ns));
    }
    if (row.calls > 0)
        row.delay = sg_bench_summarize(delay_ns, row.calls);
    return sg_bench_output_delay_row(job->output, &row);
}

static enum sg_status gather(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                             const struct sg_bench_variants *variants, double late_us,
                             const struct delay_times *own, size_t rounds)
{
    static const uint64_t nothing[SG_BENCH_PAIRS_MAX];
    static struct ends ends;
    bool late = job->rank == job->options->late_rank;
    enum sg_status status = SG_OK;
    int count = (int)rounds;

    for (int i = 0; i < variants->count; i++) {
        PMPI_Reduce(late ? nothing : own->entry_ns[i], ends.others_ns, count, MPI_UINT64_T, MPI_MAX,
                    0, job->quiet);
        PMPI_Reduce(late ? own->entry_ns[i] : nothing, ends.late_rank_ns, count, MPI_UINT64_T,
                    MPI_MAX, 0, job->quiet);
        PMPI_Reduce(own->exit_ns[i], ends.exit_ns, count, MPI_UINT64_T, MPI_MAX, 0, job->quiet);
        if (job->output != NULL && status == SG_OK)
            status = report(job, bench_case, variants->of[i].algorithm, late_us, &ends, rounds);
    }
    return status;
}

enum sg_status sg_bench_delay(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double late_us)
{
    static struct delay_times own;
    struct sg_bench_variants variants;
    enum sg_status status;

    sg_bench_variants_open(job->algorithms, job->algorithm_count, bench_case->operation, &variants);
    status = sg_bench_variants_check(&variants, bench_case);
    if (status == SG_OK) {
        size_t rounds = measure(job, bench_case, &variants, (uint64_t)(late_us * 1e3), &own);

        status = sg_bench_variants_check(&variants, bench_case);
        if (status == SG_OK)
            status = gather(job, bench_case, &variants, late_us, &own, rounds);
    }
    sg_bench_variants_close(&variants);
    return status;
}
