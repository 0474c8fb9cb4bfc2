/* The layout of a node's shared segment, and the state of a call as the methods that run it see it.
 * node.c begins and polls calls; each method runs a chunk, or a whole large call. */
#ifndef SG_INTRANODE_METHOD_H
#define SG_INTRANODE_METHOD_H

#include "algos/kernels/element.h"
#include "algos/tree.h"
#include "core/text.h"
#include "intranode/fold.h"
#include "intranode/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shared segment of one communicator on one node.
 *
 * It is a ring of `depth` instances. An instance is a position in the sequence of collectives (and
 * chunks of them) that run here; every rank counts positions in the same way. Each rank owns, per
 * ring index, a slot: a line that others poll, a line about the call for reports, and capacity for
 * an operand.
 *
 * Writers and lifetimes:
 *   line, info, operand    their rank alone, at the start of its instance
 *   meeting, release, choice, outer  any rank that arrives there; they contain the position, which
 *                          distinguishes them from values of an earlier instance
 *   control.finished       its rank alone: instances it has left; for reduces, stored twice a round
 *                          of the ring
 *   control.left           its rank alone: instances it has left, for reduces in between
 *   told                   its rank alone, two used alternately (sg_tell_put, node.h)
 * A rank starts the instance at position p only when every rank has finished p - depth: no rank
 * then reads what p overwrites. Offsets and indices only, no pointers: the segment is mapped at any
 * address.
 */

#define SG_NODE_LINE_BYTES 64
#define SG_NODE_INLINE_BYTES 48
#define SG_NODE_MAGIC UINT64_C(0x7265676761747367)

/* Polled by the other ranks; contains small operands. */
struct sg_node_line {
    _Atomic uint32_t sequence; /* low bits of position + 1; written last */
    uint32_t signature;        /* the call's: see ring.h */
    uint64_t arrival_ns;       /* 0: not measured */
    unsigned char payload[SG_NODE_INLINE_BYTES];
};

/* Identifies the call in messages to the user. */
struct sg_call_info {
    uint64_t bytes;
    uint64_t offset; /* offset of the call site in its module */
    uint32_t site;   /* call site's id */
    int32_t root;
    uint8_t operation; /* enum sg_operation */
    uint8_t algorithm;
    bool nonblocking; /* the call is nonblocking */
    bool in_place;    /* an allreduce with MPI_IN_PLACE */
    uint8_t method;   /* enum sg_node_method, inside a node */
    char module[35];  /* base name of the call site's module; its end if too long */
};

struct sg_node_control {
    _Atomic uint64_t finished; /* instances this rank has left, at least */
    unsigned char reserved[SG_NODE_LINE_BYTES - 8];
    /* Chunks of large operands that have passed each stage on this rank: chunks.c. */
    _Atomic uint64_t stage[3];
    _Atomic uint64_t failed; /* position + 1 of the last instance in which a read failed */
    _Atomic uint64_t left;   /* instances this rank has left, if more than `finished` */
    _Atomic uint64_t unmet;  /* position + 1 while it awaits the others after a failed call */
    unsigned char reserved2[SG_NODE_LINE_BYTES - 48];
};

/* A word that several ranks write, tagged with the position it belongs to: position + 1 in the
 * upper bits, a value (a rank, a choice) in the lower SG_NODE_VALUE_BITS. */
struct sg_node_word {
    _Atomic uint64_t word;
    unsigned char reserved[SG_NODE_LINE_BYTES - 8];
};

#define SG_NODE_VALUE_BITS 28

/* A rank's published costs at one learning slot, after the ring (sg_tell_put, node.h). */
struct sg_node_told {
    _Atomic uint64_t numbers[SG_NODE_LINE_BYTES / 8];
};

/* Announces a rank's box; after the costs (outbox.h). */
struct sg_node_box {
    _Atomic uint64_t is_made;
    struct sg_segment_ticket ticket;
    unsigned char reserved[SG_NODE_LINE_BYTES - 8 - sizeof(struct sg_segment_ticket)];
};

