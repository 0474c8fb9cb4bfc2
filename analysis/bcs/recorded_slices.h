/* Slices of buffered coscheduling, as EMDS recorded them: joined from the logs of all ranks, by
 * communicator and node, and what their metrics come to.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged.
 */
#ifndef SG_BCS_RECORDED_SLICES_H
#define SG_BCS_RECORDED_SLICES_H

#include "core/slice.h"
#include "core/status.h"
#include "core/text.h"
#include "report/filter.h"
#include "trace/export/clockmap.h"
#include "trace/export/logread.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Known by the world rank of its rank 0, and that rank's count of communicators. */
struct sg_slice_comm {
    char *name; /* as recorded; owned */
    uint32_t size;
    uint32_t root_world_rank, root_counter;
};

struct sg_slices_row {
    uint32_t comm, node;
    struct sg_slice slice; /* first: seq of the first collective, or UINT32_MAX */
};

/* Slices without a row. */
struct sg_slices_sum {
    uint32_t comm, node;
    uint64_t slices;
    uint64_t of[SG_SLICE_METRICS][SG_SLICE_SUMS];
};

/* A communicator's slices at a node. */
struct sg_slices_place {
    uint32_t comm, node;
    uint32_t row, row_count;
    const struct sg_slices_sum *sum; /* NULL: all have rows */
};

struct sg_slice_set {
    struct sg_slice_comm *comms;
    struct sg_slices_row *rows; /* sorted: by communicator, node, number */
    struct sg_slices_sum *sums;
    struct sg_slices_place *places;
    uint32_t comm_count, row_count, sum_count, place_count;
};

/* What is asked for. Zeroes: all. */
struct sg_slices_filter {
    uint32_t metrics; /* a bit each; 0: all */
    bool has_nodes, has_window;
    struct sg_rank_list nodes;
    uint64_t first, last;
};

/* A metric at a place. */
struct sg_slices_figures {
    uint64_t count; /* slices in which it is known; 0: the rest means nothing */
    uint64_t min, max, p95;
    double mean;
    bool has_p95; /* false: some have no row */
};

/* ---- gathering */

enum sg_status sg_slices_comm(struct sg_slice_set *slices, const struct sg_record_comm *record,
                              const char *name, uint32_t *out);
/* begin_ns: the slice's, on the clock of all ranks. */
enum sg_status sg_slices_add(struct sg_slice_set *slices, uint32_t comm,
                             const struct sg_record_slice *record, uint64_t begin_ns);
enum sg_status sg_slices_add_sum(struct sg_slice_set *slices, uint32_t comm,
                                 const struct sg_record_slice_sum *record);
/* When all is there. */
enum sg_status sg_slices_finish(struct sg_slice_set *slices);
void sg_slices_clear(struct sg_slice_set *slices);

/* ---- what there is */

bool sg_slices_takes_metric(const struct sg_slices_filter *filter, enum sg_slice_metric metric);
bool sg_slices_takes_place(const struct sg_slices_filter *filter,
                           const struct sg_slices_place *place);
bool sg_slices_takes(const struct sg_slices_filter *filter, const struct sg_slice *slice);

/* A metric's row: for the table, JSON and the page. */
struct sg_slices_line {
    enum sg_slice_metric metric;
    const struct sg_slice_comm *comm;
    uint32_t node;
    struct sg_slices_figures figures;
};

/* Those that the filter takes: by communicator, global ones before local ones, node, metric.
 * malloc'ed. */
enum sg_status sg_slices_lines(const struct sg_slice_set *slices,
                               const struct sg_slices_filter *filter, struct sg_slices_line **out,
                               uint32_t *count);

/* The slices of one log, whose communicators are looked for once they have slices: there may be
 * many that have none.
 */

struct sg_slices_log_comm {
    const struct sg_record_comm *record; /* the log's */
    bool is_known;
    uint32_t comm; /* of the set, if it is known */
};

/* Zeroed: empty. */
struct sg_slices_log {
    struct sg_map by_index; /* in the log */
    struct sg_slices_log_comm *comms;
    uint32_t comm_count;
    struct sg_clock_point *clock;
    uint32_t clock_count;
};

enum sg_status sg_slices_log_comm(struct sg_slices_log *own, const struct sg_record_comm *record);
/* What the log knows of its clock, before its slices are taken. */
enum sg_status sg_slices_log_clock(struct sg_slices_log *own, const struct sg_record_clock *record);
/* The time of the log's clock on that of all ranks; a log that knows nothing has that clock. */
uint64_t sg_slices_log_global_ns(const struct sg_slices_log *own, uint64_t local_ns);
/* A SG_RECORD_SLICE or SG_RECORD_SLICE_SUM; one of a communicator that there is not is left out. */
enum sg_status sg_slices_log_take(struct sg_slices_log *own, struct sg_logread *log,
                                  const void *record, enum sg_record_kind kind,
                                  struct sg_slice_set *slices);
void sg_slices_log_clear(struct sg_slices_log *own);

#endif
