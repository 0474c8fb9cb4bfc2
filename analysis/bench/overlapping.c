#include "bench/overlapping.h"

#include <math.h>
#include <stdlib.h>

/* Trial rounds determine t_alone, the length of the computation. The first measures the call alone.
 * Then it is measured twice as in the final rounds, with the windows that resulted: a call takes a
 * different time among the first calls, after a computation, or after the sleep in a long window.
 * The second half of the last trial's rounds counts. */
#define TRIAL_ROUNDS 11
#define REHEARSALS 2
#define REHEARSAL_ROUNDS 40
#define TRIAL_S 0.3

enum mode { ALONE, TIMED, WORKED, COMPUTED, MODES };

struct overlapping {
    const struct sg_bench_machine *machine;
    const struct sg_bench_target *target;
    int variant;
    uint64_t tests;
    double alone_ns; /* length of the computation */
    double overhead_ns, waited_ns;
};

uint64_t sg_bench_overlap_tests(uint64_t bytes, uint64_t test_bytes)
{
    return test_bytes == 0 ? 0 : (bytes + test_bytes - 1) / test_bytes + 1;
}

/* ---- a call in one of the modes
 * --------------------------------------------------------------- */

/* Computes one part, number `part` of those into which the tests divide the computation. */
static void compute_for(const struct overlapping *own, uint64_t begin_ns, uint64_t part)
{
    double parts = (double)own->tests + 1;
    uint64_t end_ns = begin_ns + (uint64_t)(own->alone_ns * (double)(part + 1) / parts);

    while ((int64_t)(end_ns - own->machine->now_ns()) > 0)
        own->machine->work(1);
}

static void compute_work(const struct overlapping *own, uint64_t part)
{
    double quanta = own->alone_ns / own->machine->quantum_ns;
    double parts = (double)own->tests + 1;
    uint64_t before = (uint64_t)(quanta * (double)part / parts);

    own->machine->work((uint64_t)(quanta * (double)(part + 1) / parts) - before);
}

static void compute(struct overlapping *own, enum mode mode)
{
    const struct sg_bench_target *target = own->target;
    uint64_t begin_ns = own->machine->now_ns();
    bool done = mode == COMPUTED;

    for (uint64_t part = 0; part <= own->tests; part++) {
        uint64_t test_ns;

        if (mode == TIMED)
            compute_for(own, begin_ns, part);
        else
            compute_work(own, part);
        if (done || part == own->tests)
            continue;
        test_ns = own->machine->now_ns();
        done = target->test(target->context);
        own->overhead_ns += (double)(own->machine->now_ns() - test_ns);
    }
}

static void call(void *context, int mode)
{
    struct overlapping *own = context;
    const struct sg_bench_target *target = own->target;
    uint64_t begin_ns = own->machine->now_ns(), end_ns;

    own->overhead_ns = own->waited_ns = 0;
    if (mode != COMPUTED) {
        target->start(target->context, own->variant);
        own->overhead_ns = (double)(own->machine->now_ns() - begin_ns);
    }
    if (mode != ALONE)
        compute(own, (enum mode)mode);
    if (mode == COMPUTED)
        return;
    begin_ns = own->machine->now_ns();
    target->finish(target->context);
    end_ns = own->machine->now_ns();
    own->waited_ns = (double)(end_ns - begin_ns);
    own->overhead_ns += own->waited_ns;
}

static void prepare(void *context, int mode, uint64_t round)
{
    const struct overlapping *own = context;

    if (mode != COMPUTED && own->target->prepare != NULL)
        own->target->prepare(own->target->context, own->variant, round);
}

static bool check(void *context, int mode, uint64_t round)
{
    const struct overlapping *own = context;

    return mode == COMPUTED || own->target->check == NULL ||
           own->target->check(own->target->context, own->variant, round);
}

static void settle(void *context)
{
    const struct overlapping *own = context;

    if (own->target->settle != NULL)
        own->target->settle(own->target->context);
}

static void barrier(void *context)
{
    const struct overlapping *own = context;

    own->target->barrier(own->target->context);
}

static void details(void *context, double *overhead_ns, double *waited_ns)
{
    const struct overlapping *own = context;

    *overhead_ns = own->overhead_ns;
    *waited_ns = own->waited_ns;
}

/* ---- results -------------------------------------------------------------------------------- */

/* Returns the largest time of any rank. */
static double most_ns(const struct sg_bench_times *ranks, int count, bool waited)
{
    double most = 0;

    for (int rank = 0; rank < count; rank++)
        most = fmax(most, waited ? ranks[rank].waited_ns : ranks[rank].overhead_ns);
    return most;
}

static double clamped(double part)
{
    return fmin(fmax(part, 0), 1);
}

enum { PAPER_TIME, PAPER_WORK, OSU, IMB, OVERHEAD, WAITED, TIMES, COLUMNS = TIMES + MODES };

static void fill_round(const struct sg_bench_sampling *sampling,
                       const struct sg_bench_samples *samples, size_t round, double t_alone,
                       double *columns[COLUMNS])
{
    const struct sg_bench_times *timed = sg_bench_samples_at(samples, round, TIMED);
    double t[MODES];

    for (int mode = 0; mode < MODES; mode++)
        t[mode] = columns[TIMES + mode][round] =
            sg_bench_reduced_ns(sg_bench_samples_at(samples, round, mode), samples->ranks,
                                sampling->reduction, sampling->root);
    columns[OVERHEAD][round] = most_ns(timed, samples->ranks, false);
    columns[WAITED][round] = most_ns(timed, samples->ranks, true);
    columns[PAPER_TIME][round] = 1 - columns[OVERHEAD][round] / t_alone;
    columns[PAPER_WORK][round] = 1 - (t[WORKED] - t[COMPUTED]) / t_alone;
    columns[OSU][round] = clamped(1 - (t[WORKED] - t[COMPUTED]) / t_alone);
    columns[IMB][round] = clamped((t_alone + t[COMPUTED] - t[WORKED]) / fmin(t_alone, t[COMPUTED]));
}

