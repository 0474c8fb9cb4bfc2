/* The result that each protocol documents, computed sequentially: the reference of the tests.
 *
 * Written independently of the protocols and of the tree arithmetic they share, as plain recursion
 * over ranks. Pure; the depth of recursion is that of the tree.
 */
#ifndef SG_SIM_EXPLORE_REFERENCE_H
#define SG_SIM_EXPLORE_REFERENCE_H

#include "sim/host/payload.h"

/* An instance, as far as its result depends on it. */
struct sg_reference {
    const struct sg_algo *algo;
    enum sg_operation operation;
    int32_t size;
    int32_t root;   /* of a reduce or broadcast; else -1 */
    uint8_t degree; /* sg_algo_parameters.degree */
    uint32_t instance, bytes, flags;
};

/* The result, from contributions made by sg_value_contribution. False if the protocol documents no
 * association. */
bool sg_reference_result(const struct sg_reference *reference, struct sg_value *value);

#endif
