/* Splits a call into a sequence of chunks, each an instance of its protocol, and runs them through
 * a window. */
#ifndef SG_INTERNODE_CHUNK_H
#define SG_INTERNODE_CHUNK_H

#include "internode/communicator.h"

/* State of a rank's chunk: its part in one instance. */
enum sg_chunk_stage {
    SG_CHUNK_QUEUED,  /* waits for earlier chunks */
    SG_CHUNK_ENTERED, /* entered; not known yet whether all ranks are in the same call */
    SG_CHUNK_ALIKE,   /* all ranks are in the same call; waits for a ring slot */
    SG_CHUNK_ARRIVED, /* contributed */
    SG_CHUNK_LEFT     /* finished, for this rank */
};

struct sg_chunk {
    uint64_t position;
    const void *own;
    void *result;
    uint32_t count, bytes;
    enum sg_chunk_stage stage;
    bool stalled;     /* found no free slot at first */
    bool calls;       /* delivers the endpoint's CALL */
    bool stays;       /* waits until the instance is finished here */
    bool is_first;    /* first chunk of its call */
    bool differs;     /* another rank is in another call: the chunk stops here */
    uint64_t dissent; /* as in struct sg_first_call; 0: none */
    uint64_t slice;   /* 1 + number of the slice in which it ran, set once it has left; 0: none */
};

/* A call in progress at this rank. At most `width` chunks are begun and not yet left. */
struct sg_chunk_window {
    const struct sg_internode_plan *plan;
    uint64_t position;         /* position of the first chunk */
    size_t count, begun, left; /* chunks; all before `begun` are begun, all before `left` left */
    uint64_t slice;            /* slice of the last chunk that has left, in order */
    bool differs;              /* the first chunk's, as is dissent */
    uint64_t dissent;
    size_t width;            /* of the window: at most the communicator's depth */
    struct sg_chunk *chunks; /* by number, modulo the width */
};

/* Sets the plan's chunk size from its call, protocol, operands and count. */
void sg_chunk_plan(const struct sg_internode *internode, struct sg_internode_plan *plan);
size_t sg_chunk_count(const struct sg_internode_plan *plan);

/* A hash of the operation, its form, size, root and MPI_IN_PLACE. */
uint16_t sg_chunk_signature(const struct sg_call *call);

/* Gives the chunks the next positions. */
void sg_chunk_window_begin(struct sg_internode *internode, struct sg_chunk_window *window);

/* Advances the chunks, in order, as far as possible without waiting; by one thread at a time. True:
 * all have left. If the call differs, no chunk has arrived. */
bool sg_chunk_window_step(struct sg_internode *internode, struct sg_chunk_window *window);

#endif
