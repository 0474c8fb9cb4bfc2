/* What this machine allows at best: a cache line's way from one processor to another, below which
 * no exchange between two ranks can be, and the speed at which its processors copy memory together.
 *
 * Free of MPI. Starts threads of its own for a while; the caller's binding stays as it is.
 */
#ifndef SG_BENCH_LIMITS_H
#define SG_BENCH_LIMITS_H

#include <sched.h>

struct sg_bench_limits {
    double line_ns;  /* one way; NaN: fewer than two processors, or they cannot be bound to */
    double copy_gbs; /* 10^9 bytes copied a second; NaN: they cannot be bound to, or no memory */
};

/* Takes some tenths of a second, and the machine should do nothing else. processors: which may be
 * used, at least one; the line goes between the first two. copiers: how many of them copy at most,
 * at least 1. */
void sg_bench_limits_measure(const cpu_set_t *processors, int copiers, struct sg_bench_limits *out);

#endif
