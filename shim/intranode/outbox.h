/* Operands of a rank that is ahead of the others by more than the ring: it leaves them in memory of
 * its own, which the others map when they look for them, and goes on, as MPICH's small messages let
 * it.
 *
 * For ranks that wait for nobody: contributors to a reduce and roots of a broadcast, where the
 * operand goes through slots. A rank first waits for its slot; it goes on when nobody has left an
 * instance meanwhile. A broadcast's readers copy the operand from the box, and need no slot
 * themselves to do so. A reduce's root, which has a slot when it looks, arrives in the other rank's
 * place.
 *
 * An entry stays until all ranks have left its instance. The box is a ring of entries; its index
 * has a word for a position, written last. Only its rank writes it.
 */
#ifndef SG_INTRANODE_OUTBOX_H
#define SG_INTRANODE_OUTBOX_H

#include "intranode/method.h"

#define SG_BOX_BYTES (4u << 20)
#define SG_BOX_PLACES 16384u

struct sg_box {
    uint64_t nonce;
    uint64_t data_bytes; /* behind the index */
    unsigned char reserved[SG_NODE_LINE_BYTES - 16];
    /* At position modulo SG_BOX_PLACES: the position above the entry's place + 1; 0: nothing. */
    _Atomic uint64_t index[SG_BOX_PLACES];
};

struct sg_box_entry {
    uint64_t position; /* UINT64_MAX: nothing, up to the end of the data */
    uint64_t arrival_ns;
    uint32_t length; /* of the entry */
    uint32_t bytes;  /* of the operand, behind it */
    uint32_t signature;
    unsigned char reserved[SG_NODE_LINE_BYTES - 28];
    struct sg_call_info info;
};
_Static_assert(sizeof(struct sg_box_entry) == 2 * SG_NODE_LINE_BYTES, "entry");

/* A rank's own box and its view of the others'. */
struct sg_outbox {
    /* A zeroed box, or another rank's: NULL where there is no memory. The rank's box is announced
     * by its maker. */
    struct sg_box *(*make)(void *context);
    struct sg_box *(*open)(void *context, int rank);
    void *context;
    struct sg_box **boxes; /* by rank, all NULL at first */
    uint64_t head, tail;   /* bytes ever put, and given back */
    bool is_refused;       /* there is no memory */
};

/* Of a call that has no slot: true if it needs none. */
bool sg_outbox_put(struct sg_node_op *op);
/* Of a call that waits: DONE or AGAIN if an operand was in a box. */
enum sg_node_step sg_outbox_look(struct sg_node_op *op);
/* The rank's operand for the instance, in its box; NULL: there is none. */
const struct sg_box_entry *sg_outbox_find(const struct sg_node *node, uint64_t position, int rank);
/* Whether nobody needs this rank's entries any more. */
bool sg_outbox_is_empty(struct sg_node *node);

#endif
