/* Ranks of a node that sleep until they are woken, on the real wait ladder (shim/wait/wait.c). */
#ifndef SG_TESTS_WEAK_SLEEPERS_H
#define SG_TESTS_WEAK_SLEEPERS_H

#include "intranode/node.h"

/* Completes a call as shim/intranode/mpi/intranode.c does among many ranks on few processors: a
 * rank that cannot go on sleeps, and the rank whose step it waits for wakes it. */
void sleepers_complete(struct sg_node_op *op);

#endif
