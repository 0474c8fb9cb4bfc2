/* The output of stagger-bench: a table whose rows are printed as they are measured; or at the end
 * one JSON object (docs/bench-json.md, version 1: later versions add fields but never change one)
 * or its rows as CSV; and a figure of them. Rows measured while the processors ran at another speed
 * are marked.
 *
 * On rank 0 only, except the speed functions, which all ranks use. Free of MPI.
 */
#ifndef SG_BENCH_BENCH_OUTPUT_H
#define SG_BENCH_BENCH_OUTPUT_H

#include "bench/bench_options.h"
#include "bench/distribution.h"
#include "bench/limits.h"
#include "bench/pattern.h"
#include "bench/sampling.h"
#include "core/status.h"
#include "output/column.h"
#include "output/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the speed of the processors
 *
 * A row that was measured at another speed than the rows before cannot be compared with them:
 * frequency scaling, thermal limits and other virtual machines change the speed of a core.
 *
 * A look is the time of a fixed loop whose steps depend on each other, so that it takes a fixed
 * number of cycles: the shortest of some tries, because interruptions only make it longer. It also
 * reads the cycle counter and the clock. The counter of most processors runs at a constant rate
 * whatever the cores do; a rate that changes against the clock shows a core that changes its speed
 * even between two looks, or a machine that was suspended or moved. Thread-safe.
 */

/* A speed or rate that differs by more than this share counts as changed. */
#define SG_BENCH_SPEED_TOLERANCE 0.05

struct sg_bench_look {
    double loop_ns;
    uint64_t clock_ns;
    uint64_t counter; /* 0: the processor has none */
};

/* Takes a look, in about a millisecond. counter: reads the cycle counter; NULL: there is none. */
struct sg_bench_look sg_bench_look_take(const struct sg_bench_machine *machine,
                                        uint64_t (*counter)(void));

/* Reads this processor's counter; NULL: no counter is known. */
extern uint64_t (*const sg_bench_counter)(void);

/* The speed at the start of the run. */
struct sg_bench_reference {
    double loop_ns;
    double counts_per_ns; /* NaN: no counter */
};

struct sg_bench_reference sg_bench_reference_of(const struct sg_bench_look *first,
                                                const struct sg_bench_look *second);

/* The speed during a row, relative to the start of the run. */
struct sg_bench_speed {
    double low, high;    /* of the loop, before and after the row, on one or several ranks */
    double counter_rate; /* the counter's rate during the row; NaN: no counter */
};

struct sg_bench_speed sg_bench_speed_between(const struct sg_bench_reference *reference,
                                             const struct sg_bench_look *before,
                                             const struct sg_bench_look *after);
/* Combines ranks' speeds: the extremes, and the counter rate furthest from 1. count at least 1. */
struct sg_bench_speed sg_bench_speed_of_all(const struct sg_bench_speed *ranks, int count);
bool sg_bench_speed_changed(const struct sg_bench_speed *speed);

struct sg_bench_head {
    const struct sg_bench_options *options;
    int ranks;
    struct sg_bench_limits limits; /* for latency */
    const char *progress;          /* asynchronous progress of the library; NULL: unknown */
    bool intercepted;              /* some MPI_X is not the MPI library's own */
    const char *ours;              /* the library that defines MPI_X */
    const char *stock;             /* the library that defines PMPI_X */
    const char *mpi_name;          /* one line about the MPI library */
};

struct sg_bench_output;

/* Opens the output; head and its pointers must outlive it. SG_ERR_MEMORY (logged, also below). */
enum sg_status sg_bench_output_open(const struct sg_bench_head *head, FILE *stream,
                                    struct sg_bench_output **out);
const struct sg_bench_head *sg_bench_output_head(const struct sg_bench_output *output);
/* Adds a row; takes ownership of the record. A change of columns begins a new table. */
enum sg_status sg_bench_output_record(struct sg_bench_output *output, struct sg_record *record,
                                      const struct sg_line_column *columns);
