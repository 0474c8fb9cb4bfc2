/* Tests when a rank that shares its processor yields it, and by which call. The clock,
 * sched_yield, nanosleep and the knowledge of processors are this file's. */
#include "lib/unit.h"
#include "wait/processors.h"
#include "wait/turn.h"

#include <sched.h>
#include <time.h>

/* Durations of an iteration, a yield that finds nobody, and one that another rank takes up. */
#define TURN_NS 200
#define VAIN_NS 300
#define SWITCH_NS 5000

static uint64_t now_ns;
static bool apart, others_run;
static int yields, sleeps, first_sleep;

int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = (time_t)(now_ns / 1000000000);
    time->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

int sched_yield(void)
{
    yields++;
    now_ns += others_run ? SWITCH_NS : VAIN_NS;
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    if (sleeps++ == 0)
        first_sleep = yields;
    now_ns += (uint64_t)time->tv_nsec;
    return 0;
}

bool sg_processors_are_short(void)
{
    return true;
}

bool sg_processors_keep_apart(void)
{
    return apart;
}

void sg_processors_look_again(void)
{
}

/* A wait of so long, in which nothing happens. */
static void wait_for(enum sg_wait_mode mode, bool threads, uint64_t time_ns)
{
    uint64_t end_ns;

    sg_turn_start(mode, threads);
    yields = sleeps = 0;
    sg_turn_begin_wait();
    for (end_ns = now_ns + time_ns; now_ns < end_ns; now_ns += TURN_NS)
        sg_turn_idle();
}

TEST("ranks of one scheduling group yield for a millisecond")
{
    apart = others_run = false;
    wait_for(SG_WAIT_AUTO, false, 900000);
    EXPECT(yields > 1000, sleeps == 0);
}

TEST("a rank whose yields reach no other rank sleeps after some yields")
{
    apart = true;
    others_run = false;
    wait_for(SG_WAIT_AUTO, false, 900000);
    EXPECT(sleeps > 5, first_sleep > 5 && first_sleep<100, yields> 5 * sleeps);
}

TEST("a rank does not sleep while other ranks take its yields")
{
    apart = others_run = true;
    wait_for(SG_WAIT_AUTO, false, 900000);
    EXPECT(yields > 100, sleeps == 0);
}

TEST("a rank does not sleep in a wait of some microseconds")
{
    apart = true;
    others_run = false;
    for (int i = 0; i < 100; i++) {
        wait_for(SG_WAIT_AUTO, false, 5000);
        EXPECT(sleeps == 0);
    }
}

TEST("a rank that must not sleep only yields")
{
    apart = true;
    others_run = false;
    wait_for(SG_WAIT_YIELD, false, 5000000);
    EXPECT(yields > 1000, sleeps == 0);
    wait_for(SG_WAIT_AUTO, true, 5000000);
    EXPECT(yields > 1000, sleeps == 0);
}

TEST("a rank that waits for long sleeps")
{
    apart = others_run = false;
    wait_for(SG_WAIT_AUTO, false, 5000000);
    EXPECT(sleeps > 10, first_sleep > 1000);
}
