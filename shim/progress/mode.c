/* A call asks for the mode of its rule, or of STAGGER_PROGRESS. If a mode's mechanism (its thread
 * or handler) cannot be made or is gone, the next lower mode replaces it for good, and one line
 * reports it. Other modes keep working. */
#include "progress/mode.h"

#include "core/clock.h"
#include "progress/adapter.h"
#include "progress/signal.h"
#include "progress/thread.h"
#include "rule/rule.h"

enum means { MEANS_NONE, MEANS_NOT_MADE, MEANS_THERE };

static enum sg_progress_mode usual; /* for rules without a mode */
/* By mode. Poll needs no mechanism. Written under the lock. */
static _Atomic uint32_t means[SG_PROGRESS_SIGNAL + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_progress_table *table;
static struct sg_process_slot *slot;
static int signal_number;
static bool is_wired;
static const struct sg_progress_looks *looks;

static enum sg_progress_mode named_by(const struct sg_choice *choice)
{
    int index = sg_parameter_find(choice->algorithm, "progress");

    /* 0 is "auto". */
    if (index < 0 || choice->parameters[index] == 0)
        return usual;
    return (enum sg_progress_mode)(choice->parameters[index] - 1);
}

enum sg_progress_mode sg_progress_asked(const struct sg_choice *choice, bool between_machines)
{
    enum sg_progress_mode named = named_by(choice);

    return between_machines && named == SG_PROGRESS_SIGNAL ? SG_PROGRESS_THREAD : named;
}

bool sg_progress_is_to_come(const struct sg_choice *choice)
{
    return table != NULL && named_by(choice) != SG_PROGRESS_POLL;
}

enum sg_progress_mode sg_progress_mode_choose(const struct sg_ruleset *rules,
                                              enum sg_progress_mode configured)
{
    enum sg_progress_mode highest = SG_PROGRESS_POLL;

    usual = configured;
    for (int i = 0; i < sg_ruleset_count(rules); i++) {
        enum sg_progress_mode named = named_by(sg_ruleset_choice(rules, i));

        highest = named > highest ? named : highest;
    }
    return highest;
}

/* Relaxed: no other thread of the library runs during MPI_Init; and a thread that still finds the
 * mechanism after the end, or in a forked child, finds no client. */
static void set_means(enum means state)
{
    for (int mode = SG_PROGRESS_THREAD; mode <= SG_PROGRESS_SIGNAL; mode++)
        atomic_store_explicit(&means[mode], state, memory_order_relaxed);
}

void sg_progress_mode_start(struct sg_progress_table *shared, uint32_t own, int number, bool remote,
                            const struct sg_progress_looks *given)
{
    table = shared;
    slot = &shared->slots[own];
    signal_number = number;
    is_wired = remote;
    looks = given;
    sg_progress_signal_start(slot, number, looks->by_signal);
    set_means(MEANS_NOT_MADE);
}

/* Acquire: pairs with make. */
static enum means means_of(enum sg_progress_mode mode)
{
    return (enum means)atomic_load_explicit(&means[mode], memory_order_acquire);
}

/* ---- under the lock ---- */

/* Logs once for each machine. */
static void say_no_signal(const char *what)
{
    if (atomic_exchange(&table->warned, 1) == 0)
        sg_log("signal %d %s: a thread handles late messages instead; STAGGER_SIGNAL selects "
               "another signal",
               signal_number, what);
}

static bool get_thread(void)
{
    if (means_of(SG_PROGRESS_THREAD) == MEANS_THERE ||
        ((!is_wired || sg_progress_adapter_start(looks->by_listener)) &&
         sg_progress_thread_start(slot, looks->by_helper, looks->helper_due_ns)))
        return true;
    sg_log("cannot start the helper thread (%m): late messages without a signal wait for the next "
           "collective");
    return false;
}

static bool get_signal(void)
{
    /* The application may have reset the handler to the default. */
    if (sg_progress_signal_install())
        return true;
    say_no_signal("has a handler of the application");
    return false;
}

static void hand_over(enum sg_progress_mode to)
{
    looks->hand_over(to);
    if (to != SG_PROGRESS_THREAD)
        return;
    /* A sender that saw the old doorbell may send a signal that nobody handles. By the fence, the
     * helper sees its message when it checks. */
    atomic_thread_fence(memory_order_seq_cst);
    sg_progress_thread_ring(slot);
}

static bool make(enum sg_progress_mode mode)
{
    bool made;

    if (means_of(mode) == MEANS_NONE)
        return false;
    made = mode == SG_PROGRESS_SIGNAL ? get_signal() : get_thread();
    /* Release: the handler or the thread exists. */
    atomic_store_explicit(&means[mode], made ? MEANS_THERE : MEANS_NONE, memory_order_release);
    return made;
}

static enum sg_progress_mode make_ready(enum sg_progress_mode asked)
{
    enum sg_progress_mode now = asked;

    pthread_mutex_lock(&lock);
    while (now > SG_PROGRESS_POLL && !make(now))
        now--;
    if (now == SG_PROGRESS_SIGNAL)
        make(SG_PROGRESS_THREAD); /* stands by for signals without effect */
    else if (asked == SG_PROGRESS_SIGNAL)
        hand_over(now);
    pthread_mutex_unlock(&lock);
    return now;
}

enum sg_progress_mode sg_progress_mode_ready(enum sg_progress_mode asked, bool look_again)
{
    enum sg_progress_mode now = asked;

    while (now > SG_PROGRESS_POLL && means_of(now) == MEANS_NONE)
        now--;
    if (now == SG_PROGRESS_POLL)
        return now;
    if (means_of(now) == MEANS_THERE &&
        !(look_again && now == SG_PROGRESS_SIGNAL && !sg_progress_signal_is_ours()))
        return now;
    return make_ready(now);
}

bool sg_progress_comes(enum sg_progress_mode asked)
{
    return sg_progress_mode_ready(asked, false) != SG_PROGRESS_POLL;
}

void sg_progress_mode_watch(void)
{
    /* trylock: the end of the process waits for this thread under the lock. */
    if (means_of(SG_PROGRESS_SIGNAL) != MEANS_THERE ||
        !sg_progress_signal_is_unheard(sg_clock_ns()) || pthread_mutex_trylock(&lock) != 0)
        return;
    if (means_of(SG_PROGRESS_SIGNAL) == MEANS_THERE) {
        say_no_signal("was not handled within a second");
        atomic_store_explicit(&means[SG_PROGRESS_SIGNAL], MEANS_NONE, memory_order_release);
        hand_over(SG_PROGRESS_THREAD);
    }
    pthread_mutex_unlock(&lock);
}

bool sg_progress_mode_thread(void)
{
    bool made = means_of(SG_PROGRESS_THREAD) == MEANS_THERE;

    if (!made) {
        pthread_mutex_lock(&lock);
        made = make(SG_PROGRESS_THREAD);
        pthread_mutex_unlock(&lock);
    }
    return made;
}

/* ---- the end ---- */

void sg_progress_stop(void)
{
    pthread_mutex_lock(&lock);
    if (means_of(SG_PROGRESS_THREAD) == MEANS_THERE)
        sg_progress_thread_stop(slot);
    sg_progress_adapter_stop();
    /* The signal handler stays installed: a sender may be about to use it, and the default action
     * ends the process. It finds no client any more. */
    set_means(MEANS_NONE);
    pthread_mutex_unlock(&lock);
}

void sg_progress_forget(void)
{
    sg_progress_signal_forget();
    set_means(MEANS_NONE);
}
