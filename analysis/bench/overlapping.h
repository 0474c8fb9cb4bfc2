/* Measures the overlap of a nonblocking collective with computation (paper 004, section 4.1), by
 * the formulas of the paper, OSU and IMB.
 *
 *   alone     start and finish, nothing between: t_alone, the blocking execution
 *   time      start, compute until t_alone has passed, with tests between, finish
 *   work      the same with a fixed amount of work, which takes t_alone by itself: includes
 *             interruptions of the computation
 *   compute   that work alone
 *
 * All are calls of one round (bench/sampling.h). Free of MPI.
 */
#ifndef SG_BENCH_OVERLAPPING_H
#define SG_BENCH_OVERLAPPING_H

#include "bench/distribution.h"
#include "bench/sampling.h"

#include <stdint.h>

struct sg_bench_overlap {
    size_t rounds;
    struct sg_bench_summary alone, timed, worked, computed; /* ns per call */
    struct sg_bench_summary overhead; /* of `timed`: time in start, tests and finish */
    struct sg_bench_summary waited;   /* of `timed`: time in finish alone */
    /* Shares of t_alone that are hidden, by round; medians and intervals. OSU's and IMB's are from
     * 0 to 1. */
    struct sg_bench_summary paper_time; /* 1 - overhead / t_alone */
    struct sg_bench_summary paper_work; /* 1 - (t_worked - t_computed) / t_alone */
    struct sg_bench_summary osu;        /* the same, from 0 to 1 */
    struct sg_bench_summary imb; /* (t_alone + t_computed - t_worked) / min(t_alone, t_computed) */
};

/* Returns the number of tests during the communication of `bytes`: one for each `test_bytes`, plus
 * one (paper 004, section 4.2); none if test_bytes is 0. */
uint64_t sg_bench_overlap_tests(uint64_t bytes, uint64_t test_bytes);

/* variant: of target, whose start, test and finish are called. sampling: `variants` is set here.
 * Collective; *out and *samples are filled on rank 0, which clears the latter. Errors as for
 * sg_bench_sample. */
enum sg_status sg_bench_overlap_measure(const struct sg_bench_machine *machine,
                                        const struct sg_bench_target *target, int variant,
                                        struct sg_clocksync *clocks,
                                        const struct sg_bench_sampling *sampling, uint64_t tests,
                                        struct sg_bench_overlap *out,
                                        struct sg_bench_samples *samples);

#endif
