#include "bench/speed.h"

#include "core/cpu/cpu.h"

#include <math.h>
#include <stddef.h>

#define TRIES 40
#define LOOP_NS 25000

#ifdef SG_CPU_HAS_COUNTER

static uint64_t read_counter(void)
{
    return sg_cpu_counter();
}
uint64_t (*const sg_bench_counter)(void) = read_counter;

#else

uint64_t (*const sg_bench_counter)(void) = NULL;

#endif

struct sg_bench_look sg_bench_look_take(const struct sg_bench_machine *machine,
                                        uint64_t (*counter)(void))
{
    struct sg_bench_look look = {.loop_ns = INFINITY};
    uint64_t quanta = (uint64_t)(LOOP_NS / fmax(machine->quantum_ns, 1)) + 1;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin_ns = machine->now_ns();

        machine->work(quanta);
        look.loop_ns = fmin(look.loop_ns, (double)(machine->now_ns() - begin_ns));
    }
    look.counter = counter != NULL ? counter() : 0;
    look.clock_ns = machine->now_ns();
    return look;
}

static double rate_between(const struct sg_bench_look *first, const struct sg_bench_look *second)
{
    if (first->counter == 0 || second->clock_ns <= first->clock_ns)
        return NAN;
    return (double)(second->counter - first->counter) /
           (double)(second->clock_ns - first->clock_ns);
}

struct sg_bench_reference sg_bench_reference_of(const struct sg_bench_look *first,
                                                const struct sg_bench_look *second)
{
    return (struct sg_bench_reference){fmin(first->loop_ns, second->loop_ns),
                                       rate_between(first, second)};
}

struct sg_bench_speed sg_bench_speed_between(const struct sg_bench_reference *reference,
                                             const struct sg_bench_look *before,
                                             const struct sg_bench_look *after)
{
    return (struct sg_bench_speed){
        .low = reference->loop_ns / fmax(before->loop_ns, after->loop_ns),
        .high = reference->loop_ns / fmin(before->loop_ns, after->loop_ns),
        .counter_rate = rate_between(before, after) / reference->counts_per_ns};
}

struct sg_bench_speed sg_bench_speed_of_all(const struct sg_bench_speed *ranks, int count)
{
    struct sg_bench_speed all = ranks[0];

    for (int rank = 1; rank < count; rank++) {
        all.low = fmin(all.low, ranks[rank].low);
        all.high = fmax(all.high, ranks[rank].high);
        if (isnan(all.counter_rate) ||
            fabs(ranks[rank].counter_rate - 1) > fabs(all.counter_rate - 1))
            all.counter_rate = ranks[rank].counter_rate;
    }
    return all;
}

bool sg_bench_speed_changed(const struct sg_bench_speed *speed)
{
    return speed->low < 1 - SG_BENCH_SPEED_TOLERANCE ||
           speed->high > 1 + SG_BENCH_SPEED_TOLERANCE ||
           fabs(speed->counter_rate - 1) > SG_BENCH_SPEED_TOLERANCE;
}
