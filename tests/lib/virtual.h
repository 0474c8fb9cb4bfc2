/* Processes in virtual time, to test how ranks interact and what they measure.
 *
 *     virtual_run(&world, run, context);   calls run(context) as each of world.size processes
 *
 * Each process is a thread with its own time, which advances only through the process's actions:
 * sending, receiving, reading the clock, waiting until a time. A receive names its sender, and the
 * messages between two processes are ordered, so all times are the same in every run, however the
 * threads are scheduled. Clocks may be off and drift; a message's latency is a minimum plus a
 * random part.
 */
#ifndef SG_TESTS_VIRTUAL_H
#define SG_TESTS_VIRTUAL_H

#include "core/exchange.h"

#include <stdbool.h>
#include <stdint.h>

#define VIRTUAL_MAX 128

struct virtual_world {
    int size;
    double latency_ns;  /* minimum for a message */
    double jitter_ns;   /* mean of the additional latency, exponentially distributed */
    double overhead_ns; /* cost of sending and of receiving */
    double reading_ns;  /* cost of reading the clock */
    uint64_t seed;
    double offset_ns[VIRTUAL_MAX]; /* of each clock from the true time */
    double drift[VIRTUAL_MAX];
    double delay_ns; /* additional latency of messages to a lower rank */
};

/* Returns true if run returned 0 in every process. */
bool virtual_run(struct virtual_world *world, int (*run)(void *context), void *context);

/* ---- called by a process, about itself ---- */

int virtual_rank(void);
/* Supports gather, broadcast, send and receive. */
const struct sg_exchange *virtual_exchange(void);
/* Reads the process's clock, which takes reading_ns. */
uint64_t virtual_clock_ns(void);
/* The true time, and process `rank`'s clock at a given true time: known to the test alone. */
double virtual_time_ns(void);
double virtual_clock_at(int rank, double time_ns);
/* Waits until the process's clock shows local_ns; returns at once if it already does. */
void virtual_wait_until(uint64_t local_ns);
void virtual_pass(double duration_ns);
/* From 0 to 1; the same sequence in every run. */
double virtual_random(void);
/* Waits for all processes; all leave at the arrival time of the last. */
void virtual_meet(void);

#endif
