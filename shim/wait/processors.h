/* How many processors the ranks of one machine have among them: by their affinity masks, and by the
 * quotas of their control groups (cgroups(7), cpu.max), which hold a container back that sees many
 * processors.
 *
 * Not from a signal handler. look_again and are_short: any thread.
 */
#ifndef SG_WAIT_PROCESSORS_H
#define SG_WAIT_PROCESSORS_H

#include "core/exchange.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_processors {
    int ranks;      /* of this machine; 0: not known */
    int processors; /* that they may use, by their masks */
    int quota;      /* ... by their control groups, rounded up; INT_MAX: none */
    bool apart;     /* some are in scheduling groups of their own: a yield does not reach all */
};

/* Before MPI_Init: by this process's own mask and group, and what the launcher says. */
void sg_processors_guess(void);
/* Collective over the exchange: all ranks of a machine come to the same. */
enum sg_status sg_processors_start(const struct sg_exchange *exchange, uint64_t machine);

/* Whether there are fewer of them than ranks. */
bool sg_processors_are_short(void);
/* Whether there are, and a yield does not reach all of these ranks. */
bool sg_processors_keep_apart(void);
/* The application may bind itself after MPI_Init, and cpusets change: when this thread's mask has
 * changed, and now and then, the ranks are counted again whose masks overlap it. */
void sg_processors_look_again(void);

struct sg_processors sg_processors_found(void);

#endif
