/* A call as chunks, each an instance of its protocol, and the window through which they go. */
#ifndef SG_INTERNODE_CHUNK_H
#define SG_INTERNODE_CHUNK_H

#include "internode/communicator.h"

/* This rank's chunk of a call: its part in one instance. */
enum sg_chunk_stage {
    SG_CHUNK_QUEUED,  /* behind its earlier chunks */
    SG_CHUNK_ENTERED, /* is it the same call for all? */
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
    bool stalled; /* there was no place at first */
    bool is_last; /* of the endpoint's to arrive */
    bool stays;   /* until the instance is over here */
};

/* A call under way at this rank. So many of its parts are begun before the first of them has left.
 */
struct sg_chunk_window {
    const struct sg_call *call;
    const struct sg_internode_plan *plan;
    uint64_t position;         /* of the first chunk */
    size_t count, begun, left; /* chunks; all before `begun` are begun, all before `left` left */
    size_t width;              /* of the window: at most the communicator's depth */
    struct sg_chunk *chunks;   /* by number, modulo SG_INTERNODE_INSTANCES_MAX */
};

size_t sg_chunk_count(const struct sg_call *call, const struct sg_internode_plan *plan);

/* The chunks have the next positions. */
void sg_chunk_window_begin(struct sg_internode *internode, struct sg_chunk_window *window);

/* The parts go on, in their order, as far as they can without waiting; by one thread at a time.
 * True: all have left. */
bool sg_chunk_window_step(struct sg_internode *internode, struct sg_chunk_window *window);

#endif
