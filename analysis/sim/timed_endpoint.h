/* The processors of endpoints: which process handles what, and when.
 *
 * What arrives is handled at once while a local process is in a call or idle, because it polls.
 * While all compute, a solicited arrival interrupts the process that made the last call, if
 * instances are outstanding and the mode has interrupts; the handler then takes all that waits, and
 * what arrives while it runs causes no second interrupt. Everything else waits for the next call.
 */
#ifndef SG_SIM_TIMED_ENDPOINT_H
#define SG_SIM_TIMED_ENDPOINT_H

#include "sim/timed_state.h"

void sg_endpoint_deliver(struct world *world, const struct item *item);
void sg_endpoint_wake(struct world *world, int32_t endpoint);
void sg_endpoint_timer(struct world *world, uint32_t index);
/* The process enters its call now. */
void sg_endpoint_enter(struct world *world, int32_t process);
/* The process arrives at the node level at time_ns, after it has polled. */
void sg_endpoint_arrive(struct world *world, int32_t process, uint64_t time_ns);
/* A local process is idle, and polls. */
void sg_endpoint_rest(struct world *world, int32_t endpoint);
/* The process polls from now on; its `calling` is taken back by who resumes it. */
void sg_endpoint_poll(struct world *world, int32_t process);
/* The process posts. */
void sg_endpoint_post(struct world *world, int32_t process, const struct sg_algo_post *post);
/* Feeds MPI_Comm_free. */
void sg_endpoint_drain(struct world *world, int32_t endpoint);

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

extern const struct sg_host_scheduler sg_timed_scheduler;

/* The message of a watch that has ended. */
struct item sg_world_notice(const struct sg_host_endpoint *endpoint, uint32_t id);

#endif
