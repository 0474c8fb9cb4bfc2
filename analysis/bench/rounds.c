#include "bench/bench.h"
#include "bench/window.h"

/* Beyond so many times what a row was to take it ends, with the rounds it has. */
#define PATIENCE 3

static bool wants_more(const struct sg_bench_options *options, size_t rounds, double elapsed_ns)
{
    double row_ns = options->row_s * 1e9;

    if (rounds == SG_BENCH_PAIRS_MAX)
        return false;
    if (options->iterations > 0)
        return rounds < options->iterations;
    return rounds == 0 || elapsed_ns < row_ns ||
           (rounds < SG_BENCH_COUNT_MIN && elapsed_ns < PATIENCE * row_ns);
}

bool sg_bench_another_round(const struct sg_bench_job *job, size_t rounds, uint64_t begin_ns)
{
    bool stop =
        job->rank == 0 && !wants_more(job->options, rounds, (double)(sg_bench_now_ns() - begin_ns));

    sg_bench_meet(job->quiet, &stop);
    return !stop;
}
