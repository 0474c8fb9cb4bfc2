#include "sim/timed/chunking.h"

static uint32_t room_of(const struct sg_world_setup *setup)
{
    struct sg_algo_setup first = {.size = setup->endpoints, .parameters = setup->parameters};
    struct sg_algo_needs needs = {0};

    if (setup->chunk_bytes != SG_WORLD_CHUNKS_AUTO)
        return setup->chunk_bytes;
    setup->algo->needs(&first, &needs);
    return sg_algo_chunk_bytes(&needs, setup->call.operation);
}

struct sg_chunking sg_chunking_of(const struct sg_world_setup *setup)
{
    uint32_t bytes = setup->call.bytes, room = room_of(setup);
    struct sg_chunking chunking = {.count = 1, .bytes = bytes};

    if (setup->endpoints == 1 || room == 0 || bytes <= room)
        return chunking;
    chunking.count = bytes / room + (bytes % room > 0);
    chunking.bytes = room;
    if (setup->algo->uses & SG_ALGO_PIPELINED)
        chunking.width = sg_credits(&setup->parameters);
    return chunking;
}

uint32_t sg_chunking_bytes(const struct sg_chunking *chunking, uint32_t call_bytes, uint32_t seq)
{
    uint32_t index = (seq - 1) % chunking->count;

    return index + 1 < chunking->count ? chunking->bytes : call_bytes - index * chunking->bytes;
}
