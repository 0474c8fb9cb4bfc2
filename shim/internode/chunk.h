/* A call as chunks, each an instance of its protocol, and the window through which they go. */
#ifndef SG_INTERNODE_CHUNK_H
#define SG_INTERNODE_CHUNK_H

#include "internode/communicator.h"

/* This rank's part in one instance: a chunk of a call. */
enum sg_span_stage {
    SG_SPAN_QUEUED,  /* behind its earlier parts */
    SG_SPAN_ENTERED, /* is it the same call for all? */
    SG_SPAN_ALIKE,   /* is there a place? */
    SG_SPAN_ARRIVED, /* contributed */
    SG_SPAN_LEFT     /* over, for this rank */
};

struct sg_span_part {
    const struct sg_call *call;
    const struct sg_span_plan *plan;
    uint64_t position;
    const void *own;
    void *result;
    uint32_t count, bytes;
    enum sg_span_stage stage;
    bool stalled; /* there was no place at first */
    bool is_last; /* of the endpoint's to arrive */
    bool stays;   /* until the instance is over here */
};

/* A call under way at this rank. So many of its parts are begun before the first of them has left.
 */
struct sg_span_window {
    const struct sg_call *call;
    const struct sg_span_plan *plan;
    uint64_t position;          /* of the first part */
    size_t count, begun, left;  /* parts; all before `begun` are begun, all before `left` left */
    size_t width;               /* of the window: at most the span's depth */
    struct sg_span_part *parts; /* by number, modulo SG_SPAN_PLACES_MAX */
};

size_t sg_span_part_count(const struct sg_call *call, const struct sg_span_plan *plan);

/* The parts have the next positions. */
void sg_span_begin(struct sg_span *span, struct sg_span_window *window);

/* The parts go on, in their order, as far as they can without waiting; by one thread at a time.
 * True: all have left. */
bool sg_span_step_window(struct sg_span *span, struct sg_span_window *window);

#endif
