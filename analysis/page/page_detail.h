/* The detail that a page draws and the report's sums lack: the distribution of a call site's skews
 * and calls, their course over time, each rank's lateness and waiting, and the worst instances. It
 * is gathered while the archive is read, in memory that grows with call sites and ranks, not with
 * calls or communicators.
 *
 * Rows are the aggregate's sums, with the same numbers. Rows from SG_DETAIL_ROWS up have no detail.
 */
#ifndef SG_PAGE_PAGE_DETAIL_H
#define SG_PAGE_PAGE_DETAIL_H

#include "core/status.h"
#include "report/watched.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_DETAIL_ROWS 20000u
/* Bins of time, of equal width; the width doubles when the run no longer fits. */
#define SG_DETAIL_TIMES 64u
#define SG_DETAIL_TIME_FIRST_NS UINT64_C(1024)
/* Bins of skew: bin 0 is 0 ns, bin 1 + k from 2^(k/4) ns up. */
#define SG_DETAIL_SKEWS 162u
#define SG_DETAIL_SKEWS_OCTAVE 4
/* Bins of time in one call: bin 0 is below 64 ns, bin 1 + k from 2^(k+6) ns up. */
#define SG_DETAIL_COSTS 32u
#define SG_DETAIL_COST_FIRST_LOG2 6
/* Bins of bytes: bin 0 is 0, bin 1 + k from 2^k up. */
#define SG_DETAIL_SIZES 65u
/* Instances kept in full, one for each call site, and the late contributions of each. */
#define SG_DETAIL_WORST 12u
#define SG_DETAIL_LATE 256u

struct sg_detail_time {
    uint64_t instances; /* of the row; skews are theirs */
    uint64_t skew_sum_ns, skew_max_ns;
    uint64_t wait_ns, blocked_ns; /* of the row's calls, like the counts */
    uint64_t early, late, signals;
};

/* A rank's part in a row's instances of several members. */
struct sg_detail_rank {
    uint64_t instances; /* attributed to the row */
    uint64_t late_ns;   /* sum of its delays after the first arrival */
    uint64_t calls;
    uint64_t wait_ns;
};

struct sg_detail_row {
    uint64_t time_width_ns;
    struct sg_detail_time times[SG_DETAIL_TIMES];
    uint32_t skews[SG_DETAIL_SKEWS];                  /* instances */
    uint32_t costs[SG_DETAIL_COSTS][SG_DETAIL_COSTS]; /* calls, by wait, then by time blocked */
    uint64_t sizes[SG_DETAIL_SIZES];                  /* calls */
    struct sg_detail_rank
        *ranks; /* by rank in MPI_COMM_WORLD; NULL: no instance of several members */
    uint32_t rank_count;
};

struct sg_detail_part {
    uint32_t rank;
    int64_t begin_ns, end_ns; /* of a nonblocking call: to its completion */
    uint64_t wait_ns;
};

struct sg_detail_late {
    uint32_t rank;
    int64_t begin_ns;
    uint64_t handler_ns;
};

struct sg_detail_worst {
    uint32_t row, sum; /* indices in the aggregate */
    uint32_t comm;     /* as in struct sg_instance */
    enum sg_operation operation;
    uint64_t seq, skew_ns;
    uint32_t size;
    struct sg_detail_part *parts; /* by member; owned */
    struct sg_detail_late late[SG_DETAIL_LATE];
    uint32_t late_count; /* may exceed SG_DETAIL_LATE, the number kept */
};

struct sg_detail_clock {
    bool known;
    struct sg_seen_clock seen;
};

struct sg_detail {
    struct sg_detail_row **rows; /* NULL: the row has no detail */
    uint32_t row_room;
    struct sg_detail_worst worst[SG_DETAIL_WORST]; /* unordered */
    uint32_t worst_count;
    struct sg_detail_clock *clocks; /* by rank */
    uint32_t clock_room;
    struct sg_stretches *stretches;
    struct sg_detail_recent *recent; /* late contributions whose instance is not complete yet */
};

/* SG_ERR_MEMORY only (not logged). */
enum sg_status sg_detail_create(struct sg_detail *out);
void sg_detail_clear(struct sg_detail *detail);
/* The watch for reading an archive; detail must outlive the reading. */
struct sg_watch sg_detail_watch(struct sg_detail *detail);
/* NULL: nothing is known of the row. */
const struct sg_detail_row *sg_detail_row(const struct sg_detail *detail, uint32_t row);
/* The bin that a value falls into. */
uint32_t sg_detail_skew_bin(uint64_t ns);
uint32_t sg_detail_cost_bin(uint64_t ns);

/* The window of a run in which ranks waited most: its calls, and the messages received in it. The
 * run's calls, in the order in which they ended, are cut into windows of a limited number of calls.
 * The search runs while the archive is read, in the memory of three windows: the current one; the
 * one before, of whose calls not all waits are known yet; and the one with the most waiting so far.
 *
 * MPI_Init and MPI_Finalize are left out. Not thread-safe.
 */

#define SG_STRETCH_BARS_MIN 200u
#define SG_STRETCH_BARS_OF_RANK 40u
#define SG_STRETCH_BARS_MAX 2000u
#define SG_STRETCH_LINES_MAX 1000u

/* A call of a rank. */
struct sg_stretch_bar {
    uint32_t rank, thread;
    uint32_t label; /* identifies a function at a call site */
    int64_t begin_ns, end_ns;
    uint64_t wait_ns;
    uint32_t before; /* 1 + the rank's preceding bar; 0: none */
};

/* A message. */
struct sg_stretch_line {
    uint32_t from, to;
    int64_t sent_ns, received_ns;
};

struct sg_worst_stretch {
    struct sg_stretch_bar *bars;
    struct sg_stretch_line *lines;
    uint32_t bar_count, line_count;
    uint32_t lines_left_out; /* messages that exceeded the capacity */
    uint32_t bars_left_out;  /* calls of a collective that exceeded the capacity */
    uint64_t wait_ns;
    uint32_t *last_of_rank; /* 1 + the rank's last bar; 0: none */
};

struct sg_stretches; /* all three windows */

/* SG_ERR_MEMORY only (not logged), as are the following. */
enum sg_status sg_stretches_create(struct sg_stretches **out);
void sg_stretches_destroy(struct sg_stretches *stretches);

enum sg_status sg_stretches_instance(struct sg_stretches *stretches,
                                     const struct sg_aggregate *aggregate,
                                     const struct sg_seen_instance *seen);
enum sg_status sg_stretches_call(struct sg_stretches *stretches,
                                 const struct sg_aggregate *aggregate,
                                 const struct sg_seen_call *call);
enum sg_status sg_stretches_message(struct sg_stretches *stretches,
                                    const struct sg_seen_message *message);
enum sg_status sg_stretches_wait(struct sg_stretches *stretches, const struct sg_seen_wait *wait);

/* Call it after the last event. Returns the window with the most waiting; NULL: no rank waited. It
 * lives as long as the stretches. */
const struct sg_worst_stretch *sg_stretches_most(const struct sg_stretches *stretches);
/* "MPI_Send halo cg.c:40". */
const char *sg_stretches_label(const struct sg_stretches *stretches, uint32_t label);

#endif
