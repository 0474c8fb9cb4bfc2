/* Ranks of one machine whose calls at one position differ (consistency.h). In a thread of the
 * application, in the call. */
#ifndef SG_INTERNODE_DISAGREE_H
#define SG_INTERNODE_DISAGREE_H

#include "internode/chunk.h"

/* The call of the first rank that came, as another one takes part in it. */
struct sg_others_call {
    struct sg_call call;
    struct sg_internode_plan plan;
    void *buffers; /* to be freed */
    int error;     /* class, for this rank */
};

/* This rank's call differs. Ends the job where errors are fatal, or where it cannot take part in
 * the others' call. Their call begins at the window's position. */
void sg_internode_conform(struct sg_internode *internode, const struct sg_chunk_window *window,
                          struct sg_others_call *out);
/* When that is over: of a broadcast this rank takes what it has room for. */
void sg_internode_conformed(const struct sg_chunk_window *window, struct sg_others_call *others);

/* Another rank's differed from this one's, which is over: the class of the error. */
int sg_internode_dissent(const struct sg_internode *internode,
                         const struct sg_chunk_window *window);
/* The same, without a word to the user: of a nonblocking call. */
int sg_internode_dissent_error(uint64_t dissent);

/* Of a call that does not take part in the others'. */
void sg_internode_end_different(const struct sg_internode *internode,
                                const struct sg_chunk_window *window) __attribute__((noreturn));

#endif
