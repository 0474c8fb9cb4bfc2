/* Processes in virtual time, for tests of what ranks do together and of what they measure.
 *
 *     virtual_run(&world, run, context);   calls run(context) as each of world.size processes
 *
 * Each process is a thread with a time of its own, which passes only by what the process does:
 * sending, receiving, reading the clock, waiting until a time. A receive from a given process takes
 * up its time: the messages between two processes have an order, so that all times are the same at
 * every run, however the threads are scheduled. Clocks may be off and drift; networks have a least
 * latency and a random rest.
 */
#ifndef SG_TESTS_VIRTUAL_H
#define SG_TESTS_VIRTUAL_H

#include "core/exchange.h"

#include <stdbool.h>
#include <stdint.h>

#define VIRTUAL_MAX 128

struct virtual_world {
    int size;
    double latency_ns;  /* at least, of a message */
    double jitter_ns;   /* mean of what comes on top, exponentially distributed */
    double overhead_ns; /* of sending and receiving */
    double reading_ns;  /* of a look at the clock */
    uint64_t seed;
    double offset_ns[VIRTUAL_MAX]; /* of each clock, against the time */
    double drift[VIRTUAL_MAX];
    double delay_ns; /* messages upwards (to a lower rank) are slower by this */
};

/* True when run returned 0 in every process. */
bool virtual_run(struct virtual_world *world, int (*run)(void *context), void *context);

/* ---- by a process, of itself ---- */

int virtual_rank(void);
/* Gather, broadcast, send and receive. */
const struct sg_exchange *virtual_exchange(void);
/* What its clock shows; a look takes time. */
uint64_t virtual_clock_ns(void);
/* The time, and what process `rank`'s clock shows at a time: known to the test alone. */
double virtual_time_ns(void);
double virtual_clock_at(int rank, double time_ns);
/* Until its clock shows that, at once where it does already. */
void virtual_wait_until(uint64_t local_ns);
void virtual_pass(double duration_ns);
/* From 0 to 1, the same at every run. */
double virtual_random(void);
/* Until all are there; all leave at the same time, the last one's coming. */
void virtual_meet(void);

#endif
