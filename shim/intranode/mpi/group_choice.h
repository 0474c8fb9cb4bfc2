/* The group sizes of a communicator inside a node, by the places of its ranks on the machine.
 *
 * The communicator's first rank decides, and its segment tells the others (intranode/method.h). In
 * application threads, at set-up: reads the kernel's files at the first call, and computes for
 * milliseconds for ranks whose places relate in a new way. */
#ifndef SG_INTRANODE_MPI_GROUP_CHOICE_H
#define SG_INTRANODE_MPI_GROUP_CHOICE_H

#include "algos/tree.h"

#include <stdint.h>

struct sg_group_choice {
    struct sg_nest_sizes sizes; /* group 0: none, because processors are short or the ranks few */
    uint32_t bytes;             /* groups are the default up to this operand; 0: never */
};

/* name: the communicator's, for the note in the trace. world_ranks: of its members. */
struct sg_group_choice sg_group_choice_of(const char *name, const int *world_ranks, int ranks);

#endif
