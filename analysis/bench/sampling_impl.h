/* What the two files of bench/sampling.h share: a rank's part, and what rank 0 makes of all parts.
 */
#ifndef SG_BENCH_SAMPLING_IMPL_H
#define SG_BENCH_SAMPLING_IMPL_H

#include "bench/sampling.h"

#define SG_BENCH_BATCH_MAX 256

/* Rank 0's word before each batch. */
struct sg_bench_batch {
    uint64_t first_ns; /* on the global clock */
    uint64_t window_ns;
    uint64_t rounds; /* 0: that is all */
    uint64_t resynchronise;
    int64_t wrong_variant;
    uint64_t numbers[SG_BENCH_BATCH_MAX];
};

struct sg_bench_run {
    const struct sg_bench_machine *machine;
    const struct sg_bench_target *target;
    struct sg_clocksync *clocks;
    const struct sg_bench_sampling *sampling;
    int rank, size;
    uint64_t tolerance_ns; /* a rank that begins later than by this is late */
    int variants;          /* with the one that calls nothing */
    struct sg_bench_batch batch;
    struct sg_bench_times *own; /* of this batch, by round and variant */
    /* On rank 0. */
    struct sg_bench_samples *samples;
    uint64_t begin_ns, synchronised_ns;
    uint64_t next_number;
    size_t repeats; /* rounds of the last batch that are to be repeated, first in `numbers` */
    double longest_ns;
    bool last_resort; /* keep what is flagged: the machine gives nothing else */
    double *scratch;
};

static inline uint64_t sg_bench_global_ns(const struct sg_bench_run *run, uint64_t local_ns)
{
    return sg_clock_model_global(sg_clocksync_model(run->clocks), local_ns);
}

/* Rank 0: flags, samples and results of a batch; all by rank, each as run->own. SG_ERR_MEMORY. */
enum sg_status sg_bench_take_batch(struct sg_bench_run *run, const struct sg_bench_times *all);

/* Rank 0: what comes next, into run->batch. */
void sg_bench_plan_batch(struct sg_bench_run *run);

#endif
