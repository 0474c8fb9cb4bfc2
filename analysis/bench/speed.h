/* Whether the processors run as fast during a row as at the start of the run. Frequency scaling,
 * thermal limits and other virtual machines change the speed of a core; a row that was measured at
 * another speed than the rows before cannot be compared with them.
 *
 * A look is the time of a fixed loop whose steps depend on each other, so that it takes a fixed
 * number of cycles: the shortest of some tries, because interruptions only make it longer. It also
 * reads the cycle counter and the clock. The counter of most processors runs at a constant rate
 * whatever the cores do; one whose rate changes against the clock shows a core that changes speed
 * even between two looks, or a machine that was suspended or moved.
 *
 * Free of MPI; thread-safe.
 */
#ifndef SG_BENCH_SPEED_H
#define SG_BENCH_SPEED_H

#include "bench/host.h"

#include <stdbool.h>
#include <stdint.h>

/* A speed or rate that differs by more counts as changed. */
#define SG_BENCH_SPEED_TOLERANCE 0.05

struct sg_bench_look {
    double loop_ns;
    uint64_t clock_ns;
    uint64_t counter; /* 0: this processor has none */
};

/* Takes about a millisecond. counter: reads the cycle counter; NULL: there is none. */
struct sg_bench_look sg_bench_look_take(const struct sg_bench_machine *machine,
                                        uint64_t (*counter)(void));

/* The processor's own; NULL: none that is known here. */
extern uint64_t (*const sg_bench_counter)(void);

/* At the start of the run. */
struct sg_bench_reference {
    double loop_ns;
    double counts_per_ns; /* NaN: no counter */
};
struct sg_bench_reference sg_bench_reference_of(const struct sg_bench_look *first,
                                                const struct sg_bench_look *second);

/* In a row: 1 is as at the start. */
struct sg_bench_speed {
    double low, high;    /* speed of the loop before and after the row, on one rank or several */
    double counter_rate; /* of the counter in the row; NaN: no counter */
};

struct sg_bench_speed sg_bench_speed_between(const struct sg_bench_reference *reference,
                                             const struct sg_bench_look *before,
                                             const struct sg_bench_look *after);

/* Of several ranks: the extremes, and the counter's rate that differs most. count at least 1. */
struct sg_bench_speed sg_bench_speed_of_all(const struct sg_bench_speed *ranks, int count);

bool sg_bench_speed_changed(const struct sg_bench_speed *speed);

#endif
