/* Sets of instance numbers as sorted, disjoint runs: the instances that a rank recorded on a
 * communicator are nearly always one run, and stay few numbers to send where recording was
 * switched on and off.
 */
#ifndef SG_TRACE_INTERVALS_H
#define SG_TRACE_INTERVALS_H

#include "trace/export/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_interval {
    uint32_t first, last; /* inclusive */
};

struct sg_intervals {
    struct sg_interval *runs; /* malloc'ed */
    size_t count, capacity;
};

/* Adds a number, in any order; false when out of memory. Call sg_intervals_finish before any
 * other use. */
bool sg_intervals_add(struct sg_intervals *set, uint32_t number);

/* Sorts and joins runs. False when a number was added twice: the set is then emptied, since
 * nobody can tell which of the two is meant. */
bool sg_intervals_finish(struct sg_intervals *set);

bool sg_intervals_contain(const struct sg_intervals *set, uint32_t number);
uint64_t sg_intervals_size(const struct sg_intervals *set);

/* Leaves in set what is also in other; false when out of memory (set is then unchanged). */
bool sg_intervals_intersect(struct sg_intervals *set, const struct sg_intervals *other);

void sg_intervals_put(struct sg_bytes *bytes, const struct sg_intervals *set);
bool sg_intervals_take(struct sg_cursor *cursor, struct sg_intervals *set);

void sg_intervals_clear(struct sg_intervals *set);

#endif
