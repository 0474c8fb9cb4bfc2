/* Tests rings that meet, doorbells that change hands, and the removal of communicators
 * (shim/progress) under the memory model. */
#include "lib/unit.h"
#include "progress/signal.h"
#include "weak/rings.h"
#include "weak/rules.h"

const struct sg_ruleset *rings_rules(void)
{
    return weak_one_rule();
}

static void check_one(void)
{
    rings_check(1);
}

static void check_two(void)
{
    rings_check(2);
}

/* ---- two senders: the second one's ring may find the first's ---- */

static void run_senders(int thread)
{
    rings_send(thread, 0);
}

static void set_up_thread(void)
{
    rings_set_up(1, SG_PROGRESS_THREAD);
    rings_start_helper();
}

static void set_up_signal(void)
{
    rings_set_up(1, SG_PROGRESS_SIGNAL);
    rings_start_handler();
}

static void set_up_no_thread(void)
{
    rings_set_up(1, SG_PROGRESS_SIGNAL);
    rings_start_helper();
    weak_signals_fail();
}

static const struct weak_scenario rings = {
    "two rings of a thread", 2, set_up_thread, run_senders, check_two, 0, 4};
static const struct weak_scenario signals = {
    "two signals", 2, set_up_signal, run_senders, check_two, 0, 4};
static const struct weak_scenario unsent = {
    "two signals that find no thread", 2, set_up_no_thread, run_senders, check_two, 0, 4};

/* ---- arm and disarm: what comes while a call is left is seen by it, or rings ---- */

static void run_call(int thread)
{
    if (thread == 0) {
        rings_send(0, 0);
        return;
    }
    rings_enter(0);
    rings_leave(0, SG_PROGRESS_THREAD);
}

static const struct weak_scenario arming = {
    "a call between a message and its ring", 2, set_up_thread, run_call, check_one, 0, 4};

/* An old signal has come to nothing: what it said is not to keep later ones back. */
static void run_call_for_signal(int thread)
{
    if (thread < 2) {
        rings_send(thread, 0);
        return;
    }
    rings_enter(0);
    rings_leave(0, SG_PROGRESS_SIGNAL);
}

static void set_up_both(void)
{
    rings_set_up(1, SG_PROGRESS_SIGNAL);
    rings_start_signals();
}

static const struct weak_scenario rearming = {
    "a doorbell is armed anew", 3, set_up_both, run_call_for_signal, NULL, 0, 3};

/* ---- hand over: of what was armed for a signal, to the helper thread ---- */

static void set_up_taken(void)
{
    rings_set_up(2, SG_PROGRESS_SIGNAL);
    rings_start_signals();
    rings_take_signal();
    weak_clock_step(SG_PROGRESS_WATCH_NS, 60);
}

static void run_taken(int thread)
{
    if (thread == 0) {
        rings_send(0, 0);
        return;
    }
    rings_enter(1);
    rings_leave(1, SG_PROGRESS_SIGNAL);
}

static void set_up_unheard(void)
{
    rings_set_up(1, SG_PROGRESS_SIGNAL);
    rings_start_signals();
    weak_clock_step(SG_PROGRESS_WATCH_NS, 80);
}

static const struct weak_scenario taken = {
    "the application takes the signal", 2, set_up_taken, run_taken, check_one, 0, 3};
static const struct weak_scenario unheard = {
    "nobody takes the signal", 1, set_up_unheard, run_senders, check_one, 0, 3};

/* ---- removal: afterwards nobody is in the communicator ---- */

static void set_up_none(void)
{
    rings_set_up(0, SG_PROGRESS_POLL);
}

static void run_removal(int thread)
{
    if (thread == 0) {
        rings_add(0);
        rings_remove(0);
    } else {
        rings_poll();
    }
}

static const struct weak_scenario removal = {
    "a client is removed", 2, set_up_none, run_removal, NULL, 0, 0};
static const struct weak_scenario removals = {
    "two visit a client that is removed", 3, set_up_none, run_removal, NULL, 0, 3};

/* ---- the end ---- */

static void run_end(int thread)
{
    if (thread == 0)
        rings_stop();
    else
        rings_send(0, 0);
}

