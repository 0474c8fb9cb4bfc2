#include "wait/hook.h"

#include "core/altstack.h"
#include "core/config.h"
#include "mpi/real.h"
#include "wait/processors.h"

#include <pthread.h>
#include <string.h>

static const struct sg_hook *const hooks[] = {&sg_hook_ucx, &sg_hook_libfabric, &sg_hook_mpich};
#define HOOKS (sizeof hooks / sizeof *hooks)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users[SG_HOOK_SESSION + 1];

/* Parses a word of STAGGER_WAIT; MPI_Init checks the words. */
static enum sg_wait_mode mode_of(const char *word)
{
    for (size_t i = 0; word != NULL && i < SG_WAIT_MODE_COUNT; i++) {
        if (strcmp(word, sg_wait_mode_names[i]) == 0)
            return (enum sg_wait_mode)i;
    }
    return SG_WAIT_AUTO;
}

/* Threads may use separate sessions, whatever level each has asked for. */
static bool has_threads(void)
{
    return users[SG_HOOK_SESSION] > 0;
}

static void choose(void *none)
{
    const char *hook = sg_config_environment("STAGGER_WAIT_HOOK");

    sg_processors_guess();
    sg_turn_start(mode_of(sg_config_environment("STAGGER_WAIT")), has_threads());
    if (hook != NULL && strcmp(hook, "none") == 0)
        return;
    for (size_t i = 0; i < HOOKS && sg_hook_chosen() == NULL; i++) {
        if (hooks[i]->start())
            sg_hook_choose(hooks[i]);
    }
}

static bool is_used(void)
{
    return users[SG_HOOK_WORLD] > 0 || users[SG_HOOK_SESSION] > 0;
}

void sg_hook_begin(enum sg_hook_user user)
{
    bool is_first;

    pthread_mutex_lock(&lock);
    is_first = !is_used();
    users[user]++;
    if (is_first)
        sg_altstack_run(choose, NULL);
    pthread_mutex_unlock(&lock);
}

void sg_hook_end(enum sg_hook_user user)
{
    pthread_mutex_lock(&lock);
    if (users[user] > 0)
        users[user]--;
    if (!is_used()) {
        sg_hook_choose(NULL);
        sg_turn_start(SG_WAIT_SPIN, false);
    }
    pthread_mutex_unlock(&lock);
}

void sg_hook_begun(void)
{
    const struct sg_hook *hook = sg_hook_chosen();

    if (hook != NULL && hook->end != NULL)
        hook->end();
}

void sg_hook_start(enum sg_wait_mode mode, bool allowed, bool threads)
{
    pthread_mutex_lock(&lock);
    if (!allowed)
        sg_hook_choose(NULL);
    sg_turn_start(mode, threads || has_threads());
    pthread_mutex_unlock(&lock);
}
