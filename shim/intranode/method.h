/* A call under way on one rank, and the methods that run it: what node.c begins and polls, and what
 * a method knows of it.
 */
#ifndef SG_INTRANODE_METHOD_H
#define SG_INTRANODE_METHOD_H

#include "algos/kernels/element.h"
#include "algos/shape.h"
#include "core/operation.h"
#include "intranode/fold.h"
#include "intranode/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buffers for large operands: two chunks a rank, in one segment of the node, shared by all
 * communicators. A rank takes part in one large collective at a time (never under
 * MPI_THREAD_MULTIPLE), and leaves it only when nobody uses its buffers any more. */
#ifndef SG_POOL_CHUNK_BYTES /* tests have smaller ones */
#define SG_POOL_CHUNK_BYTES (128u * 1024u)
#endif
struct sg_pool_rank {
    _Alignas(64) unsigned char chunk[2][SG_POOL_CHUNK_BYTES];
};

/* To other ranks' memory: both give false where they cannot. write NULL: it never can.
 * scratch: SG_NODE_READ_BYTES a rank. */
#define SG_NODE_READ_BYTES (64u * 1024u)
struct sg_node_access {
    bool (*read)(void *context, int rank, uint64_t address, void *to, size_t size_bytes);
    bool (*write)(void *context, int rank, uint64_t address, const void *from, size_t size_bytes);
    void *context;
    unsigned char *scratch;
};

/* One rank's view of a segment; private to its process. */
struct sg_node {
    struct sg_node_header *header;
    unsigned char *instances; /* the ring */
    size_t instance_bytes;
    size_t slot_stride;
    int rank;
    int ranks;
    uint32_t depth; /* a power of two */
    uint32_t slot_bytes;
    uint64_t position;                /* of this rank's next instance */
    uint64_t known_finished;          /* every rank has finished at least this many */
    struct sg_pool_rank *const *pool; /* by rank; NULL: no large operands */
    struct sg_node_access *access;    /* NULL: ranks cannot read each other's memory */
    struct sg_outbox *outbox;         /* NULL: no rank is ahead by more than the ring */
    uint64_t waits_no_more;           /* for a slot while known_finished + 1 is this */
};

enum sg_node_method {
    SG_NODE_FLAT,    /* everyone writes its operand; a rank that needs the result reads them all */
    SG_NODE_HANDOFF, /* a tree: the second at each meeting folds */
    SG_NODE_CHUNKS,  /* large: each rank folds its share of every chunk; needs a pool */
    SG_NODE_SINGLE,  /* large allreduce, not in place: shares are read from the ranks' own buffers,
                        holes included; needs a pool and access */
    SG_NODE_BROADCAST, /* of a broadcast: the root fills slots, everyone else empties them */
    SG_NODE_PULL,      /* large broadcast: out of the root's buffer; needs access */
    SG_NODE_GROUPS,    /* many ranks, small: flat inside groups, and among their first ranks */
};

enum sg_node_step {
    SG_NODE_DONE,
    SG_NODE_WAIT,
    SG_NODE_MISMATCH,
    SG_NODE_AGAIN /* inside shim/intranode only: by another method */
};

/* A call. Buffers of an operation without data are NULL, its count 0. */
struct sg_node_call {
    enum sg_operation operation;
    enum sg_node_method method;
    struct sg_shape shape;
    int group;        /* ranks at most, 2 or more; of SG_NODE_GROUPS */
    int root;         /* of a reduce or broadcast; else -1 */
    const void *send; /* this rank's contribution (for MPI_IN_PLACE: the contents of receive) */
    void *receive;    /* where this rank gets the result; NULL: it gets none */
    size_t count;     /* elements */
    size_t element_bytes;
    sg_copy copy;      /* into receive; NULL: elements have no holes */
    sg_node_fold fold; /* leaves holes of `out` alone */
    void *fold_context;
    bool root_writes;    /* this rank, as the root of a large broadcast, may write to the others */
    uint64_t arrival_ns; /* 0: not measured */
    uint32_t site;
    uint64_t site_offset;
    const char *site_module;
    uint8_t algorithm;
};

/* A call under way. Only the results below are for users outside of shim/intranode. */
struct sg_node_op {
    struct sg_node *node;
    struct sg_node_call call;
    uint64_t position;
    uint32_t signature;
    uint32_t state;
    size_t done_count; /* elements of chunks before this one */
    size_t chunk_count;
    int seen_ranks;                /* lines that have arrived, from rank 0 */
    struct sg_shape_groups groups; /* and this rank's: number, leaves */
    int group, group_first, group_end;
    uint64_t stage_base; /* of the counts of large operands' stages */
    uint64_t stage_count[3];
    bool own_in_slot;
    bool failed;         /* to read another rank's memory */
    bool stalled;        /* waits for a slot: some rank is far behind */
    uint64_t stalled_at; /* known_finished */
    /* results */
    bool skew_known;
    uint64_t skew_ns;
    uint32_t stalls;
    uint32_t late;  /* operands folded after their owners had left */
    uint32_t early; /* operands that were there before this rank arrived */
    uint32_t copies;
    int mismatch_rank; /* after SG_NODE_MISMATCH */
};

/* States of a chunk. */
enum { SG_OP_START, SG_OP_ARRIVED, SG_OP_MOVING, SG_OP_FOLDED, SG_OP_FETCHED };

/* A chunk by one method: DONE when this rank has left the instance. */
enum sg_node_step sg_flat_poll(struct sg_node_op *op);
enum sg_node_step sg_broadcast_poll(struct sg_node_op *op);
enum sg_node_step sg_handoff_poll(struct sg_node_op *op);
enum sg_node_step sg_groups_poll(struct sg_node_op *op);
/* The whole call. */
enum sg_node_step sg_chunks_poll(struct sg_node_op *op);
enum sg_node_step sg_single_poll(struct sg_node_op *op);
enum sg_node_step sg_pull_poll(struct sg_node_op *op);

#endif
