/* What a look at the time costs: at the clock that is used, and at the processor's counter where it
 * counts at one rate whatever the processor does, so that it could be used instead.
 */
#ifndef SG_BENCH_READING_H
#define SG_BENCH_READING_H

#include <stdint.h>

/* ns a look, the least of some tries. */
double sg_bench_reading_clock_ns(uint64_t (*now_ns)(void));

/* NaN where there is no such counter. */
double sg_bench_reading_counter_ns(uint64_t (*now_ns)(void));

#endif
