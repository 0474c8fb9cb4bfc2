/* The output of stagger-bench: a table whose rows are printed as they are measured; or at the end
 * one JSON object (docs/bench-json.md, version 1: later versions add fields but never change one)
 * or its rows as CSV; and a figure of them.
 *
 * On one rank. Free of MPI.
 */
#ifndef SG_BENCH_OUTPUT_H
#define SG_BENCH_OUTPUT_H

#include "bench/limits.h"
#include "bench/options.h"
#include "bench/speed.h"
#include "core/status.h"
#include "output/line.h"
#include "output/record.h"

#include <stdio.h>

struct sg_bench_head {
    const struct sg_bench_options *options;
    int ranks;
    struct sg_bench_limits limits; /* of latency */
    const char *progress;          /* asynchronous progress of the library; NULL: not known */
    bool intercepted;              /* some MPI_X is not the MPI library's own */
    const char *ours;              /* the library that defines MPI_X */
    const char *stock;             /* and PMPI_X */
    const char *mpi_name;          /* one line on the MPI library */
};

struct sg_bench_output;

/* head, and what it points to, must outlive the output. SG_ERR_MEMORY (logged, as below). */
enum sg_status sg_bench_output_open(const struct sg_bench_head *head, FILE *stream,
                                    struct sg_bench_output **out);

const struct sg_bench_head *sg_bench_output_head(const struct sg_bench_output *output);

/* Takes over the record. A table with these columns goes on until a record has others. */
enum sg_status sg_bench_output_record(struct sg_bench_output *output, struct sg_record *record,
                                      const struct sg_line_column *columns);

/* From here on rows, all of the same columns, are kept back until what was measured around them is
 * known. */
void sg_bench_output_hold(struct sg_bench_output *output);

/* Puts out the rows that were kept back, of so many ranks, at this speed of their processors; rows
 * at another speed than at the start are marked. */
enum sg_status sg_bench_output_release(struct sg_bench_output *output, int processes,
                                       const struct sg_bench_speed *speed);

/* A line above the table, if there is a table. */
void sg_bench_output_note(struct sg_bench_output *output, const char *text);

/* Takes over the record, which describes the run: a field `name` of the head of the JSON. */
void sg_bench_output_describe(struct sg_bench_output *output, const char *name,
                              struct sg_record *record);

/* Ends and frees the output. complete: all rows are there, so the JSON is written; otherwise it is
 * not. SG_ERR_SYSTEM: the stream did not take everything. */
enum sg_status sg_bench_output_close(struct sg_bench_output *output, bool complete);

#endif
