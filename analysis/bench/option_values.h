/* The values of stagger-bench's options that take more than options/options.h has: functions for
 * its table of options, which read into a struct sg_bench_options. They give an empty text where
 * they have logged what is wrong themselves. Lists have commas between; an empty word is a fault.
 */
#ifndef SG_BENCH_OPTION_VALUES_H
#define SG_BENCH_OPTION_VALUES_H

#include "options/options.h"

sg_option_reader sg_bench_read_operations, sg_bench_read_algorithms;
sg_option_reader sg_bench_read_bytes, sg_bench_read_elements, sg_bench_read_tests;
sg_option_reader sg_bench_read_rank; /* int */
sg_option_reader sg_bench_read_arrival, sg_bench_read_vs, sg_bench_read_plot;
sg_option_reader sg_bench_read_json, sg_bench_read_csv;

#endif
