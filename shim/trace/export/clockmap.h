/* Converts one rank's clock to rank 0's: linear between synchronisations, and outside them with the
 * slope of the nearest pair, like OTF2's readers with ClockOffset records.
 */
#ifndef SG_TRACE_CLOCKMAP_H
#define SG_TRACE_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>

struct sg_clock_point {
    uint64_t local_ns;
    int64_t offset_ns; /* rank 0's clock minus the local one */
    uint64_t error_ns; /* bound of the offset's error */
};

/* Sorts the points and removes impossible ones, which a damaged log may have: two offsets at one
 * time, a drift above 1 %, times beyond 62 bits. Returns the number that remain. */
size_t sg_clock_sanitize(struct sg_clock_point *points, size_t count);

/* Converts a time. count is at least 1. */
uint64_t sg_clock_global(const struct sg_clock_point *points, size_t count, uint64_t local_ns);

#endif
