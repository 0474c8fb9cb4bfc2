/* The output of stagger-bench: a table whose rows are printed as they are measured; or at the end
 * one JSON object (docs/bench-json.md, version 1: later versions add fields but never change one)
 * or its rows as CSV; and a figure of them.
 *
 * On one rank. Free of MPI.
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

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether the processors run as fast during a row as at the start of the run. Frequency scaling,
 * thermal limits and other virtual machines change the speed of a core; a row that was measured at
 * another speed than the rows before cannot be compared with them.
 *
 * A look is the time of a fixed loop whose steps depend on each other, so that it takes a fixed
 * number of cycles: the shortest of some tries, because interruptions only make it longer. It also
 * reads the cycle counter and the clock. The counter of most processors runs at a constant rate
 * whatever the cores do; one whose rate changes against the clock shows a core that changes speed
 * even between two looks, or a machine that was suspended or moved.
 *
 * Free of MPI; thread-safe.
 */

/* A speed or rate that differs by more counts as changed. */
#define SG_BENCH_SPEED_TOLERANCE 0.05

struct sg_bench_look {
    double loop_ns;
    uint64_t clock_ns;
    uint64_t counter; /* 0: this processor has none */
};

/* Takes about a millisecond. counter: reads the cycle counter; NULL: there is none. */
struct sg_bench_look sg_bench_look_take(const struct sg_bench_machine *machine,
                                        uint64_t (*counter)(void));

/* The processor's own; NULL: none that is known here. */
extern uint64_t (*const sg_bench_counter)(void);

/* At the start of the run. */
struct sg_bench_reference {
    double loop_ns;
    double counts_per_ns; /* NaN: no counter */
};

struct sg_bench_reference sg_bench_reference_of(const struct sg_bench_look *first,
                                                const struct sg_bench_look *second);

/* In a row: 1 is as at the start. */
struct sg_bench_speed {
    double low, high;    /* speed of the loop before and after the row, on one rank or several */
    double counter_rate; /* of the counter in the row; NaN: no counter */
};

struct sg_bench_speed sg_bench_speed_between(const struct sg_bench_reference *reference,
                                             const struct sg_bench_look *before,
                                             const struct sg_bench_look *after);
/* Of several ranks: the extremes, and the counter's rate that differs most. count at least 1. */
struct sg_bench_speed sg_bench_speed_of_all(const struct sg_bench_speed *ranks, int count);
bool sg_bench_speed_changed(const struct sg_bench_speed *speed);

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

/* The rows of latency, cpu and delay, and what the rows of all commands have in common: each is a
 * record (docs/bench-json.md), with the columns in which text shows it.
 *
 * Free of MPI; on one rank.
 */

/* "NAME_us", "NAME_low_us", "NAME_high_us". */
void sg_bench_record_summary(struct sg_record *record, const char *name,
                             const struct sg_bench_summary *summary);
/* The same for a number without a unit. */
void sg_bench_record_ratio(struct sg_record *record, const char *name,
                           const struct sg_bench_summary *summary);
/* The summary, and "NAME_min_us", "mean", "p95", "p99", "max", "NAME_outliers", "NAME_count". */
void sg_bench_record_distribution(struct sg_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution);
/* For latency by the scheme loop; reduction: how ranks' times become one; comparison: ns a call. */
struct sg_record *sg_bench_latency_row(int operation, uint64_t bytes, const char *reduction,
                                       const struct sg_bench_comparison *comparison,
                                       const struct sg_bench_plan *plan);

/* Whose processor time it is: of several ranks the one with the most. */
enum sg_bench_class { SG_BENCH_ROOT, SG_BENCH_NON_ROOT, SG_BENCH_ALL_RANKS };

/* For latency with a late rank; comparison: ns of processor time a call, from so many on either
 * side. */
struct sg_record *sg_bench_late_row(int operation, uint64_t bytes,
                                    const struct sg_bench_comparison *comparison,
                                    enum sg_bench_class class, size_t calls);

/* For cpu and delay: what was called, and how. */
struct sg_bench_called {
    int operation; /* of bench/collectives.h, as everywhere here */
    const char *algorithm;
    const char *progress; /* asynchronous progress of the library; NULL: not known */
    int ranks;
    double skew_ns;
    uint64_t elements;
    size_t calls;  /* for cpu of each; for delay those in which the late rank was late */
    size_t rounds; /* for delay: all calls made */
};

/* Times in ns; for cpu the processor times of sg_bench_cpu (bench/mpi/bench.h). tree: of the
 * benchmark's own tree, NaN if it is not available. */
struct sg_record *sg_bench_cpu_row(const struct sg_bench_called *called,
                                   const struct sg_bench_summary *cpu,
                                   const struct sg_bench_summary *mpich,
                                   const struct sg_bench_summary *tree);
/* ns; NaN: of no call. */
struct sg_record *sg_bench_delay_row(const struct sg_bench_called *called,
                                     const struct sg_bench_summary *delay);
/* The columns in which text shows these rows; NULL: the options ask for other rows. */
const struct sg_line_column *sg_bench_row_columns(const struct sg_bench_options *options);

#endif
