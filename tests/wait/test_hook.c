/* Tests the users of a hook: MPI_Init and sessions, in any order. The test replaces the hooks,
 * the processors and the wait ladder. */
#include "lib/unit.h"
#include "wait/hook.h"
#include "wait/processors.h"

static int started, guessed;
static enum sg_wait_mode mode;
static bool never_sleeps;

static bool fail(void)
{
    return false;
}

static bool start(void)
{
    started++;
    return true;
}

const struct sg_hook sg_hook_ucx = {"ucx", fail, NULL};
const struct sg_hook sg_hook_libfabric = {"libfabric", start, NULL};
const struct sg_hook sg_hook_mpich = {"mpich", start, NULL};

void sg_processors_guess(void)
{
    guessed++;
}

void sg_turn_start(enum sg_wait_mode wanted, bool threads)
{
    mode = wanted;
    never_sleeps = threads;
}

static void expect(const struct sg_hook *hook, enum sg_wait_mode wanted, bool threads)
{
    EXPECT(sg_hook_chosen() == hook, mode == wanted, never_sleeps == threads);
}

static void begin(enum sg_hook_user user)
{
    sg_hook_begin(user);
    sg_hook_begun();
}

TEST("MPI_Init chooses the first hook that starts, MPI_Finalize ends it")
{
    started = 0;
    begin(SG_HOOK_WORLD);
    expect(&sg_hook_libfabric, SG_WAIT_AUTO, false);
    sg_hook_start(SG_WAIT_SLEEP, true, false);
    expect(&sg_hook_libfabric, SG_WAIT_SLEEP, false);
    sg_hook_end(SG_HOOK_WORLD);
    expect(NULL, SG_WAIT_SPIN, false);
    EXPECT(started == 1);
}

TEST("the first session chooses a hook, the last one ends it, and no session sleeps")
{
    started = guessed = 0;
    setenv("STAGGER_WAIT", "yield", 1);
    for (int round = 0; round < 2; round++) {
        begin(SG_HOOK_SESSION);
        begin(SG_HOOK_SESSION);
        EXPECT(guessed == round + 1);
        sg_hook_end(SG_HOOK_SESSION);
        expect(&sg_hook_libfabric, SG_WAIT_YIELD, true);
        sg_hook_end(SG_HOOK_SESSION);
        expect(NULL, SG_WAIT_SPIN, false);
    }
    EXPECT(started == 2);
    unsetenv("STAGGER_WAIT");
}

TEST("MPI_Init during a session keeps the session's hook")
{
    begin(SG_HOOK_SESSION);
    begin(SG_HOOK_WORLD);
    sg_hook_start(SG_WAIT_SLEEP, true, false);
    expect(&sg_hook_libfabric, SG_WAIT_SLEEP, true);
    sg_hook_end(SG_HOOK_WORLD);
    expect(&sg_hook_libfabric, SG_WAIT_SLEEP, true);
    sg_hook_end(SG_HOOK_SESSION);
    expect(NULL, SG_WAIT_SPIN, false);
}

/* Rank 0 has said that there is to be none. */
TEST("a session after MPI_Init uses rank 0's settings")
{
    begin(SG_HOOK_WORLD);
    sg_hook_start(SG_WAIT_SLEEP, false, false);
    begin(SG_HOOK_SESSION);
    expect(NULL, SG_WAIT_SLEEP, false);
    sg_hook_end(SG_HOOK_SESSION);
    expect(NULL, SG_WAIT_SLEEP, false);
    sg_hook_end(SG_HOOK_WORLD);
    expect(NULL, SG_WAIT_SPIN, false);
}

TEST("without a hook nothing is chosen")
{
    setenv("STAGGER_WAIT_HOOK", "none", 1);
    begin(SG_HOOK_SESSION);
    expect(NULL, SG_WAIT_AUTO, true);
    sg_hook_end(SG_HOOK_SESSION);
    sg_hook_end(SG_HOOK_SESSION); /* one too many */
    unsetenv("STAGGER_WAIT_HOOK");
    begin(SG_HOOK_SESSION);
    expect(&sg_hook_libfabric, SG_WAIT_AUTO, true);
    sg_hook_end(SG_HOOK_SESSION);
    expect(NULL, SG_WAIT_SPIN, false);
}
