/* How many calls make a block, and how many pairs of blocks make a row.
 *
 * A row alternates blocks of both sides, which may differ a thousandfold in speed: each side has
 * its own number of calls, such that its block takes about as long as the other's, and the pairs of
 * blocks fill the time a row is given. A block is at least one call: where that takes long, blocks
 * are longer and fewer. There are never too few for an interval, unless calls turn out far slower
 * than they were when that was planned: on a machine that others begin to use, spinning ranks may
 * become a thousand times slower.
 *
 * Pure functions.
 */
#ifndef SG_BENCH_PLAN_H
#define SG_BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_BENCH_PAIRS_MAX 401

struct sg_bench_plan {
    uint64_t calls[2]; /* in a block of either side */
    size_t pairs;      /* SG_BENCH_COUNT_MIN to SG_BENCH_PAIRS_MAX */
    double limit_ns;   /* after which the pairs that are done have to do */
};

/* call_ns: what a call takes on either side, about. calls: the number of calls in a block, on both
 * sides; 0: as many as fit. */
struct sg_bench_plan sg_bench_plan_row(const double call_ns[2], double row_ns, uint64_t calls);

/* How long a block is to be where calls are short against it. */
double sg_bench_plan_block_ns(double row_ns);

/* Finding out what a call takes: the calls of the next trial, after one of so many calls has taken
 * so long; 0 when it was long enough to go by, for blocks of block_ns. */
uint64_t sg_bench_plan_trial(uint64_t calls, double taken_ns, double block_ns);

#endif
