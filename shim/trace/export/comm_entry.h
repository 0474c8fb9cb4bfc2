/* A communicator as one rank's log describes it. */
#ifndef SG_TRACE_COMM_ENTRY_H
#define SG_TRACE_COMM_ENTRY_H

#include "trace/export/logread_all.h"

#include <stdint.h>

struct sg_comm_entry {
    uint32_t index; /* the log's index */
    uint32_t root_world_rank;
    uint32_t root_counter;
    uint32_t size;
    uint32_t remote_size; /* of an intercommunicator's remote group; else 0 */
    uint32_t rank;
    uint32_t parent;       /* the log's index; UINT32_MAX: not known */
    uint32_t profile_comm; /* its index in the profile of all calls; 0: not known */
    const char *name;
    /* World ranks, followed by those of the remote group; NULL: this rank does not know them. */
    uint32_t *members;
    struct sg_intervals recorded;
};

#endif
