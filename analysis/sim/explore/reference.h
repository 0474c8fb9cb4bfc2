/* The result each protocol documents, computed in sequence: the tests' reference.
 *
 * Written apart from the protocols and from the tree arithmetic they share, as plain recursion over
 * ranks. Pure; the calls go as deep as the tree does.
 */
#ifndef SG_SIM_EXPLORE_REFERENCE_H
#define SG_SIM_EXPLORE_REFERENCE_H

#include "sim/host/payload.h"

/* What an instance is, as far as its result goes. */
struct sg_reference {
    const struct sg_algo *algo;
    int32_t size;
    int32_t root;   /* of a reduce; else -1 */
    uint8_t degree; /* sg_algo_parameters.degree */
    uint32_t instance, bytes, flags;
};

/* The result, contributions being those of sg_value_contribution. False where the protocol has no
 * documented association. */
bool sg_reference_result(const struct sg_reference *reference, struct sg_value *value);

#endif
