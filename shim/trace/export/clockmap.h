/* Converts one rank's clock to rank 0's: linear between the synchronisations, by the nearest slope
 * outside them, as OTF2's readers do it with ClockOffset records.
 */
#ifndef SG_TRACE_CLOCKMAP_H
#define SG_TRACE_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>

struct sg_clock_point {
    uint64_t local_ns;
    int64_t offset_ns; /* global less local */
    uint64_t error_ns; /* the bound */
};

/* Sorts the points and leaves out what no clock does (two offsets at one time, a drift above 1 %,
 * times that leave 62 bits), as a damaged log may tell it. Returns how many stay. */
size_t sg_clock_sanitize(struct sg_clock_point *points, size_t count);

/* count >= 1. */
uint64_t sg_clock_global(const struct sg_clock_point *points, size_t count, uint64_t local_ns);

#endif
