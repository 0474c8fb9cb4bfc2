/* A location of the archive: a thread of a rank, with its own stream of events. */
#ifndef SG_TRACE_LOCATION_H
#define SG_TRACE_LOCATION_H

#include <stdint.h>

struct sg_location {
    uint64_t id; /* thread << 32 | rank */
    uint64_t events;
    uint64_t first_ns, last_ns; /* 0 where there is no event */
};

static inline uint64_t sg_location_id(uint32_t rank, uint32_t thread)
{
    return (uint64_t)thread << 32 | rank;
}

static inline uint32_t sg_location_rank(const struct sg_location *location)
{
    return (uint32_t)location->id;
}

static inline uint32_t sg_location_thread(const struct sg_location *location)
{
    return (uint32_t)(location->id >> 32);
}

#endif
