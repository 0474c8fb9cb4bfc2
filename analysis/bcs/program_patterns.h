/* Programs by pattern, as paper 001 runs them, and MPICH's collectives as rounds of messages.
 *
 *   barrier   computes, then calls a barrier or another collective.
 *   exchange  computes, then sends to and receives from both neighbours in a ring (in a row, if
 *             the number of processes is odd): four calls, one after the other. Nonblocking:
 *             posts them, computes, waits for all.
 *   sweep     a wavefront over a grid of processes, as SWEEP3D: receives from two neighbours,
 *             computes, sends to the two others; every SG_SWEEP_BLOCKS steps it starts from the
 *             next corner. Nonblocking: posts receives a step ahead, waits for sends a step later.
 *   sage      nonblocking exchanges and allreduces in the proportions of the paper's table 5.3,
 *             in either mode; processes compute for different times.
 */
#ifndef SG_BCS_PROGRAM_PATTERNS_H
#define SG_BCS_PROGRAM_PATTERNS_H

#include "bcs/program_run.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_SWEEP_BLOCKS 8

enum sg_pattern_kind {
    SG_PATTERN_BARRIER,
    SG_PATTERN_EXCHANGE,
    SG_PATTERN_SWEEP,
    SG_PATTERN_SAGE,
    SG_PATTERNS
};

extern const char *const sg_pattern_names[SG_PATTERNS + 1]; /* ends with NULL */

struct sg_pattern {
    enum sg_pattern_kind kind;
    bool nonblocking;
    int32_t processes;
    uint32_t steps;
    uint64_t granularity_ns; /* mean length of a computation */
    /* Maximum difference of a computation from the mean, as a share of the mean. */
    double imbalance;
    /* Noise: `noisy` processes, spread evenly, lose noise_ns for each noise_every_ns of
     * computation, at times of the process's own. */
    int32_t noisy;
    uint64_t noise_ns, noise_every_ns;
    uint64_t bytes; /* of a message, or of the collective's operand */
    enum sg_operation
        operation; /* of pattern barrier: SG_OPERATION_BARRIER, or another collective */
    uint64_t seed;
    struct sg_program_comm world;
    struct sg_program program;
};

/* Fills in world and program from the other members. The program points to the pattern. */
void sg_pattern_make(struct sg_pattern *pattern);

/* ---- MPICH's collectives as messages, round by round
 *
 * Barriers use dissemination, reductions and broadcasts binomial trees, allreduces recursive
 * doubling (small operands). A rank's round ends before its next one begins.
 */

struct sg_round {
    int32_t to, from; /* ranks; -1: none */
    bool folds;       /* the received operand is reduced */
};

struct sg_round_call {
    enum sg_operation operation;
    int32_t rank, size, root; /* root: only of rooted operations */
};

/* Fills in round number `round`, from 0; peers may be -1. False: past the last round. */
bool sg_round_of(const struct sg_round_call *call, int round, struct sg_round *out);

#endif
