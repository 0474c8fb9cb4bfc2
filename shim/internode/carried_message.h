/* A message that a protocol carries, as its process has posted it. */
#ifndef SG_INTERNODE_CARRIED_MESSAGE_H
#define SG_INTERNODE_CARRIED_MESSAGE_H

#include "algos/algo.h"

#include <stdatomic.h>

/* A send, a receive or a probe. The poster fills in the first part, and keeps it and its buffer
 * until it is done. */
struct sg_carried_message {
    enum sg_post_kind kind;
    int peer;       /* rank, or SG_ANY */
    int tag;        /* or SG_ANY */
    uint32_t bytes; /* of the message; of a receive, the most that it takes */
    void *buffer;
    /* Nobody waits for it: it and its copy of the data are freed when it is over. */
    bool is_detached;
    /* When it is done, of a receive or probe: what it was matched with. */
    enum sg_outcome outcome;
    int source, source_tag;
    uint32_t source_bytes; /* received; of a probe, the message's */
    _Atomic bool done;
    _Atomic bool is_lost; /* its communicator is gone: it never will be */
    /* Kept by messages.c. */
    struct sg_carried_message *next;
};

#endif