#define SG_NODE_WARNED 6

struct sg_node_header {
    uint64_t magic;
    uint64_t nonce; /* identifies the segment asked for */
    uint64_t size_bytes;
    uint32_t ranks;
    uint32_t depth;
    uint32_t slot_bytes; /* capacity for an operand */
    uint16_t group;      /* ranks of a group on this machine; 0: fewer processors than ranks */
    uint16_t outer;      /* ... of a group of groups; 0: there are none */
    uint64_t first;      /* first position */
    _Atomic uint32_t has_boxes; /* some rank has one (outbox.h) */
    uint32_t grouped_bytes;     /* groups are the default form up to this operand; 0: never */
    unsigned char reserved[SG_NODE_LINE_BYTES - 56];
    /* On a separate line: read at every release, written when a rank goes to sleep. */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;           /* futex */
    _Atomic uint64_t stall_reported; /* tag of the instance that a rank has reported */
    /* pairs of choices for which a rank has printed a warning */
    _Atomic uint64_t warned[SG_NODE_WARNED];
    /* Ranks that wait for a slot sleep apart: others come and go meanwhile. */
    _Atomic uint32_t slot_sleepers;
    _Atomic uint32_t slot_wake; /* futex */
    /* The least number of instances that one of them waits for all ranks to have left; 0: none. */
    _Atomic uint64_t awaited;
    unsigned char reserved2[SG_NODE_LINE_BYTES - 16];
};

_Static_assert(sizeof(struct sg_node_line) == SG_NODE_LINE_BYTES, "line");

_Static_assert(sizeof(struct sg_call_info) == SG_NODE_LINE_BYTES, "info");

_Static_assert(sizeof(struct sg_node_control) == 2 * SG_NODE_LINE_BYTES, "control");

_Static_assert(sizeof(struct sg_node_word) == SG_NODE_LINE_BYTES, "word");

_Static_assert(sizeof(struct sg_node_told) == SG_NODE_LINE_BYTES, "told");

_Static_assert(sizeof(struct sg_node_box) == SG_NODE_LINE_BYTES, "box");

_Static_assert(sizeof(struct sg_node_header) == 3 * SG_NODE_LINE_BYTES, "header");

/* Buffers for large operands: two chunks a rank, in one segment of the node, shared by all
 * communicators. A rank takes part in one large collective at a time (never under
 * MPI_THREAD_MULTIPLE), and leaves it only when no rank uses its buffers any more. */
#ifndef SG_POOL_CHUNK_BYTES /* tests define smaller ones */
#define SG_POOL_CHUNK_BYTES (128u * 1024u)
#endif

struct sg_pool_rank {
    _Alignas(64) unsigned char chunk[2][SG_POOL_CHUNK_BYTES];
};

/* Access to other ranks' memory; both functions return false on failure. write NULL: unavailable.
 * scratch: SG_NODE_READ_BYTES for each rank. */
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
    uint64_t known_finished;          /* instances that every rank has finished, at least */
    struct sg_pool_rank *const *pool; /* by rank; NULL: no large operands */
    struct sg_node_access *access;    /* NULL: ranks cannot read each other's memory */
    struct sg_outbox *outbox;         /* NULL: no rank runs ahead by more than the ring */
    uint64_t waits_no_more;           /* no wait for a slot while known_finished + 1 equals it */
};

enum sg_node_method {
    SG_NODE_FLAT,    /* all write their operands; a rank that needs the result reads them */
    SG_NODE_HANDOFF, /* a tree: the second arriver at each meeting folds */
    SG_NODE_CHUNKS,  /* large: each rank folds its share of every chunk; needs a pool */
    SG_NODE_SINGLE,  /* large allreduce, not in place: shares are read from the ranks' own buffers,
                      * holes included; needs a pool and access */
    SG_NODE_BROADCAST, /* broadcast: the root fills slots, the others empty them */
    SG_NODE_PULL,      /* large broadcast: read from the root's buffer; needs access */
    SG_NODE_GROUPS,    /* many ranks, small: flat inside groups, and among their first ranks */
};

