/* The limits of this machine: the time to move a cache line from one processor to another, below
 * which no exchange between two ranks can be, and the speed at which its processors together copy
 * memory. Also what it takes to pass data from one processor to another.
 *
 * Free of MPI. Starts threads of its own for a while; the caller's binding stays as it is.
 */
#ifndef SG_BENCH_LIMITS_H
#define SG_BENCH_LIMITS_H

#include <sched.h>

struct sg_bench_limits {
    double line_ns;  /* one way; NaN: fewer than two processors, or no binding possible */
    double copy_gbs; /* 10^9 bytes copied a second; NaN: no binding possible, or no memory */
    /* A byte copied into or out of memory that two processors share, and a byte of doubles there
     * added to own ones; NaN: as line_ns. */
    double copy_ns, fold_ns;
};

/* Takes some tenths of a second; nothing else should run on the machine. processors: those that may
 * be used, at least one; the cache line moves between the first two. copiers: the most processors
 * that copy at once, at least 1. */
void sg_bench_limits_measure(const cpu_set_t *processors, int copiers, struct sg_bench_limits *out);

#endif
