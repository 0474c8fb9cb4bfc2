/* What the files of the output share: bench/output.c, and bench/output_rows.c for the rows of cpu
 * and delay. */
#ifndef SG_BENCH_OUTPUT_IMPL_H
#define SG_BENCH_OUTPUT_IMPL_H

#include "bench/output.h"

#include <jansson.h>
#include <stdbool.h>

#define SG_BENCH_NS_PER_US 1000

struct sg_bench_output {
    const struct sg_bench_head *head;
    FILE *stream;
    json_t *root;
    bool text;                             /* rows are printed as they come */
    const struct sg_bench_column *columns; /* of the table that was begun */
};

struct sg_bench_record {
    json_t *object;
    bool failed; /* out of memory */
};

/* In a column of its own. */
void sg_bench_print_us(FILE *stream, double ns);

/* null where the value is not finite. */
json_t *sg_bench_json_number(double value);
json_t *sg_bench_json_us(double ns);

/* Takes row, which may be NULL, with what more belongs into it. */
enum sg_status sg_bench_append(json_t *rows, json_t *row, json_t *more);

/* The same with a record more, or NULL. */
enum sg_status sg_bench_append_record(json_t *rows, json_t *row, json_t *more,
                                      struct sg_bench_record *record);

/* The rows of root as CSV: "# NAME: VALUE" for what is in the head, a line of names, the rows. */
void sg_bench_print_csv(const json_t *root, FILE *stream);

/* Draws root's rows into the file. SG_ERR_MISSING, SG_ERR_SYSTEM (logged). */
enum sg_status sg_bench_plot(const json_t *root, const char *path);

void sg_bench_print_cpu_head(const struct sg_bench_output *output);
void sg_bench_print_delay_head(const struct sg_bench_output *output);

#endif
