/* The account of a call, from the marks that ranks left in blocks of calls (core/account.h): the
 * parts of the critical path of a collective between two ranks, or those of one rank's call.
 *
 * The path is walked backwards from the end of the block: from each mark to the one before it on
 * the same rank. It changes ranks in two cases: from the mark at which all lines are seen to the
 * rank whose line was still in transit, and from a slot of the ring to the rank that left it. So
 * the parts add up to the time of the path. Times are counts of one counter, which both ranks read.
 * Free of MPI.
 */
#ifndef SG_BENCH_CALL_ACCOUNT_H
#define SG_BENCH_CALL_ACCOUNT_H

#include "core/account.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_BENCH_ACCOUNT_RANKS 2

enum sg_bench_part {
    SG_BENCH_PART_WRAPPER, /* with the time between two calls */
    SG_BENCH_PART_COMM,
    SG_BENCH_PART_SITE,
    SG_BENCH_PART_CHOICE,
    SG_BENCH_PART_PLAN,
    SG_BENCH_PART_SLOT,
    SG_BENCH_PART_PUBLISH,
    SG_BENCH_PART_TRANSFER,
    SG_BENCH_PART_SEE,
    SG_BENCH_PART_FOLD,
    SG_BENCH_PART_LEAVE,
    SG_BENCH_PART_RECORD,
    SG_BENCH_PART_STATISTICS,
    SG_BENCH_PART_CLOCK,
    SG_BENCH_PART_ARGUMENTS,
    SG_BENCH_PART_THREAD,
    SG_BENCH_PART_BYTES,
    SG_BENCH_PART_REQUESTS,
    SG_BENCH_PART_CAUSES,
    SG_BENCH_PART_MPI, /* MPI's own function */
    SG_BENCH_PARTS
};

extern const char *const sg_bench_part_names[SG_BENCH_PARTS];

typedef uint64_t sg_bench_marks[SG_ACCOUNT_STEPS]; /* the marks of one call */

/* Counts per call. */
struct sg_bench_account {
    double parts[SG_BENCH_PARTS];
    double sum;
};

/* Walks the path through the calls from `first` on, to the end of the later rank's last one. cost:
 * counts that a mark takes, one in each step from mark to mark of one rank; from rank to rank the
 * other one's is over before the line arrives. line: counts that a line takes from rank to rank.
 * The rest of a last line's time counts as SEE, which is negative if it takes less. False: marks
 * are missing. */
bool sg_bench_account_walk(const sg_bench_marks *const ranks[SG_BENCH_ACCOUNT_RANKS], size_t first,
                           size_t calls, double cost, double line, struct sg_bench_account *out);
/* Adds one call of one rank, from mark to mark: for calls that are not a path between two ranks.
 * False: the call has left no marks. */
bool sg_bench_account_add(const sg_bench_marks *marks, double cost, struct sg_bench_account *out);
/* Returns the mean of the quicker half of the accounts, because disturbances by other work are not
 * part of a call. Sorts accounts; count at least 1. */
struct sg_bench_account sg_bench_account_of_all(struct sg_bench_account *accounts, size_t count);

#endif
