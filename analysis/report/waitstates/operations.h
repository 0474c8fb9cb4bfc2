/* Messages, collectives and what synchronises windows, as a location tells of its part in them. */
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
    uint32_t
        gap; /* others of the same communicator, ranks and tag before it, of which nothing is told
                     at this end: of receives in the order of posts */
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
    SG_PATTERN_NEIGHBORS, /* for its sources */
    /* on windows */
    SG_PATTERN_FENCE,
    SG_PATTERN_CREATE,
    SG_PATTERN_FREE,
};

struct sg_waitstate_collective {
    enum sg_waitstate_pattern pattern;
    uint32_t comm;
    uint32_t window; /* 1 + the number of the window that it is on; 0: none */
    uint64_t seq;    /* its number on the communicator, or window, the same for all members */
    /* Ranks in the communicator; of an intercommunicator those of the first group, then those of
     * the second. */
    uint32_t size, member;
    uint32_t root;       /* SG_WAITSTATE_NO_ROOT: there is none, or the member does not know it */
    uint32_t first_size; /* of the first group; 0: there is one group */
    bool has_data;
    bool receives; /* something from others */
    /* Of neighbors: the members whose data it gets. They outlive the tracker's last event. */
    const uint32_t *sources;
    uint32_t source_count;
};

#define SG_WAITSTATE_NO_ROOT UINT32_MAX

/* The ranks that a call on a window synchronises with. */
struct sg_waitstate_group {
    uint32_t window, comm;
    const uint32_t *ranks; /* in MPI_COMM_WORLD */
    uint32_t count;
};

/* All targets. */
#define SG_WAITSTATE_ALL UINT32_MAX

struct sg_waitstate_lock {
    uint32_t window, comm;
    uint32_t target;   /* its rank in the communicator, or SG_WAITSTATE_ALL */
    bool is_exclusive; /* of a request */
};

#endif
