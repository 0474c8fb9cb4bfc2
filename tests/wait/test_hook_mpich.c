/* Tests MPICH 5's own setting: when it is asked for, and that nothing is left of it. The test
 * replaces MPICH's version, STAGGER_WAIT and the processors. */
#include "core/config.h"
#include "lib/unit.h"
#include "mpi/real.h"
#include "wait/hook.h"
#include "wait/processors.h"

#include <stdlib.h>
#include <string.h>

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
    bool asked;

    version = of;
    mode = SG_WAIT_AUTO;
    is_short = true;
    asked = sg_hook_mpich.start();
    CU_ASSERT(asked == (getenv(THROTTLE) != NULL));
    CU_ASSERT(asked == (getenv(COUNT) != NULL));
    sg_hook_mpich.end();
    CU_ASSERT(getenv(THROTTLE) == NULL && getenv(COUNT) == NULL);
    return asked;
}

static void test_versions(void)
{
    CU_ASSERT(asks("MPICH Version:      5.0.0"));
    CU_ASSERT(asks("MPICH Version: 5.1b1"));
    CU_ASSERT(asks("MPICH Version:      12.0"));
    CU_ASSERT(!asks("MPICH Version:      4.3.2"));
    CU_ASSERT(!asks("MPICH Version:      unknown"));
    CU_ASSERT(!asks("MVAPICH Version: 5.0"));
    CU_ASSERT(!asks(""));
}

static void test_values(void)
{
    version = "MPICH Version: 5.0.0";
    mode = SG_WAIT_AUTO;
    is_short = true;
    CU_ASSERT(sg_hook_mpich.start());
    CU_ASSERT_FATAL(getenv(THROTTLE) != NULL && getenv(COUNT) != NULL);
    CU_ASSERT_STRING_EQUAL(getenv(THROTTLE), "1");
    CU_ASSERT(atoi(getenv(COUNT)) > 0);
    sg_hook_mpich.end();
    CU_ASSERT(getenv(THROTTLE) == NULL && getenv(COUNT) == NULL);
}

static void test_modes(void)
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
        CU_ASSERT(sg_hook_mpich.start() == cases[i].asked);
        CU_ASSERT(cases[i].asked == (getenv(THROTTLE) != NULL));
        sg_hook_mpich.end();
    }
}

static void test_user(void)
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
        CU_ASSERT(!sg_hook_mpich.start());
        sg_hook_mpich.end();
        CU_ASSERT_FATAL(getenv(names[i]) != NULL);
        CU_ASSERT_STRING_EQUAL(getenv(names[i]), "0");
        for (size_t other = 0; other < sizeof names / sizeof *names; other++)
            CU_ASSERT(other == i || getenv(names[other]) == NULL);
        unsetenv(names[i]);
    }
    CU_ASSERT(sg_hook_mpich.start());
    sg_hook_mpich.end();
}

const struct unit_test unit_tests[] = {
    {"MPICH 5 and later is asked to give way, an earlier one is not", test_versions},
    {"it is asked by its two settings, which are gone afterwards", test_values},
    {"it is asked where processors are short, or where STAGGER_WAIT says so", test_modes},
    {"what the user says stays as it is", test_user},
    {NULL, NULL},
};