enum sg_node_step {
    SG_NODE_DONE,
    SG_NODE_WAIT,
    SG_NODE_MISMATCH,
    SG_NODE_AGAIN /* inside shim/intranode only: poll again, by another method */
};

/* A call. Buffers of an operation without data are NULL, its count 0. */
struct sg_node_call {
    enum sg_operation operation;
    enum sg_node_method method;
    struct sg_shape shape;
    struct sg_nest_sizes sizes; /* for SG_NODE_GROUPS */
    int root;                   /* for a reduce or broadcast; else -1 */
    const void *send; /* this rank's contribution (for MPI_IN_PLACE: the contents of receive) */
    void *receive;    /* this rank's result; NULL: it gets none */
    size_t count;     /* elements */
    size_t element_bytes;
    sg_copy copy;      /* into receive; NULL: elements have no holes */
    sg_node_fold fold; /* leaves holes of `out` unchanged */
    void *fold_context;
    bool root_writes;    /* as root of a large broadcast, this rank may write to the others */
    uint64_t arrival_ns; /* 0: not measured */
    uint32_t site;
    uint64_t site_offset;
    const char *site_module;
    uint8_t algorithm;
};

/* A call in progress. Code outside of shim/intranode uses only the results below. */
struct sg_node_op {
    struct sg_node *node;
    struct sg_node_call call;
    uint64_t position;
    uint32_t signature;
    uint32_t state;
    size_t done_count; /* elements of chunks before this one */
    size_t chunk_count;
    int seen_ranks; /* lines that have arrived, from rank 0 on, or of a group */
    struct sg_nest nest;
    struct sg_nest_group groups[SG_NEST_LEVELS]; /* the rank's, by level */
    int leads;                                   /* levels whose groups it leads */
    int level;                                   /* level that it works on */
    uint64_t stage_base;                         /* base of the stage counts of large operands */
    uint64_t stage_count[3];
    uint64_t told_stage[3]; /* the first of these counts that `told` stands for */
    bool own_in_slot;
    uint32_t told;       /* SG_TOLD_...: since the last sg_op_tells */
    bool failed;         /* this rank could not read another's memory */
    bool stalled;        /* waits for a slot: some rank is far behind */
    uint64_t stalled_at; /* known_finished when it stalled */
    /* results */
    bool skew_known;
    uint64_t skew_ns;
    uint32_t stalls;
    uint32_t late;  /* operands folded after their owners had left */
    uint32_t early; /* operands that arrived before this rank */
    uint32_t copies;
    int mismatch_rank; /* after SG_NODE_MISMATCH */
};

/* A rank's steps that others may wait for: one that lets another rank go on; its arrival, or its
 * passing of a stage (ring.h), if they wait for those of all ranks. With a box, also one that waits
 * for a slot may go on. */
enum { SG_TOLD = 1, SG_TOLD_ARRIVAL = 2, SG_TOLD_STAGE = 4, SG_TOLD_BOX = 32 };

/* States of a chunk. */
enum { SG_OP_START, SG_OP_ARRIVED, SG_OP_MOVING, SG_OP_FOLDED, SG_OP_FETCHED };

/* Run a chunk by one method: DONE when this rank has left the instance. */
enum sg_node_step sg_flat_poll(struct sg_node_op *op);
enum sg_node_step sg_broadcast_poll(struct sg_node_op *op);
enum sg_node_step sg_handoff_poll(struct sg_node_op *op);
enum sg_node_step sg_groups_poll(struct sg_node_op *op);
/* Run the whole call. */
enum sg_node_step sg_chunks_poll(struct sg_node_op *op);
enum sg_node_step sg_single_poll(struct sg_node_op *op);
enum sg_node_step sg_pull_poll(struct sg_node_op *op);

#endif
