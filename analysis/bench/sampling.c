#include "bench/sampling.h"

#include "core/cpu/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIANTS_MAX 32
#define FIRST_WINDOW_NS 1e6
/* Tolerated lateness, as a share of the pattern's largest. */
#define SKEW_TOLERANCE 0.05
#define FIRST_BATCH 10
/* Limits the length of a batch; results and clocks are checked between batches. */
#define BATCH_NS 500e6
#define RESYNCHRONISE_NS UINT64_C(1000000000)
#define WINDOW_MAX_NS 60e9
/* A window is long enough if at most this share of the calls does not fit; a longer one costs more
 * than repeating them. */
#define TOO_LONG_PART 0.1
#define ROOM 2.0        /* length of a window, in times of the longest call */
#define SHRINK_FROM 4.0 /* a window shrinks from this many times the longest call */
#define PATIENCE 3
#define ROUNDS_MAX 20000

#define BATCH_MAX 256

/* Rank 0's message before each batch. */
struct batch {
    uint64_t first_ns; /* on the global clock */
    uint64_t window_ns;
    uint64_t rounds; /* 0: no more batches */
    uint64_t resynchronise;
    int64_t wrong_variant;
    uint64_t numbers[BATCH_MAX];
};

struct run {
    const struct sg_bench_machine *machine;
    const struct sg_bench_target *target;
    struct sg_clocksync *clocks;
    const struct sg_bench_sampling *sampling;
    int rank, size;
    uint64_t tolerance_ns; /* a rank that begins later than this is late */
    int variants;          /* includes the one that calls nothing */
    struct batch batch;
    struct sg_bench_times *own; /* times of this batch, by round and variant */
    /* The following members are used on rank 0 only. */
    struct sg_bench_samples *samples;
    uint64_t begin_ns, synchronised_ns;
    uint64_t next_number;
    size_t repeats; /* rounds to repeat, first in `numbers` */
    double longest_ns;
    bool last_resort; /* keep flagged rounds: the machine gives no others */
    double *scratch;
};

static uint64_t global_ns(const struct run *run, uint64_t local_ns)
{
    return sg_clock_model_global(sg_clocksync_model(run->clocks), local_ns);
}

const char *const sg_bench_scheme_names[SG_BENCH_SCHEMES + 1] = {"window", "barrier",
                                                                 "dissemination", "loop"};

/* ---- rank 0 between batches: rounds that count, length of windows, end
 * ------------------------ */

/* Adds a round's times to the samples. all: by rank, each like run->own. */
static bool keep_round(struct run *run, const struct sg_bench_times *all, size_t i)
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

/* Returns the flags of any rank in a round, and counts them. Updates run->longest_ns, the longest
 * time in the batch from the first entry to the last exit. */
static uint64_t look_at_round(struct run *run, const struct sg_bench_times *all, size_t i)
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

static void verify_times(struct run *run)
{
    const struct sg_bench_samples *samples = run->samples;
    size_t last = samples->rounds - 1;

    for (int variant = 0; variant < run->sampling->variants; variant++) {
        if (sg_bench_left_early(sg_bench_samples_at(samples, last, variant), samples->ranks,
                                samples->clock_error_ns))
            run->batch.wrong_variant = variant;
    }
}

/* Chooses the next window from the calls of this batch. */
static void adapt_window(struct run *run, size_t too_long)
{
    const struct sg_bench_sampling *sampling = run->sampling;
    double around_ns = sg_bench_lateness_most_ns(&sampling->pattern) + sampling->catch_up_ns +
                       sampling->prepare_ns + (double)run->tolerance_ns;
    double window_ns = (double)run->batch.window_ns, wanted_ns = ROOM * run->longest_ns;

    wanted_ns += sampling->scheme == SG_BENCH_WINDOW ? around_ns : 0;
    if ((double)too_long > TOO_LONG_PART * (double)run->batch.rounds)
        window_ns = fmax(window_ns * ROOM, wanted_ns);
    else if (window_ns > wanted_ns * SHRINK_FROM / ROOM && too_long == 0)
        window_ns = wanted_ns;
    run->batch.window_ns = (uint64_t)fmin(window_ns, WINDOW_MAX_NS);
    run->samples->window_ns = sampling->scheme == SG_BENCH_WINDOW ? run->batch.window_ns : 0;
}

/* Takes the flags, samples and results of a batch. all: by rank, each like run->own.
 * SG_ERR_MEMORY. */
static enum sg_status take_batch(struct run *run, const struct sg_bench_times *all)
{
    size_t too_long = 0;

