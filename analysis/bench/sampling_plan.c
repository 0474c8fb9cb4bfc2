/* Rank 0 between batches: which calls count, how long windows are to be, whether it is enough. */
#include "bench/distribution.h"
#include "bench/sampling_impl.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_BATCH 10
/* A batch ends the time for which nobody looks at results and clocks. */
#define BATCH_NS 500e6
#define RESYNCHRONISE_NS UINT64_C(1000000000)
#define WINDOW_MAX_NS 60e9
/* A window that fits this part of the calls is long enough; a longer one costs more than repeating
 * does. */
#define TOO_LONG_PART 0.1
#define ROOM 2.0        /* of a window, times the longest call */
#define SHRINK_FROM 4.0 /* times the longest call */
#define PATIENCE 3
#define ROUNDS_MAX 20000

/* all: by rank, each as run->own. A round's times into the samples, when they count. */
static bool keep_round(struct sg_bench_run *run, const struct sg_bench_times *all, size_t i)
{
    size_t a_rank = run->batch.rounds * (size_t)run->variants;
    struct sg_bench_times *kept = sg_bench_samples_add(run->samples, run->batch.numbers[i]);

    if (kept == NULL)
        return false;
    for (int variant = 0; variant < run->variants; variant++) {
        for (int rank = 0; rank < run->size; rank++)
            *kept++ = all[(size_t)rank * a_rank + i * (size_t)run->variants + (size_t)variant];
    }
    return true;
}

/* What was flagged in a round, of any rank; longest: of the batch, from its window's beginning. */
static uint64_t look_at_round(struct sg_bench_run *run, const struct sg_bench_times *all, size_t i)
{
    size_t a_rank = run->batch.rounds * (size_t)run->variants;
    uint64_t flagged = 0;

    for (int variant = 0; variant < run->variants; variant++) {
        uint64_t flags = 0, first_ns = UINT64_MAX, last_ns = 0;

        for (int rank = 0; rank < run->size; rank++) {
            const struct sg_bench_times *times =
                &all[(size_t)rank * a_rank + i * (size_t)run->variants + (size_t)variant];

            flags |= times->flags;
            first_ns = times->entry_ns < first_ns ? times->entry_ns : first_ns;
            last_ns = times->exit_ns > last_ns ? times->exit_ns : last_ns;
        }
        if (flags & SG_BENCH_WRONG)
            run->batch.wrong_variant = variant;
        run->samples->started_late += (flags & SG_BENCH_STARTED_LATE) != 0;
        run->samples->took_too_long += (flags & SG_BENCH_TOOK_TOO_LONG) != 0;
        run->longest_ns = fmax(run->longest_ns, (double)(int64_t)(last_ns - first_ns));
        flagged |= flags;
    }
    run->samples->attempts += (uint64_t)run->variants;
    return flagged;
}

static void verify_times(struct sg_bench_run *run)
{
    const struct sg_bench_samples *samples = run->samples;
    size_t last = samples->rounds - 1;

    for (int variant = 0; variant < run->sampling->variants; variant++) {
        if (sg_bench_left_early(sg_bench_samples_at(samples, last, variant), samples->ranks,
                                samples->clock_error_ns))
            run->batch.wrong_variant = variant;
    }
}

/* The next window, from how the calls of this batch did. */
static void adapt_window(struct sg_bench_run *run, size_t too_long)
{
    const struct sg_bench_sampling *sampling = run->sampling;
    double around_ns = sg_bench_lateness_most_ns(&sampling->pattern) + sampling->catch_up_ns +
                       (double)run->tolerance_ns;
    double window_ns = (double)run->batch.window_ns, wanted_ns = ROOM * run->longest_ns;

    wanted_ns += sampling->scheme == SG_BENCH_WINDOW ? around_ns : 0;
    if ((double)too_long > TOO_LONG_PART * (double)run->batch.rounds)
        window_ns = fmax(window_ns * ROOM, wanted_ns);
    else if (window_ns > wanted_ns * SHRINK_FROM / ROOM && too_long == 0)
        window_ns = wanted_ns;
    run->batch.window_ns = (uint64_t)fmin(window_ns, WINDOW_MAX_NS);
    run->samples->window_ns = sampling->scheme == SG_BENCH_WINDOW ? run->batch.window_ns : 0;
}

