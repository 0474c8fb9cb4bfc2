/* The algorithms, a row each, and their parameters, each defined once: name, range, unit, default,
 * and the field that stores it.
 *
 * Each algorithm has one table. The grammar of rules, the engine, the simulator, `stagger advise`
 * and `stagger info` read it, and a test compares it with the manual pages. A table has two parts,
 * each ended by an entry without a name: parameters that rules may set; and those that only
 * `stagger sim` may set, because the engine decides them. */
#ifndef SG_ALGOS_PARAMETERS_H
#define SG_ALGOS_PARAMETERS_H

#include "core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The algorithms that a rule may name: ROW(NUMBER, name, protocol, operations, reach, parameters,
 * documentation). Logs store a row's position: append only. A PROTOCOL is an object sg_algo_NAME of
 * shim/algos (algo.h); NO_PROTOCOL: the call's engine runs the algorithm. reach: where it runs, on
 * the ranks of one node (NODE), between nodes (BETWEEN), or everywhere (EVERYWHERE). */
#define SG_ALGORITHMS(ROW)                                                                         \
    ROW(MPICH, mpich, NO_PROTOCOL, EVERY_OPERATION, EVERYWHERE, none, "MPICH's own algorithm")     \
    ROW(HANDOFF, handoff, PROTOCOL, ALL_BUT_BCAST, NODE | BETWEEN, handoff,                        \
        "a tree climbed by late ranks; inside a node and between nodes")                           \
    ROW(SRM, srm, PROTOCOL, EVERY_OPERATION, NODE | BETWEEN, srm,                                  \
        "exchange of cache lines, or pipelined chunks; inside a node and between nodes")           \
    ROW(BYPASS, bypass, PROTOCOL, REDUCE | BCAST, BETWEEN, bypass,                                 \
        "returns before late children arrive; between nodes")                                      \
    ROW(ADAPTIVE, adaptive, PROTOCOL, BARRIER | ALLREDUCE, BETWEEN, adaptive,                      \
        "a tree whose root moves to the last rank; between nodes")                                 \
    ROW(TREE, tree, PROTOCOL, EVERY_OPERATION, BETWEEN, tree,                                      \
        "gather and broadcast in a fixed tree; between nodes")                                     \
    ROW(DISSEMINATION, dissemination, PROTOCOL, BARRIER, BETWEEN, dissemination,                   \
        "rounds of notifications; between nodes")                                                  \
    ROW(PAIRWISE, pairwise, PROTOCOL, ALLREDUCE, BETWEEN, pairwise,                                \
        "recursive doubling; between nodes")                                                       \
    ROW(BCS, bcs, PROTOCOL, EVERY_OPERATION, BETWEEN, bcs,                                         \
        "buffered coscheduling in slices of time; between nodes")                                  \
    ROW(AUTO, auto, NO_PROTOCOL, EVERY_OPERATION, NODE | BETWEEN, auto, /* no log names it */      \
        "learns which algorithm costs least; inside a node and between nodes")

#define SG_PARAMETERS_MAX 8 /* most parameters of one algorithm that rules may set */

#define SG_DEGREE_MAX 32
#define SG_GROUP_MAX 64
#define SG_OUTER_MAX 512
#define SG_DEGREE_BARRIER 8 /* value of degree=auto */
#define SG_DEGREE_DATA 4
#define SG_TOKENS_MAX 4
#define SG_CREDITS_MAX 64
#define SG_CREDITS_DEFAULT 8
#define SG_PART_DEFAULT 1024 /* bytes of messages, and of slots unless stated otherwise */
#define SG_EAGER_DEFAULT 1024
#define SG_EAGER_MIN 64
#define SG_EAGER_MAX 32768
#define SG_READ_DEFAULT 4096
#define SG_POOL_DEFAULT 8 /* equal to SG_CREDITS_DEFAULT */
#define SG_TIMEOUT_DEFAULT_US 1000
#define SG_CHUNK_DEFAULT_KIB 16
#define SG_SLICE_DEFAULT_US 500
#define SG_BUDGET_DEFAULT_KIB 64
#define SG_POSTS_MIN 4
#define SG_POSTS_MAX 4096
#define SG_LINGER_AUTO_US 100 /* upper bound of linger=auto: the cost of a wake-up */

/* Parameters of srm, by index. */
enum { SG_SRM_FORM, SG_SRM_WHERE, SG_SRM_CHUNK, SG_SRM_PROGRESS, SG_SRM_GROUP, SG_SRM_OUTER };

/* Forms of srm inside a node. A form that cannot take a call leaves it to the next smaller form, at
 * last to climb; groups leaves it to the form that auto would take. */
