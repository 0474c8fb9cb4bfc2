/* What all machines must have alike: what the first of them brings, which is found out by one-sided
 * access to words at endpoint 0, the coordinator. No processor there takes part, so nobody waits
 * for who is late.
 *
 * Each function is called again, and no other meanwhile, until it is not false.
 */
#ifndef SG_INTERNODE_COORDINATOR_H
#define SG_INTERNODE_COORDINATOR_H

#include "internode/communicator.h"

/* What is found out, in numbers from 0. */
enum sg_agreement {
    SG_AGREEMENT_CHOICE, /* of a call */
    SG_AGREEMENT_OPENING /* of the quarter that takes the words of this one; see agree.c */
};

/* Tells the coordinator of the quarters, so many by now, that all ranks of this machine have read,
 * unless another rank did. */
bool sg_coordinator_tell(struct sg_internode *internode, uint64_t quarters);

/* Whether all ranks of all machines have read a quarter. */
bool sg_coordinator_ask_passed(struct sg_internode *internode, uint64_t quarter, bool *has_passed);

/* Of thing `number`, about which this process asks for its machine. own: the word that holds where
 * it is the first to ask. The word is what holds. */
bool sg_coordinator_decide(struct sg_internode *internode, enum sg_agreement thing, uint64_t number,
                           uint64_t own, uint64_t *word);

#endif