    run->repeats = 0;
    run->longest_ns = 0;
    for (size_t i = 0; i < run->batch.rounds; i++) {
        uint64_t flags = look_at_round(run, all, i);

        too_long += (flags & SG_BENCH_TOOK_TOO_LONG) != 0;
        if ((flags & (SG_BENCH_STARTED_LATE | SG_BENCH_TOOK_TOO_LONG)) != 0) {
            if (!run->last_resort) {
                /* Numbers up to i have been used, so they can be overwritten. */
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

static bool is_enough(struct run *run)
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

static bool is_over(struct run *run, uint64_t now_ns)
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

/* Chooses the rounds of the next batch: those to be repeated, and new ones. */
static void plan_rounds(struct run *run)
{
    const struct sg_bench_sampling *sampling = run->sampling;
    size_t have = run->samples->rounds;
    double a_round_ns = (double)run->batch.window_ns * run->variants;
    /* Half as many again at each check: the test for narrow intervals must not be made too
     * often. */
    double wanted = fmax(FIRST_BATCH, (double)have / 2);

    if (sampling->rounds > 0)
        wanted = (double)(sampling->rounds - have);
    if (run->last_resort)
        wanted = fmin(wanted, SG_BENCH_COUNT_MIN);
    else
        wanted = fmin(fmin(wanted, BATCH_MAX), fmax(1, floor(BATCH_NS / a_round_ns)));
    run->batch.rounds = (uint64_t)wanted;
    for (size_t i = run->repeats; i < run->batch.rounds; i++)
        run->batch.numbers[i] = run->next_number++;
}

/* Returns a time at which all ranks can have received the batch and be prepared. */
static uint64_t first_window_ns(const struct run *run, uint64_t now_ns)
{
    return global_ns(run, now_ns) + run->machine->lead_ns + (uint64_t)run->sampling->prepare_ns;
}

/* Decides on rank 0 what comes next, in run->batch. */
static void plan_batch(struct run *run)
{
    uint64_t now_ns = run->machine->now_ns();

    run->batch.rounds = 0;
    if (is_over(run, now_ns))
        return;
    plan_rounds(run);
    run->batch.resynchronise = now_ns - run->synchronised_ns > RESYNCHRONISE_NS;
    run->batch.first_ns = first_window_ns(run, now_ns);
    if (run->batch.resynchronise)
        run->synchronised_ns = now_ns;
}

/* ---- one call -------------------------------------------------------------------------------- */

static enum sg_status dissemination_barrier(const struct run *run)
{
    const struct sg_exchange *exchange = run->machine->exchange;
    enum sg_status status = SG_OK;

    for (int step = 1; step < run->size && status == SG_OK; step *= 2) {
        char token = 0;

        status =
            exchange->send(exchange->context, (run->rank + step) % run->size, &token, sizeof token);
        if (status == SG_OK)
            status = exchange->receive(exchange->context,
                                       (run->rank - step % run->size + run->size) % run->size,
                                       &token, sizeof token);
    }
    return status;
}

/* Finds the local time at which this rank begins, or from which it is late. */
static enum sg_status meet(const struct run *run, uint64_t window_ns, uint64_t *begin_ns)
{
    enum sg_status status = SG_OK;

    if (run->sampling->scheme == SG_BENCH_WINDOW) {
        *begin_ns = sg_clock_model_local(sg_clocksync_model(run->clocks), window_ns);
        return SG_OK;
    }
    if (run->sampling->scheme == SG_BENCH_BARRIER)
        run->target->barrier(run->target->context);
    else
        status = dissemination_barrier(run);
    *begin_ns = run->machine->now_ns();
    return status;
}

static uint64_t quanta_of(const struct run *run, double duration_ns)
{
    return run->machine->quantum_ns > 0 ? (uint64_t)(duration_ns / run->machine->quantum_ns) : 0;
}

static void call_timed(const struct run *run, int variant, uint64_t begin_ns, double late_ns,
                       struct sg_bench_times *times)
{
    const struct sg_bench_machine *machine = run->machine;
    const struct sg_bench_sampling *sampling = run->sampling;
    bool busy = sampling->lateness == SG_BENCH_BUSY;
    uint64_t late_quanta = quanta_of(run, late_ns);
    uint64_t catch_up_quanta = quanta_of(run, sampling->catch_up_ns);
    uint64_t due_ns = begin_ns + (busy ? 0 : (uint64_t)late_ns), started_ns;

    machine->wait_until(due_ns);
    started_ns = machine->now_ns();
    if (sampling->scheme == SG_BENCH_WINDOW && started_ns > due_ns + run->tolerance_ns)
        times->flags |= SG_BENCH_STARTED_LATE;
    if (sampling->processor)
        times->processor_ns = -machine->processor_ns();
    if (busy && late_quanta > 0)
        machine->work(late_quanta);
    times->entry_ns = machine->now_ns();
    if (variant < sampling->variants)
        run->target->call(run->target->context, variant);
    times->exit_ns = machine->now_ns();
    if (!sampling->processor)
        return;
    if (busy)
        machine->work(catch_up_quanta);
    else
        machine->sleep_until(times->exit_ns + (uint64_t)sampling->catch_up_ns);
    times->processor_ns += machine->processor_ns();
    if (busy)
        times->processor_ns -= (double)(late_quanta + catch_up_quanta) * machine->quantum_ns;
}

static enum sg_status measure_call(const struct run *run, int variant, uint64_t number,
                                   uint64_t window_ns, struct sg_bench_times *times)
{
    const struct sg_bench_target *target = run->target;
    double late_ns = sg_bench_lateness_ns(&run->sampling->pattern, number, run->rank);
    bool calls = variant < run->sampling->variants;
    uint64_t begin_ns;
    enum sg_status status;

    *times = (struct sg_bench_times){0};
    if (calls && target->prepare != NULL)
        target->prepare(target->context, variant, number);
    status = meet(run, window_ns, &begin_ns);
    if (status != SG_OK)
        return status;
    call_timed(run, variant, begin_ns, late_ns, times);
    if (calls && target->details != NULL)
        target->details(target->context, &times->overhead_ns, &times->waited_ns);
    if (target->settle != NULL)
        target->settle(target->context);
    if (calls && target->check != NULL && !target->check(target->context, variant, number))
        times->flags |= SG_BENCH_WRONG;
    if (run->sampling->scheme == SG_BENCH_WINDOW &&
        global_ns(run, run->machine->now_ns()) + (uint64_t)run->sampling->prepare_ns >
            window_ns + run->batch.window_ns)
        times->flags |= SG_BENCH_TOOK_TOO_LONG;
    times->entry_ns = global_ns(run, times->entry_ns);
    times->exit_ns = global_ns(run, times->exit_ns);
    return SG_OK;
}

static enum sg_status measure_batch(struct run *run)
{
    uint64_t window_ns = run->batch.first_ns;
    enum sg_status status = SG_OK;

    for (uint64_t i = 0; i < run->batch.rounds; i++) {
        int order[VARIANTS_MAX];

        sg_bench_shuffle(run->sampling->seed, run->batch.numbers[i], run->variants, order);
        for (int turn = 0; turn < run->variants && status == SG_OK; turn++) {
            struct sg_bench_times *times =
                &run->own[i * (uint64_t)run->variants + (uint64_t)order[turn]];

            status = measure_call(run, order[turn], run->batch.numbers[i], window_ns, times);
            window_ns += run->batch.window_ns;
        }
    }
    return status;
}

/* ---- all batches ----------------------------------------------------------------------------- */

/* Gathers each rank's times, and the error bound of its clock, on rank 0. */
static enum sg_status gather_batch(struct run *run, struct sg_bench_times **all)
{
    const struct sg_exchange *exchange = run->machine->exchange;
    size_t size_bytes = run->batch.rounds * (size_t)run->variants * sizeof *run->own;
    size_t *sizes = calloc((size_t)run->size, sizeof *sizes);
    uint64_t error_ns =
        sg_clock_model_error(sg_clocksync_model(run->clocks), run->machine->now_ns());
    uint64_t *errors_ns = NULL;
    void *gathered = NULL;
    enum sg_status status = sizes == NULL ? SG_ERR_MEMORY : SG_OK;

    if (status == SG_OK)
        status = exchange->gather(exchange->context, &error_ns, sizeof error_ns,
                                  (void **)&errors_ns, sizes);
    for (int rank = 0; status == SG_OK && run->rank == 0 && rank < run->size; rank++) {
        if (errors_ns[rank] > run->samples->clock_error_ns)
            run->samples->clock_error_ns = errors_ns[rank];
    }
    if (status == SG_OK)
        status = exchange->gather(exchange->context, run->own, size_bytes, &gathered, sizes);
    *all = gathered;
    free(errors_ns);
    free(sizes);
    return status;
}

/* A synchronisation takes time, so rank 0 decides on the beginning after it. */
static enum sg_status announce_batch(struct run *run)
{
    const struct sg_exchange *exchange = run->machine->exchange;
    enum sg_status status;

    if (run->rank == 0)
        plan_batch(run);
    status = exchange->broadcast(exchange->context, &run->batch, sizeof run->batch);
    if (status != SG_OK || run->batch.rounds == 0 || !run->batch.resynchronise)
        return status;
    status = sg_clocksync_measure(run->clocks, NULL);
    if (run->rank == 0)
        run->batch.first_ns = first_window_ns(run, run->machine->now_ns());
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, &run->batch.first_ns,
                                     sizeof run->batch.first_ns);
    return status;
}

static enum sg_status run_batches(struct run *run)
{
    enum sg_status status = announce_batch(run);

    while (status == SG_OK && run->batch.rounds > 0) {
        struct sg_bench_times *all = NULL;

        status = measure_batch(run);
        if (status == SG_OK)
            status = gather_batch(run, &all);
        if (status == SG_OK && run->rank == 0)
            status = take_batch(run, all);
        free(all);
        if (status == SG_OK)
            status = announce_batch(run);
    }
    return status;
}

enum sg_status sg_bench_sample(const struct sg_bench_machine *machine,
                               const struct sg_bench_target *target, struct sg_clocksync *clocks,
                               const struct sg_bench_sampling *sampling,
                               struct sg_bench_samples *out)
{
    struct run run = {.machine = machine,
                      .target = target,
                      .clocks = clocks,
                      .sampling = sampling,
                      .rank = machine->exchange->rank,
                      .size = machine->exchange->size,
                      .variants = sampling->variants + sampling->with_nothing,
                      .samples = out};
    double around_ns = sg_bench_lateness_most_ns(&sampling->pattern) + sampling->catch_up_ns +
                       sampling->prepare_ns;
    enum sg_status status = SG_ERR_MEMORY;

    *out =
        (struct sg_bench_samples){.ranks = run.size, .variants = run.variants, .wrong_variant = -1};
    run.batch.wrong_variant = -1;
    run.batch.window_ns =
        (uint64_t)(sampling->window_ns > 0 ? sampling->window_ns : FIRST_WINDOW_NS + around_ns);
    run.tolerance_ns = machine->tolerance_ns;
    if (SKEW_TOLERANCE * sg_bench_lateness_most_ns(&sampling->pattern) > (double)run.tolerance_ns)
        run.tolerance_ns =
            (uint64_t)(SKEW_TOLERANCE * sg_bench_lateness_most_ns(&sampling->pattern));
    run.begin_ns = run.synchronised_ns = machine->now_ns();
    run.own = calloc(BATCH_MAX * (size_t)run.variants, sizeof *run.own);
    if (run.own != NULL)
        status = run_batches(&run);
    if (status != SG_OK)
        sg_log("bench: rank %d: %s", run.rank, sg_status_text(status));
    free(run.own);
    free(run.scratch);
    out->wrong_variant = (int)run.batch.wrong_variant;
    return status == SG_OK && out->wrong_variant >= 0 ? SG_ERR_FORMAT : status;
}

/* ---- cold caches */

#define LINE_BYTES 64
#define SWEEP_LEAST ((size_t)64 << 20)
#define SWEEP_MOST ((size_t)256 << 20)

static struct {
    unsigned char *data;
    size_t size_bytes;
} room;

size_t sg_bench_largest_cache(void)
{
    static const int names[] = {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                _SC_LEVEL4_CACHE_SIZE};
    long most = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        long bytes = sysconf(names[i]);

        most = bytes > most ? bytes : most;
    }
    return (size_t)most;
}

size_t sg_bench_sweep_bytes(size_t cache_bytes)
{
    if (cache_bytes < SWEEP_LEAST / 2)
        return SWEEP_LEAST;
    return cache_bytes < SWEEP_MOST / 2 ? 2 * cache_bytes : SWEEP_MOST;
}

enum sg_status sg_bench_sweep_open(size_t size_bytes)
{
    room.data = malloc(size_bytes);
    if (room.data == NULL) {
        sg_log("bench: --cold: no memory for %zu bytes", size_bytes);
        return SG_ERR_MEMORY;
    }
    /* Writes to the pages: untouched ones would all be the same page of zeros. */
    memset(room.data, 1, size_bytes);
    room.size_bytes = size_bytes;
    return SG_OK;
}

void sg_bench_sweep(void)
{
    volatile unsigned char *data = room.data;

    for (size_t at = 0; at < room.size_bytes; at += LINE_BYTES)
        data[at]++;
}

void sg_bench_sweep_close(void)
{
    free(room.data);
    room.data = NULL;
    room.size_bytes = 0;
}

#ifdef SG_CPU_HAS_FLUSH

void sg_bench_flush(const void *data, size_t size_bytes)
{
    const char *bytes = data;

    for (size_t at = 0; at < size_bytes; at += LINE_BYTES)
        sg_cpu_flush(bytes + at);
    if (size_bytes > 0)
        sg_cpu_flush(bytes + size_bytes - 1);
    sg_cpu_flush_all_done();
}

#else

void sg_bench_flush(const void *data, size_t size_bytes)
{
}

#endif