enum sg_status sg_bench_take_batch(struct sg_bench_run *run, const struct sg_bench_times *all)
{
    size_t too_long = 0;

    run->repeats = 0;
    run->longest_ns = 0;
    for (size_t i = 0; i < run->batch.rounds; i++) {
        uint64_t flags = look_at_round(run, all, i);

        too_long += (flags & SG_BENCH_TOOK_TOO_LONG) != 0;
        if ((flags & (SG_BENCH_STARTED_LATE | SG_BENCH_TOOK_TOO_LONG)) != 0) {
            if (!run->last_resort) {
                /* Places before i have been looked at. */
                run->batch.numbers[run->repeats++] = run->batch.numbers[i];
                continue;
            }
            run->samples->kept_flagged++;
        }
        if (!keep_round(run, all, i))
            return SG_ERR_MEMORY;
        if (run->sampling->synchronises)
            verify_times(run);
    }
    adapt_window(run, too_long);
    return SG_OK;
}

static bool is_enough(struct sg_bench_run *run)
{
    const struct sg_bench_sampling *sampling = run->sampling;
    const struct sg_bench_samples *samples = run->samples;

    if (samples->rounds < SG_BENCH_ENOUGH_MIN)
        return false;
    run->scratch = realloc(run->scratch, samples->rounds * sizeof *run->scratch);
    for (int variant = 0; variant < sampling->variants && run->scratch != NULL; variant++) {
        for (size_t round = 0; round < samples->rounds; round++)
            run->scratch[round] =
                sg_bench_reduced_ns(sg_bench_samples_at(samples, round, variant), samples->ranks,
                                    sampling->reduction, sampling->root);
        if (!sg_bench_is_enough(run->scratch, samples->rounds))
            return false;
    }
    return run->scratch != NULL;
}

static bool is_over(struct sg_bench_run *run, uint64_t now_ns)
{
    const struct sg_bench_sampling *sampling = run->sampling;
    double elapsed_ns = (double)(now_ns - run->begin_ns);
    size_t rounds = run->samples->rounds;

    if (run->batch.wrong_variant >= 0 || rounds >= ROUNDS_MAX || run->last_resort)
        return true;
    if (sampling->rounds > 0 && rounds >= sampling->rounds)
        return true;
    if (sampling->until_enough && sampling->rounds == 0 && is_enough(run))
        return run->samples->enough = true;
    if (sampling->rounds == 0 && rounds >= SG_BENCH_COUNT_MIN)
        return elapsed_ns > sampling->time_ns;
    if (elapsed_ns <= PATIENCE * sampling->time_ns)
        return false;
    run->last_resort = rounds < SG_BENCH_COUNT_MIN;
    return !run->last_resort;
}

/* Rounds of the next batch: those to be repeated, and new ones. */
static void plan_rounds(struct sg_bench_run *run)
{
    const struct sg_bench_sampling *sampling = run->sampling;
    size_t have = run->samples->rounds;
    double a_round_ns = (double)run->batch.window_ns * run->variants;
    /* More by half at each look, so that the question for enough is not asked too often. */
    double wanted = fmax(FIRST_BATCH, (double)have / 2);

    if (sampling->rounds > 0)
        wanted = (double)(sampling->rounds - have);
    if (run->last_resort)
        wanted = fmin(wanted, SG_BENCH_COUNT_MIN);
    else
        wanted = fmin(fmin(wanted, SG_BENCH_BATCH_MAX), fmax(1, floor(BATCH_NS / a_round_ns)));
    run->batch.rounds = (uint64_t)wanted;
    for (size_t i = run->repeats; i < run->batch.rounds; i++)
        run->batch.numbers[i] = run->next_number++;
}

/* On rank 0. */
void sg_bench_plan_batch(struct sg_bench_run *run)
{
    uint64_t now_ns = run->machine->now_ns();

    run->batch.rounds = 0;
    if (is_over(run, now_ns))
        return;
    plan_rounds(run);
    run->batch.resynchronise = now_ns - run->synchronised_ns > RESYNCHRONISE_NS;
    run->batch.first_ns = sg_bench_global_ns(run, now_ns) + run->machine->lead_ns;
    if (run->batch.resynchronise)
        run->synchronised_ns = now_ns;
}
