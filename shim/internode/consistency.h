/* Checks that all ranks are in the same call. Ranks of one machine compare their calls' signatures
 * in the segment. disagree.c handles those that differ.
 *
 * Between machines a message carries a note about its instance: the low bits of its position, and
 * the call's signature. A machine that is in that instance compares the two; another keeps the note
 * until it enters the instance. Notes about older instances contain nothing new: each was compared
 * when its first message came, or when the last rank of the endpoint arrived. After a difference an
 * application thread aborts the job (call_waiting.h).
 */
#ifndef SG_INTERNODE_CONSISTENCY_H
#define SG_INTERNODE_CONSISTENCY_H

#include "internode/communicator.h"

/* A hash of the operation, its form, size, root and MPI_IN_PLACE. */
uint16_t sg_consistency_signature(const struct sg_call *call);

enum sg_consistency {
    SG_CONSISTENCY_UNKNOWN, /* ask again when other ranks have progressed */
    SG_CONSISTENCY_ALIKE,
    SG_CONSISTENCY_DIFFERENT, /* differs from the first rank's call */
};

/* Compares this rank's call with the first rank's, once it has entered an instance of the call.
 * is_first: the instance is the call's first. */
enum sg_consistency sg_consistency_compare(struct sg_internode *internode,
                                           const struct sg_internode_plan *plan, uint64_t position,
                                           bool is_first);

/* With the endpoint's lock, here and below. Returns the note for an instance's messages; 0: none.
 */
uint32_t sg_consistency_note(const struct sg_internode *internode,
                             const struct sg_internode_instance *instance);

/* False: the message belongs to another call than this machine's ranks are in. The caller must not
 * handle it; the job will end. */
bool sg_consistency_check(struct sg_internode *internode,
                          const struct sg_transport_message *message);

/* Compares an instance that has just been entered with the note kept for it. */
void sg_consistency_check_instance(struct sg_internode *internode,
                                   const struct sg_internode_instance *instance);

#endif
