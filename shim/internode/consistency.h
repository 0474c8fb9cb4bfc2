/* Whether all ranks are in the same call. Ranks of one machine compare their calls' signatures in
 * the segment.
 *
 * Between machines a message carries a note of the instance that it is about: the low bits of its
 * position, and the call's signature. A machine that is in that instance compares; one that is not
 * keeps the note until it comes to it. Notes of older instances say nothing new: each was compared
 * when its first message came, or when the last rank of the endpoint did. A difference ends the job
 * later, in a thread of the application (health.h).
 */
#ifndef SG_INTERNODE_CONSISTENCY_H
#define SG_INTERNODE_CONSISTENCY_H

#include "internode/communicator.h"

/* A hash of the operation, its form, size, root and MPI_IN_PLACE. */
uint16_t sg_consistency_signature(const struct sg_call *call);

/* This rank has entered an instance: it must be the same call for all ranks, or the job ends.
 * False: to be asked again, when other ranks have gone on. */
bool sg_consistency_compare(struct sg_internode *internode, const struct sg_call *call,
                            uint64_t position);

/* The endpoint's lock held, here and below: what goes with an instance's messages; 0: nothing. */
uint32_t sg_consistency_note(const struct sg_internode *internode,
                             const struct sg_internode_instance *instance);

/* False: the message is of another call than this machine's ranks are in, and not to be handled;
 * the job will end. */
bool sg_consistency_check(struct sg_internode *internode,
                          const struct sg_transport_message *message);

/* Compares a place that has just been filled with the note that was kept for it. */
void sg_consistency_check_instance(struct sg_internode *internode,
                                   const struct sg_internode_instance *instance);

#endif
