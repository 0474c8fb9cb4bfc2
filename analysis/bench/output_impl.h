/* What the files of the output share: bench/output.c, and bench/output_rows.c for the rows of cpu
 * and delay. */
#ifndef SG_BENCH_OUTPUT_IMPL_H
#define SG_BENCH_OUTPUT_IMPL_H

#include "bench/output.h"

#include <jansson.h>

#define SG_BENCH_NS_PER_US 1000

struct sg_bench_output {
    const struct sg_bench_head *head;
    FILE *stream;
    json_t *root; /* NULL: text */
};

/* In a column of its own. */
void sg_bench_print_us(FILE *stream, double ns);

/* null where the value is not finite. */
json_t *sg_bench_json_number(double value);
json_t *sg_bench_json_us(double ns);

/* Takes row, which may be NULL, with what more belongs into it. */
enum sg_status sg_bench_append(json_t *rows, json_t *row, json_t *more);

void sg_bench_print_cpu_head(const struct sg_bench_output *output);
void sg_bench_print_delay_head(const struct sg_bench_output *output);

#endif
