#include "wait/turn.h"

#include "core/clock.h"
#include "wait/processors.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

/* Iterations before the first yield: with fewer processors than ranks, a late rank may need this
 * processor. */
#define SPINS_SHORT 8u
#define SPINS_ALONE 1000u
/* Tests in succession before a yield: a program may have other work between two of them. */
#define SPINS_TESTING 200u
#define TEST_GAP_NS 1000u
/* Length of a long wait, and of its sleeps: with the kernel's slack a sleep takes up to half as
 * much again, and two or three iterations follow. */
#define LONG_NS UINT64_C(1000000)
#define SLEEP_NS 80000
/* If the kernel divides a processor among autogroups first, each rank being one, a yield may reach
 * no other rank: one that has had less of the processor than others runs until it has caught up,
 * for milliseconds. After this many vain yields a rank sleeps: others then run, and may do what it
 * waits for. */
#define VAIN_YIELDS 20u
#define VAIN_SLEEP_NS 20000
/* An iteration that takes longer than the shortest by half and this has done something. */
#define SLACK_NS 100u
#define QUIET_MAX_NS 1000u
#define LIVELY_TURNS 4u
#define PUT_OFF_NS UINT64_C(200000)
/* The caches are cold after another thread has had the processor, which a yield of this length
 * shows. */
#define COLD_TURNS 1u
#define SWITCH_NS 1000u
/* Idle iterations for which a processor counts as contested after another thread has had it for
 * AWAY_NS: less than others get at a time, and more than the kernel needs for itself. */
#define TURNS_CONTESTED 20000u
#define AWAY_NS UINT64_C(500000)
/* Waits between looks at the processors, if there are fewer than ranks. */
#define WAITS_PER_LOOK 64u

__thread struct sg_turns sg_turns;

static _Atomic enum sg_wait_mode mode = SG_WAIT_SPIN;
static atomic_bool never_sleeps;
atomic_bool sg_turn_spins = true;

static _Atomic uint64_t yields, yield_ns, sleeps, slept_ns;

/* Sets whether threads spin that keep their processors. */
static void decide(void)
{
    enum sg_wait_mode now = atomic_load_explicit(&mode, memory_order_relaxed);

    atomic_store_explicit(
        &sg_turn_spins, now == SG_WAIT_SPIN || (now == SG_WAIT_AUTO && !sg_processors_are_short()),
        memory_order_relaxed);
}

enum sg_wait_mode sg_turn_mode(void)
{
    return atomic_load_explicit(&mode, memory_order_relaxed);
}

void sg_turn_start(enum sg_wait_mode wanted, bool threads)
{
    atomic_store_explicit(&never_sleeps, threads || wanted == SG_WAIT_YIELD, memory_order_relaxed);
    atomic_store_explicit(&mode, wanted, memory_order_relaxed);
    decide();
}

bool sg_turn_is_contested(void)
{
    return sg_processors_are_short() || sg_turns.contested > 0;
}

static bool gives_way(void)
{
    enum sg_wait_mode now = atomic_load_explicit(&mode, memory_order_relaxed);

    return now != SG_WAIT_SPIN && (now != SG_WAIT_AUTO || sg_turn_is_contested());
}

bool sg_turn_lets_sleep(void)
{
    const struct sg_turns *turns = &sg_turns;

    return gives_way() && !turns->own && !turns->testing &&
           !atomic_load_explicit(&never_sleeps, memory_order_relaxed);
}

void sg_turn_look(void)
{
    struct sg_turns *turns = &sg_turns;
    struct rusage usage;
    struct timespec ran;
    uint64_t now_ns, away_ns;

    sg_processors_look_again();
    decide();
    if (atomic_load_explicit(&mode, memory_order_relaxed) != SG_WAIT_AUTO ||
        getrusage(RUSAGE_THREAD, &usage) != 0)
        return;
    now_ns = sg_clock_ns();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    away_ns = now_ns - ((uint64_t)ran.tv_sec * UINT64_C(1000000000) + (uint64_t)ran.tv_nsec);
    /* A thread that has slept was off the processor voluntarily. */
    if (turns->looks++ > 0 && turns->slept == usage.ru_nvcsw && away_ns > turns->away_ns + AWAY_NS)
        turns->contested = TURNS_CONTESTED;
    turns->slept = usage.ru_nvcsw;
    turns->away_ns = away_ns;
}

static void add(_Atomic uint64_t *count, _Atomic uint64_t *sum_ns, uint64_t time_ns)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(sum_ns, time_ns, memory_order_relaxed);
}

static void begin(struct sg_turns *turns, uint64_t now_ns)
{
    turns->begin_ns = turns->last_ns = now_ns;
    turns->quiet_ns = QUIET_MAX_NS;
    turns->settled = turns->lively = turns->vain = 0;
    if (++turns->looked % WAITS_PER_LOOK == 0) {
        sg_processors_look_again();
        decide();
    }
}