/* Returns the summary over the rounds from `first` on. */
static struct sg_bench_summary median_alone(const struct sg_bench_sampling *sampling,
                                            const struct sg_bench_samples *samples, size_t first,
                                            double *scratch)
{
    for (size_t i = first; i < samples->rounds; i++)
        scratch[i - first] =
            sg_bench_reduced_ns(sg_bench_samples_at(samples, i, ALONE), samples->ranks,
                                sampling->reduction, sampling->root);
    return sg_bench_summarize(scratch, samples->rounds - first);
}

static enum sg_status summarize(const struct sg_bench_sampling *sampling,
                                const struct sg_bench_samples *samples,
                                struct sg_bench_overlap *out)
{
    double *values = calloc((COLUMNS + 1) * samples->rounds + 1, sizeof *values);
    double *columns[COLUMNS];
    struct sg_bench_summary of[COLUMNS];
    double t_alone;

    out->rounds = samples->rounds;
    if (values == NULL || samples->rounds == 0) {
        free(values);
        return values == NULL ? SG_ERR_MEMORY : SG_OK;
    }
    for (int i = 0; i < COLUMNS; i++)
        columns[i] = values + (size_t)i * samples->rounds;
    t_alone = median_alone(sampling, samples, 0, values + COLUMNS * samples->rounds).median;
    for (size_t round = 0; round < samples->rounds; round++)
        fill_round(sampling, samples, round, t_alone, columns);
    for (int i = 0; i < COLUMNS; i++)
        of[i] = sg_bench_summarize(columns[i], samples->rounds);
    *out = (struct sg_bench_overlap){.rounds = samples->rounds,
                                     .alone = of[TIMES + ALONE],
                                     .timed = of[TIMES + TIMED],
                                     .worked = of[TIMES + WORKED],
                                     .computed = of[TIMES + COMPUTED],
                                     .overhead = of[OVERHEAD],
                                     .waited = of[WAITED],
                                     .paper_time = of[PAPER_TIME],
                                     .paper_work = of[PAPER_WORK],
                                     .osu = of[OSU],
                                     .imb = of[IMB]};
    free(values);
    return SG_OK;
}

/* Sets own->alone_ns, on all ranks alike, so that the computation is equally long on each.
 * *window_ns becomes the window that the calls need. */
static enum sg_status try_alone(struct overlapping *own, const struct sg_bench_target *modes,
                                struct sg_clocksync *clocks, const struct sg_bench_sampling *asked,
                                bool rehearsal, double *window_ns)
{
    const struct sg_exchange *exchange = own->machine->exchange;
    struct sg_bench_sampling sampling = *asked;
    struct sg_bench_samples samples;
    double *scratch = NULL;
    enum sg_status status;

    sampling.window_ns = *window_ns;
    sampling.variants = rehearsal ? MODES : 1;
    sampling.synchronises = false; /* one mode only computes */
    sampling.rounds = rehearsal ? REHEARSAL_ROUNDS : TRIAL_ROUNDS;
    sampling.time_ns = TRIAL_S * 1e9;
    status = sg_bench_sample(own->machine, modes, clocks, &sampling, &samples);
    if (status == SG_OK && samples.rounds > 0 &&
        (scratch = calloc(samples.rounds, sizeof *scratch)) != NULL)
        own->alone_ns =
            median_alone(&sampling, &samples, rehearsal ? samples.rounds / 2 : 0, scratch).median;
    free(scratch);
    *window_ns = (double)samples.window_ns;
    sg_bench_samples_clear(&samples);
    if (status != SG_OK)
        return status;
    return exchange->broadcast(exchange->context, &own->alone_ns, sizeof own->alone_ns);
}

enum sg_status sg_bench_overlap_measure(const struct sg_bench_machine *machine,
                                        const struct sg_bench_target *target, int variant,
                                        struct sg_clocksync *clocks,
                                        const struct sg_bench_sampling *asked, uint64_t tests,
                                        struct sg_bench_overlap *out,
                                        struct sg_bench_samples *samples)
{
    struct overlapping own = {
        .machine = machine, .target = target, .variant = variant, .tests = tests};
    struct sg_bench_target modes = {.prepare = prepare,
                                    .check = check,
                                    .call = call,
                                    .settle = settle,
                                    .barrier = barrier,
                                    .details = details,
                                    .context = &own};
    struct sg_bench_sampling sampling = *asked;
    enum sg_status status;

    *out = (struct sg_bench_overlap){0};
    status = try_alone(&own, &modes, clocks, asked, false, &sampling.window_ns);
    for (int i = 0; i < REHEARSALS && status == SG_OK; i++)
        status = try_alone(&own, &modes, clocks, asked, true, &sampling.window_ns);
    if (status != SG_OK)
        return status;
    sampling.variants = MODES;
    sampling.synchronises = false; /* one mode only computes */
    status = sg_bench_sample(machine, &modes, clocks, &sampling, samples);
    if (status == SG_OK && machine->exchange->rank == 0)
        status = summarize(&sampling, samples, out);
    return status;
}
