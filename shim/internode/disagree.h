/* Handles calls that differ between ranks of one machine at one position (chunk.c). Runs in
 * an application thread, in the call. */
#ifndef SG_INTERNODE_DISAGREE_H
#define SG_INTERNODE_DISAGREE_H

#include "internode/chunk.h"

/* The first rank's call, as another rank takes part in it. */
struct sg_others_call {
    struct sg_call call;
    struct sg_internode_plan plan; /* of `call` */
    void *buffers;                 /* allocated; sg_internode_conformed frees it */
    int error;                     /* error class for this rank */
};

/* Makes this rank, whose call differs, take part in the others' call, which begins at the window's
 * position. Aborts the job if errors are fatal, or if the rank cannot take part. */
void sg_internode_conform(struct sg_internode *internode, const struct sg_chunk_window *window,
                          struct sg_others_call *out);
/* Ends the part in the others' call. After a broadcast, copies as many bytes as this rank's buffer
 * holds. Frees out->buffers. */
void sg_internode_conformed(const struct sg_internode_plan *own, struct sg_others_call *others);

/* Reports that another rank's call differed from this one's, which is complete. Returns the error
 * class. */
int sg_internode_dissent(const struct sg_internode *internode,
                         const struct sg_chunk_window *window);
/* As sg_internode_dissent, for a nonblocking call: reports nothing to the user. */
int sg_internode_dissent_error(uint64_t dissent);

/* Reports and aborts: this rank's call cannot take part in the others'. */
void sg_internode_end_different(const struct sg_internode *internode,
                                const struct sg_chunk_window *window) __attribute__((noreturn));

#endif
