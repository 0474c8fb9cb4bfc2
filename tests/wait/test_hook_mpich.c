/* Tests MPICH 5's own setting: when it is asked for, and that nothing is left of it. The test
 * replaces MPICH's version, STAGGER_WAIT and the processors. */
#include "core/config.h"
#include "lib/unit.h"
#include "mpi/real.h"
#include "wait/hook.h"
#include "wait/processors.h"

#define THROTTLE "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
#define COUNT "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"

static const char *version = "";
static enum sg_wait_mode mode;
static bool is_short;

const char *sg_real_version(void)
{
    return version;
}

enum sg_wait_mode sg_turn_mode(void)
{
    return mode;
}

bool sg_processors_are_short(void)
{
    return is_short;
}

/* Whether MPICH of that version is asked, with everything else in favour of it. */
static bool asks(const char *of)
{
    version = of;
    mode = SG_WAIT_AUTO;
    is_short = true;
    bool asked = sg_hook_mpich.start();
    EXPECT(asked == (getenv(THROTTLE) != NULL), asked == (getenv(COUNT) != NULL));
    sg_hook_mpich.end();
    EXPECT(getenv(THROTTLE) == NULL && getenv(COUNT) == NULL);
    return asked;
}

TEST("MPICH 5 and later is asked to yield, an earlier one is not")
{
    EXPECT(asks("MPICH Version:      5.0.0"), asks("MPICH Version: 5.1b1"),
           asks("MPICH Version:      12.0"), !asks("MPICH Version:      4.3.2"),
           !asks("MPICH Version:      unknown"), !asks("MVAPICH Version: 5.0"), !asks(""));
}

TEST("the hook asks MPICH to yield by two settings, and removes them at the end")
{
    version = "MPICH Version: 5.0.0";
    mode = SG_WAIT_AUTO;
    is_short = true;
    EXPECT(sg_hook_mpich.start());
    ASSERT(getenv(THROTTLE) != NULL && getenv(COUNT) != NULL);
    EXPECT(text_is(getenv(THROTTLE), "1"), atoi(getenv(COUNT)) > 0);
    sg_hook_mpich.end();
    EXPECT(getenv(THROTTLE) == NULL && getenv(COUNT) == NULL);
}

TEST("MPICH is asked to yield if processors are short or STAGGER_WAIT requires it")
{
    static const struct {
        enum sg_wait_mode mode;
        bool is_short, asked;
    } cases[] = {{SG_WAIT_AUTO, false, false}, {SG_WAIT_AUTO, true, true},
                 {SG_WAIT_SPIN, false, false}, {SG_WAIT_SPIN, true, false},
                 {SG_WAIT_YIELD, false, true}, {SG_WAIT_YIELD, true, true},
                 {SG_WAIT_SLEEP, false, true}, {SG_WAIT_SLEEP, true, true}};

    version = "MPICH Version: 5.0.0";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mode = cases[i].mode;
        is_short = cases[i].is_short;
        EXPECT(sg_hook_mpich.start() == cases[i].asked,
               cases[i].asked == (getenv(THROTTLE) != NULL));
        sg_hook_mpich.end();
    }
}

TEST("the user's settings stay unchanged")
{
    static const char *const names[] = {THROTTLE,
                                        COUNT,
                                        "MPIR_PARAM_CH4_PROGRESS_THROTTLE",
                                        "MPICH_CH4_PROGRESS_THROTTLE",
                                        "MPIR_PARAM_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT",
                                        "MPICH_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"};

    version = "MPICH Version: 5.0.0";
    mode = SG_WAIT_AUTO;
    is_short = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv(names[i], "0", 1);
        EXPECT(!sg_hook_mpich.start());
        sg_hook_mpich.end();
        ASSERT(getenv(names[i]) != NULL);
        EXPECT(text_is(getenv(names[i]), "0"));
        for (size_t other = 0; other < sizeof names / sizeof *names; other++)
            EXPECT(other == i || getenv(names[other]) == NULL);
        unsetenv(names[i]);
    }
    EXPECT(sg_hook_mpich.start());
    sg_hook_mpich.end();
}
