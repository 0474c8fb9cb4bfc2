/* How many calls make a block, and how many pairs of blocks make a row.
 *
 * A row alternates blocks of both sides, which may differ a thousandfold in speed. Each side has
 * its own number of calls, so that its block takes about as long as the other's, and the pairs of
 * blocks fill the time of a row. A block has at least one call: if a call takes long, blocks are
 * longer and fewer. There are enough pairs for an interval, unless calls become far slower than
 * they were during planning: if other work starts on the machine, spinning ranks may become a
 * thousand times slower.
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
    uint64_t calls[2]; /* calls in a block of either side */
    size_t pairs;      /* SG_BENCH_COUNT_MIN to SG_BENCH_PAIRS_MAX */
    double limit_ns;   /* after this time the pairs so far must suffice */
};

/* call_ns: roughly the time of a call on either side. calls: the number of calls in a block, on
 * both sides; 0: as many as fit. */
struct sg_bench_plan sg_bench_plan_row(const double call_ns[2], double row_ns, uint64_t calls);

/* The length of a block if calls are short against it. */
double sg_bench_plan_block_ns(double row_ns);

/* Finds out the time of a call: the number of calls in the next trial, after one in which so many
 * calls took so long; 0 when that was long enough to plan blocks of block_ns. */
uint64_t sg_bench_plan_trial(uint64_t calls, double taken_ns, double block_ns);

#endif
