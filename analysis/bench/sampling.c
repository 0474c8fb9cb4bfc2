#include "bench/sampling.h"

#include "bench/distribution.h"
#include "bench/sampling_impl.h"

#include <stdlib.h>

#define VARIANTS_MAX 32
#define FIRST_WINDOW_NS 1e6
/* A part of the skew that was asked for may be missed. */
#define SKEW_TOLERANCE 0.05

const char *sg_bench_scheme_name(enum sg_bench_scheme scheme)
{
    static const char *const names[SG_BENCH_SCHEMES] = {[SG_BENCH_WINDOW] = "window",
                                                        [SG_BENCH_BARRIER] = "barrier",
                                                        [SG_BENCH_DISSEMINATION] = "dissemination"};

    return names[scheme];
}

/* ---- one call -------------------------------------------------------------------------------- */

static enum sg_status dissemination_barrier(const struct sg_bench_run *run)
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

/* The local time at which this rank is to begin, or is late from. */
static enum sg_status meet(const struct sg_bench_run *run, uint64_t window_ns, uint64_t *begin_ns)
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

static uint64_t quanta_of(const struct sg_bench_run *run, double duration_ns)
{
    return run->machine->quantum_ns > 0 ? (uint64_t)(duration_ns / run->machine->quantum_ns) : 0;
}

static void call_timed(const struct sg_bench_run *run, int variant, uint64_t begin_ns,
                       double late_ns, struct sg_bench_times *times)
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

static enum sg_status measure_call(const struct sg_bench_run *run, int variant, uint64_t number,
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
        sg_bench_global_ns(run, run->machine->now_ns()) > window_ns + run->batch.window_ns)
        times->flags |= SG_BENCH_TOOK_TOO_LONG;
    times->entry_ns = sg_bench_global_ns(run, times->entry_ns);
    times->exit_ns = sg_bench_global_ns(run, times->exit_ns);
    return SG_OK;
}

static enum sg_status measure_batch(struct sg_bench_run *run)
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

/* Each rank's times, and how far its clock may be wrong, to rank 0. */
static enum sg_status gather_batch(struct sg_bench_run *run, struct sg_bench_times **all)
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

/* A synchronisation takes its time; only after it rank 0 can tell when to begin. */
static enum sg_status announce_batch(struct sg_bench_run *run)
{
    const struct sg_exchange *exchange = run->machine->exchange;
    enum sg_status status;

    if (run->rank == 0)
        sg_bench_plan_batch(run);
    status = exchange->broadcast(exchange->context, &run->batch, sizeof run->batch);
    if (status != SG_OK || run->batch.rounds == 0 || !run->batch.resynchronise)
        return status;
    status = sg_clocksync_measure(run->clocks, NULL);
    if (run->rank == 0)
        run->batch.first_ns =
            sg_bench_global_ns(run, run->machine->now_ns()) + run->machine->lead_ns;
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, &run->batch.first_ns,
                                     sizeof run->batch.first_ns);
    return status;
}

static enum sg_status run_batches(struct sg_bench_run *run)
{
    enum sg_status status = announce_batch(run);

    while (status == SG_OK && run->batch.rounds > 0) {
        struct sg_bench_times *all = NULL;

        status = measure_batch(run);
        if (status == SG_OK)
            status = gather_batch(run, &all);
        if (status == SG_OK && run->rank == 0)
            status = sg_bench_take_batch(run, all);
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
    struct sg_bench_run run = {.machine = machine,
                               .target = target,
                               .clocks = clocks,
                               .sampling = sampling,
                               .rank = machine->exchange->rank,
                               .size = machine->exchange->size,
                               .variants = sampling->variants + sampling->with_nothing,
                               .samples = out};
    double around_ns = sg_bench_lateness_most_ns(&sampling->pattern) + sampling->catch_up_ns;
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
    run.own = calloc(SG_BENCH_BATCH_MAX * (size_t)run.variants, sizeof *run.own);
    if (run.own != NULL)
        status = run_batches(&run);
    if (status != SG_OK)
        sg_log("bench: rank %d: %s", run.rank, sg_status_text(status));
    free(run.own);
    free(run.scratch);
    out->wrong_variant = (int)run.batch.wrong_variant;
    return status == SG_OK && out->wrong_variant >= 0 ? SG_ERR_FORMAT : status;
}
