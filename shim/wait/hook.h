/* Hooks: detect iterations of MPICH's progress loop. Each is in a separate file, in one table; one
 * is chosen in MPI_Init, or in the first MPI_Session_init.
 *
 *   ucx         MPICH for UCX calls ucp_worker_progress in every iteration, by a symbol that the
 *               preloaded library overrides (hook_ucx.c)
 *   libfabric   MPICH for libfabric reads its completion queues in every iteration, through tables
 *               that come from a symbol (hook_libfabric.c)
 *   mpich       MPICH 5 yields by itself if asked to; its iterations are not seen (hook_mpich.c)
 *
 * Without a hook, blocking calls run as nonblocking ones and tests (intercept/test_loop.h).
 */
#ifndef SG_WAIT_HOOK_H
#define SG_WAIT_HOOK_H

#include "core/status.h"
#include "wait/turn.h"

#include <stdbool.h>

/* A hook. */
struct sg_hook {
    const char *name;
    /* True if this MPICH's iterations are seen by it; sets it up. */
    bool (*start)(void);
    /* After MPI_Init or MPI_Session_init; NULL: nothing to do. */
    void (*end)(void);
};

extern const struct sg_hook sg_hook_ucx, sg_hook_libfabric, sg_hook_mpich;

/* Users of MPICH that keep it initialized: MPI_Init, or sessions, of which there may be several. */
enum sg_hook_user { SG_HOOK_WORLD, SG_HOOK_SESSION };

/* Before MPICH's MPI_Init or MPI_Session_init, which also wait: the first user chooses a hook, by
 * the environment of this process. Any thread. */
void sg_hook_begin(enum sg_hook_user user);
/* After MPI_Init or MPI_Session_init: restores the environment. */
void sg_hook_begun(void);
/* After MPICH's MPI_Finalize or MPI_Session_finalize, or after a failed initialization: without
 * users there is no hook. Any thread. */
void sg_hook_end(enum sg_hook_user user);
/* In MPI_Init, after sg_processors_start: applies rank 0's configuration. allowed: a hook may be
 * used. threads: several may call MPI at a time, and MPICH may hold its lock in an iteration. */
void sg_hook_start(enum sg_wait_mode mode, bool allowed, bool threads);

/* The hook in use; NULL: none. Any thread. Only hook.c chooses it. */
void sg_hook_choose(const struct sg_hook *hook);
const struct sg_hook *sg_hook_chosen(void);

#endif
