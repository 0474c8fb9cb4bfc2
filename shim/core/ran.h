/* What executed a call, in one byte of a log: the algorithm's index (shim/rule/algorithm.h), and
 * the number of the trial's arm whose turn it was (shim/rule/trial.h; 0: no trial).
 */
#ifndef SG_CORE_RAN_H
#define SG_CORE_RAN_H

#include <stdint.h>

#define SG_RAN_BITS 4
#define SG_RAN_LIMIT (1 << SG_RAN_BITS) /* of both */

static inline uint8_t sg_ran(int algorithm, int arm)
{
    return (uint8_t)(arm << SG_RAN_BITS | algorithm);
}

static inline int sg_ran_algorithm(uint8_t ran)
{
    return ran & (SG_RAN_LIMIT - 1);
}

static inline int sg_ran_arm(uint8_t ran)
{
    return ran >> SG_RAN_BITS;
}

#endif
