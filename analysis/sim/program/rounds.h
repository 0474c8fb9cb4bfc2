/* Collectives of MPICH as messages, round by round: barriers by dissemination, reductions and
 * broadcasts by binomial trees, allreduces by recursive doubling (small operands). A rank's round
 * ends before its next one begins.
 */
#ifndef SG_SIM_PROGRAM_ROUNDS_H
#define SG_SIM_PROGRAM_ROUNDS_H

#include "core/operation.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_round {
    int32_t to, from; /* ranks; -1: none */
    bool folds;       /* what comes is reduced */
};

struct sg_round_call {
    enum sg_operation operation;
    int32_t rank, size, root; /* root: of those that have one */
};

/* Round number `round`, from 0, which may have neither; false past the last one. */
bool sg_round_of(const struct sg_round_call *call, int round, struct sg_round *out);

#endif