/* True if the iteration that ends now did something. */
static bool did_something(struct sg_turns *turns, uint64_t now_ns)
{
    uint64_t turn_ns = now_ns - turns->last_ns;

    if (turns->settled++ < COLD_TURNS)
        return false;
    if (turn_ns < turns->quiet_ns)
        turns->quiet_ns = turn_ns;
    if (turn_ns > turns->quiet_ns + turns->quiet_ns / 2 + SLACK_NS)
        return true;
    turns->lively = 0;
    return false;
}

static void yield(struct sg_turns *turns, uint64_t now_ns)
{
    sched_yield();
    turns->last_ns = sg_clock_ns();
    turns->vain++;
    if (turns->last_ns - now_ns > SWITCH_NS)
        turns->settled = turns->vain = 0;
    if (turns->last_ns - now_ns > AWAY_NS)
        turns->contested = TURNS_CONTESTED;
    else if (turns->contested > 0)
        turns->contested--;
    add(&yields, &yield_ns, turns->last_ns - now_ns);
}

bool sg_turn_yield(void)
{
    uint64_t begin_ns = sg_clock_ns(), away_ns;

    sched_yield();
    away_ns = sg_clock_ns() - begin_ns;
    add(&yields, &yield_ns, away_ns);
    if (sg_turns.contested > 0)
        sg_turns.contested--;
    return away_ns > SWITCH_NS;
}

void sg_turn_slept(uint64_t time_ns)
{
    add(&sleeps, &slept_ns, time_ns);
}

static void sleep_ns(struct sg_turns *turns, long time_ns, uint64_t now_ns)
{
    const struct timespec time = {.tv_nsec = time_ns};

    nanosleep(&time, NULL);
    turns->last_ns = sg_clock_ns();
    turns->settled = turns->vain = 0;
    add(&sleeps, &slept_ns, turns->last_ns - now_ns);
}

static void give_way(struct sg_turns *turns, uint64_t now_ns)
{
    bool is_long = now_ns - turns->begin_ns >= LONG_NS;

    if (atomic_load_explicit(&never_sleeps, memory_order_relaxed))
        yield(turns, now_ns);
    else if (!is_long && turns->vain >= VAIN_YIELDS && sg_processors_keep_apart())
        sleep_ns(turns, VAIN_SLEEP_NS, now_ns);
    else if (!is_long)
        yield(turns, now_ns);
    else if (turns->settled > COLD_TURNS)
        sleep_ns(turns, SLEEP_NS, now_ns);
    else
        turns->last_ns = now_ns;
}

/* Continues after an iteration that seems to have done something. One may be slow for other
 * reasons: a second one postpones sleeping, and after several in succession the wait restarts. */
static void go_on(struct sg_turns *turns, uint64_t now_ns)
{
    uint64_t latest_ns = now_ns - LONG_NS + PUT_OFF_NS;

    turns->last_ns = now_ns;
    turns->lively++;
    if (turns->lively == 2 && turns->begin_ns < latest_ns)
        turns->begin_ns = latest_ns;
    if (turns->lively < LIVELY_TURNS)
        return;
    turns->idle = 0;
    turns->begin_ns = 0;
}

static void wait_on(struct sg_turns *turns)
{
    uint32_t spins = sg_turn_is_contested() ? SPINS_SHORT : SPINS_ALONE;
    uint64_t now_ns;

    if (++turns->idle < spins)
        return;
    now_ns = sg_clock_ns();
    if (turns->idle == spins || turns->begin_ns == 0)
        begin(turns, now_ns);
    else if (did_something(turns, now_ns)) {
        go_on(turns, now_ns);
        return;
    }
    give_way(turns, now_ns);
}

static void test_on(struct sg_turns *turns)
{
    uint64_t now_ns = sg_clock_ns();

    if (now_ns - turns->last_ns > TEST_GAP_NS)
        turns->tested = 0;
    turns->last_ns = now_ns;
    if (++turns->tested >= SPINS_TESTING)
        yield(turns, now_ns);
}

void sg_turn_idle_slowly(void)
{
    struct sg_turns *turns = &sg_turns;
    int saved_errno = errno;

    if (turns->own)
        return;
    if (!gives_way())
        sg_turn_look();
    else if (turns->testing)
        test_on(turns);
    else
        wait_on(turns);
    errno = saved_errno;
}

static uint64_t read_count(_Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

struct sg_turn_times sg_turn_times(void)
{
    return (struct sg_turn_times){read_count(&yields), read_count(&yield_ns), read_count(&sleeps),
                                  read_count(&slept_ns)};
}
