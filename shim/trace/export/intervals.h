/* Sets of instance numbers as sorted, disjoint intervals: the instances that a rank recorded on a
 * communicator are nearly always one interval, and if recording was switched on and off there are
 * still few numbers to send.
 */
#ifndef SG_TRACE_INTERVALS_H
#define SG_TRACE_INTERVALS_H

#include "trace/export/pack.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_interval {
    uint64_t first, last; /* inclusive */
};

struct sg_intervals {
    struct sg_interval *runs; /* malloc'ed */
    uint32_t count;
};

/* Adds a number, in any order; false when out of memory. Call sg_intervals_finish before any
 * other use. */
bool sg_intervals_add(struct sg_intervals *set, uint64_t number);

/* Sorts and joins runs. False when a number was added twice: the set is then emptied, since
 * nobody can tell which of the two is meant. */
bool sg_intervals_finish(struct sg_intervals *set);

bool sg_intervals_contain(const struct sg_intervals *set, uint64_t number);
uint64_t sg_intervals_size(const struct sg_intervals *set);

/* Makes an empty set that of all numbers; false when out of memory. */
bool sg_intervals_fill(struct sg_intervals *set);

/* Leaves in set what is also in other; false when out of memory (set is then unchanged). */
bool sg_intervals_intersect(struct sg_intervals *set, const struct sg_intervals *other);

/* A set that is read is not to be added to. */
void sg_intervals_pack(struct sg_pack *pack, struct sg_intervals *set);

void sg_intervals_clear(struct sg_intervals *set);

#endif
