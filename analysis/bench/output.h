/* What stagger-bench prints: a table whose rows come as they are measured, or at the end one JSON
 * object (docs/bench-json.md, version 1: fields are added, never changed) or its rows as CSV; and a
 * figure of them.
 *
 * On one rank. Free of MPI.
 */
#ifndef SG_BENCH_OUTPUT_H
#define SG_BENCH_OUTPUT_H

#include "bench/limits.h"
#include "bench/options.h"
#include "bench/plan.h"
#include "bench/record.h"
#include "bench/summary.h"
#include "core/status.h"

#include <stdio.h>

/* Whose processor time: of several ranks the one that spends most. */
enum sg_bench_class { SG_BENCH_ROOT, SG_BENCH_NON_ROOT, SG_BENCH_ALL_RANKS };

struct sg_bench_row {
    enum sg_operation operation;
    uint64_t bytes;
    struct sg_bench_plan plan;
    struct sg_bench_comparison comparison; /* ns a call */
    struct sg_bench_record *more;          /* fields of its own, or NULL; the output frees it */
};

struct sg_bench_late_row {
    enum sg_operation operation;
    uint64_t bytes;
    enum sg_bench_class class;
    size_t calls;                          /* on either side */
    struct sg_bench_comparison comparison; /* ns of processor time a call */
};

/* Times in ns, as the processor times of bench.h's sg_bench_cpu. */
struct sg_bench_cpu_row {
    enum sg_operation operation;
    const char *algorithm;
    double skew_ns;
    uint64_t elements;
    struct sg_bench_summary cpu, mpich;
    struct sg_bench_summary tree; /* of our own tree; NaN: cannot be had */
    double achieved_ns;           /* skew, median; NaN: not known */
    size_t calls;                 /* of each */
    struct sg_bench_record *more;
};

struct sg_bench_delay_row {
    enum sg_operation operation;
    const char *algorithm;
    double late_ns;
    uint64_t elements;
    double achieved_ns;            /* skew, median; NaN: not known */
    struct sg_bench_summary delay; /* ns; NaN: of no call */
    size_t calls;                  /* in which the late rank was late */
    size_t rounds;                 /* all calls made */
    struct sg_bench_record *more;
};

struct sg_bench_head {
    const struct sg_bench_options *options;
    int ranks;
    struct sg_bench_limits limits; /* of latency */
    const char *progress;          /* who handles what is late; NULL: not known */
    bool intercepted;              /* some MPI_X is not the MPI library's own */
    const char *ours;              /* the library MPI_X comes from */
    const char *stock;             /* and PMPI_X */
    const char *mpi_name;          /* one line on the MPI library */
};

/* Of the table of records: a field and how it is shown. */
struct sg_bench_column {
    const char *field; /* NULL: the end */
    const char *title;
    int width;     /* negative: to the left */
    bool interval; /* FIELD_low to FIELD_high: field is "NAME" or "NAME_us" */
};

struct sg_bench_output;

/* head and what it points to outlive the output. SG_ERR_MEMORY (logged, as below). */
enum sg_status sg_bench_output_open(const struct sg_bench_head *head, FILE *stream,
                                    struct sg_bench_output **out);

enum sg_status sg_bench_output_row(struct sg_bench_output *output, const struct sg_bench_row *row);

enum sg_status sg_bench_output_late_row(struct sg_bench_output *output,
                                        const struct sg_bench_late_row *row);

enum sg_status sg_bench_output_cpu_row(struct sg_bench_output *output,
                                       const struct sg_bench_cpu_row *row);

enum sg_status sg_bench_output_delay_row(struct sg_bench_output *output,
                                         const struct sg_bench_delay_row *row);

/* Takes the record. The table has these columns from the first record to the next with others. */
enum sg_status sg_bench_output_record(struct sg_bench_output *output,
                                      struct sg_bench_record *record,
                                      const struct sg_bench_column *columns);

/* A line above the table, where there is one. */
void sg_bench_output_note(struct sg_bench_output *output, const char *text);

/* Takes the record, which describes the run: a field `name` of the head of the JSON. */
void sg_bench_output_describe(struct sg_bench_output *output, const char *name,
                              struct sg_bench_record *record);

/* Ends and frees the output. complete: all rows are there, and the JSON is written; without, it is
 * not. SG_ERR_SYSTEM: the stream did not take everything. */
enum sg_status sg_bench_output_close(struct sg_bench_output *output, bool complete);

#endif