enum sg_srm_form {
    SG_SRM_AUTO,
    SG_SRM_FLAT,
    SG_SRM_CLIMB,
    SG_SRM_CHUNKS,
    SG_SRM_SINGLE,
    SG_SRM_GROUPS
};

enum sg_tree_shape {
    SG_TREE_SHAPE_DEGREE, /* by degree */
    SG_TREE_SHAPE_BINOMIAL,
    SG_TREE_SHAPE_BINARY,
    SG_TREE_SHAPE_FIBONACCI,
    SG_TREE_SHAPES
};

/* Parameters that protocols run with; each reads those it uses. 0 selects the protocol's default
 * unless 0 is a valid value. */
struct sg_algo_parameters {
    uint8_t degree;        /* children of a tree node; tree: 1 is the binomial tree */
    uint8_t tokens;        /* adaptive: number of tokens */
    uint8_t predict;       /* adaptive: 1 starts the token at the usual last arriver */
    uint8_t arrival_order; /* 1: combine in order of arrival (deterministic=0) */
    uint8_t credits;       /* instances that may be outstanding, at least 2 */
    uint8_t linger_auto;   /* bypass: 1: linger_ns is the upper bound of an estimate */
    uint8_t shape;         /* shape of tree's broadcasts: enum sg_tree_shape */
    uint8_t split;         /* 1: for event loops that generate their CALLs: these are
                            * SG_CALL_SPLIT */
    uint32_t linger_ns;    /* bypass: a call waits this long for its children before it leaves */
    uint32_t eager_bytes;  /* larger contributions are pulled (bypass), or read only if needed
                            * (handoff) */
    uint32_t pool;         /* buffers for contributions that wait to be pulled */
    uint32_t timeout_ns;   /* delay before a missing release is asked for */
    uint32_t chunk_bytes;  /* srm: size of a call's chunks, and limit of one exchange */
    /* bcs. */
    uint8_t restart_slice;        /* 1: calls return at the boundary after their slice */
    uint8_t strobe_always;        /* 1: a strobe at every boundary */
    uint8_t microphases_separate; /* 1: a strobe for each microphase */
    uint32_t slice_ns;
    uint32_t budget_bytes; /* operand bytes that one slice takes */
    uint64_t epoch_ns;     /* on endpoint 0's clock; slices are counted from it */
    uint32_t posts; /* limit of an endpoint's messages, separately for sent, received and kept
                     * unmatched; 0: no messages */
    uint64_t first; /* numbers begin after it; tests set it to reach wrap-around */
};

static inline int sg_data_degree(const struct sg_algo_parameters *parameters)
{
    return parameters->degree > 0 ? parameters->degree : SG_DEGREE_DATA;
}

static inline uint32_t sg_credits(const struct sg_algo_parameters *parameters)
{
    return parameters->credits > 0 ? parameters->credits : SG_CREDITS_DEFAULT;
}

static inline uint32_t sg_tokens(const struct sg_algo_parameters *parameters)
{
    return parameters->tokens > 0 ? parameters->tokens : 1;
}

static inline uint32_t sg_eager_bytes(const struct sg_algo_parameters *parameters)
{
    return parameters->eager_bytes > 0 ? parameters->eager_bytes : SG_EAGER_DEFAULT;
}

/* Size of the parts of a call whose operands are read because they exceed eager_bytes: large
 * enough that few announcements are sent, and small enough that one part is folded while the
 * next arrives. */
static inline uint32_t sg_read_bytes(const struct sg_algo_parameters *parameters)
{
    uint32_t twice = 2 * sg_eager_bytes(parameters);

    return twice > SG_READ_DEFAULT ? twice : SG_READ_DEFAULT;
}

/* Returns the second part of a table. */
const struct sg_parameter *sg_parameters_simulated(const struct sg_parameter *parameters);

/* Stores the values of a table's first part in their fields. */
void sg_parameters_put(const struct sg_parameter *parameters, const int64_t *values,
                       struct sg_algo_parameters *into);

/* For table entries: stores a value in its field. */
void sg_parameter_put_number(const struct sg_parameter *parameter, int64_t value,
                             struct sg_algo_parameters *into);
#define SG_PARAMETER_FIELD(field, scale)                                                           \
    offsetof(struct sg_algo_parameters, field), sizeof((struct sg_algo_parameters *)0)->field, scale

extern const struct sg_parameter sg_parameters_none[], sg_parameters_bypass[],
    sg_parameters_adaptive[], sg_parameters_tree[], sg_parameters_dissemination[],
    sg_parameters_pairwise[], sg_parameters_handoff[], sg_parameters_srm[], sg_parameters_bcs[],
    sg_parameters_auto[];

#endif
