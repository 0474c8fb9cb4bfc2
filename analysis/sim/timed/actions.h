/* The cost of a handler's actions in virtual time, and when what they send arrives: an overhead for
 * each message and access, a time per byte for copies and reductions, one after the other on the
 * endpoint's processor. The adapter sends one message after another, G for each byte, and receives
 * in the same way (arrivals.c).
 *
 * One-sided actions take o at the initiator, and L plus G for each byte to the target's adapter,
 * which needs no processor (arrivals.h). To its own memory an endpoint writes and reads without the
 * adapter, at the cost of a copy. An atomic access goes through the adapter even there, because
 * adapters' atomics are atomic only among themselves.
 */
#ifndef SG_SIM_TIMED_ACTIONS_H
#define SG_SIM_TIMED_ACTIONS_H

#include "sim/timed/state.h"

extern const struct sg_host_scheduler sg_timed_scheduler;

/* Carries out, from start_ns on, what the present endpoint asks for; returns when its processor is
 * done. */
uint64_t sg_world_carry_out(struct world *world, uint64_t start_ns);

/* The message of a watch that has ended. */
struct item sg_world_notice(const struct sg_host_endpoint *endpoint, uint32_t id);

#endif
