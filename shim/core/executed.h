/* Encodes in one byte of a log how a call was executed: the algorithm's index (shim/rule/rule.h),
 * and the number of the trial's candidate that was due (shim/rule/trial.h; 0: no trial). */
#ifndef SG_CORE_EXECUTED_H
#define SG_CORE_EXECUTED_H

#include <stdint.h>

#define SG_EXECUTED_BITS 4
#define SG_EXECUTED_LIMIT (1 << SG_EXECUTED_BITS) /* exclusive limit of both numbers */

static inline uint8_t sg_executed(int algorithm, int arm)
{
    return (uint8_t)(arm << SG_EXECUTED_BITS | algorithm);
}

static inline int sg_executed_algorithm(uint8_t executed)
{
    return executed & (SG_EXECUTED_LIMIT - 1);
}

static inline int sg_executed_arm(uint8_t executed)
{
    return executed >> SG_EXECUTED_BITS;
}

#endif
