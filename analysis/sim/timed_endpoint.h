/* The processors and adapters of endpoints: which process handles an event, when, and at what cost.
 *
 * While a local process is in a call or idle, it polls, and the endpoint handles arrivals at once.
 * While all compute, a solicited arrival interrupts the process that made the last call, if
 * instances are outstanding and the mode has interrupts. The handler then takes everything that
 * waits, and later arrivals cause no second interrupt while it runs. Everything else waits for the
 * next call. */
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
/* A local process becomes idle and polls. */
void sg_endpoint_rest(struct world *world, int32_t endpoint);
/* The process polls from now on; sg_world_resume decrements the endpoint's `calling` again. */
void sg_endpoint_poll(struct world *world, int32_t process);
/* The process posts. */
void sg_endpoint_post(struct world *world, int32_t process, const struct sg_algo_post *post);
/* Feeds MPI_Comm_free. */
void sg_endpoint_drain(struct world *world, int32_t endpoint);

/* ---- costs
 *
 * A handler's actions cost virtual time on the endpoint's processor, one after another: an overhead
 * for each message and access, and a time per byte for copies and reductions. They also decide when
 * their messages arrive. The adapter sends one message after another, G for each byte, and receives
 * in the same way (timed_world.c).
 *
 * One-sided actions take o at the initiator, and L plus G for each byte to the target's adapter,
 * which needs no processor. An endpoint reads and writes its own memory without the adapter, at the
 * cost of a copy. An atomic access uses the adapter even there, because adapters' atomics are
 * atomic only among themselves. */

extern const struct sg_host_scheduler sg_timed_scheduler;

/* Ends a watch and returns its notice. */
struct item sg_world_notice(const struct sg_host_endpoint *endpoint, uint32_t id);

#endif
