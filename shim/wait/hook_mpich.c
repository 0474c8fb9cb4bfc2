/* MPICH 5's own way: it gives its processor away in a wait where its environment asks it to, which
 * it reads in MPI_Init. It never sleeps, and its turns are not seen.
 *
 * Asked for where nothing else is there, and where nothing has been said of it.
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
/* Turns without progress before it gives way; its own are for waits of a millisecond. */
#define TURNS "4"

static bool is_set;

/* Whether the user has said something of it, by any of the names that MPICH reads. */
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

/* What the program starts is asked for itself. */
static void end(void)
{
    if (!is_set)
        return;
    sg_config_set_environment("MPIR_CVAR_" THROTTLE, NULL);
    sg_config_set_environment("MPIR_CVAR_" COUNT, NULL);
    is_set = false;
}

const struct sg_hook sg_hook_mpich = {"mpich", start, end};
