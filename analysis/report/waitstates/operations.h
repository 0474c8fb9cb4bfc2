/* Messages and collectives, as a location tells of its part in them. */
#ifndef SG_REPORT_WAITSTATES_OPERATIONS_H
#define SG_REPORT_WAITSTATES_OPERATIONS_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The most complete receives of a rank that wait for one that was posted before them. */
#define SG_WAITSTATE_HELD 256

/* A message, at one of its ends. */
struct sg_waitstate_message {
    uint32_t comm;
    uint32_t peer; /* in MPI_COMM_WORLD */
    uint32_t tag;
};

/* A message whose ends were matched. Times of calls are those of their begin. */
struct sg_waitstate_matched {
    uint32_t from, to;     /* locations: where the send began, where the receive was completed */
    int64_t sent_ns;       /* of the call that began the send */
    int64_t completing_ns; /* of the call that completed the receive */
    int64_t received_ns;
};

/* Is told of each match; what it returns ends the tracking if it is not SG_OK. */
typedef enum sg_status (*sg_waitstate_listener)(void *context,
                                                const struct sg_waitstate_matched *matched);

enum sg_waitstate_pattern {
    SG_PATTERN_NONE, /* nobody waits */
    SG_PATTERN_BARRIER,
    SG_PATTERN_NXN,
    SG_PATTERN_BROADCAST, /* from the root */
    SG_PATTERN_REDUCE,    /* to the root */
    SG_PATTERN_SCAN,
};

struct sg_waitstate_collective {
    enum sg_waitstate_pattern pattern;
    uint32_t comm;
    uint64_t seq;                /* its number on the communicator, the same for all members */
    uint32_t size, member, root; /* ranks in the communicator */
    bool has_data;
};

#endif
