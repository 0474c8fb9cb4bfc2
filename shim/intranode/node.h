/* Collectives among the ranks of one node, on one shared segment: lock-free, at 0.1 us, outside the
 * contract for protocols between nodes. Papers: srm (003) for the flat exchange and the pipelined
 * chunks; the handoff climb is stagger's own (docs/algorithms.md).
 *
 * A call is a struct sg_node_op on the caller's stack: sg_node_begin, then sg_node_poll until it no
 * longer says WAIT; what to do between polls is the caller's affair (shim/wait/wait.h). Nothing
 * here blocks, allocates, makes a system call or knows of MPI, so tests drive many ranks from one
 * thread in any order of arrival.
 *
 * One operation a rank and segment at a time. Not from a signal handler.
 */
#ifndef SG_INTRANODE_NODE_H
#define SG_INTRANODE_NODE_H

#include "algos/copy.h"
#include "algos/shape.h"
#include "core/operation.h"
#include "intranode/layout.h"
#include "intranode/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads another rank's memory; false where it cannot. scratch: SG_NODE_READ_BYTES a rank. */
#define SG_NODE_READ_BYTES (64u * 1024u)
struct sg_node_reader {
    bool (*read)(void *context, int rank, uint64_t address, void *to, size_t size_bytes);
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
    uint64_t position;                   /* of this rank's next instance */
    uint64_t known_finished;             /* every rank has finished at least so many */
    struct sg_pool_rank *const *pool;    /* by rank; NULL: no large operands */
    const struct sg_node_reader *reader; /* NULL: ranks cannot read each other's memory */
};

/* left (op) right -> out; out is neither of them, or is one of them. */
typedef void (*sg_node_fold)(void *context, const void *left, const void *right, void *out,
                             size_t count);

enum sg_node_method {
    SG_NODE_FLAT,    /* everyone writes its operand, whoever needs the result reads them all */
    SG_NODE_HANDOFF, /* climb: the second at each meeting folds */
    SG_NODE_CHUNKS,  /* large: each rank folds its share of every chunk; needs a pool */
    SG_NODE_SINGLE,  /* large allreduce, not in place: shares are read from the ranks' own buffers,
                        holes included; needs a pool and a reader */
};

/* Levels of the greatest shape: a position's word holds 2^14 ranks. */
#define SG_FOLD_LEVELS 16

enum sg_node_step {
    SG_NODE_DONE,
    SG_NODE_WAIT,
    SG_NODE_MISMATCH,
    SG_NODE_AGAIN /* inside shim/intranode only: by another method */
};

/* What a call is. Buffers of an operation with no data are NULL, its count 0. */
struct sg_node_call {
    enum sg_operation operation;
    enum sg_node_method method;
    struct sg_shape shape;
    int root;         /* of a reduce; else -1 */
    const void *send; /* the own contribution (for MPI_IN_PLACE: what is in receive) */
    void *receive;    /* where this rank gets the result; NULL: it gets none */
    size_t count;     /* elements */
    size_t element_bytes;
    sg_copy copy;      /* into receive; NULL: elements have no holes */
    sg_node_fold fold; /* leaves holes of `out` alone */
    void *fold_context;
    uint64_t arrival_ns; /* 0: not measured */
    uint32_t site;
    uint64_t site_offset;
    const char *site_module;
    uint8_t algorithm;
};

/* A call under way. Fields are shim/intranode's own but for the results below. */
struct sg_node_op {
    struct sg_node *node;
    struct sg_node_call call;
    uint64_t position;
    uint32_t signature;
    uint32_t state;
    size_t done_count; /* elements of chunks before this one */
    size_t chunk_count;
    int seen_ranks;      /* lines that are there, from rank 0 */
    uint64_t stage_base; /* of the counts of large operands' stages */
    uint64_t stage_count[3];
    bool own_in_slot;
    bool failed;  /* to read another rank's memory */
    bool stalled; /* waits for a slot: some rank is far behind */
    /* results */
    bool skew_known;
    uint64_t skew_ns;
    uint32_t stalls;
    uint32_t late;  /* operands folded whose owners had left */
    uint32_t early; /* operands there before this rank arrived */
    uint32_t copies;
    int mismatch_rank; /* after SG_NODE_MISMATCH */
};

/* Bytes of a segment; depth is a power of two. */
size_t sg_node_bytes(int ranks, uint32_t depth, uint32_t slot_bytes);

/* Lays out a zeroed segment (one process), or checks it and fills the view (every process).
 * SG_ERR_FORMAT is told by false: not that segment. */
void sg_node_format(void *segment, int ranks, uint32_t depth, uint32_t slot_bytes, uint64_t nonce);
bool sg_node_attach(struct sg_node *node, void *segment, int rank, uint64_t nonce);

void sg_node_begin(struct sg_node_op *op, struct sg_node *node, const struct sg_node_call *call);
enum sg_node_step sg_node_poll(struct sg_node_op *op);

/* First come, first chosen: publishes `choice` for this rank's next instance, or returns what
 * another rank has published. False while this rank has no credit for the instance: again later.
 * The instance is used up by sg_node_begin, or by sg_node_skip. */
bool sg_node_choose(struct sg_node *node, uint32_t choice, uint32_t *chosen, int *chooser);
void sg_node_skip(struct sg_node *node);

/* While waiting: looks for a rank whose call at this instance differs; true and mismatch_rank then.
 * Cheap enough for once in a few microseconds. */
bool sg_node_disagrees(struct sg_node_op *op);

/* For messages: what a rank has published for the instance at position; NULL: not there yet. */
const struct sg_node_about *sg_node_about(const struct sg_node *node, uint64_t position, int rank);

/* Writes the call site, unless it is there from the last call. */
void sg_node_about_site(struct sg_node_about *about, uint32_t site, uint64_t offset,
                        const char *module);

#endif
