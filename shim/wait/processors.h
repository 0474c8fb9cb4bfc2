/* The number of processors available to the ranks of one machine: by their affinity masks, and by
 * the quotas of their control groups (cgroups(7), cpu.max), which limit a container that sees many
 * processors.
 *
 * Not from a signal handler. look_again and are_short: any thread.
 */
#ifndef SG_WAIT_PROCESSORS_H
#define SG_WAIT_PROCESSORS_H

#include "core/exchange.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_processors {
    int ranks;      /* on this machine; 0: unknown */
    int processors; /* available by their masks */
    int quota;      /* ... by their control groups, rounded up; INT_MAX: unlimited */
    bool apart;     /* some are in different scheduling groups: a yield does not reach all */
};

/* Before MPI_Init: estimates from this process's mask and group, and the launcher's environment. */
void sg_processors_guess(void);
/* Collective over the exchange: all ranks of a machine get the same result. */
enum sg_status sg_processors_start(const struct sg_exchange *exchange, uint64_t machine);

/* True if there are fewer processors than ranks. */
bool sg_processors_are_short(void);
/* True if there are fewer, and a yield does not reach all of these ranks. */
bool sg_processors_keep_apart(void);
/* Ranks for each of these processors, rounded up; 0: unknown. Any thread. */
int sg_processors_crowd(void);
/* Counts again the ranks whose masks overlap this thread's, when its mask has changed and at
 * intervals: the application may bind itself after MPI_Init, and cpusets change. */
void sg_processors_look_again(void);

struct sg_processors sg_processors_found(void);

/* The masks that the ranks of this machine had in MPI_Init. False: the rank is on another one. */
bool sg_processors_mask(int world_rank, cpu_set_t *mask);
void sg_processors_all(cpu_set_t *masks);

#endif
