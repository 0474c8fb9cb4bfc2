/* The shared segment of one communicator on one node: what lies where.
 *
 * It is a ring of `depth` instances. An instance is a position in the sequence of collectives (and
 * chunks of them) that run here; every rank counts positions in the same way. Each rank owns, per
 * ring index, a slot: a line that others poll, a line about the call for reports, and room for an
 * operand.
 *
 * Who may write what, and when it may be reused:
 *   line, info, operand    their rank alone, at the start of its instance
 *   meeting, release, choice  any rank that arrives there; they contain the position, so that the
 *                          values of an earlier instance are recognised
 *   control.finished       its rank alone: the instances it has left for good; of reduces it is
 *                          told twice a round of the ring
 *   control.left           likewise, of reduces in between
 *   told                   its rank alone, two in turn (tell.h)
 * A rank starts the instance at position p only when every rank has finished p - depth: nobody then
 * reads what p overwrites. Offsets and indices only, no pointers: the segment is mapped at any
 * address.
 */
#ifndef SG_INTRANODE_LAYOUT_H
#define SG_INTRANODE_LAYOUT_H

#include "intranode/segment.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_NODE_LINE_BYTES 64
#define SG_NODE_INLINE_BYTES 48
#define SG_NODE_MAGIC UINT64_C(0x7265676761747367)

/* Polled by the other ranks; small operands travel in it. */
struct sg_node_line {
    _Atomic uint32_t sequence; /* low bits of position + 1; written last */
    uint32_t signature;        /* of the call: see node.c */
    uint64_t arrival_ns;       /* 0: not measured */
    unsigned char payload[SG_NODE_INLINE_BYTES];
};

/* For messages to the user: which call it is. */
struct sg_call_info {
    uint64_t bytes;
    uint64_t offset; /* of the call site in its module */
    uint32_t site;   /* id */
    int32_t root;
    uint8_t operation; /* enum sg_operation */
    uint8_t algorithm;
    bool nonblocking; /* its nonblocking form */
    bool in_place;    /* an allreduce with MPI_IN_PLACE */
    uint8_t method;   /* enum sg_node_method, inside a node */
    char module[35];  /* base name of the call site's module, cut from the left */
};

struct sg_node_control {
    _Atomic uint64_t finished; /* instances this rank has left, at least */
    unsigned char reserved[SG_NODE_LINE_BYTES - 8];
    /* Chunks of large operands that have passed each stage on this rank: chunks.c. */
    _Atomic uint64_t stage[3];
    _Atomic uint64_t failed; /* position + 1 of the last instance in which a read failed */
    _Atomic uint64_t left;   /* where that is more: instances this rank has left */
    _Atomic uint64_t unmet;  /* position + 1 where the others are awaited after a failed call */
    unsigned char reserved2[SG_NODE_LINE_BYTES - 48];
};

/* A word that several ranks write, tagged with the position it belongs to: position + 1 in the
 * upper bits, a value (a rank, a choice) in the lower SG_NODE_VALUE_BITS. */
struct sg_node_word {
    _Atomic uint64_t word;
    unsigned char reserved[SG_NODE_LINE_BYTES - 8];
};
#define SG_NODE_VALUE_BITS 28

/* What a rank tells of its costs at one place, behind the ring (tell.h). */
struct sg_node_told {
    _Atomic uint64_t ns[SG_NODE_LINE_BYTES / 8];
};

/* A rank's box, behind that (outbox.h). */
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
    uint32_t slot_bytes; /* room for an operand */
    uint32_t group;      /* ranks of a group, as the machine has it; 0: processors are short */
    uint64_t first;      /* positions begin with it */
    _Atomic uint32_t has_boxes; /* some rank has one (outbox.h) */
    unsigned char reserved[SG_NODE_LINE_BYTES - 52];
    /* On a line of their own: read at every release, written when a rank goes to sleep. */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;           /* futex */
    _Atomic uint64_t stall_reported; /* tagged with the instance that a rank has reported */
    /* pairs of choices for which a rank has printed a warning */
    _Atomic uint64_t warned[SG_NODE_WARNED];
};

_Static_assert(sizeof(struct sg_node_line) == SG_NODE_LINE_BYTES, "line");
_Static_assert(sizeof(struct sg_call_info) == SG_NODE_LINE_BYTES, "info");
_Static_assert(sizeof(struct sg_node_control) == 2 * SG_NODE_LINE_BYTES, "control");
_Static_assert(sizeof(struct sg_node_word) == SG_NODE_LINE_BYTES, "word");
_Static_assert(sizeof(struct sg_node_told) == SG_NODE_LINE_BYTES, "told");
_Static_assert(sizeof(struct sg_node_box) == SG_NODE_LINE_BYTES, "box");
_Static_assert(sizeof(struct sg_node_header) == 2 * SG_NODE_LINE_BYTES, "header");

#endif
