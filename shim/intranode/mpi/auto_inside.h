/* The algorithm `auto` inside a node: at each place (mpi/learning.h) the arms are the algorithms
 * that give MPICH's bits there, and core/learn.h decides.
 *
 * Whatever the order in which ranks arrive, all are at the same step of a place's learning in the
 * same instance: a place counts the calls that all ranks run here, and no others. What they decide
 * from is told in the segment (tell.h). docs/decisions/0062-auto.md.
 *
 * In the application's thread, one call at a time on a communicator. The first call of a place
 * finds its memory ready: without it one rank would choose alone.
 */
#ifndef SG_INTRANODE_MPI_AUTO_INSIDE_H
#define SG_INTRANODE_MPI_AUTO_INSIDE_H

#include "intranode/node.h"
#include "mpi/learning.h"

struct sg_auto;

/* At set-up. name: the communicator's. NULL: out of memory. */
struct sg_auto *sg_auto_create(const struct sg_ruleset *rules, const char *name, int ranks);
void sg_auto_free(struct sg_auto *automatic);

/* A call's turn. */
struct sg_auto_turn {
    struct sg_learning_place *place; /* NULL: of no place, because there are too many */
    const struct sg_choice *choice;  /* what runs: never `auto` */
    int arm;
    uint64_t begin_ns; /* 0: the call's cost is not counted */
};

/* After the call is planned and, where ranks must, they have agreed on `choice`, whose algorithm is
 * auto. False: every rank must have left the instance at *position before this goes on; call again
 * then. */
bool sg_auto_begin(struct sg_auto *automatic, struct sg_node *node, const struct sg_call *call,
                   const struct sg_choice *choice, struct sg_auto_turn *turn);
/* After the call has run. */
void sg_auto_end(const struct sg_auto_turn *turn);

#endif
