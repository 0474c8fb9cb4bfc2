/* Transports that misbehave as far as the contract lets them, over one that does not. By seed,
 * messages are delayed and reordered, and multicasts also lost and repeated. They do so on the
 * receiving side; a message that is delayed is held in the transport below. Accesses are refused
 * now and then, or answered later: the values they read are there when the answer is received.
 *
 * A receive is a tick of time. pending() is true while something is delayed, although receive may
 * find nothing yet.
 */
#ifndef SG_TESTS_TRANSPORT_FAULTY_H
#define SG_TESTS_TRANSPORT_FAULTY_H

#include "transport/transport.h"

struct faulty_faults {
    uint64_t seed;
    uint32_t delay_percent, delay_ticks; /* ticks: the most of one delay */
    uint32_t loss_percent, repeat_percent;
    uint32_t later_percent, full_percent; /* of accesses: of those with an answer, of all */
};

struct faulty_counts {
    uint64_t delayed, reordered, lost, repeated, later, full;
};

/* Applies to every transport that is opened from now on. */
void faulty_set(const struct faulty_faults *faults);

/* Returns the counts of all endpoints that receive through this transport. */
struct faulty_counts faulty_counts(const struct sg_transport *transport);

extern const struct sg_transport_ops faulty_loop, faulty_shm;

#endif
