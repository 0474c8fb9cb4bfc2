/* Agreement between machines on the value of the machine that comes first. Machines find it by
 * one-sided access to words at endpoint 0, the coordinator. No processor there takes part, so
 * nobody waits for a late rank.
 *
 * Call each function again, and no other meanwhile, until it returns true.
 */
#ifndef SG_INTERNODE_COORDINATOR_H
#define SG_INTERNODE_COORDINATOR_H

#include "internode/communicator.h"

/* The items to agree on, each kind numbered from 0. */
enum sg_agreement {
    SG_AGREEMENT_CHOICE, /* of a call */
    SG_AGREEMENT_OPENING /* for the quarter that reuses this quarter's words; see agree.c */
};

/* Reports to the coordinator how many quarters all ranks of this machine have read, unless another
 * rank has reported it. */
bool sg_coordinator_tell(struct sg_internode *internode, uint64_t quarters);

/* Asks whether all ranks of all machines have read a quarter. */
bool sg_coordinator_ask_passed(struct sg_internode *internode, uint64_t quarter, bool *has_passed);

/* Agrees on item `number` for this process's machine. own: the value if it is the first to ask.
 * *word: the agreed value. */
bool sg_coordinator_decide(struct sg_internode *internode, enum sg_agreement thing, uint64_t number,
                           uint64_t own, uint64_t *word);

#endif
