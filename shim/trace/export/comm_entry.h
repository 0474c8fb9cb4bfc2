/* A communicator as one rank's log tells of it. */
#ifndef SG_TRACE_COMM_ENTRY_H
#define SG_TRACE_COMM_ENTRY_H

#include "trace/export/logread_all.h"

#include <stdint.h>

struct sg_comm_entry {
    uint32_t index; /* of the log */
    uint32_t root_world_rank;
    uint32_t root_counter;
    uint32_t size;
    uint32_t remote_size; /* of an intercommunicator's other group; else 0 */
    uint32_t rank;
    uint32_t parent;       /* index of the log, UINT32_MAX: not known */
    uint32_t profile_comm; /* index of the same among all calls'; 0: not known */
    const char *name;
    /* World ranks, and behind them those of the other group; NULL where this rank does not know. */
    uint32_t *members;
    struct sg_intervals recorded;
};

#endif
