/* How a call is cut into instances of its protocol, as shim/internode/chunk.c does. Pure functions.
 */
#ifndef SG_SIM_TIMED_CHUNKING_H
#define SG_SIM_TIMED_CHUNKING_H

#include "sim/timed/setup.h"

struct sg_chunking {
    uint32_t count; /* of chunks */
    uint32_t bytes; /* of each but the last */
    /* Of these, so many are under way at once, each over at its FINISH; 0: one by one. */
    uint32_t width;
};

struct sg_chunking sg_chunking_of(const struct sg_world_setup *setup);

/* Of an instance, numbered from 1. */
uint32_t sg_chunking_bytes(const struct sg_chunking *chunking, uint32_t call_bytes, uint32_t seq);

#endif
