/* Ends a communicator over several nodes: completes its nonblocking calls first, then tells the
 * protocols that no further CALL will come. They finish their outstanding instances. */
#include "internode/auto_between.h"
#include "internode/connect.h"
#include "internode/endpoint.h"
#include "internode/nonblocking.h"

static void see_to_it(struct sg_internode *internode)
{
    sg_endpoint_lock(internode);
    sg_endpoint_deliver_drain(internode);
    sg_endpoint_unlock(internode);
    internode->sees_to_it = true;
}

void sg_internode_begin_drain(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    /* Drain only after the CALLs of nonblocking calls have been delivered. */
    if (internode->draining ||
        atomic_load_explicit(&internode->nonblocking_count, memory_order_acquire) > 0)
        return;
    internode->draining = true;
    /* The last local rank drains the protocols: the others might still have had a call to make. */
    if (atomic_fetch_add(&endpoint->draining, 1) + 1 == (uint32_t)internode->locals &&
        internode->servers == internode->locals)
        see_to_it(internode);
}

/* If some ranks do not serve the endpoint, its first rank drains the protocols once all ranks have
 * begun: the last rank may be one that does not serve. */
static bool waits_to_see_to_it(const struct sg_internode *internode)
{
    return internode->servers < internode->locals && internode->local == 0 &&
           !internode->sees_to_it;
}

static bool all_have_begun(struct sg_internode *internode)
{
    return atomic_load(&sg_internode_endpoint(internode, internode->endpoint)->draining) ==
           (uint32_t)internode->locals;
}

static bool is_drained(void *context)
{
    struct sg_internode *internode = context;

    sg_internode_progress(internode);
    sg_nonblocking_advance(internode);
    sg_internode_begin_drain(internode);
    if (!sg_internode_end_auto(internode))
        return false;
    if (waits_to_see_to_it(internode) && all_have_begun(internode))
        see_to_it(internode);
    return internode->draining && !waits_to_see_to_it(internode) &&
           (!internode->sees_to_it || !sg_internode_progress(internode));
}

bool sg_internode_try_drain(struct sg_internode *internode)
{
    bool drained = is_drained(internode);

    if (drained && internode->remote != NULL)
        sg_internode_note_usage(internode);
    return drained;
}

void sg_internode_drain(struct sg_internode *internode)
{
    sg_internode_wait(internode, &(struct sg_internode_waiting){.call = NULL}, is_drained,
                      internode);
    if (internode->remote != NULL)
        sg_internode_note_usage(internode);
}
