#include "wait/hook.h"

#include "core/config.h"
#include "mpi/real.h"
#include "wait/processors.h"

#include <string.h>

static const struct sg_hook *const hooks[] = {&sg_hook_ucx, &sg_hook_libfabric, &sg_hook_mpich};
#define HOOKS (sizeof hooks / sizeof *hooks)

/* By the words of STAGGER_WAIT, which are parsed in MPI_Init. */
static enum sg_wait_mode mode_of(const char *word)
{
    for (size_t i = 0; word != NULL && i < SG_WAIT_MODE_COUNT; i++) {
        if (strcmp(word, sg_wait_mode_names[i]) == 0)
            return (enum sg_wait_mode)i;
    }
    return SG_WAIT_AUTO;
}

void sg_hook_begin(void)
{
    const char *hook = sg_config_environment("STAGGER_WAIT_HOOK");

    sg_processors_guess();
    sg_turn_start(mode_of(sg_config_environment("STAGGER_WAIT")), false);
    if (hook != NULL && strcmp(hook, "none") == 0)
        return;
    for (size_t i = 0; i < HOOKS && sg_hook_chosen() == NULL; i++) {
        if (hooks[i]->start())
            sg_hook_choose(hooks[i]);
    }
}

void sg_hook_begun(void)
{
    const struct sg_hook *hook = sg_hook_chosen();

    if (hook != NULL && hook->end != NULL)
        hook->end();
}

void sg_hook_start(enum sg_wait_mode mode, bool allowed, bool threads)
{
    if (!allowed)
        sg_hook_choose(NULL);
    sg_turn_start(mode, threads);
}
