/* Types of option values that options/options.h does not have: functions for stagger-bench's table
 * of options, which parse into a struct sg_bench_options. They return an empty text if they have
 * logged the error themselves. Lists are separated by commas; an empty word is an error.
 */
#ifndef SG_BENCH_OPTION_VALUES_H
#define SG_BENCH_OPTION_VALUES_H

#include "options/options.h"

sg_option_reader sg_bench_read_operations, sg_bench_read_algorithms;
sg_option_reader sg_bench_read_bytes, sg_bench_read_elements, sg_bench_read_tests;
sg_option_reader sg_bench_read_rank; /* int */
sg_option_reader sg_bench_read_processes;
sg_option_reader sg_bench_read_arrival, sg_bench_read_vs, sg_bench_read_plot;
sg_option_reader sg_bench_read_json, sg_bench_read_csv;

#endif
