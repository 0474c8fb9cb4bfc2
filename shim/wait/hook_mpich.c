/* The hook for MPICH 5, which yields its processor in a wait if its environment asks for it. MPICH
 * reads the environment in MPI_Init. It never sleeps, and its progress iterations are not seen.
 *
 * Asks for it if no other hook applies, and if the user has not configured it.
 */
#include "core/config.h"
#include "mpi/real.h"
#include "wait/hook.h"
#include "wait/processors.h"

#include <stddef.h>
#include <stdio.h>

#define VERSION_MIN 5
#define THROTTLE "CH4_PROGRESS_THROTTLE"
#define COUNT "CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"
/* Iterations without progress before MPICH yields; its default is for waits of a millisecond. */
#define TURNS "4"

static bool is_set;

/* True if the user has configured it, by any of the names that MPICH reads. */
static bool is_spoken_of(void)
{
    static const char *const names[] = {"MPIR_CVAR_" THROTTLE, "MPIR_PARAM_" THROTTLE,
                                        "MPICH_" THROTTLE,     "MPIR_CVAR_" COUNT,
                                        "MPIR_PARAM_" COUNT,   "MPICH_" COUNT};
    bool spoken = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        spoken = spoken || sg_config_environment(names[i]) != NULL;
    return spoken;
}

static bool start(void)
{
    enum sg_wait_mode mode = sg_turn_mode();
    int major = 0;

    if (sscanf(sg_real_version(), "MPICH Version: %d", &major) != 1 || major < VERSION_MIN ||
        mode == SG_WAIT_SPIN || (mode == SG_WAIT_AUTO && !sg_processors_are_short()) ||
        is_spoken_of())
        return false;
    is_set = sg_config_set_environment("MPIR_CVAR_" COUNT, TURNS) &&
             sg_config_set_environment("MPIR_CVAR_" THROTTLE, "1");
    return is_set;
}

/* Restores the environment: programs that this one starts have their own hooks. */
static void end(void)
{
    if (!is_set)
        return;
    sg_config_set_environment("MPIR_CVAR_" THROTTLE, NULL);
    sg_config_set_environment("MPIR_CVAR_" COUNT, NULL);
    is_set = false;
}

const struct sg_hook sg_hook_mpich = {"mpich", start, end};
