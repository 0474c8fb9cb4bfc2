/* The algorithm `auto` inside a node. At each learning slot (mpi/learning.h) the candidates are the
 * algorithms that give MPICH's bits for it, and core/learn.h decides.
 *
 * In whatever order ranks arrive, all are at the same step of a slot's learning in the same
 * instance: a slot counts the calls that all ranks run here, and no others. Ranks exchange their
 * costs in the segment (sg_tell_put, node.h). docs/decisions/14.
 *
 * In the application's thread, one call at a time on a communicator. Memory is allocated at set-up:
 * a rank without it would choose alone.
 */
#ifndef SG_INTRANODE_MPI_AUTO_INSIDE_H
#define SG_INTRANODE_MPI_AUTO_INSIDE_H

#include "intranode/node.h"
#include "mpi/learning.h"

struct sg_auto;

/* At set-up. name: the communicator's. NULL: out of memory. */
struct sg_auto *sg_auto_create(const struct sg_ruleset *rules, const char *name, int ranks);
void sg_auto_free(struct sg_auto *automatic);

/* A call's trial round. */
struct sg_auto_turn {
    struct sg_learning_place *place; /* NULL: no slot, because there are too many */
    const struct sg_choice *choice;  /* the choice to run: never `auto` */
    int arm;
    uint64_t begin_ns; /* 0: the call's cost is not counted */
};

/* Call it after the call is planned and, if ranks must, they have agreed on `choice`, whose
 * algorithm is auto. False: every rank must first have left the instance in which costs were
 * published; call again then. */
bool sg_auto_begin(struct sg_auto *automatic, struct sg_node *node, const struct sg_call *call,
                   const struct sg_choice *choice, struct sg_auto_turn *turn);
/* Call it after the call has run. */
void sg_auto_end(const struct sg_auto_turn *turn);

#endif
