/* Hooks: how the library learns of the turns of MPICH's progress. Each is in a file of its own,
 * behind one table; one is chosen in MPI_Init, or in the first MPI_Session_init.
 *
 *   ucx         MPICH for UCX calls ucp_worker_progress once a turn, by a symbol that is found in
 *               the library that is preloaded (hook_ucx.c)
 *   libfabric   MPICH for libfabric reads its completion queues once a turn, through tables that
 *               come from a symbol (hook_libfabric.c)
 *   mpich       MPICH 5 gives way by itself where it is asked to; it has no turns here
 *               (hook_mpich.c)
 *
 * Without one the blocking calls run as nonblocking ones and tests (intercept/test_loop.h).
 */
#ifndef SG_WAIT_HOOK_H
#define SG_WAIT_HOOK_H

#include "core/status.h"
#include "wait/turn.h"

#include <stdbool.h>

/* A hook. */
struct sg_hook {
    const char *name;
    /* Whether this MPICH's turns come by it; what is needed for that is set up. */
    bool (*start)(void);
    /* After MPI_Init or MPI_Session_init; NULL: there is nothing to do. */
    void (*end)(void);
};

extern const struct sg_hook sg_hook_ucx, sg_hook_libfabric, sg_hook_mpich;

/* What keeps MPICH going: MPI_Init, or sessions, of which there may be several. */
enum sg_hook_user { SG_HOOK_WORLD, SG_HOOK_SESSION };

/* Before MPICH's MPI_Init or MPI_Session_init, which wait, too: the first user chooses a hook, by
 * the environment of this process. Any thread. */
void sg_hook_begin(enum sg_hook_user user);
/* After it: the environment is as it was. */
void sg_hook_begun(void);
/* After MPICH's MPI_Finalize or MPI_Session_finalize, or where the begin has failed: without users
 * there is no hook. Any thread. */
void sg_hook_end(enum sg_hook_user user);
/* In MPI_Init, after sg_processors_start: what rank 0 asked for. allowed: some hook may be used.
 * threads: several may call MPI at a time, and MPICH may hold its lock in a turn. */
void sg_hook_start(enum sg_wait_mode mode, bool allowed, bool threads);

/* The hook that is used; NULL: none. Any thread. Chosen by hook.c alone. */
void sg_hook_choose(const struct sg_hook *hook);
const struct sg_hook *sg_hook_chosen(void);

#endif
