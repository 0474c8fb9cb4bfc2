/* A call as a sequence of chunks, each an instance of its protocol, and the window in which they
 * are under way. */
#ifndef SG_INTERNODE_CHUNK_H
#define SG_INTERNODE_CHUNK_H

#include "internode/communicator.h"

/* A rank's chunk of a call: its part in one instance. */
enum sg_chunk_stage {
    SG_CHUNK_QUEUED,  /* waits for its earlier chunks */
    SG_CHUNK_ENTERED, /* entered; not known yet whether all ranks are in the same call */
    SG_CHUNK_ALIKE,   /* is there a place? */
    SG_CHUNK_ARRIVED, /* contributed */
    SG_CHUNK_LEFT     /* over, for this rank */
};

struct sg_chunk {
    const struct sg_call *call;
    const struct sg_internode_plan *plan;
    uint64_t position;
    const void *own;
    void *result;
    uint32_t count, bytes;
    enum sg_chunk_stage stage;
    bool stalled;     /* there was no free place at first */
    bool calls;       /* has the endpoint's CALL delivered */
    bool stays;       /* until the instance is over here */
    bool is_first;    /* of its call */
    bool differs;     /* another rank is in another call: it goes no further */
    uint64_t dissent; /* as in struct sg_first_call, if there is some; else 0 */
    uint64_t slice;   /* that it ran in, once it has left: 1 + its number; 0: none */
};

/* A call under way at this rank. At most `width` chunks are begun and not yet left. */
struct sg_chunk_window {
    const struct sg_call *call;
    const struct sg_internode_plan *plan;
    uint64_t position;         /* of the first chunk */
    size_t count, begun, left; /* chunks; all before `begun` are begun, all before `left` left */
    uint64_t slice;            /* of the last one that has left, in their order */
    bool differs;              /* as the first chunk, and so its dissent */
    uint64_t dissent;
    size_t width;            /* of the window: at most the communicator's depth */
    struct sg_chunk *chunks; /* by number, modulo the width */
};

/* Sizes the plan's chunks, by its protocol, operands and count. */
void sg_chunk_plan(const struct sg_internode *internode, const struct sg_call *call,
                   struct sg_internode_plan *plan);
size_t sg_chunk_count(const struct sg_call *call, const struct sg_internode_plan *plan);

/* Gives the chunks the next positions. */
void sg_chunk_window_begin(struct sg_internode *internode, struct sg_chunk_window *window);

/* The chunks go on, in order, as far as they can without waiting; by one thread at a time. True:
 * all have left. None has arrived where the call differs. */
bool sg_chunk_window_step(struct sg_internode *internode, struct sg_chunk_window *window);

#endif