static const struct weak_scenario end = {
    "the helper thread ends", 2, set_up_thread, run_end, NULL, 0, 4};

/* ---- */

static const struct weak_scenario *const scenarios[] = {
    &rings,   &signals, &unsent,   &arming, &rearming, &taken,
    &unheard, &removal, &removals, &end,    NULL,
};

TEST("no doorbell ring is lost in any execution of the memory model")
{
    EXPECT(weak_holds(scenarios));
}

/* Not the orders of timers, of making a mode's means ready and of the visits of who was rung. */
static const char *const functions[] = {
    "help",      "answer",  "sg_progress_ring", "sg_progress_thread_stop", "begin_visit",
    "end_visit", "quiesce", "sg_progress_poll", "sg_progress_remove",      NULL,
};

#define ENOUGH "the half that is left does, and on x86 it is the same instruction"
#define RUNG "the exchange of rung orders it"
#define TIMERS "for timers, which are not tried"
#define THREAD "one thread takes all signals here"
#define BARRIER "the sender's full barrier is before it"
#define RELEASED "the ring behind it releases, too"
#define BOTH "whichever number a visitor counts in is waited for"
#define LOCK "under the lock"
#define PLACE "the place itself is released"

static const struct weak_unneeded unneeded[] = {
    {"help", "update seq_cst", 1, "acq_rel", ENOUGH},
    {"help", "update seq_cst", 1, "acquire", ENOUGH},
    {"help", "update seq_cst", 2, "acq_rel", ENOUGH},
    {"help", "update seq_cst", 2, "acquire", ENOUGH},
    {"help", "load seq_cst", 1, "acquire", RUNG},
    {"help", "load seq_cst", 1, "relaxed", RUNG},
    {"help", "store seq_cst", 1, "release", TIMERS},
    {"help", "store seq_cst", 1, "relaxed", TIMERS},
    {"help", "store seq_cst", 2, "release", TIMERS},
    {"help", "store seq_cst", 2, "relaxed", TIMERS},
    {"answer", "update seq_cst", 1, "acq_rel", ENOUGH},
    {"answer", "update seq_cst", 1, "acquire", ENOUGH},
    {"sg_progress_ring", "load acquire", 1, "relaxed", THREAD},
    {"sg_progress_ring", "update seq_cst", 1, "acq_rel", BARRIER},
    {"sg_progress_ring", "update seq_cst", 1, "acquire", BARRIER},
    {"sg_progress_ring", "update seq_cst", 1, "relaxed", BARRIER},
    {"sg_progress_ring", "update seq_cst", 1, "release", BARRIER},
    {"sg_progress_ring", "update seq_cst", 2, "acq_rel", ENOUGH},
    {"sg_progress_ring", "update seq_cst", 2, "acquire", ENOUGH},
    {"sg_progress_ring", "update seq_cst", 3, "acq_rel", RELEASED},
    {"sg_progress_ring", "update seq_cst", 3, "release", RELEASED},
    {"begin_visit", "load seq_cst", 1, "acquire", BOTH},
    {"begin_visit", "load seq_cst", 1, "relaxed", BOTH},
    {"quiesce", "update seq_cst", 1, "acq_rel", BOTH},
    {"quiesce", "update seq_cst", 1, "acquire", BOTH},
    {"quiesce", "update seq_cst", 1, "relaxed", BOTH},
    {"quiesce", "update seq_cst", 1, "release", BOTH},
    {"sg_progress_remove", "load seq_cst", 1, "acquire", LOCK},
    {"sg_progress_remove", "load seq_cst", 1, "relaxed", LOCK},
    {"sg_progress_poll", "load acquire", 1, "relaxed", PLACE},
    {"sg_progress_thread_stop", "store seq_cst", 1, "release", RUNG},
    {"sg_progress_thread_stop", "store seq_cst", 1, "relaxed", RUNG},
    {"sg_progress_thread_stop", "store seq_cst", 2, "release", ENOUGH},
    {NULL, NULL, 0, NULL, NULL},
};

TEST("each memory order in the doorbell rings is needed")
{
    EXPECT(weak_faults(scenarios, functions, unneeded));
}
