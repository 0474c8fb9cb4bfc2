/* The transports of every machine, each also with faults, for the contract tests. */
#include "transport/faulty.h"
#include "transport/loop.h"
#include "transport/world.h"

const struct world_case world_cases[] = {
    {&loop, false, false},     {&faulty_loop, true, false}, {&sg_transport_shm, false, true},
    {&faulty_shm, true, true}, {NULL, false, false},
};
