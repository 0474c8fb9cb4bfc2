/* Tests the endpoint's lock and the doorbell (shim/internode, shim/progress) under the memory
 * model. */
#include "lib/unit.h"
#include "weak/doorbell.h"
#include "weak/rules.h"

const struct sg_ruleset *doorbell_rules(void)
{
    return weak_one_rule();
}

/* ---- the lock: who does not get it is seen by the holder, who looks again ---- */

static void set_up_expecting(void)
{
    doorbell_set_up(2);
    doorbell_expect();
}

static void check_one(void)
{
    doorbell_check(1);
}

/* The sender looks after it has sent; another rank looks at any time. */
static void run_send_and_look(int thread)
{
    if (thread == 0)
        doorbell_send_quietly();
    doorbell_look(1 + thread);
}

static void run_send_and_look_and_look(int thread)
{
    if (thread == 0)
        doorbell_send();
    doorbell_look(1 + thread % 2);
}

static const struct weak_scenario holder = {
    "the holder looks again", 2, set_up_expecting, run_send_and_look, check_one, 0, 5};
static const struct weak_scenario holders = {
    "two may hold it", 3, set_up_expecting, run_send_and_look_and_look, check_one, 0, 3};

/* ---- the doorbell: a message for whoever has left is handled by the helper thread ---- */

static void set_up_doorbell(void)
{
    doorbell_set_up(1);
    doorbell_start_helper();
}

static void run_doorbell(int thread)
{
    if (thread == 0)
        doorbell_send();
    else
        doorbell_call(1);
}

static const struct weak_scenario doorbell = {
    "a call is left with a message outstanding", 2, set_up_doorbell, run_doorbell, check_one, 0, 3};

/* ---- */

static const struct weak_scenario *const scenarios[] = {
    &holder,
    &holders,
    &doorbell,
    NULL,
};

TEST("no arrival at an endpoint is missed in any execution of the memory model")
{
    EXPECT(weak_holds(scenarios));
}

/* The doorbell's other ends and the removal of communicators: test_rings.c. */
static const char *const functions[] = {
    "try_lock", "release_lock", "sg_endpoint_unlock", "sg_endpoint_poll",
    "ring_for", "ring",         "sg_internode_leave", "sg_shm_channel_pending",
    NULL,
};

TEST("each memory order in the lock and the doorbell is needed")
{
    EXPECT(weak_faults(scenarios, functions, NULL));
}
