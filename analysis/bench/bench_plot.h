/* A figure of stagger-bench's rows (--plot), drawn with gnuplot. */
#ifndef SG_BENCH_BENCH_PLOT_H
#define SG_BENCH_BENCH_PLOT_H

#include "core/status.h"

#include <jansson.h>

/* Draws the rows of root, a complete JSON output, into the file. SG_ERR_MISSING, SG_ERR_SYSTEM
 * (logged). */
enum sg_status sg_bench_plot(const json_t *root, const char *path);

#endif
