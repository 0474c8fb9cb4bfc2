/* The shared memory that calls inside a node need, by the rules: a segment for a communicator, the
 * node's buffers for large operands, and reading of other ranks' memory. Each answer is the same on
 * all ranks. In MPI_Init and at set-up, in the application's thread.
 */
#ifndef SG_INTRANODE_MPI_POOL_H
#define SG_INTRANODE_MPI_POOL_H

#include "core/exchange.h"
#include "intranode/method.h"
#include "rule/rule.h"

/* True if some call may need a segment on a communicator of one node. */
bool sg_intranode_wants_segment(const struct sg_ruleset *rules, const char *name, int size);
/* True if some call may read other ranks' memory. */
bool sg_intranode_wants_reading(const struct sg_ruleset *rules);

/* The node's buffers for large operands (intranode/method.h): made in MPI_Init, on all ranks or on
 * none, if some rule may need them. Not under MPI_THREAD_MULTIPLE: two communicators' calls could
 * wait for each other's buffers; large operands then go through the communicator's own slots. */

/* Collective over the exchange (world ranks), after sg_memory_start. If the buffers are needed and
 * cannot be made, one line reports it. */
enum sg_status sg_pool_start(const struct sg_exchange *exchange, const struct sg_ruleset *rules);
bool sg_pool_is_there(void);
/* Returns the buffers of a rank of this node; NULL: none. */
struct sg_pool_rank *sg_pool_of(int world_rank);

#endif
