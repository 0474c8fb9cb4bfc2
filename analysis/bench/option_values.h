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

error_t sg_bench_set_operations(const char *list, struct sg_bench_options *options);
error_t sg_bench_set_bytes(const char *list, struct sg_bench_options *options);
error_t sg_bench_set_elements(const char *list, struct sg_bench_options *options);
error_t sg_bench_set_algorithms(const char *list, struct sg_bench_options *options);
/* From 0 up. */
error_t sg_bench_set_skews(const char *option, const char *list, struct sg_bench_options *options);
error_t sg_bench_set_count(const char *text, uint64_t *out);
error_t sg_bench_set_rank(const char *option, const char *text, int ranks, int *out);
error_t sg_bench_set_seconds(const char *text, double *out);
/* Above 0. */
error_t sg_bench_set_quantum(const char *text, double *out);
/* In any numbers from 0 up; 0: no test. */
error_t sg_bench_set_tests(const char *list, struct sg_bench_options *options);
error_t sg_bench_set_scheme(const char *text, int *out);
error_t sg_bench_set_reduction(const char *text, enum sg_bench_reduction *out);
error_t sg_bench_set_arrival(const char *text, int ranks, struct sg_bench_options *options);
error_t sg_bench_set_vs(const char *text, int *out);
error_t sg_bench_set_seed(const char *text, uint64_t *out);
error_t sg_bench_set_plot(const char *text, char out[SG_BENCH_PATH_BYTES]);

#endif
