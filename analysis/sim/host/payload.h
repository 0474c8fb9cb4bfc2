/* Payload of simulated endpoints: symbolic values instead of numbers, so that a result shows how it
 * was computed.
 *
 * A value is a 64-bit hash that stands for an expression over contributions, with the set of ranks
 * in it. How hashes are combined depends on the operation: if any order and association give the
 * same bits (SG_CALL_EXACT) by a sum, if operands may change sides (SG_CALL_COMMUTATIVE) by a
 * symmetric hash that is not associative, else by one that is neither. So equal hashes mean the
 * same expression, and the set distinguishes a missing contribution from one in the wrong place.
 *
 * Functions return NULL, or say in a few words what is wrong with what a protocol asked for. They
 * change only the values that they are given; ranks beyond the set's 64 are only counted.
 */
#ifndef SG_SIM_HOST_PAYLOAD_H
#define SG_SIM_HOST_PAYLOAD_H

#include "algos/algo.h"

#define SG_VALUE_RANKS 64

struct sg_value {
    uint64_t hash;
    uint64_t ranks;    /* the ranks below SG_VALUE_RANKS whose contributions are in it */
    uint32_t count;    /* contributions; 0: the buffer holds nothing */
    uint32_t instance; /* the caller's number for (communicator, instance) */
    uint32_t bytes;
    uint32_t flags; /* SG_CALL_* of the operation */
};

/* The buffers of one endpoint. */
struct sg_payload {
    struct sg_value *slots;
    uint32_t slots_count;
    struct sg_value *operand; /* NULL when no call is under way */
    struct sg_value *results; /* results_count of them, by instance modulo credits */
    uint32_t results_count;
    const struct sg_value *parts; /* of the message being handled */
    uint32_t parts_count;
};

/* The contribution of `rank` to an instance. */
struct sg_value sg_value_contribution(uint32_t instance, int32_t rank, uint32_t bytes,
                                      uint32_t flags);

/* left op right; *into may be either. */
const char *sg_value_combine(const struct sg_value *left, const struct sg_value *right,
                             struct sg_value *into);

/* The value in `from`, which must be `bytes` long. */
const char *sg_payload_load(const struct sg_payload *payload, struct sg_data from, uint32_t bytes,
                            struct sg_value *value);

/* Writes to a slot or result; with value NULL the buffer is empty from now on. */
const char *sg_payload_store(struct sg_payload *payload, struct sg_data into,
                             const struct sg_value *value);

/* Carries out a COPY or REDUCE. */
const char *sg_payload_carry_out(struct sg_payload *payload, const struct sg_action *action);

/* The parts of a SEND or MULTICAST, at most SG_PARTS_MAX, into values. `parts`: those of
 * sg_actions. */
const char *sg_payload_gather(const struct sg_payload *payload, const struct sg_action *action,
                              const struct sg_data *parts, struct sg_value *values);

/* The target's side of WRITE and READ: slot `remote`. A READ may be made before it is known whether
 * there is anything to read; the value it then gets is empty here and must not be used. */
const char *sg_payload_put(struct sg_payload *target, uint32_t remote,
                           const struct sg_value *value);
const char *sg_payload_get(const struct sg_payload *target, uint32_t remote, uint32_t bytes,
                           struct sg_value *value);

#endif
