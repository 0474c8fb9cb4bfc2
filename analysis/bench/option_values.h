/* The values of stagger-bench's options: each function reads one, or says in one line what is wrong
 * with it and gives EINVAL. Lists have commas between; an empty word is a fault.
 *
 * For bench/options.c.
 */
#ifndef SG_BENCH_OPTION_VALUES_H
#define SG_BENCH_OPTION_VALUES_H

#include "bench/options.h"
#include "core/text.h"

#include <argp.h>

/* Says what is wrong and gives EINVAL. */
error_t sg_bench_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of any length, fit to be shown. */
const char *sg_bench_shown(const char *text, char excerpt[SG_EXCERPT_BYTES]);

/* Reads one option's value, for a job of so many ranks; NULL where the option has none. */
typedef error_t (*sg_bench_set)(const char *text, int ranks, struct sg_bench_options *options);

error_t sg_bench_set_operations(const char *list, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_bytes(const char *list, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_elements(const char *list, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_algorithms(const char *list, int ranks, struct sg_bench_options *options);
/* From 0 up. */
error_t sg_bench_set_skews(const char *list, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_late_times(const char *list, int ranks, struct sg_bench_options *options);
/* In any numbers from 0 up; 0: no test. */
error_t sg_bench_set_tests(const char *list, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_iterations(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_root(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_late_rank(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_seconds(const char *text, int ranks, struct sg_bench_options *options);
/* Above 0. */
error_t sg_bench_set_quantum(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_scheme(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_reduction(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_arrival(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_vs(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_seed(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_plot(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_busy(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_each(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_samples(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_json(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_csv(const char *text, int ranks, struct sg_bench_options *options);

#endif
