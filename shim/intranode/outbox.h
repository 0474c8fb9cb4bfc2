/* Operands of a rank that is ahead of the others by more than the ring. It leaves them in its box,
 * memory of its own that the others map when they look for it, and goes on, as MPICH's eager
 * messages would let it.
 *
 * For ranks that wait for nobody: contributors to a reduce and roots of a broadcast, if the operand
 * goes through slots. A rank first waits for its slot; it uses the box if no rank leaves an
 * instance meanwhile. A broadcast's readers copy the operand from the box, and need no slot for
 * that. A reduce's root, which has a slot when it looks, arrives on behalf of the other rank.
 *
 * An entry stays until all ranks have left its instance. The box is a ring of entries; its index
 * has one word for each position, written last. Only its rank writes it.
 */
#ifndef SG_INTRANODE_OUTBOX_H
#define SG_INTRANODE_OUTBOX_H

#include "intranode/method.h"

#define SG_BOX_BYTES (4u << 20)
#define SG_BOX_PLACES 16384u

struct sg_box {
    uint64_t nonce;
    uint64_t data_bytes; /* after the index */
    unsigned char reserved[SG_NODE_LINE_BYTES - 16];
    /* At position modulo SG_BOX_PLACES: the position, above the entry's offset in lines + 1; 0:
     * empty. */
    _Atomic uint64_t index[SG_BOX_PLACES];
};

struct sg_box_entry {
    uint64_t position; /* UINT64_MAX: unused up to the end of the data */
    uint64_t arrival_ns;
    uint32_t length; /* bytes of the entry */
    uint32_t bytes;  /* bytes of the operand, after the entry */
    uint32_t signature;
    unsigned char reserved[SG_NODE_LINE_BYTES - 28];
    struct sg_call_info info;
};
_Static_assert(sizeof(struct sg_box_entry) == 2 * SG_NODE_LINE_BYTES, "entry");

/* A rank's own box and its view of the others'. */
struct sg_outbox {
    /* Make a zeroed box, or map another rank's: NULL on failure. make also announces the rank's
     * box. */
    struct sg_box *(*make)(void *context);
    struct sg_box *(*open)(void *context, int rank);
    void *context;
    struct sg_box **boxes; /* by rank, all NULL at first */
    uint64_t head, tail;   /* bytes ever allocated, and freed */
    bool is_refused;       /* make has failed */
};

/* For a call without a slot: puts its operand into the box. True: the call needs no slot. */
bool sg_outbox_put(struct sg_node_op *op);
/* For a waiting call: DONE or AGAIN if an operand was in a box. */
enum sg_node_step sg_outbox_look(struct sg_node_op *op);
/* Finds a rank's operand for the instance, in its box; NULL: there is none. */
const struct sg_box_entry *sg_outbox_find(const struct sg_node *node, uint64_t position, int rank);
/* True if no rank needs this rank's entries any more. */
bool sg_outbox_is_empty(struct sg_node *node);

#endif