/* Holds back the following rows, which have the same columns, until their speed is known. */
void sg_bench_output_hold(struct sg_bench_output *output);
/* Outputs the rows held back, which `processes` ranks measured at this speed; marks them if it
 * changed since the start of the run. */
enum sg_status sg_bench_output_release(struct sg_bench_output *output, int processes,
                                       const struct sg_bench_speed *speed);
/* Prints a line above the table; only with text output. */
void sg_bench_output_note(struct sg_bench_output *output, const char *text);
/* Adds a record that describes the run as the field `name` of the JSON object; takes ownership. */
void sg_bench_output_describe(struct sg_bench_output *output, const char *name,
                              struct sg_record *record);
/* Ends and frees the output. complete: all rows are there; false: JSON, CSV and the figure are left
 * out. SG_ERR_SYSTEM: the stream did not take everything. */
enum sg_status sg_bench_output_close(struct sg_bench_output *output, bool complete);

/* ---- rows of latency, cpu and delay, and fields common to all rows
 *
 * Each row is a record (docs/bench-json.md), with columns for text.
 */

/* Adds "NAME_us", "NAME_low_us", "NAME_high_us". */
void sg_bench_record_summary(struct sg_record *record, const char *name,
                             const struct sg_bench_summary *summary);
/* Adds the same fields of a number without a unit. */
void sg_bench_record_ratio(struct sg_record *record, const char *name,
                           const struct sg_bench_summary *summary);
/* Adds the summary, "NAME_min_us", "mean", "p95", "p99", "max", and the counts "NAME_outliers" and
 * "NAME_count". */
void sg_bench_record_distribution(struct sg_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution);
/* A row of latency by scheme loop. reduction: how ranks' times become one. comparison: ns a
 * call. */
struct sg_record *sg_bench_latency_row(int operation, uint64_t bytes, const char *reduction,
                                       const struct sg_bench_comparison *comparison,
                                       const struct sg_bench_plan *plan);

/* The class of ranks whose processor time a row shows: the largest among them. */
enum sg_bench_class { SG_BENCH_ROOT, SG_BENCH_NON_ROOT, SG_BENCH_ALL_RANKS };

/* A row of latency with a late rank. comparison: ns of processor time per call, from `calls` calls
 * on either side. */
struct sg_record *sg_bench_late_row(int operation, uint64_t bytes,
                                    const struct sg_bench_comparison *comparison,
                                    enum sg_bench_class class, size_t calls);

/* The call and its parameters, for rows of cpu and delay. */
struct sg_bench_called {
    int operation; /* index in sg_bench_collectives (bench/limits.h), as everywhere here */
    const char *algorithm;
    const char *progress; /* asynchronous progress of the library; NULL: unknown */
    int ranks;
    double skew_ns;
    uint64_t elements;
    size_t calls;  /* cpu: calls of each variant; delay: calls in which the late rank was late */
    size_t rounds; /* delay: all calls made */
};

/* Times in ns; cpu has the processor times of sg_bench_cpu (bench/mpi/bench_machine.h). tree: those
 * of the benchmark's own tree, NaN if it is not available. */
struct sg_record *sg_bench_cpu_row(const struct sg_bench_called *called,
                                   const struct sg_bench_summary *cpu,
                                   const struct sg_bench_summary *mpich,
                                   const struct sg_bench_summary *tree);
/* delay in ns; NaN: no call counts. */
struct sg_record *sg_bench_delay_row(const struct sg_bench_called *called,
                                     const struct sg_bench_summary *delay);
/* Returns the columns of these rows; NULL: the options ask for other rows. */
const struct sg_line_column *sg_bench_row_columns(const struct sg_bench_options *options);

/* A figure of stagger-bench's rows (--plot), drawn with gnuplot. */

/* Draws the rows of root, a complete JSON output, into the file. SG_ERR_MISSING, SG_ERR_SYSTEM
 * (logged). */
enum sg_status sg_bench_plot(const json_t *root, const char *path);

#endif
